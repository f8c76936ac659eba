"""Data sets from files and their split: a bad file is answered with one sentence about its fault."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _samples import saved as npz

import mklviz as mv
from mklviz.datasets import DataError, Dataset, describe_datasets, load_dataset, read_dataset, read_dataset_bytes

# what is at hand, and small enough to be written here
QUICK = [card.name for card in describe_datasets() if card.kind != "fetched" and card.n_samples < 100_000]
CSV = b'"height, in m",weight,kind\n1.5,2,cat\n2.5,-3e1,dog\n0.5,1,cat\n'
LIBSVM = b"+1 1:0.5 3:2 # a comment\n-1 2:1e-1\n\n+1\n"


X, Y = np.arange(8.0).reshape(4, 2), np.array([1, -1, 1, -1])
GRAMS = np.stack([np.eye(4), np.ones((4, 4))])


def test_a_csv_file_is_read_by_its_header_and_a_libsvm_file_with_zeros_filled_in(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_bytes(CSV)
    ds = read_dataset(path)
    assert (ds.name, ds.feature_names, ds.classes) == ("pets", ("height, in m", "weight"), ("cat", "dog"))
    assert ds.X.tolist() == [[1.5, 2], [2.5, -30], [0.5, 1]]
    assert ds.y.tolist() == [-1, 1, -1]
    assert ds.notes[0] == 'Label "cat" is -1 and label "dog" is +1.'
    assert read_dataset(str(path), name="zoo").name == "zoo"
    path = tmp_path / "small.svm"
    path.write_bytes(LIBSVM)
    ds = read_dataset(path)
    assert ds.X.tolist() == [[0.5, 0, 2], [0, 0.1, 0], [0, 0, 0]]
    assert (ds.y.tolist(), ds.feature_names) == ([1, -1, 1], ("x1", "x2", "x3"))


def test_labels_decide_the_task():
    def labelled(*labels):
        return read_dataset(("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))).encode())

    assert labelled(10, 9, 10).classes == ("9", "10")  # sorted as numbers
    assert labelled("1.0", "-1", "1").y.tolist() == [1, -1, 1]  # 1.0 and 1 are one label
    three = labelled(2, 0, 7)
    assert (three.task, three.y.tolist(), three.classes) == ("multiclass", [1, 0, 2], ("0", "2", "7"))
    target = labelled(0.5, 1, 2)
    assert (target.task, target.y.tolist(), target.classes) == ("regression", [0.5, 1, 2], ())
    assert 'column "y" are not all whole numbers, so they are read as regression targets' in target.notes[0]
    assert labelled(*range(30)).task == "regression"


def test_an_archive_of_samples_or_gram_matrices_is_read_and_bytes_are_told_apart_by_their_content():
    ds = read_dataset_bytes(npz(X=X, y=Y, feature_names=np.array(["a", "b"])), "arrays.npz")
    assert (ds.name, ds.feature_names, ds.classes) == ("arrays", ("a", "b"), ("-1", "1"))
    assert np.array_equal(ds.X, X)
    assert np.array_equal(ds.y, Y)
    ds = read_dataset_bytes(npz(grams=GRAMS, y=np.array(["n", "y", "n", "y"]), kernel_names=["I", "J"]), "k.npz")
    assert (ds.n_features, ds.kernel_names, ds.classes) == (0, ("I", "J"), ("n", "y"))
    assert np.array_equal(ds.grams, GRAMS)
    assert read_dataset(npz(grams=np.eye(4), y=Y)).grams.shape == (1, 4, 4)
    for content, features in ((CSV, 2), (LIBSVM, 3), (npz(X=X, y=Y), 2)):
        assert read_dataset(content).n_features == features
    assert read_dataset_bytes(LIBSVM, "heart_scale.txt").name == "heart_scale"


@pytest.mark.parametrize("name", QUICK)
def test_what_is_written_as_an_archive_comes_back(name):
    ds = load_dataset(name)
    back = read_dataset(npz(X=ds.X, y=ds.y))
    assert np.array_equal(back.X, ds.X)
    assert np.array_equal(back.y, ds.y)
    assert back.task == ds.task


BAD_CSV = [
    (b"", "is empty"),
    (b" \n\n", "is empty"),
    (b"a,b\n", "no rows below"),
    (b"a\n1\n", "has one column"),
    (b"a,y\n1,x\ntwo,y\n", 'column "a": it holds numbers, but "two" in row 3'),
    (b"a,y\n1_0,x\n2,y\n", 'column "a": it holds numbers, but "1_0" in row 2'),
    (b"a,y\n1,x\n1e999,y\n", 'column "a": it holds numbers, but "1e999" in row 3, which is not a finite'),
    (b"a,y\n,x\n?,y\n", 'column "a": it is empty'),
    (b"a,y\n1,x\n2,\n", 'Every label in column "y" is "x"'),
    (b"a,y\n1,x\n2,x\n", 'Every label in column "y" is "x".* samples of one class have in common, choose "nothing"'),
    (b"a,b\n1,2\n2,\n", "Every label"),
    ("\n".join(",".join(f"w{n}{k}" for k in range(n)) for n in range(2, 15)).encode(), "nothing to predict"),
    (b"a,y\n1,x\n2,\x8f\n", "Row 3 of bad.csv is not UTF-8"),  # nor Windows-1252
    (b"a,y\n1,x\n2,\xff\x01\n", "Row 3 of bad.csv is not UTF-8"),
    (b'a,y\n1,"x\n', "cannot be read as a table"),
    (b"a,y\n1,\x00\n2,y\n" + b"\x00" * 10, "Row [234]"),
]
BAD_SVM = [
    (b"# nothing\n", "is empty"),
    (b"+1\n-1\n", "no index:value pair"),
    (b"+1 1:2\n-1 1:1 1:3\n", "Row 2 gives index 1 twice"),
    (b"+1 1:2\n-1 x:1\n", "Row 2: 'x:1' is not index:value"),
    (b"+1 1:2\n-1 -3:1\n", "Row 2: '-3:1' is not index:value"),
    (b"+1 1:2\n-1 7\n", "Row 2: '7' is not index:value"),
    (b"+1 1:2\n-1 1:two\n", "Row 2, index 1: 'two' is not a number"),
    (b"+1 1:inf\n", "Row 1, index 1: 'inf' is not a finite number"),
    (b"a 1:2\n", "Row 1, the label: 'a' is not a number"),
    (b"nan 1:2\n", "Row 1, the label: 'nan' is not a finite number"),
    (b"+1 1:2\n+1 1:3\n", "Every label in the first column"),
    (b"+1 1:2\n-1 999999999999:3\n", "2 rows of 999,999,999,999 columns"),
    (b"+1 1:2\n-1 " + b"9" * 5000 + b":3\n", "mklviz reads at most"),
    (b"+1 1:2\n\xfe\n", "Row 2, the label: 'þ' is not a number"),
]
BAD_NPZ = [
    (b"not an archive", "no rows below"),
    (npz(X=X, y=Y)[:-30], "is a damaged or cut-off archive"),
    (npz(header=X, objective=Y, lower_bound=Y), "is a run that mklviz saved.* open it on the page Runs"),
    (npz(X=X), r"holds X \(4, 2\): no labels.* must hold y and X \(n, d\), or y and grams"),
    (npz(y=Y), r"holds y \(4,\): nothing to learn from"),
    (npz(X=X, y=Y[:3]), "X has 4 rows but y has 3 labels"),
    (npz(X=X, y=np.outer(Y, Y)), r"labels of bad.npz must have shape \(n,\)"),
    (npz(X=X, y=Y + 1j), "Array y of bad.npz must hold numbers or text"),
    (npz(X=X, y=np.array([1, np.nan, 1, -1])), "Array y of bad.npz holds nan"),
    (npz(X=X, y=np.ones(4)), "Every label in array y"),
    (npz(X=X[0], y=Y), "Array X of bad.npz must have 2 dimensions"),
    (npz(X=X.astype(str), y=Y), "Array X of bad.npz must hold real numbers"),
    (
        npz(X=np.where(X == 5, np.inf, X), y=Y),
        r"X\[2, 1\] is not a finite number: fill it in or leave its row out before",
    ),
    (npz(X=np.array([[1, None]] * 4, dtype=object), y=Y), "Array X of bad.npz .* Python objects"),
    (npz(X=X, y=np.array([1, [], 1, 2], dtype=object)), "Array y of bad.npz .* Python objects"),
    (npz(grams=GRAMS[:, :3], y=Y), r"grams has shape \(2, 3, 4\); expected \(m, 4, 4\)"),
    (npz(grams=GRAMS[:0], y=Y), r"grams has shape \(0, 4, 4\)"),
    (npz(grams=np.ones(4), y=Y), "Array grams of bad.npz must have 3 dimensions"),
    (npz(grams=GRAMS + np.triu(np.ones((4, 4)), 1), y=Y), "Gram matrix 1 of array grams is not symmetric"),
    (npz(a=GRAMS + np.triu(np.ones((4, 4)), 1), y=Y), "Gram matrix 1 of array a is not symmetric"),
    (npz(grams=GRAMS, y=Y, kernel_names=np.array(["one"])), "1 kernel names for 2"),
    (npz(grams=GRAMS, y=Y, kernel_names=np.array([1, 2])), "Array kernel_names must be"),
    (pickle.dumps({"X": X, "y": Y}), "bad.npz is a Python pickle, which mklviz never opens"),
]
BAD = {"bad.csv": BAD_CSV, "bad.svm": BAD_SVM, "bad.npz": BAD_NPZ}


@pytest.mark.parametrize(("name", "data", "message"), [(name, *case) for name, cases in BAD.items() for case in cases])
def test_a_bad_file_is_answered_with_its_fault(name, data, message):
    with pytest.raises(DataError, match=message) as caught:
        read_dataset_bytes(data, name)
    assert "\n" not in str(caught.value)


def test_a_damaged_archive_is_an_error_and_no_crash():
    whole = npz(X=X, y=Y)
    for position in range(0, len(whole), 7):
        damaged = whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :]
        try:
            ds = read_dataset_bytes(damaged, "damaged.npz")
        except DataError:
            continue
        assert np.array_equal(ds.X, X)  # the damage hit a byte that carries nothing
        assert np.array_equal(ds.y, Y)


def test_a_pickle_in_an_archive_is_never_run():
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was run",))

    trap = np.empty(4, dtype=object)
    trap[:] = [Trap() for _ in range(4)]
    with pytest.raises(DataError, match="Python objects other than texts and numbers, which mklviz refuses"):
        read_dataset_bytes(npz(X=X, y=trap), "trap.npz")


def test_an_address_of_the_web_is_read_or_named_as_such_and_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine data.csv").write_text("\n".join(["a,class", *(f"{x},{'pq'[x % 2]}" for x in range(20))]))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        data = read_dataset(f"{address}/mine%20data.csv?version=1")
        assert (data.name, data.n_samples) == ("mine data", 20)
        with pytest.raises(DataError, match=r"none\.csv answers 404"):
            read_dataset(f"{address}/none.csv")
        server.shutdown()
    with pytest.raises(DataError, match="cannot be reached from here"):
        read_dataset(f"{address}/mine.csv")
    with pytest.raises(DataError, match="begins with s3://, which is not read"):
        read_dataset("s3://bucket/mine.csv")
    with pytest.raises(DataError, match=r"nowhere.csv cannot be read: No such file"):
        read_dataset(tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no files"):
        read_dataset(tmp_path / "empty")


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (5, {}, "from a path, paths or bytes"),
        ([5], {}, "from a path, paths or bytes"),
        (["a\0b"], {}, "is no name of a file"),
        ("http://no host/x.csv", {}, "cannot be reached"),
        (b"a,y\n1,2\n", {"leave_out": 3}, "leave_out and na are texts"),
        (b"a,y\n1,2\n", {"encoding": "undefined"}, "no encoding 'undefined'"),
        (b"a,y\n1,2\n", {"encoding": "a\0b"}, "There is no encoding"),
        ("a§y\n1§2\n".encode(), {"sep": "§"}, "sep is a sign"),
        (
            b"@relation r\n@attribute a string\n@attribute y {p,q}\n@data\n'" + b"x" * 200_000 + b"',p\n",
            {},
            "nothing to",
        ),
        (b"@relation r\n@attribute a real\n@attribute y {p,q}\n@data\n{" + b"0" * 5000 + b" 1}\n", {}, "an index from"),
        (b"a,b,y\n" + 20 * b"1,2,p\n" + 2 * b"1,2,q,4,5\n", {}, "Row 22 of data has 5 cells; the others have 3"),
    ],
    ids=range(11),
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(source: object, options: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_dataset(source, **options)


def test_rows_are_counted_from_the_first_line_of_the_file() -> None:
    lines = ["# a remark", "# another", "a,b,y", *(f"{i}.5,{i * i % 7},{i % 2}" for i in range(100))]
    lines[10] += ",9"
    for k in range(40, 80):
        lines[k] = f"q{lines[k]}"
    notes = " ".join(read_dataset("\n".join(lines).encode()).notes)
    assert "Row 11 has 4 cells" in notes
    assert '"q37.5" in row 41' in notes


def test_an_infinite_number_costs_its_cell_as_a_word_does() -> None:
    lines = ["a,b,y", *(f"{i}.5,{i * i % 7},{i % 2}" for i in range(40))]
    lines[7], lines[9] = "x,1,0", "-1e400,1,1"
    data = read_dataset("\n".join(lines).encode(), missing="fill")
    assert 'Column "a" holds numbers; "x", "-1e400" there counts as missing.' in data.notes
    assert data.X[[6, 8], 0].tolist() == [float(np.median(data.X[[*range(6), 7, *range(9, 40)], 0]))] * 2
    frame = pd.DataFrame({"a": [*np.arange(9.0), np.inf], "y": list("uv") * 5})
    assert mv.Dataset.from_frame(frame, target="y").X[:, 0].tolist() == list(range(9))


# -- splitting: stratified, scaled by the training part alone, the same for the same seed


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


def test_both_parts_together_are_the_data_set_and_the_same_for_the_same_seed():
    ds = load_dataset("iris")
    both = np.vstack([part.X for part in ds.split(0.4, standardize=False)])
    assert sorted(map(tuple, both)) == sorted(map(tuple, ds.X))
    first, again, other = (ds.split(seed=seed)[0] for seed in (5, 5, 6))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


def test_the_scaler_sees_the_training_part_alone_which_a_test_sample_does_not_change():
    ds = load_dataset("heart")
    raw_train, raw_test = ds.split(seed=3, standardize=False)
    train, test = ds.split(seed=3)
    mean, deviation = raw_train.X.mean(axis=0), raw_train.X.std(axis=0)
    # means and deviations of numbers up to 600, rounded at 1e-16
    np.testing.assert_allclose(train.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.X.std(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(test.X, (raw_test.X - mean) / deviation, atol=1e-12)
    ds = toy()
    _, test = ds.split(seed=2, standardize=False)
    row = next(i for i in range(ds.n_samples) if np.array_equal(ds.X[i], test.X[0]))
    X = ds.X.copy()
    X[row] = 1e6
    assert np.array_equal(ds.split(seed=2)[0].X, replace(ds, X=X).split(seed=2)[0].X)


def test_columns_constant_in_the_training_part_go_others_are_renumbered_and_the_note_says_which():
    train, test = load_dataset("segment").split()
    assert train.n_features == test.n_features == 18
    assert "pixel_count" not in train.feature_names
    assert any("constant in the training part: pixel_count." in note for note in train.notes)
    ds = toy(informative=(0, 2), groups=((0, 1), (1, 2)))
    train, _ = replace(ds, X=ds.X * [1, 0, 1]).split()
    assert (train.informative, train.groups) == ((0, 1), ((0,), (1,)))
    with pytest.raises(DataError, match="Every column of 'toy' is constant"):
        toy(X=np.ones((20, 3))).split()
    with pytest.raises(DataError, match="leaves one part empty"):
        toy().split(0.01)


def test_gram_matrices_split_into_a_square_and_a_cross_block_and_regression_targets_without_classes():
    ds = toy()
    ds = replace(ds, grams=linear_grams(ds.X))
    train, test = ds.split(0.6, seed=4)
    raw_train, raw_test = ds.split(0.6, seed=4, standardize=False)
    assert np.array_equal(train.grams, linear_grams(raw_train.X))
    assert np.array_equal(test.grams, np.einsum("ik,jk->kij", raw_test.X, raw_train.X))
    with pytest.raises(DataError, match="not square"):
        test.split()
    train, test = replace(ds, X=np.zeros((20, 0)), feature_names=()).split()  # Gram matrices alone
    assert (train.n_features, test.grams.shape) == (0, (3, 10, 10))
    train, test = toy(y=np.linspace(0, 1, 20), task="regression").split(0.25)
    assert (train.n_samples, test.n_samples, train.classes) == (5, 15, ())


def test_a_class_missing_from_the_training_part_is_named():
    ds = toy(y=np.where(np.arange(20) == 3, -1.0, 1.0), classes=("rare", "common"))
    with pytest.raises(DataError, match="No sample of class 'rare' would be in the training part"):
        ds.split(0.4)
    parts = toy(y=np.ones(20), classes=("rare", "common")).split()  # as of a table without labels
    assert [part.n_samples for part in parts] == [10, 10]


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


def test_arrays_are_copies_that_cannot_be_written_and_masked_entries_are_refused():
    X = np.ones((20, 3))
    ds = toy(X=X)
    X[0] = 5.0
    assert ds.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        ds.X[0] = 2.0
    assert repr(ds) == "<Dataset 'toy', 20 samples, 3 features, binary: -1 / +1>"
    with pytest.raises(DataError, match=r"X is masked in some entries; missing values must be filled in or left out\."):
        Dataset("mine", X=np.ma.masked_less(np.arange(6.0).reshape(3, 2), 1.0), y=[-1, 1, 1], classes=("a", "b"))


def test_samples_that_are_held_out_are_said_and_leave_some_to_test_on():
    held = np.arange(20) % 3 == 0
    data = toy(held_out=held.tolist())
    train, test = data.split(train=0.9, seed=7, standardize=False)
    assert np.array_equal(train.X, data.X[~held])
    assert np.array_equal(test.X, data.X[held])
    assert train.notes[-1].endswith("a split with the rows to test that the data name: 13 of 20 samples.")
    with pytest.raises(DataError, match="held_out must say True or False of each of the 20 samples"):
        replace(data, held_out=[True])
    with pytest.raises(DataError, match="leave none to test on"):
        replace(data, held_out=[False] * 20).split()
