"""The field's own formats: LIBSVM, ARFF, MATLAB, NumPy, JSON, packed files; new samples in each of them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _corpus import member
from _samples import HEAD, KERNELS, RNG, SAMPLES, TRAINED, WORDS, K, N, X, Y, is_the_table, matlab, read, rows, saved
from scipy.io import savemat
from scipy.sparse import csr_matrix, save_npz

import mklviz as mv
from mklviz.datasets import DataError, _file_kind, read_dataset_bytes
from mklviz.datasets._formats import formats, suffixes
from mklviz.datasets._formats import matlab as matlabs
from mklviz.recipe.new_samples import Columns

KEEL = HEAD.replace("integer", "real [-9.0, 9.0]").replace("class {", "Class{")
KEEL = KEEL.replace("@data", "@inputs a, 'b c', d\n@outputs Class\n@data")
SPARSE = "".join(f"{{0 {a}, 1 {b}, 2 {c}, 3 {word}}}\n" for (a, b, c), word in zip(X, WORDS, strict=True))


# -- LIBSVM


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("query", [True, False])
def test_what_scikit_learn_writes_as_libsvm_text_is_read_as_it_reads_it(zero_based: bool, query: bool) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    file = io.BytesIO()
    sparse = np.where(RNG.random(X.shape) < 0.3, 0.0, X)
    sparse[0, 0] = 1.5
    sparse[5] = 0.0  # a row of a label alone
    datasets.dump_svmlight_file(sparse, Y, file, zero_based=zero_based, query_id=Y if query else None)
    data = read(file.getvalue(), "x.svm")
    theirs, labels = datasets.load_svmlight_file(io.BytesIO(file.getvalue()))
    assert np.allclose(data.X, theirs.toarray())
    assert np.array_equal(data.y > 0, labels > 0)


NO_KERNEL = np.where(K > 0.1, RNG.normal(size=(N, N)), 0.0)


@pytest.mark.parametrize(
    ("matrix", "first", "gram"),
    [(K, 0, True), (K, 1, True), (np.where(K > 0.1, K, 0.0), 1, True), (NO_KERNEL, 1, False), (X, 1, False)],
    ids=["counted from 0", "counted from 1", "zeros left out", "features of zeros", "features"],
)
def test_precomputed_kernels_of_libsvm_are_gram_matrices_and_features_counted_from_0_are_none(
    matrix: np.ndarray, first: int, gram: bool
) -> None:
    lines = (
        f"{Y[i]} 0:{i + first} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value)
        for i, row in enumerate(matrix.tolist())
    )
    data = read("\n".join(lines), "kernel.txt")
    assert (data.grams is not None) is gram
    assert np.allclose(data.X[:, 1:] if data.grams is None else data.grams[0], matrix)


def test_several_labels_a_sample_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="several labels a sample"):
        read("1,2 1:0.5\n1 2:0.5\n", "x.svm")


# -- ARFF


@pytest.mark.parametrize(
    "content",
    [
        HEAD + rows(),
        "% by Prof. Hofmann, 1994's\n%\n\n" + HEAD.upper().replace("NO,YES", "no,yes") + "% more\n" + rows(),
        HEAD + SPARSE,
        KEEL + rows(separator=", "),
        HEAD + rows(lambda i: f"'{WORDS[i]}'"),
        HEAD + rows().replace("\n", ",\n"),
        HEAD + rows(separator="\t"),
        HEAD + rows().replace("\n", ", {2.0}\n"),
        HEAD + rows() + "1,2\n",
    ],
    ids=["plain", "comments", "sparse", "KEEL", "quotes", "commas at the ends", "tabs", "weights", "a short row"],
)  # fmt: skip
def test_arff_in_every_dialect_is_the_same_table(content: str) -> None:
    data = read(content, "x.arff")
    assert is_the_table(data)
    assert data.feature_names[1].lower() == "b c"
    assert data.classes == ("no", "yes")


def test_the_outputs_of_keel_are_the_target_missing_values_missing_and_sparse_rows_leave_out_zeros() -> None:
    head = HEAD.replace("@data", "@inputs a, d, class\n@outputs 'b c'\n@data")
    data = read(head + rows() + "?,0.5,<null>,no\n", "x.dat")
    assert data.task == "regression"
    assert any("as the file says" in note for note in data.notes)
    assert any("1 row is left out, where a value is missing" in note for note in data.notes)
    data = read(HEAD + "".join(f"{{0 {i}.5, 3 yes}}\n{{1 2.5}}\n" for i in range(1, 5)), "x.arff")
    assert data.X[:2].tolist() == [[1.5, 0.0, 0.0], [0.0, 2.5, 0.0]]
    assert data.y[:2].tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("@relation t\n@attribute a numeric\n", "without @data"),
        ("@relation t\n@data\n1,2\n", "no @attribute line"),
        ("@relation t\n@attribute a relational\n@data\n", "an attribute is numeric"),
        (HEAD, "no rows below @data"),
        (HEAD + "1,2\n", "2 values; the header declares 4"),
        (HEAD + "{9 1}\n", "index from 0 to 3"),
    ],
)
def test_damaged_arff_is_refused_in_a_sentence(content: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(content, "x.arff")


# -- arrays


WRITERS = pytest.mark.parametrize(("write", "name"), [(saved, "file.npz"), (matlab, "file.mat")], ids=["npz", "mat"])


@WRITERS
@pytest.mark.parametrize(
    "arrays",
    [
        {"X": X, "y": Y},
        {"data": X, "labels": Y},
        {"fea": X, "gnd": Y + 1},
        {"measured": X, "whose": Y},
        {"X": X.T, "y": Y},
        {"X": X, "Y": np.eye(2)[Y]},
        {"X": X, "y": Y[:, None].astype(float)},
    ],
    ids=["X y", "data labels", "fea gnd", "any names", "transposed", "a column for each class", "a column"],
)
def test_arrays_under_any_names_are_samples_and_labels(write, name: str, arrays: dict[str, Any]) -> None:
    assert is_the_table(read(write(**arrays), name))


@WRITERS
@pytest.mark.parametrize(
    "kernels",
    [
        {"grams": KERNELS},
        {"K": np.moveaxis(KERNELS, 0, -1)},
        {"first": KERNELS[0], "second": KERNELS[1], "third": KERNELS[2]},
        {"K": np.triu(KERNELS)},
    ],
    ids=["m n n", "n n m", "one each", "upper triangles"],
)
def test_kernels_in_any_order_are_gram_matrices(write, name: str, kernels: dict[str, Any]) -> None:
    data = read(write(**kernels, y=Y), name)
    assert data.grams is not None
    bank = mv.KernelBank.from_grams(data.grams, names=data.kernel_names)
    assert np.allclose(bank.combine(np.ones(3)), KERNELS.sum(0))
    if len(kernels) == 3:
        assert data.kernel_names == ("first", "second", "third")


PICTURES = RNG.integers(0, 255, (N, 5, 5, 3)).astype(np.uint8)
GREY = PICTURES[..., 0]


@WRITERS
@pytest.mark.parametrize(
    "arrays",
    [
        {"X": GREY, "y": Y},
        {"images": PICTURES, "labels": Y},
        {"x": np.moveaxis(PICTURES, 0, -1), "y": Y},
        {"x_train": GREY[:TRAINED], "y_train": Y[:TRAINED], "x_test": GREY[TRAINED:], "y_test": Y[TRAINED:]},
    ],
    ids=["grey", "coloured", "the last axis", "some to test"],
)
def test_pictures_are_rows_of_their_points(write, name: str, arrays: dict[str, Any]) -> None:
    data = read(write(**arrays), name)
    assert data.grams is None
    assert np.array_equal(data.y > 0, Y == 1)
    assert np.array_equal(data.X, (GREY if data.n_features == 25 else PICTURES).reshape(N, -1))
    assert ([] if data.held_out is None else data.held_out.tolist()) == (
        [False] * TRAINED + [True] * 10 if "x_test" in arrays else []
    )


def test_structs_cells_objects_and_sparse_arrays_are_looked_into_and_either_order_of_bytes_is_read() -> None:
    cells = np.empty((1, 3), dtype=object)
    cells[0, :] = list(KERNELS)
    names = np.empty((N, 1), dtype=object)
    names[:, 0] = list(WORDS)
    data = read(matlab(problem={"K": cells, "labels": names}), "file.mat")
    assert np.allclose(data.grams, KERNELS)
    assert data.classes == ("no", "yes")
    assert is_the_table(read(matlab(A=csr_matrix(X), y=Y), "file.mat"))
    structs = np.empty((1, 3), dtype=[("K", object), ("name", object)])
    structs[0, :] = [(kernel, f"k{k}") for k, kernel in enumerate(KERNELS)]
    assert np.allclose(read(matlab(kernels=structs, y=Y), "file.mat").grams, KERNELS)
    assert is_the_table(read(saved(X=X.astype(object), y=Y), "x.npz"))
    table = np.column_stack([np.arange(30) * 0.5, np.arange(30) % 7, np.arange(30) % 2])
    one, other = (read_dataset_bytes(member(table.astype(kind)), "t.npy") for kind in ("<f8", ">f8"))
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.y, other.y)
    with pytest.raises(DataError, match="is no table"):
        read_dataset_bytes(member(np.zeros(30, [("a", float, 3), ("y", int)])), "t.npy")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_arrays_of_half_precision_are_read(kind: str, tmp_path: Path) -> None:
    table = csr_matrix(np.maximum(X, 0.0)).asformat(kind)
    places = (
        {"row": table.row, "col": table.col} if kind == "coo" else {"indices": table.indices, "indptr": table.indptr}
    )
    half = table.data.astype(np.float16)
    np.savez(tmp_path / "x.npz", data=half, shape=table.shape, format=kind.encode(), **places)
    np.save(tmp_path / "y.npy", Y)
    np.testing.assert_allclose(mv.read_dataset([tmp_path / "x.npz", tmp_path / "y.npy"]).X, table.toarray(), rtol=1e-3)


def test_arff_with_quotes_of_both_kinds_in_a_row() -> None:
    words = ("'x, \"1\"'", '"it\'s"', "don\\'t")
    head = f"@relation r\n@attribute a real\n@attribute 'my word' {{{', '.join(words)}}}\n@attribute y {{p,q}}\n@data\n"
    body = "".join(f"{i}.5, {words[i % 3]}, {'pq'[i % 2]}\n" for i in range(30))
    names = ("a", *(f"my word={word}" for word in ("don't", "it's", 'x, "1"')))
    assert read(head + body, "x.arff").feature_names == names
    sparse = "".join(f"{{0 {i}.5, 1 {words[i % 2]}, 2 {'pq'[i % 2]}}}\n" for i in range(30))
    assert read(head + sparse, "x.arff").feature_names == ("a", 'my word=x, "1"')


def test_kernels_that_are_none_are_named_and_not_taken_for_features() -> None:
    hole, skew = K.copy(), K + np.triu(K, 1)
    hole[2, 3] = hole[3, 2] = np.nan
    with pytest.raises(DataError, match="Gram matrix 0 of array A holds nan between samples 2 and 3"):
        read(saved(A=hole, y=Y), "x.npz")
    with pytest.raises(DataError, match="Gram matrix 0 of array K1 is not symmetric"):
        read(saved(K1=skew, y=Y), "x.npz")
    assert "Not symmetric, and read as features: A." in read(saved(A=skew, y=Y), "x.npz").notes


def test_several_tables_of_arrays_are_views_and_what_plays_no_part_or_is_missing_is_named() -> None:
    data = read(saved(sound=X, picture=np.hstack([X, X**2]), y=Y), "views.npz")
    assert data.groups == ((0, 1, 2), tuple(range(3, 9)))
    assert data.feature_names[3] == "picture: 1"
    data = read(saved(X_train=X, y_train=Y, old=X[:7], seen=Y[:7]), "x.npz")
    assert is_the_table(data)
    assert "Not used of x.npz: old (7, 3), seen (7,)." in data.notes
    assert is_the_table(read(saved(measured=X, whose=Y, rate=0.5), "x.npz"))
    with pytest.raises(DataError, match=r"holds X \(40, 3\), Z \(7, 2\): no labels"):
        read(saved(X=X, Z=np.ones((7, 2))), "x.npz")


def test_labels_that_are_python_objects_are_read_without_unpickling(monkeypatch: pytest.MonkeyPatch) -> None:
    content = saved(X=X, y=np.array(WORDS.tolist(), dtype=object))
    for name in ("load", "loads"):
        monkeypatch.setattr(f"pickle.{name}", lambda *_a, **_k: pytest.fail("unpickled"))
    assert is_the_table(read(content, "x.npz"))
    assert is_the_table(read(saved(X=X, y=Y.astype(object)), "x.npz"))


def test_a_single_array_is_a_table_whose_last_column_is_the_target() -> None:
    file, packed, both = io.BytesIO(), io.BytesIO(), np.column_stack([X, Y])
    np.save(file, both)
    save_npz(packed, csr_matrix(both))
    assert is_the_table(read(file.getvalue(), "x.npy"))
    for content, name in (
        (saved(arr_0=both), "x.npz"),
        (saved(A=both), "x.npz"),
        (packed.getvalue(), "x.npz"),
        (matlab(A=both), "x.mat"),
    ):
        assert is_the_table(read(content, name))
        assert read(content, name, target="x1").task == "regression"
    for kind, write in (("npz", saved), ("mat", matlab)):
        with pytest.raises(DataError, match=r"x\.... holds X \(40, 3\): no labels"):
            read(write(X=X), f"x.{kind}")
    with pytest.raises(DataError, match="cut off"):
        read(file.getvalue()[:-80], "x.npy")


def test_matlabs_version_7_3_is_read_or_says_what_reads_it() -> None:
    content = b"\x89HDF\r\n\x1a\n" + b"\0" * 100
    for before in (b"MATLAB 7.3 MAT-file" + b" " * 493, b""):
        with pytest.raises(DataError, match=r"install h5py, or save it with|cannot be read as HDF5"):
            read(before + content, "x.mat")


# -- packed


@pytest.mark.parametrize("name", ["x.svm", "x.arff", "x.npz", "x.csv"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_packed_files_are_read_as_what_is_in_them(name: str, pack: Callable[[bytes], bytes]) -> None:
    contents = {
        "x.svm": "".join(f"{y} 1:{a} 2:{b} 3:{c}\n" for y, (a, b, c) in zip(Y, X.tolist(), strict=True)).encode(),
        "x.arff": (HEAD + rows()).encode(),
        "x.npz": saved(X=X, y=Y),
        "x.csv": ("a,b,c,class\n" + rows()).encode(),
    }
    assert is_the_table(read(pack(contents[name]), f"{name}.gz"))


# -- JSON

RECORDS = [{"a": a, "b": b, "c": c, "class": word} for (a, b, c), word in zip(X.tolist(), WORDS.tolist(), strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=1),
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps({key: [record[key] for record in RECORDS] for key in RECORDS[0]}),
        json.dumps({"columns": [*RECORDS[0]], "data": [[*record.values()] for record in RECORDS]}),
        *(pd.DataFrame(RECORDS).to_json(orient=orient) for orient in ("records", "split", "columns", "table", "index")),
        pd.DataFrame(RECORDS, SAMPLES).to_json(orient="index"),
        pd.DataFrame(RECORDS).to_json(orient="values"),
        pd.DataFrame(RECORDS, SAMPLES).assign(**{"class": Y}).to_json(orient="index"),
        pd.DataFrame(RECORDS, SAMPLES).assign(**{"class": Y}).to_json(orient="columns"),
    ],
    ids=["records", "indented", "lines", "columns", "split", *(f"pandas {k}" for k in range(9))],
)
def test_a_table_in_json_is_read(text: str) -> None:
    assert is_the_table(read(text, "t.json"))


@pytest.mark.parametrize("orient", ["columns", "index"])
@pytest.mark.parametrize(("last", "options"), [("y", {}), ("c39", {"target": "c3"})])
def test_objects_in_json_are_what_the_target_tells(orient: Any, last: str, options: dict[str, str]) -> None:
    wide = pd.DataFrame(X.T, ["p", "q", "r"], [*(f"c{k}" for k in range(N - 1)), last])
    data = read(wide.to_json(orient=orient), "t.json", **options)
    assert data.X.shape == (3, N - 1)
    assert f"Each of its objects is taken to hold a {orient.replace('index', 'row').removesuffix('s')}." in data.notes


def test_arrays_in_json_are_bounded_and_heed_no_options_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"X": X.tolist(), "y": WORDS.tolist()})
    with pytest.raises(DataError, match="no use for target"):
        read(text, "x.json", target="a")
    monkeypatch.setattr(_file_kind, "LIMITS", replace(_file_kind.LIMITS, rows=N - 1))
    with pytest.raises(DataError, match="at most 39 rows"):
        read(text, "x.json")


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", '[{"a": 1}, [2]]', '{"type": "map", "features": []}'])
def test_json_without_a_table_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="is JSON without a table: expected a list of records"):
        read(text, "t.json")
    with pytest.raises(DataError, match="is no JSON that can be read"):
        read(json.dumps(RECORDS)[:-9], "t.json")
    with pytest.raises(DataError, match="is no JSON that can be read"):
        read("[" * 100_000, "t.json")


def test_every_format_says_its_names() -> None:
    assert {".arff", ".svm", ".mat", ".npz", ".npy", ".json"} <= set(suffixes())
    assert len(formats()) == 6


def test_new_samples_need_all_columns_and_no_target_in_any_format() -> None:
    header = "@relation r\n@attribute a numeric\n@attribute b numeric\n"
    lines = "".join(f"{i},{i % 5},{'pq'[i % 2]}\n" for i in range(30))
    columns = Columns.of(read(f"{header}@attribute class {{p,q}}\n@data\n{lines}", "t.arff"))
    new = columns.table(f"{header}@data\n1,4\n2,?\n".encode(), "new.arff")
    assert new.features(columns.names)[0][0].tolist() == [1.0, 4.0]
    assert len(new.frame) == 2
    with pytest.raises(DataError, match='needs the column "b"'):
        columns.read(columns.table(b"@relation r\n@attribute a numeric\n@data\n1\n2\n", "new.arff"))
    table = np.column_stack([np.arange(30) * 0.5, np.arange(30) % 7, np.arange(30) % 2])
    columns = Columns.of(read_dataset_bytes(member(table), "t.npy"))
    assert np.array_equal(columns.read(columns.table(member(table[:, :2]), "new.npy"))[0], table[:, :2])
    columns = Columns.of(read("".join(f"{i % 2} 1:{i} 2:{i % 7}\n" for i in range(30)), "t.svm"))
    assert columns.read(columns.table(b"0 1:3 2:4\n0 1:2\n", "new.svm"))[0].tolist() == [[3.0, 4.0], [2.0, 0.0]]
    columns = Columns.of(read("a,y\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(30)), "t.csv"))
    assert columns.read(columns.table(b"a\n1.5\n2.5\n3.5\n", "new.csv"))[0].tolist() == [[1.5], [2.5], [3.5]]


def test_a_new_table_is_read_as_the_one_learned_from_was() -> None:
    lines = "".join(f"{i} kg,{['NA', 'US'][i % 2]},{['EU', 'NA'][i % 2]}\n" for i in range(30))
    columns = Columns.of(read(f"w,where,class\n{lines}", "t.csv"))
    new = columns.table(b"w,where,class\n3 kg,NA,NA\n4 kg,NA,NA\n", "new.csv")
    assert columns.read(new)[0].tolist() == [[3.0, 0.0], [4.0, 0.0]]
    assert new.texts("class") == ["NA", "NA"]
    with pytest.raises(DataError, match='Column "w" is in g, and the model learned it in kg: convert it'):
        columns.table(b"w,where\n3000 g,US\n4000 g,US\n", "new.csv")
    X, notes = columns.read(columns.table(b"w,where\n3,US\n4,US\n", "new.csv"))
    assert X.tolist() == [[3.0, 1.0], [4.0, 1.0]]
    assert 'Column "w" has no unit: its numbers are taken to be in kg.' in notes
    lines = "".join(f"{i} kg,{i % 7}cm,{'pq'[i % 2]}\n" for i in range(30))  # other units in what was left out
    columns = Columns.of(read(f"w,seat,y\n{lines}", "t.csv", leave_out=["seat"]))
    assert columns.read(columns.table(b"w,seat\n12 kg,3mm\n", "new.csv"))[0].tolist() == [[12.0]]


def test_what_is_packed_in_cells_of_matlab_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = np.zeros(100_000)
    savemat(file, {"X": np.eye(3), "c": cell}, do_compression=True)
    monkeypatch.setattr(matlabs, "LIMITS", replace(matlabs.LIMITS, cells=1000))
    with pytest.raises(DataError, match="unpacks to more than"):
        matlabs.arrays_in(file.getvalue(), "bomb.mat", 1000)


@pytest.mark.parametrize(("place", "byte"), [(176, 8), (177, 8), (145, 8)])
def test_parts_of_matlab_that_are_of_no_known_kind_are_refused(place: int, byte: int) -> None:
    file = io.BytesIO()
    savemat(file, {"X": np.ones((3, 2)), "y": [1, -1, 1]})
    changed = bytearray(file.getvalue())
    changed[place] = byte
    with pytest.raises(DataError, match="cannot be read as MATLAB's"):
        read_dataset_bytes(bytes(changed), "x.mat")


@pytest.mark.parametrize("kind", ["{}th", "0{}A", "{}D"])
def test_ordinals_and_codes_are_no_numbers_with_a_unit(kind: str) -> None:
    data = read("a,class\n" + "".join(f"{i},{kind.format(4 + i % 2)}\n" for i in range(30)), "t.csv")
    assert set(data.classes) == {kind.format(4), kind.format(5)}


def test_rows_below_those_in_quotes_are_whole() -> None:
    quoted = "".join(f'"{i},{i % 9},{"pq"[i % 2]}"\n' for i in range(1100))
    data = read(f'"a,b,y"\n{quoted}71,3,p\n81,3,q\n', "t.csv")
    assert len(data.y) == 1102
    assert data.X[-2:].tolist() == [[71.0, 3.0], [81.0, 3.0]]
