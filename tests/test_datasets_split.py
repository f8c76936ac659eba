"""Splitting a data set: stratified, scaled by the training part alone, the same for the same seed."""

from dataclasses import replace

import numpy as np
import pytest

from mklviz.datasets import DataError, Dataset, load_dataset


def toy(n: int = 20, **changes) -> Dataset:
    rng = np.random.default_rng(0)
    given = {"name": "toy", "X": rng.normal(5.0, 3.0, (n, 3)), "y": np.where(np.arange(n) % 4, 1.0, -1.0)}
    return Dataset(**{**given, **changes})


def linear_grams(X):
    return np.stack([np.outer(x, x) for x in X.T])


@pytest.mark.parametrize("name", ["ionosphere", "vowel", "heart"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_each_class_gives_its_share(name, share):
    ds = load_dataset(name)
    train, test = ds.split(share, seed=1)
    assert train.n_samples == int(share * ds.n_samples)
    assert train.n_samples + test.n_samples == ds.n_samples
    for label in np.unique(ds.y):
        expected = np.sum(ds.y == label) * train.n_samples / ds.n_samples
        assert abs(np.sum(train.y == label) - expected) < 1  # rounded up or down, no further


def test_both_parts_together_are_the_data_set():
    ds = load_dataset("iris")
    train, test = ds.split(0.4, standardize=False)
    both = np.vstack([train.X, test.X])
    assert sorted(map(tuple, both)) == sorted(map(tuple, ds.X))


def test_the_same_seed_gives_the_same_split():
    ds = load_dataset("sonar")
    first, again, other = (ds.split(seed=seed)[0] for seed in (5, 5, 6))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


def test_the_scaler_sees_the_training_part_alone():
    ds = load_dataset("heart")
    raw_train, raw_test = ds.split(seed=3, standardize=False)
    train, test = ds.split(seed=3)
    mean, deviation = raw_train.X.mean(axis=0), raw_train.X.std(axis=0)
    # means and deviations of numbers up to 600, rounded at 1e-16
    np.testing.assert_allclose(train.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.X.std(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(test.X, (raw_test.X - mean) / deviation, atol=1e-12)


def test_a_test_sample_does_not_change_the_training_part():
    ds = toy()
    _, test = ds.split(seed=2, standardize=False)
    row = next(i for i in range(ds.n_samples) if np.array_equal(ds.X[i], test.X[0]))
    X = ds.X.copy()
    X[row] = 1e6
    assert np.array_equal(ds.split(seed=2)[0].X, replace(ds, X=X).split(seed=2)[0].X)


def test_columns_constant_in_the_training_part_go_and_the_note_says_which():
    train, test = load_dataset("segment").split()
    assert train.n_features == test.n_features == 18
    assert "pixel_count" not in train.feature_names
    assert any("constant in the training part: pixel_count." in note for note in train.notes)


def test_known_columns_are_renumbered_when_others_go():
    ds = toy(informative=(0, 2), groups=((0, 1), (1, 2)))
    X = ds.X.copy()
    X[:, 1] = 7.0
    train, _ = replace(ds, X=X).split()
    assert train.informative == (0, 1)
    assert train.groups == ((0,), (1,))


def test_a_data_set_of_constants_cannot_be_split():
    with pytest.raises(DataError, match="Every column of 'toy' is constant"):
        toy(X=np.ones((20, 3))).split()


def test_gram_matrices_split_into_a_square_and_a_cross_block():
    ds = toy()
    ds = replace(ds, grams=linear_grams(ds.X))
    train, test = ds.split(0.6, seed=4)
    raw_train, raw_test = ds.split(0.6, seed=4, standardize=False)
    assert train.grams.shape == (3, 12, 12)
    assert test.grams.shape == (3, 8, 12)
    for k in range(3):
        assert np.array_equal(train.grams[k], np.outer(raw_train.X[:, k], raw_train.X[:, k]))
        assert np.array_equal(test.grams[k], np.outer(raw_test.X[:, k], raw_train.X[:, k]))


def test_a_data_set_may_have_gram_matrices_alone():
    grams = linear_grams(toy().X)
    train, test = toy(X=np.zeros((20, 0)), grams=grams).split()
    assert train.n_features == 0
    assert test.grams.shape == (3, 10, 10)


def test_a_test_half_cannot_be_split_again():
    ds = toy()
    _, test = replace(ds, grams=linear_grams(ds.X)).split(0.7)
    with pytest.raises(DataError, match="not square"):
        test.split()


def test_a_class_missing_from_the_training_part_is_named():
    ds = toy(y=np.where(np.arange(20) == 3, -1.0, 1.0), classes=("rare", "common"))
    with pytest.raises(DataError, match="No sample of class 'rare' would be in the training part"):
        ds.split(0.4)
    with pytest.raises(DataError, match="No sample of class 'rare'"):
        toy(y=np.ones(20), classes=("rare", "common")).split()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *[({"train": given}, "must be a share of the samples") for given in ("x", None, True, [0.5], float("nan"))],
        *[({"train": given}, "between 0 and 1") for given in (0, 1, -0.5, 2)],
        *[({"seed": given}, "must be a whole number not below zero") for given in ("x", None, -1, 1.5, True, [0])],
        *[({"standardize": given}, "must be True or False") for given in ("yes", 1, None)],
    ],
)
def test_what_is_no_share_no_seed_and_no_switch_is_refused(given, said):
    with pytest.raises(DataError, match=said):
        load_dataset("heart").split(**given)


def test_masked_entries_are_refused():
    with pytest.raises(DataError, match=r"X is masked in some entries; missing values must be filled in or left out\."):
        Dataset("mine", X=np.ma.masked_less(np.arange(6.0).reshape(3, 2), 1.0), y=[-1, 1, 1], classes=("a", "b"))


def test_a_split_leaves_no_part_empty():
    with pytest.raises(DataError, match="leaves one part empty"):
        toy().split(0.01)


def test_regression_targets_are_split_without_classes():
    train, test = toy(y=np.linspace(0, 1, 20), task="regression").split(0.25)
    assert (train.n_samples, test.n_samples, train.classes) == (5, 15, ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.ones(19)}, "X has 20 rows but y has 19 labels"),
        ({"X": np.zeros((20, 3, 1))}, "X must have 2 dimensions"),
        ({"X": np.full((20, 3), np.nan)}, r"X\[0, 0\] is not a finite number"),
        ({"X": [["a"] * 3] * 20}, "X must be an array of numbers"),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0)}, "no samples"),
        ({"X": np.zeros((20, 0))}, "no columns and there are no Gram matrices"),
        ({"y": np.zeros(20)}, "Label 0 of sample 0 is none of the codes -1 and"),
        ({"y": np.full(20, 3.0), "task": "multiclass", "classes": ("a", "b", "c")}, "Label 3 of sample 0"),
        ({"classes": ("a", "b", "c")}, "two classes, not 3"),
        ({"task": "ranking"}, "no task 'ranking'"),
        ({"task": "regression", "classes": ("a", "b")}, "no classes"),
        ({"feature_names": ("a",)}, "1 feature names for 3"),
        ({"grams": np.zeros((2, 5, 5))}, r"grams has shape \(2, 5, 5\); expected \(m, 20, 20\)"),
        ({"informative": (3,)}, "informative mentions column 3"),
        ({"groups": ((0,), (-1,))}, "groups mentions column -1"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        toy(**changes)


def test_arrays_are_copies_and_cannot_be_written():
    X = np.ones((20, 3))
    ds = toy(X=X)
    X[0] = 5.0
    assert ds.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        ds.X[0] = 2.0
    assert repr(ds) == "<Dataset 'toy', 20 samples, 3 features, binary: -1 / +1>"


def test_samples_that_are_held_out_are_tested_whatever_the_share_and_the_seed():
    held = np.arange(20) % 3 == 0
    data = toy(held_out=held.tolist())
    for share, seed in ((0.5, 0), (0.9, 7)):
        train, test = data.split(train=share, seed=seed, standardize=False)
        assert np.array_equal(train.X, data.X[~held])
        assert np.array_equal(test.X, data.X[held])
        assert train.notes[-1].endswith("a split with the rows to test that the data name: 13 of 20 samples.")
    with pytest.raises(DataError, match="held_out must say True or False of each of the 20 samples"):
        replace(data, held_out=[True])
    with pytest.raises(DataError, match="leave none to test on"):
        replace(data, held_out=[False] * 20).split()
