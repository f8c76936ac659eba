"""Data sets from files: three formats are read, and a bad file is answered with one sentence about its fault."""

from __future__ import annotations

import pickle
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _samples import saved as npz

import mklviz as mv
from mklviz.datasets import DataError, describe_datasets, load_dataset, read_dataset, read_dataset_bytes

# what is at hand, and small enough to be written here
QUICK = [card.name for card in describe_datasets() if card.kind != "fetched" and card.n_samples < 100_000]
CSV = b"height,weight,kind\n1.5,2,cat\n2.5,-3e1,dog\n0.5,1,cat\n"
LIBSVM = b"+1 1:0.5 3:2 # a comment\n-1 2:1e-1\n\n+1\n"


X, Y = np.arange(8.0).reshape(4, 2), np.array([1, -1, 1, -1])
GRAMS = np.stack([np.eye(4), np.ones((4, 4))])


def test_a_csv_file_is_read_by_its_header(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_bytes(CSV)
    ds = read_dataset(path)
    assert (ds.name, ds.feature_names, ds.classes) == ("pets", ("height", "weight"), ("cat", "dog"))
    assert ds.X.tolist() == [[1.5, 2], [2.5, -30], [0.5, 1]]
    assert ds.y.tolist() == [-1, 1, -1]
    assert ds.notes[0] == 'Label "cat" is -1 and label "dog" is +1.'
    assert read_dataset(str(path), name="zoo").name == "zoo"


def test_the_label_may_be_any_column():
    ds = read_dataset(b"y;a\n1;0,5\n".replace(b",", b".") + b"0;2\n", target="y")
    assert (ds.X.ravel().tolist(), ds.y.tolist()) == ([0.5, 2], [1, -1])


@pytest.mark.parametrize(
    ("data", "feature"),
    [
        (b"\xef\xbb\xbfa,b\n1,x\n2,y\n", "a"),
        (b"a,b\r\n1,x\r\n\r\n2,y\r\n", "a"),
        (b"a\tb\n1\tx\n2\ty", "a"),
        (b'"a, in m","b"\n1,"x"\n2,"y"\n', "a, in m"),
    ],
    ids=["byte order mark", "line ends and blank lines", "tabs", "quotes"],
)
def test_csv_comes_in_many_dialects(data, feature):
    ds = read_dataset_bytes(data, "table.csv")
    assert ds.feature_names == (feature,)
    assert ds.X.tolist() == [[1], [2]]


def test_labels_decide_the_task():
    def labelled(*labels):
        return read_dataset(("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))).encode())

    assert labelled(10, 9, 10).classes == ("9", "10")  # sorted as numbers
    assert labelled("1.0", "-1", "1").y.tolist() == [1, -1, 1]  # 1.0 and 1 are one label
    three = labelled(2, 0, 7)
    assert (three.task, three.y.tolist(), three.classes) == ("multiclass", [1, 0, 2], ("0", "2", "7"))
    target = labelled(0.5, 1, 2)
    assert (target.task, target.y.tolist(), target.classes) == ("regression", [0.5, 1, 2], ())
    assert labelled(*range(30)).task == "regression"


def test_a_libsvm_file_is_read_with_zeros_filled_in(tmp_path):
    path = tmp_path / "small.svm"
    path.write_bytes(LIBSVM)
    ds = read_dataset(path)
    assert ds.X.tolist() == [[0.5, 0, 2], [0, 0.1, 0], [0, 0, 0]]
    assert (ds.y.tolist(), ds.feature_names) == ([1, -1, 1], ("x1", "x2", "x3"))


def test_an_archive_of_samples_is_read():
    ds = read_dataset_bytes(npz(X=X, y=Y, feature_names=np.array(["a", "b"])), "arrays.npz")
    assert (ds.name, ds.feature_names, ds.classes) == ("arrays", ("a", "b"), ("-1", "1"))
    assert np.array_equal(ds.X, X)
    assert np.array_equal(ds.y, Y)


def test_an_archive_of_gram_matrices_is_read():
    ds = read_dataset_bytes(npz(grams=GRAMS, y=np.array(["n", "y", "n", "y"]), kernel_names=["I", "J"]), "k.npz")
    assert (ds.n_features, ds.kernel_names, ds.classes) == (0, ("I", "J"), ("n", "y"))
    assert np.array_equal(ds.grams, GRAMS)
    assert read_dataset(npz(grams=np.eye(4), y=Y)).grams.shape == (1, 4, 4)


def test_bytes_without_a_name_are_told_apart_by_their_content():
    assert read_dataset(CSV).feature_names == ("height", "weight")
    assert read_dataset(LIBSVM).n_features == 3
    assert read_dataset(npz(X=X, y=Y)).n_features == 2
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
    (b"a,y\n1,x\n2,x\n", 'Every label in column "y" is "x"'),
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
    (b"not an archive", "not an npz archive"),
    (npz(X=X, y=Y)[:-30], "not an npz archive"),
    (npz(X=X), r"holds X \(4, 2\): no labels.* must hold y and X \(n, d\), or y and grams"),
    (npz(y=Y), r"holds y \(4,\): nothing to learn from"),
    (npz(X=X, y=Y[:3]), "X has 4 rows but y has 3 labels"),
    (npz(X=X, y=np.outer(Y, Y)), r"labels of bad.npz must have shape \(n,\)"),
    (npz(X=X, y=Y + 1j), "Array y of bad.npz must hold numbers or text"),
    (npz(X=X, y=np.array([1, np.nan, 1, -1])), "Array y of bad.npz holds nan"),
    (npz(X=X, y=np.ones(4)), "Every label in array y"),
    (npz(X=X[0], y=Y), "Array X of bad.npz must have 2 dimensions"),
    (npz(X=X.astype(str), y=Y), "Array X of bad.npz must hold real numbers"),
    (npz(X=np.where(X == 5, np.inf, X), y=Y), r"X\[2, 1\] is not a finite number"),
    (npz(X=np.array([[1, None]] * 4, dtype=object), y=Y), "Array X of bad.npz .* Python objects"),
    (npz(X=X, y=np.array([1, [], 1, 2], dtype=object)), "Array y of bad.npz .* Python objects"),
    (npz(grams=GRAMS[:, :3], y=Y), r"grams has shape \(2, 3, 4\); expected \(m, 4, 4\)"),
    (npz(grams=GRAMS[:0], y=Y), r"grams has shape \(0, 4, 4\)"),
    (npz(grams=np.ones(4), y=Y), "Array grams of bad.npz must have 3 dimensions"),
    (npz(grams=GRAMS + np.triu(np.ones((4, 4)), 1), y=Y), "Gram matrix 1 of array grams is not symmetric"),
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


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.csv cannot be read: No such file"):
        read_dataset(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="holds no files"):
        read_dataset(tmp_path)


def test_a_target_is_a_column_of_the_table():
    with pytest.raises(DataError, match=r'There is no column "colour". Columns: height, weight, kind.'):
        read_dataset(CSV, target="colour")
    with pytest.raises(DataError, match="has no use for target, which is for tables with named columns"):
        read_dataset(LIBSVM, target="y")


def test_an_address_of_the_web_is_read_or_named_as_such(tmp_path: Path) -> None:
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
    ],
    ids=range(10),
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
