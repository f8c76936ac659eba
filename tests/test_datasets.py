"""The data sets that come with the package: complete, unchanged, and what the papers used."""

import gzip
import hashlib
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import mklviz.datasets
from mklviz.datasets import DataError, Dataset, _info, describe_datasets, list_datasets, load_dataset

CARDS = {card.name: card for card in describe_datasets()}
TABLES = [card for card in CARDS.values() if card.kind == "table"]
GENERATED = [card.name for card in CARDS.values() if card.kind == "generated"]
AT_HAND = [card.name for card in CARDS.values() if card.kind != "fetched"]
QUICK = [name for name in AT_HAND if CARDS[name].n_samples < 100_000]
PATHS = ("/x.csv", "x.csv", Path("/x.csv"))

SHAPES = (
    "adult 32561 123, australian 690 14, breast 683 9, diabetes 442 10, german 1000 20, heart 270 13, "
    "ionosphere 351 33, iris 150 4, letter 20000 16, liver 345 6, optdigits 5620 64, pima 768 8, segment 2310 19, "
    "sonar 208 60, vehicle 846 18, vote 232 16, vowel 990 10, wdbc 569 30, wine 178 13, wpbc 198 33"
)
PUBLISHED_SHAPES = {name: (int(n), int(d)) for name, n, d in map(str.split, SHAPES.split(", "))}
POSITIVE = (  # what is +1, and how many samples of it there are
    "adult: >50K: 7841, australian: positive: 307, breast: malignant: 239, german: bad: 300, heart: presence: 120, "
    "ionosphere: good: 225, letter: A to M: 9940, liver: selector 2: 200, pima: diabetic: 268, sonar: mine: 111, "
    "vote: democrat: 124, wdbc: malignant: 212, wpbc: recurrence: 47"
)
POSITIVE_CLASSES = [tuple(each.split(": ")) for each in POSITIVE.split(", ")]


def test_every_published_table_is_there_in_the_published_shape():
    assert {card.name: load_dataset(card.name).X.shape for card in TABLES} == PUBLISHED_SHAPES
    assert list_datasets() == sorted(CARDS)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        *((path, {}, r"^There is no data set .*; a file is read by mv\.read_dataset\(path\)\.$") for path in PATHS),
        ("Ionospher", {}, "did you mean ionosphere"),
        ("zzz", {}, "there are adult, australian, breast"),
        ("two_moons", {"noize": 1}, "no option 'noize'; it takes n, noise, seed"),
        ("iris", {"n": 10}, "it takes none"),
        *(("rings", {"noise": noise}, r"noise must be ") for noise in (-1, np.inf, np.nan, "much")),
        *((name, {"n": 2}, r"n must be .*, not 2") for name in GENERATED),
        ("friedman", {"n_features": 4}, "at least 5"),
        ("planted", {"n_features": 3, "informative": 4}, "informative=4 of n_features=3"),
        ("planted", {"flip": 0.5}, r"below 0\.5"),
    ],
)
def test_unknown_names_and_options_are_answered_in_a_sentence(name, options, said) -> None:
    with pytest.raises(DataError, match=said):
        load_dataset(name, **options)


@pytest.mark.parametrize("name", GENERATED)
def test_the_same_seed_draws_the_same_data_of_as_many_samples_as_asked(name):
    first, again, other = (load_dataset(name, seed=seed, n=37) for seed in (1, 1, 2))
    assert first.n_samples == 37
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("name", AT_HAND)
def test_a_data_set_is_what_its_card_says(name):
    card, ds = CARDS[name], load_dataset(name, **({} if name in QUICK else {"n": 1000}))
    assert isinstance(ds, Dataset)
    assert (ds.name, ds.title, ds.task, ds.classes) == (card.name, card.title, card.task, card.classes)
    assert ds.X.shape == (card.n_samples if name in QUICK else 1000, card.n_features)
    assert (ds.licence, ds.source, ds.notes[: len(card.notes)]) == (card.licence, card.source, card.notes)
    assert ds.X.dtype == ds.y.dtype == np.float64
    assert not ds.X.flags.writeable
    assert not ds.y.flags.writeable
    assert (len(np.unique(ds.y)) == len(ds.classes)) is (ds.task != "regression")


@pytest.mark.parametrize(("name", "positive", "count"), POSITIVE_CLASSES)
def test_plus_one_is_the_class_one_asks_about(name, positive, count):
    ds = load_dataset(name)
    assert ds.classes[1] == positive
    assert np.sum(ds.y == 1) == int(count)
    assert np.sum(ds.y == -1) == ds.n_samples - int(count)


@pytest.mark.parametrize("card", TABLES, ids=lambda card: card.name)
def test_a_table_is_unchanged_and_says_where_it_comes_from(card):
    tables = resources.files("mklviz.datasets").joinpath("tables")
    packed = tables.joinpath(f"{card.name}.csv.gz")
    data = (
        gzip.decompress(packed.read_bytes()) if packed.is_file() else tables.joinpath(f"{card.name}.csv").read_bytes()
    )
    assert hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() == card.sha256
    if card.task == "regression":
        assert "scikit-learn" in card.source
        assert "BSD 3-Clause" in card.licence
        assert card.doi in card.citation
        return
    assert "UCI Machine Learning Repository" in card.source
    assert card.licence in ("CC BY 4.0", "CC0 1.0")
    assert card.title in card.citation
    assert re.fullmatch(r"10\.24432/C5\w{4}", card.doi) or card.name == "pima"


def test_numbers_and_codes_are_read_as_their_source_wrote_them_and_letters_can_all_be_told_apart():
    ionosphere, heart, australian = (load_dataset(name) for name in ("ionosphere", "heart", "australian"))
    assert ionosphere.X[0, :3].tolist() == [1.0, 0.99539, -0.05889]
    assert heart.X[0].tolist() == [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3]
    assert australian.X[0].tolist() == [1, 22.08, 11.46, 2, 4, 4, 1.585, 0, 0, 0, 1, 2, 100, 1213]
    german = load_dataset("german")
    assert set(german.X[:, german.feature_names.index("purpose")]) == {0, 1, 2, 3, 4, 5, 6, 8, 9, 10}
    assert set(np.unique(load_dataset("vote").X)) == {0, 1}
    halves, letters = load_dataset("letter"), load_dataset("letter", halves=False)
    assert letters.classes == tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert np.bincount(letters.y.astype(int))[[0, 25]].tolist() == [789, 734]  # as published
    assert set(np.unique(letters.X)) == set(range(16))
    assert np.array_equal(halves.y == 1.0, letters.y < 13)
    assert np.array_equal(halves.X, letters.X)


def test_people_give_at_most_one_answer_to_each_of_fourteen_questions():
    ds, first = load_dataset("adult"), load_dataset("adult", n=1605)
    question = np.array([name.rpartition("_")[0] for name in ds.feature_names])
    given = np.array([ds.X[:, question == one].sum(axis=1) for one in dict.fromkeys(question)])
    assert given.shape == (14, 32561)
    assert set(np.unique(given)) == {0.0, 1.0}
    assert np.flatnonzero((given == 0.0).any(axis=1)).tolist() == [1, 6, 13]  # occupations and countries not known
    # as published
    assert (np.flatnonzero(ds.X[0]) + 1).tolist() == [3, 11, 14, 19, 39, 42, 55, 64, 67, 73, 75, 76, 80, 83]
    assert np.array_equal(first.X, ds.X[:1605])
    assert np.array_equal(first.y, ds.y[:1605])


def test_the_regression_table_is_the_one_scikit_learn_ships():
    shipped = pytest.importorskip("sklearn.datasets").load_diabetes(scaled=False)
    diabetes = load_dataset("diabetes")
    assert np.array_equal(diabetes.X, shipped.data)
    assert np.array_equal(diabetes.y, shipped.target)


def test_friedmans_targets_follow_from_five_features_alone():
    ds = load_dataset("friedman", n=50, n_features=8, noise=0.0)
    x1, x2, x3, x4, x5 = ds.X.T[:5]
    expected = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    np.testing.assert_allclose(ds.y, expected, rtol=1e-12)  # the same formula, up to rounding
    assert ds.informative == (0, 1, 2, 3, 4)


def test_cards_are_shown_without_reading_a_table(monkeypatch):
    monkeypatch.setattr(_info, "_text", lambda name: pytest.fail(f"the table {name} was read"))
    assert [card.name for card in describe_datasets()] == list_datasets()


EXTRA = """
import numpy as np
from mklviz.datasets import Dataset
def load(n=5):
    return Dataset("extra", np.eye(n), np.resize([1.0, -1.0], n))
"""


def test_a_module_with_a_load_function_is_a_data_set_even_without_a_card(save):
    save(mklviz.datasets, "extra", EXTRA)
    assert "extra" in list_datasets()
    assert next(card for card in describe_datasets() if card.name == "extra").shape == (5, 5)
    assert load_dataset("extra", n=3).n_samples == 3


def test_without_noise_the_figures_are_exact():
    rings = load_dataset("rings", noise=0.0)
    radius = np.hypot(*rings.X.T)
    np.testing.assert_allclose(radius, np.where(rings.y > 0, 2.0, 1.0), rtol=1e-12)  # cos² + sin² rounds
    moons = load_dataset("two_moons", noise=0.0)
    centre = np.where(moons.y[:, None] > 0, [1.0, 0.5], [0.0, 0.0])
    np.testing.assert_allclose(np.hypot(*(moons.X - centre).T), 1.0, rtol=1e-12)
    board = load_dataset("checkerboard")
    neighbour = np.add(board.X, [1.0, 0.0])
    parity = np.floor(neighbour).sum(axis=1) % 2
    assert np.array_equal(np.where(parity, -1.0, 1.0), board.y)  # one square to the right, the other colour


def test_planted_labels_do_not_change_when_the_noise_features_do_and_flip_by_the_share_asked_for():
    ds = load_dataset("planted", n=400, n_features=8, informative=2)
    assert len(ds.informative) == 2
    rng = np.random.default_rng(0)

    def dependence(j):
        """Largest of the absolute correlations of y with the three shapes of feature j."""
        x = ds.X[:, j]
        return max(abs(np.corrcoef(ds.y, g)[0, 1]) for g in (x**2, np.sin(2 * x), np.sqrt(abs(x))))

    # what 200 features without signal reach
    chance = max(abs(np.corrcoef(ds.y, rng.standard_normal(400))[0, 1]) for _ in range(200))
    assert all((dependence(j) > 2 * chance) == (j in ds.informative) for j in range(8))
    clean, flipped = (load_dataset("planted", flip=share) for share in (0.0, 0.1))
    assert np.sum(clean.y != flipped.y) == 20


def test_each_group_of_three_groups_separates_what_the_paper_says():
    ds = load_dataset("three_groups")
    assert [np.sum(ds.y == k) for k in range(3)] == [100, 100, 100]
    centres = np.array([[ds.X[ds.y == k][:, group].mean(axis=0) for k in range(3)] for group in ds.groups])
    distance = np.linalg.norm(centres[:, :, None] - centres[:, None], axis=3)
    apart = distance > 1.5  # the centres lie 2 apart; a mean of 100 strays by 0.03
    for group, alone in enumerate((2, 0, 1)):
        others = [k for k in range(3) if k != alone]
        assert apart[group, alone, others].all()
        assert not apart[group][np.ix_(others, others)].any()
    assert apart[3].sum() == 6
