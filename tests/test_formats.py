"""The field's own formats: LIBSVM, ARFF, MATLAB, NumPy, matrices in text, packed files, several files as one."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmwrite, savemat
from scipy.sparse import coo_matrix, csr_matrix, save_npz

import mklviz as mv
from mklviz.datasets import DataError, Dataset, GramFiles, _bounds, _gram_files, read_dataset, read_dataset_bytes
from mklviz.datasets._formats import _arrays, formats, suffixes
from mklviz.datasets._formats import matlab as matlabs
from mklviz.kernels.families._family import squared_distances
from mklviz.recipe import Recipe
from mklviz.recipe.choices import digest
from mklviz.recipe.new_samples import Columns

RNG = np.random.default_rng(3)
N = 40
X = RNG.normal(size=(N, 3)).round(3)
Y = (X[:, 0] > 0).astype(int)
WORDS = np.where(Y, "yes", "no")
K = np.exp(-squared_distances(X, X))
KERNELS = np.stack([K, X @ X.T, np.exp(-0.1 * squared_distances(X, X))])
HEAD = (
    "@relation t\n@attribute a numeric\n@attribute 'b c' REAL\n@attribute d integer\n@attribute class {no,yes}\n@data\n"
)
KEEL = HEAD.replace("integer", "real [-9.0, 9.0]").replace("class {", "Class{")
KEEL = KEEL.replace("@data", "@inputs a, 'b c', d\n@outputs Class\n@data")
SPARSE = "".join(f"{{0 {a}, 1 {b}, 2 {c}, 3 {word}}}\n" for (a, b, c), word in zip(X, WORDS, strict=True))


def read(content: str | bytes, name: str, **options: Any) -> Dataset:
    """Return what a file holds."""
    return read_dataset_bytes(content.encode() if isinstance(content, str) else content, name, **options)


def rows(label: Callable[[int], str] = lambda i: WORDS[i], separator: str = ",") -> str:
    """Return the samples as lines."""
    return "".join(separator.join([*map(str, x), label(i)]) + "\n" for i, x in enumerate(X))


def saved(**arrays: Any) -> bytes:
    """Return an archive of arrays as NumPy writes it."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def matlab(**arrays: Any) -> bytes:
    """Return what SciPy writes for MATLAB."""
    file: Any = io.BytesIO()  # the stubs know paths only
    savemat(file, arrays, do_compression=True)
    return bytes(file.getvalue())


def text(matrix: Any, **options: Any) -> bytes:
    """Return what NumPy writes as text."""
    file = io.BytesIO()
    np.savetxt(file, matrix, **options)
    return file.getvalue()


def is_the_table(data: Dataset) -> bool:
    """Whether samples and classes are those above."""
    return np.allclose(data.X, X) and np.array_equal(data.y > 0, Y == 1) and data.task == "binary"


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


def test_precomputed_kernels_of_libsvm_are_gram_matrices() -> None:
    lines = (
        f"{Y[i]} 0:{i + 1} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row))
        for i, row in enumerate(K.tolist())
    )
    data = read("\n".join(lines), "kernel.txt")
    assert data.grams is not None
    assert np.allclose(data.grams, K)


def test_precomputed_kernels_of_libsvm_may_leave_out_zeros_and_features_counted_from_0_are_none() -> None:
    sparse = np.where(K > 0.1, K, 0.0)
    for matrix, gram in ((sparse, True), (np.where(K > 0.1, RNG.normal(size=(N, N)), 0.0), False), (X, False)):
        lines = (
            f"{Y[i]} 0:{i + 1} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value)
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


def test_the_outputs_of_keel_are_the_target_and_missing_values_are_missing() -> None:
    head = HEAD.replace("@data", "@inputs a, d, class\n@outputs 'b c'\n@data")
    data = read(head + rows() + "?,0.5,<null>,no\n", "x.dat")
    assert data.task == "regression"
    assert any("as the file says" in note for note in data.notes)
    assert any("1 row is left out, where a value is missing" in note for note in data.notes)


def test_sparse_rows_leave_out_zeros_and_first_words() -> None:
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


@pytest.mark.parametrize("write", [saved, matlab], ids=["npz", "mat"])
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
def test_arrays_under_any_names_are_samples_and_labels(write: Callable[..., bytes], arrays: dict[str, Any]) -> None:
    assert is_the_table(read(write(**arrays), "file." + ("npz" if write is saved else "mat")))


@pytest.mark.parametrize("write", [saved, matlab], ids=["npz", "mat"])
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
def test_kernels_in_any_order_are_gram_matrices(write: Callable[..., bytes], kernels: dict[str, Any]) -> None:
    data = read(write(**kernels, y=Y), "file." + ("npz" if write is saved else "mat"))
    assert data.grams is not None
    bank = mv.KernelBank.from_grams(data.grams, names=data.kernel_names)
    assert np.allclose(bank.combine(np.ones(3)), KERNELS.sum(0))
    if len(kernels) == 3:
        assert data.kernel_names == ("first", "second", "third")


PICTURES = RNG.integers(0, 255, (N, 5, 5, 3)).astype(np.uint8)


@pytest.mark.parametrize("write", [saved, matlab], ids=["npz", "mat"])
@pytest.mark.parametrize(
    "arrays",
    [{"X": PICTURES[..., 0], "y": Y}, {"images": PICTURES, "labels": Y}, {"x": np.moveaxis(PICTURES, 0, -1), "y": Y}],
    ids=["grey", "coloured", "the last axis"],
)
def test_pictures_are_rows_of_their_points(write: Callable[..., bytes], arrays: dict[str, Any]) -> None:
    data = read(write(**arrays), "p." + ("npz" if write is saved else "mat"))
    assert data.grams is None
    assert np.array_equal(data.y > 0, Y == 1)
    assert np.array_equal(data.X, (PICTURES[..., 0] if data.n_features == 25 else PICTURES).reshape(N, -1))


def test_pictures_to_test_stand_beside_others() -> None:
    grey = PICTURES[..., 0]
    parts = {"x_train": grey[:TRAINED], "y_train": Y[:TRAINED], "x_test": grey[TRAINED:], "y_test": Y[TRAINED:]}
    data = read(saved(**parts), "p.npz")
    assert data.held_out is not None
    assert data.held_out.sum() == 10
    assert np.array_equal(data.X, grey.reshape(N, -1))


def test_structs_cells_and_sparse_arrays_of_matlab_are_looked_into() -> None:
    cells = np.empty((1, 3), dtype=object)
    cells[0, :] = list(KERNELS)
    names = np.empty((N, 1), dtype=object)
    names[:, 0] = list(WORDS)
    data = read(matlab(problem={"K": cells, "labels": names}), "file.mat")
    assert data.grams is not None
    assert np.allclose(data.grams, KERNELS)
    assert data.classes == ("no", "yes")
    assert is_the_table(read(matlab(A=csr_matrix(X), y=Y), "file.mat"))


def test_arrays_of_structs_and_objects_are_looked_into() -> None:
    structs = np.empty((1, 3), dtype=[("K", object), ("name", object)])
    structs[0, :] = [(kernel, f"k{k}") for k, kernel in enumerate(KERNELS)]
    data = read(matlab(kernels=structs, y=Y), "file.mat")
    assert data.grams is not None
    assert np.allclose(data.grams, KERNELS)
    assert is_the_table(read(saved(X=X.astype(object), y=Y), "x.npz"))


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


def test_several_tables_of_arrays_are_views() -> None:
    data = read(saved(sound=X, picture=np.hstack([X, X**2]), y=Y), "views.npz")
    assert data.groups == ((0, 1, 2), tuple(range(3, 9)))
    assert data.feature_names[3] == "picture: 1"


def test_labels_that_are_python_objects_are_read_without_unpickling(monkeypatch: pytest.MonkeyPatch) -> None:
    content = saved(X=X, y=np.array(WORDS.tolist(), dtype=object))
    monkeypatch.setattr("pickle.load", lambda *_a, **_k: pytest.fail("unpickled"))
    monkeypatch.setattr("pickle.loads", lambda *_a, **_k: pytest.fail("unpickled"))
    assert is_the_table(read(content, "x.npz"))
    assert is_the_table(read(saved(X=X, y=Y.astype(object)), "x.npz"))


def test_objects_that_are_no_texts_are_refused() -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("it ran",))

    for objects in ([Evil()] * N, [["no"]] * (N - 1) + [["no", "yes"]]):
        y = np.empty(N, dtype=object)
        y[:] = objects
        with pytest.raises(DataError, match="Python objects other than texts"):
            read(saved(X=X, y=y), "x.npz")


def test_what_an_archive_holds_is_said_where_labels_are_missing() -> None:
    with pytest.raises(DataError, match=r"holds X \(40, 3\), Z \(7, 2\): no labels"):
        read(saved(X=X, Z=np.ones((7, 2))), "x.npz")


def test_arrays_that_play_no_part_are_named() -> None:
    data = read(saved(X_train=X, y_train=Y, old=X[:7], seen=Y[:7]), "x.npz")
    assert is_the_table(data)
    assert "Not used of x.npz: old (7, 3), seen (7,)." in data.notes
    assert is_the_table(read(saved(measured=X, whose=Y, rate=0.5), "x.npz"))


def test_a_single_array_is_a_table_whose_last_column_is_the_target() -> None:
    file = io.BytesIO()
    np.save(file, np.column_stack([X, Y]))
    assert is_the_table(read(file.getvalue(), "x.npy"))
    with pytest.raises(DataError, match="cut off"):
        read(file.getvalue()[:-80], "x.npy")


def test_matlabs_version_7_3_is_read_or_says_what_reads_it() -> None:
    content = b"\x89HDF\r\n\x1a\n" + b"\0" * 100
    for before in (b"MATLAB 7.3 MAT-file" + b" " * 493, b""):
        with pytest.raises(DataError, match=r"install h5py, or save it with|cannot be read as HDF5"):
            read(before + content, "x.mat")


# -- matrices in text


@pytest.mark.parametrize(
    "content",
    [
        text(np.column_stack([K, Y]), delimiter=","),
        text(np.column_stack([Y, K])),
        pd.DataFrame(K).assign(label=WORDS).to_csv(index=False),
    ],
    ids=["last column", "first column", "named by pandas"],
)
def test_labels_may_stand_beside_a_matrix_in_text(content: str | bytes) -> None:
    data = read(content, "k.csv")
    assert data.grams is not None
    assert np.allclose(data.grams, K)
    assert np.array_equal(data.y > 0, Y == 1)


def test_a_matrix_without_labels_asks_for_them() -> None:
    with pytest.raises(DataError, match="a kernel or distances, without labels"):
        read(text(K), "k.csv")


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


def zipped(**files: bytes) -> bytes:
    """Return an archive of files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
        archive.writestr("__MACOSX/._x", b"\0\0")
    return file.getvalue()


def test_a_zip_with_one_file_is_that_file_and_with_several_one_data_set() -> None:
    assert is_the_table(read(zipped(x_arff=(HEAD + rows()).encode()), "x.zip"))
    data = read(zipped(first_csv=text(K), second_txt=text(KERNELS[1], delimiter=","), y_csv=text(Y, fmt="%d")), "k.zip")
    assert data.kernel_names == ("first", "second")
    assert data.grams is not None
    assert np.allclose(data.grams, KERNELS[:2])


# -- several files


def written(folder: Path, **files: str | bytes) -> list[Path]:
    """Write files, whose names have _ for the point, and return their paths."""
    paths = []
    for name, content in files.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


@pytest.mark.parametrize(
    "matrix",
    [
        text(K),
        text(K, delimiter=","),
        pd.DataFrame(K).to_csv(),
        "".join(" ".join(map(repr, K[i, i:].tolist())) + "\n" for i in range(N)),
        "".join(" ".join(map(repr, K[i, : i + 1].tolist())) + "\n" for i in range(N)),
    ],
    ids=["blanks", "commas", "pandas", "upper triangle", "lower triangle"],
)
def test_a_matrix_with_its_labels_in_another_file(matrix: str | bytes, tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, k_csv=matrix, labels_txt="\n".join(WORDS)))
    assert data.grams is not None
    assert np.allclose(data.grams, K)
    assert data.classes == ("no", "yes")


def commas(matrix: Any) -> str:
    """Return a matrix as a spreadsheet writes it where commas are decimal."""
    return pd.DataFrame(matrix).to_csv(sep=";", decimal=",", header=False, index=False)


def sheet(frame: pd.DataFrame, **options: Any) -> bytes:
    """Return a frame as a workbook."""
    file: Any = io.BytesIO()
    frame.to_excel(file, **options)
    return bytes(file.getvalue())


SAMPLES = [f"s{i}" for i in range(N)]
NAMED = pd.DataFrame(K, SAMPLES, SAMPLES)
BARE: dict[str, Any] = {"header": False, "index": False}
CONTAINED = {
    "bare.xlsx": sheet(NAMED, **BARE),
    "named.xlsx": sheet(NAMED),
    "triangle.xlsx": sheet(NAMED.where(np.tri(N) > 0), **BARE),
    "k.parquet": NAMED.to_parquet(),
    "rows.json": json.dumps(K.tolist()).encode(),
    "split.json": NAMED.to_json(orient="split", double_precision=15).encode(),
    "commas.csv": commas(K).encode(),
    "commas.txt": commas(K).replace(";", "  ").encode(),
    "utf16.csv": NAMED.to_csv().encode("utf-16"),
    "padded.csv": NAMED.where(np.tri(N).T > 0).to_csv(**BARE).encode(),
}


@pytest.mark.parametrize("name", CONTAINED)
def test_a_kernel_in_any_file_of_tables_is_a_kernel(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(CONTAINED[name])
    data = read_dataset([tmp_path / name, *written(tmp_path, labels_txt="\n".join(WORDS))])
    assert data.grams is not None
    assert np.allclose(data.grams, K)
    assert data.classes == ("no", "yes")
    with pytest.raises(DataError, match="a kernel or distances, without labels"):
        read_dataset(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("k.xlsx", sheet(NAMED.assign(label=WORDS))),
        ("k.json", json.dumps([[*row, word] for row, word in zip(K.tolist(), WORDS.tolist(), strict=True)])),
        ("k.csv", "".join(f"{row};{word}\n" for row, word in zip(commas(K).splitlines(), WORDS, strict=True))),
        ("k.json", json.dumps({"K": K.tolist(), "y": WORDS.tolist()})),
        ("k.json", json.dumps({"kernels": [K.tolist()], "labels": WORDS.tolist()})),
    ],
)
def test_labels_may_stand_beside_a_kernel_in_any_file_of_tables(name: str, content: str | bytes) -> None:
    data = read(content, name)
    assert data.grams is not None
    assert np.allclose(data.grams, K)
    assert data.classes == ("no", "yes")
    assert data.n_features == 0


def test_samples_in_tables_of_other_programs_are_no_kernels(tmp_path: Path) -> None:
    assert is_the_table(read(json.dumps({"X": X.tolist(), "y": WORDS.tolist()}), "x.json"))
    table = pd.DataFrame(np.column_stack([X, Y]), columns=[*"abcy"])
    assert is_the_table(read(table.to_json(orient="split"), "x.json"))
    assert read(table[:4].to_json(orient="split"), "x.json").n_features == 3
    lists = {"size": [*range(N)], "tags": X.tolist(), "y": WORDS.tolist()}
    assert read(json.dumps(lists), "x.json").feature_names == ("size",)
    assert np.allclose(read_dataset(written(tmp_path, x_csv=commas(X), y_csv=text(Y))).X, X)


DISTANCES = np.sqrt(squared_distances(X, X)).round(6)
PAIRS = DISTANCES[np.triu_indices(N, 1)]
PHYLIP = [f"{name:<10}" + " ".join(map(str, row)) for name, row in zip(SAMPLES, DISTANCES.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.txt", text(PAIRS)),
        ("d.txt", "".join(" ".join(map(str, DISTANCES[i, i + 1 :])) + "\n" for i in range(N))),
        ("d.txt", "".join(" ".join(map(str, DISTANCES[i, :i])) + "\n" for i in range(N))),
        ("d.phy", "\n".join([str(N), *PHYLIP])),
        ("d.phy", "\n".join([f"  {N}", *(line.replace(" ", "\n  ", 40).replace("\n", " ", 10) for line in PHYLIP)])),
        ("d.dist", "\n".join([str(N), *(" ".join(line.split()[: i + 1]) for i, line in enumerate(PHYLIP))])),
    ],
    ids=["vector", "upper", "lower", "PHYLIP", "in several lines", "lower triangle of PHYLIP"],
)
def test_distances_are_a_matrix_however_they_are_written(name: str, content: str | bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    data = read_dataset([tmp_path / name, *written(tmp_path, labels_txt="\n".join(WORDS))])
    assert data.distances
    assert data.grams is not None
    assert np.allclose(data.grams, DISTANCES)


def test_distances_of_scipy_are_a_matrix_beside_their_labels() -> None:
    data = read(saved(first=PAIRS, second=PAIRS**2, y=Y), "d.npz")
    assert data.grams is not None
    assert np.allclose(data.grams, [DISTANCES, DISTANCES**2])
    data = read(matlab(d=PAIRS, whose=Y), "d.mat")
    assert data.grams is not None
    assert np.allclose(data.grams, DISTANCES)


def test_what_is_taken_for_distances_is_said_and_kernels_of_other_samples_are_refused() -> None:
    assert (
        "Taken for the distances between 40 samples, each pair once: d (780,)."
        in read(saved(d=PAIRS, y=Y), "d.npz").notes
    )
    for other in (K[1:, 1:], DISTANCES[1:, 1:], PAIRS - 1.0):
        with pytest.raises(DataError, match="nothing to learn from with 40 samples"):
            read(saved(d=other, y=Y), "d.npz")


@pytest.mark.parametrize("half", [np.triu, np.tril])
def test_the_test_rows_of_a_kernel_given_by_one_triangle_are_whole(half: Callable[..., Any]) -> None:
    parts = [read(saved(K=kernel, y=Y), "k.npz").split(seed=0)[1].grams for kernel in (half(K), K)]
    assert np.allclose(parts[0], parts[1])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_that_scipy_saves_are_kernels(kind: str, tmp_path: Path) -> None:
    cut = np.where(K > 0.1, K, 0.0) + N * np.eye(N)
    save_npz(tmp_path / "k.npz", getattr(csr_matrix(cut), f"to{kind}")())
    data = read_dataset([tmp_path / "k.npz", *written(tmp_path, labels_txt="\n".join(WORDS))])
    assert data.grams is not None
    assert np.allclose(data.grams, cut)


def test_matrix_market_is_a_kernel_or_samples(tmp_path: Path) -> None:
    labels = written(tmp_path, labels_txt="\n".join(WORDS))
    mmwrite(tmp_path / "k.mtx", coo_matrix(K), symmetry="symmetric")
    mmwrite(tmp_path / "x.mtx", csr_matrix(X))
    kernel = read_dataset([tmp_path / "k.mtx", *labels])
    assert kernel.grams is not None
    assert np.allclose(kernel.grams, K)
    assert np.allclose(read_dataset([tmp_path / "x.mtx", *labels]).X, X)
    with pytest.raises(DataError, match="without labels"):
        read_dataset(tmp_path / "k.mtx")
    with pytest.raises(DataError, match="too large"):
        read(b"%%MatrixMarket matrix coordinate real general\n900000 900000 1\n1 1 1\n", "k.mtx")
    with pytest.raises(DataError, match="does not begin as"):
        read("1 2 3\n4 5 6\n", "k.mtx")


def test_x_and_y_as_two_files_and_a_folder_of_kernels(tmp_path: Path) -> None:
    assert is_the_table(read_dataset(written(tmp_path, x_csv=text(X), y_csv=text(Y))))
    folder = tmp_path / "kernels"
    folder.mkdir()
    for k, matrix in enumerate(KERNELS):
        np.save(folder / f"kernel{k}.npy", matrix)
    np.save(folder / "labels.npy", Y)
    data = read_dataset(folder)
    assert data.kernel_names == ("kernel0", "kernel1", "kernel2")


def views() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables of the same samples, called by a column "id", in another order."""
    ids = np.array([f"s{i}" for i in range(N)])
    sound = pd.DataFrame({"id": ids, "loud": X[:, 0], "high": X[:, 1], "class": WORDS})
    picture = pd.DataFrame({"id": ids, "red": X[:, 2], "size": np.where(Y, "big", "small")})
    return sound, picture.sample(frac=1.0, random_state=1)


def test_tables_of_the_same_samples_are_views_matched_by_their_identifiers(tmp_path: Path) -> None:
    sound, picture = (view.to_csv(index=False) for view in views())
    data = read_dataset(written(tmp_path, sound_csv=sound, picture_csv=picture), target="sound: class")
    assert data.feature_names == ("sound: loud", "sound: high", "picture: red", "picture: size=small")
    assert data.groups == ((0, 1), (2, 3))
    assert np.allclose(data.X[:, :3], X)
    again = read_dataset(tmp_path)
    assert again.table is not None
    assert again.table.options.target == "sound: class"  # which is its name in the view
    with pytest.raises(DataError, match="different numbers of rows"):
        read_dataset(written(tmp_path, sound_csv="a,b\n1,x\n", picture_csv="c,d\n1,x\n2,y\n"))


@pytest.mark.parametrize("name", ["metadata_csv", "columns_csv"])
def test_a_table_that_describes_another_is_left_out(name: str, tmp_path: Path) -> None:
    about = "column,meaning\na,length\nb,width\nc,height\nclass,whether it is one\n"
    data = read_dataset(written(tmp_path, t_csv=HEADED + rows(), **{name: about}))
    assert is_the_table(data)
    assert f"{name[:-4]} is left out: it describes the others." in data.notes


def test_samples_that_a_view_lacks_are_said_and_left_out(tmp_path: Path) -> None:
    sound, picture = views()
    paths = written(tmp_path, sound_csv=sound.to_csv(index=False), picture_csv=picture[:-3].to_csv(index=False))
    data = read_dataset(paths, target="sound: class")
    assert len(data.y) == N - 3
    assert any("3 of 40 samples are missing in the view picture" in note for note in data.notes)


@pytest.mark.parametrize("lacking", ["picture", "sound"])
def test_the_mean_of_other_kernels_stands_for_those_of_a_view_that_lacks_a_sample(lacking: str, tmp_path: Path) -> None:
    sound, picture = (view.set_index("id", drop=False).loc[views()[0]["id"]] for view in views())
    sound, picture = (sound, picture[5:]) if lacking == "picture" else (sound[5:], picture.assign(kind=WORDS))
    paths = written(tmp_path, sound_csv=sound.to_csv(index=False), picture_csv=picture.to_csv(index=False))
    target = "sound: class" if lacking == "picture" else "picture: kind"
    whole = read_dataset(paths, target=target, missing_view="average")
    apart = read_dataset(paths, target=target, missing_view="leave-out")
    assert (whole.n_samples, apart.n_samples) == (N, N - 5)
    assert whole.absent is not None
    assert apart.absent is None
    assert whole.absent.sum(axis=0).tolist() == ([0, 5] if lacking == "picture" else [5, 0])
    recipe = mv.Recipe.from_words("kernels=linear@views; normalize=none; train=60%").on(whole)
    prepared = recipe.prepare()
    assert (prepared.train.n_features, len(prepared.problem.bank)) == (0, 2)
    train, _ = whole.split(train=0.6)
    assert train.groups is not None
    assert train.absent is not None
    first, second = (train.X[:, group] @ train.X[:, group].T for group in train.groups)
    gone = train.absent.any(axis=1)
    theirs, other = (second, first) if lacking == "picture" else (first, second)
    expected = np.where(gone[:, None] | gone[None, :], other, theirs)
    assert prepared.train.grams is not None
    assert np.allclose(prepared.train.grams[1 if lacking == "picture" else 0], expected)
    again = mv.Recipe.from_words(recipe.to_words())
    assert again == recipe
    assert again.data.missing_view == "average"


def test_a_target_that_stands_in_every_view_is_taken_once(tmp_path: Path) -> None:
    sound, picture = views()
    marked = picture.assign(**{"class": [WORDS[int(name[1:])] for name in picture["id"]]})
    paths = written(tmp_path, sound_csv=sound.to_csv(index=False), picture_csv=marked[:-3].to_csv(index=False))
    for given in ([*paths], [*paths][::-1]):
        for target in (None, "class"):
            data = read_dataset(given, target=target, missing="fill")
            assert not [name for name in data.feature_names if "class" in name]
            assert data.n_samples == N
    data = read_dataset(paths, target="class", missing_view="average")
    assert data.absent is not None
    assert data.absent.sum(axis=0).tolist() == [0, 3]
    both = {
        f"{name}_csv": view.drop(columns="id").to_csv(index=False) for name, view in zip("ab", views(), strict=True)
    }
    assert "The tables are joined row by row." in read_dataset(written(tmp_path, **both)).notes


@pytest.mark.parametrize(
    ("name", "written_as"), [("ID", "{}"), ("id", "{}.0"), ("id", "{:04d}"), ("sample_id", "{}"), ("who", "p{}")]
)
def test_samples_are_matched_however_they_are_written(name: str, written_as: str, tmp_path: Path) -> None:
    ids = [f"p{i}" if name == "who" else str(i) for i in range(N)]
    first = pd.DataFrame({"id": ids, "a": X[:, 0], "b": X[:, 1], "class": WORDS})
    second = pd.DataFrame({name: [written_as.format(i) for i in range(N)], "c": X[:, 2], "d": X[:, 2]})[::-1]
    data = read_dataset(written(tmp_path, one_csv=first.to_csv(index=False), two_csv=second.to_csv(index=False)))
    assert np.allclose(data.X[:, :3], X)


def test_a_sample_that_stands_twice_in_a_view_is_named(tmp_path: Path) -> None:
    sound, picture = views()
    picture.iloc[3, 0] = picture.iloc[5, 0]
    paths = written(tmp_path, sound_csv=sound.to_csv(index=False), picture_csv=picture.to_csv(index=False))
    with pytest.raises(DataError, match=f'picture has "{picture.iloc[5, 0]}" there more than once'):
        read_dataset(paths)


def test_a_view_of_one_column_is_no_target_beside_one_called_so(tmp_path: Path) -> None:
    sound, picture = views()
    alone = picture[["id", "red"]].to_csv(index=False)
    data = read_dataset(written(tmp_path, sound_csv=sound.to_csv(index=False), picture_csv=alone))
    assert data.classes == ("no", "yes")
    assert data.feature_names[2] == "red"


def test_a_kernel_whose_samples_are_called_takes_a_table_in_its_order(tmp_path: Path) -> None:
    sound, _ = views()
    names = sound["id"].sample(frac=1.0, random_state=3)
    order = names.index.to_numpy()
    kernel = pd.DataFrame(K, sound["id"], sound["id"]).loc[names, names].to_csv()
    for columns in (["id", "class"], ["id", "loud", "high", "class"]):
        data = read_dataset(written(tmp_path, k_csv=kernel, t_csv=sound[columns].to_csv(index=False)))
        assert data.grams is not None
        assert np.allclose(data.grams[0], K[np.ix_(order, order)])
        assert np.array_equal(np.array(data.classes)[(data.y > 0).astype(int)], WORDS[order])
        assert data.n_features == len(columns) - 2
    with pytest.raises(DataError, match="a kernel of 40 samples, and the table beside it has 30 rows"):
        read_dataset(written(tmp_path, k_csv=text(K), t_csv=sound[["loud", "class"]][:30].to_csv(index=False)))


def test_what_people_say_of_their_data_is_no_table(tmp_path: Path) -> None:
    written(tmp_path, README_txt="Two, words", LICENSE_txt="CC BY", Thumbs_db=b"\xd0\xcf", t_csv=HEADED + rows())
    assert is_the_table(read_dataset(tmp_path))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for path in sorted(tmp_path.glob("*.*")):
            if path.suffix != ".zip":
                archive.write(path, path.name)
    assert is_the_table(read_dataset(tmp_path / "t.zip"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (saved(X=X), pd.Series(WORDS, name="class").to_csv()),
        (pd.DataFrame(X, columns=[*"abc"]).to_csv(), pd.Series(WORDS, name="class").to_csv(index_label="index")),
        (pd.DataFrame(X, columns=[*"abc"]).to_csv(index=False), pd.Series(WORDS, name="class").to_csv()),
    ],
)
def test_row_numbers_beside_labels_are_no_feature(first: str | bytes, second: str, tmp_path: Path) -> None:
    assert is_the_table(read_dataset(written(tmp_path, x_dat=first, y_csv=second)))


def test_what_stands_beside_one_table_in_an_archive_is_no_table(tmp_path: Path) -> None:
    table = (HEADED + rows()).encode()
    beside = {"notes_txt": b"Measured in 1999,\nby us.\n", "load_py": b"import os\n", "Index": b"02 Dec 1996 Index\n"}
    assert is_the_table(read(zipped(t_csv=table, **beside), "t.zip"))
    written(tmp_path, t_csv=table, **beside)
    assert is_the_table(read_dataset(tmp_path))


def test_a_table_without_names_and_its_rows_to_test(tmp_path: Path) -> None:
    table = np.column_stack([X, Y])
    halves(read_dataset(written(tmp_path, t_trn=text(table[:TRAINED]), t_tst=text(table[TRAINED:]))))
    np.savez(tmp_path / "one.npz", table)
    assert is_the_table(read_dataset(tmp_path / "one.npz"))
    np.savetxt(tmp_path / "one.txt", table)
    assert read_dataset(tmp_path / "one.txt").classes == ("0", "1")
    records = pd.DataFrame(table, columns=list("abcy")).to_records(index=False)
    assert is_the_table(read(saved(mine=records), "x.npz"))
    assert read_dataset(written(tmp_path, x_csv=text(X), y_csv=text(Y))).classes == ("0", "1")


def test_labels_beside_identifiers_are_the_target_of_the_other_table(tmp_path: Path) -> None:
    sound, _ = views()
    labels = sound[["id", "class"]].sample(frac=1.0, random_state=2)
    data = read_dataset(
        written(tmp_path, x_csv=sound[["id", "loud", "high"]].to_csv(index=False), y_csv=labels.to_csv(index=False))
    )
    assert data.feature_names == ("loud", "high")
    assert np.allclose(data.X, X[:, :2])
    assert np.array_equal(np.array(data.classes)[(data.y > 0).astype(int)], WORDS)


# -- rows to test


HEADED = "a,b,c,class\n"
TRAINED = N - 10


def halves(data: Dataset) -> None:
    """Check that the last ten rows are tested, whatever the share and the seed."""
    assert data.held_out is not None
    assert data.held_out.tolist() == [False] * TRAINED + [True] * 10
    for seed in (0, 1):
        train, test = data.split(train=0.9, seed=seed, standardize=False)
        assert np.allclose(train.X, X[:TRAINED])
        assert np.allclose(test.X, X[TRAINED:])
        assert train.held_out is None
    assert data.n_train(0.9) == TRAINED


def tables() -> tuple[str, str]:
    lines = rows().splitlines(keepends=True)
    return HEADED + "".join(lines[:TRAINED]), HEADED + "".join(lines[TRAINED:])


@pytest.mark.parametrize(
    "names", [("train_csv", "test_csv"), ("t_csv", "t-test_csv"), ("t_data", "t_test"), ("test_csv", "train_csv")]
)
def test_files_called_alike_but_for_train_and_test_are_one(names: tuple[str, str], tmp_path: Path) -> None:
    texts = tables() if names[0] != "test_csv" else tables()[::-1]
    paths = written(tmp_path, **dict(zip(names, texts, strict=True)))
    data = read_dataset(paths)
    halves(data)
    assert "10 of 40 rows are tested, not trained on." in data.notes
    halves(read_dataset_bytes(zipped(**dict(zip(names, (text.encode() for text in texts), strict=True))), "t.zip"))


def test_a_second_file_holds_the_rows_to_test(tmp_path: Path) -> None:
    first, second = written(tmp_path, mine_csv=tables()[0], other_csv=tables()[1])
    for data in (read_dataset(first, test=second), read_dataset([first, second], test="other.csv")):
        halves(data)
        assert data.table is not None
        assert data.table.options.test == "other.csv"
    recipe = mv.Recipe().on(data)
    assert "test=other.csv" in recipe.to_words()
    assert recipe.data.source != mv.Recipe().on(replace(data, held_out=None)).data.source
    assert np.allclose(recipe.prepare().test.y, data.y[TRAINED:])
    with pytest.raises(DataError, match=r'has no column "class", which mine has.*can be predicted once'):
        read_dataset([first, *written(tmp_path, other_csv="a,b,c\n1,2,3\n2,3,4\n")], test="other.csv")
    with pytest.raises(DataError, match="Where one holds rows to test, call it mine_test, or say so: test"):
        read_dataset([first, *written(tmp_path, other_csv=tables()[1].replace("1", "2"))])
    with pytest.raises(DataError, match=r'"nowhere\.csv" is no column of it, and no file beside it'):
        read_dataset(first, test="nowhere.csv")


@pytest.mark.parametrize(
    ("name", "words"), [("set", ("train", "test")), ("is_train", ("1", "0")), ("is_test", ("no", "yes"))]
)
def test_a_column_says_which_rows_are_tested(name: str, words: tuple[str, str], tmp_path: Path) -> None:
    marked = "".join(f"{row},{words[i >= TRAINED]}\n" for i, row in enumerate(rows().splitlines()))
    data = read(f"a,b,c,class,{name}\n{marked}", "t.csv")
    halves(data)
    assert f'Column "{name}" is set aside: it says which rows are tested.' in data.notes
    assert read(f"a,b,c,class,{name}\n{marked}", "t.csv", leave_out=name).held_out is None
    with pytest.raises(DataError, match=r'some words begin with test and others do not.*"class" holds no, yes'):
        read(f"a,b,c,class,{name}\n{marked}", "t.csv", test="class", target="a")


def test_rows_to_test_of_libsvm_may_end_in_zeros_that_are_not_written(tmp_path: Path) -> None:
    made = [f"{Y[i]} " + " ".join(f"{j + 1}:{X[i, j]}" for j in range(3 if i < TRAINED else 2)) for i in range(N)]
    paths = written(tmp_path, a9a="\n".join(made[:TRAINED]), a9a_t="\n".join(made[TRAINED:]))
    for files in (paths, paths[::-1]):
        data = read_dataset(files)
        _, test = data.split(standardize=False)
        assert np.allclose(test.X, X[TRAINED:] * [1, 1, 0])
        assert data.classes == ("0", "1")


def test_arrays_and_matrices_of_numbers_are_paired_as_tables_are(tmp_path: Path) -> None:
    parts = {"X_train": X[:TRAINED], "X_test": X[TRAINED:], "y_train": Y[:TRAINED], "y_test": Y[TRAINED:]}
    halves(read(saved(**parts), "t.npz"))
    file = io.BytesIO()
    savemat(
        file, {"Xtrain": X[:TRAINED], "Xtest": X[TRAINED:], "ytrain": Y[:TRAINED, None], "ytest": Y[TRAINED:, None]}
    )
    halves(read(file.getvalue(), "t.mat"))
    for name, part in parts.items():
        np.savetxt(tmp_path / f"{name}.csv", part, delimiter=",", fmt="%.3f" if "X" in name else "%d")
    halves(read_dataset(tmp_path))
    assert read(saved(X=X, y=Y, latest=X), "t.npz").held_out is None
    np.savetxt(tmp_path / "y_train.csv", Y[1:TRAINED], fmt="%d")
    with pytest.raises(DataError, match="different numbers of rows: 29 to train on and 10 to test; 30 to train on"):
        read_dataset(tmp_path)


def test_rows_to_test_leave_every_class_to_train_on() -> None:
    text = "a,b,class,set\n" + "".join(
        f"{i},{i % 5},{'xyz'[i % 3]},{'test' if i % 3 == 2 else 'train'}\n" for i in range(30)
    )
    with pytest.raises(DataError, match="keeps for the test leave none to train on of class 'z'"):
        read(text, "t.csv").split()


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
    ],
    ids=["records", "indented", "lines", "columns", "split", *(f"pandas {k}" for k in range(7))],
)
def test_a_table_in_json_is_read(text: str) -> None:
    data = read(text, "t.json")
    assert np.allclose(data.X, X)
    assert data.classes == ("no", "yes")


def test_arrays_in_json_are_bounded_and_heed_no_options_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"X": X.tolist(), "y": WORDS.tolist()})
    with pytest.raises(DataError, match="no use for target"):
        read(text, "x.json", target="a")
    monkeypatch.setattr(_bounds, "LIMITS", replace(_bounds.LIMITS, rows=N - 1))
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


def test_arrays_in_the_other_order_of_bytes_are_read() -> None:
    table = np.column_stack([np.arange(30) * 0.5, np.arange(30) % 7, np.arange(30) % 2])
    one, other = (read_dataset_bytes(_npy(table.astype(kind)), "t.npy") for kind in ("<f8", ">f8"))
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.y, other.y)
    with pytest.raises(DataError, match="is no table"):
        read_dataset_bytes(_npy(np.zeros(30, [("a", float, 3), ("y", int)])), "t.npy")


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
    columns = Columns.of(read_dataset_bytes(_npy(table), "t.npy"))
    assert np.array_equal(columns.read(columns.table(_npy(table[:, :2]), "new.npy"))[0], table[:, :2])
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


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_files_of_one_name_in_several_folders_are_both_read(tmp_path: Path) -> None:
    for folder, last in (("one", "y"), ("two", "z")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(f"a,{last}\n" + "".join(f"w{i % 3},{i % 2}\n" for i in range(30)))
    data = read_dataset([tmp_path / "one/t.csv", tmp_path / "two/t.csv"], target="t: y")
    assert [name for name in data.feature_names if name.startswith("t (2): ")]


def test_what_is_packed_in_cells_of_matlab_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = np.zeros(100_000)
    savemat(file, {"X": np.eye(3), "c": cell}, do_compression=True)
    monkeypatch.setattr(matlabs, "LIMITS", replace(matlabs.LIMITS, cells=1000))
    with pytest.raises(DataError, match="unpacks to more than"):
        matlabs.arrays_in(file.getvalue(), "bomb.mat", 1000)


@pytest.mark.parametrize("solver", ["level", "spg", "silp", "newton"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_kernels_stay_in_their_files_and_every_bit_is_that_of_memory(
    dtype: type, solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "a.npy", KERNELS[:2].astype(dtype))
    np.save(tmp_path / "b.npy", np.asfortranarray(KERNELS[2], dtype))
    np.save(tmp_path / "y.npy", Y)
    inside = read_dataset(tmp_path)
    monkeypatch.setattr(_gram_files, "LARGE", 0)
    away = read_dataset(tmp_path)
    monkeypatch.setattr(_gram_files, "ENTRIES", 3 * N)  # some rows at a time
    assert isinstance(away.grams, GramFiles)
    assert not isinstance(inside.grams, GramFiles)
    assert (digest(away), away.kernel_names) == (digest(inside), inside.kernel_names)
    races = [Recipe().on(data).prepare() for data in (inside, away)]
    traces = [mv.solve(race.problem, solver, gap=1e-4, max_iter=50) for race in races]
    for name in ("weights", "objective", "lower_bound"):
        np.testing.assert_array_equal(getattr(traces[1], name), getattr(traces[0], name))
    scores = [race.score(trace.best) for race, trace in zip(races, traces, strict=True)]
    assert scores[1] == scores[0]


def test_kernels_in_files_beside_a_table_are_those_of_the_rows_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "k.npy", KERNELS)
    pd.DataFrame({"loud": X[:, 0], "class": WORDS}).to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.setattr(_gram_files, "LARGE", 0)
    away = read_dataset(tmp_path)
    assert isinstance(away.grams, GramFiles)
    np.testing.assert_array_equal(np.array(list(away.grams)), KERNELS)
    np.save(tmp_path / "k.npy", KERNELS[:, 1:, 1:])
    with pytest.raises(DataError, match=r"k\.npy changed or went away"):
        away.grams[0]


def spoilt(places: tuple[int, int], value: float) -> np.ndarray[Any, Any]:
    """Return the kernels with one entry that is wrong."""
    kernels = KERNELS.copy()
    kernels[1][places] = value
    return kernels


@pytest.mark.parametrize(
    ("kernels", "reason"),
    [(spoilt((30, 4), np.nan), "holds nan between samples 30 and 4"), (spoilt((30, 4), 99.0), "not symmetric")],
)
def test_kernels_in_files_are_checked_some_rows_at_a_time(
    kernels: np.ndarray[Any, Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "k.npy", kernels)
    np.save(tmp_path / "y.npy", Y)
    monkeypatch.setattr(_gram_files, "LARGE", 0)
    monkeypatch.setattr(_arrays, "ENTRIES", 3 * N)
    with pytest.raises(DataError, match=rf"k\.npy.* {reason}"):
        read_dataset(tmp_path)


def test_distances_in_files_are_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "d.npy", np.stack([squared_distances(X, X) ** 0.5] * 2))
    np.save(tmp_path / "y.npy", Y)
    monkeypatch.setattr(_gram_files, "LARGE", 0)
    data = read_dataset(tmp_path)
    assert data.distances
    assert isinstance(data.grams, np.ndarray)


@pytest.mark.parametrize("rows", range(18, 26))
def test_tables_that_are_nearly_square_are_tables(rows: int) -> None:
    for columns in range(16, 24):
        lines = [",".join(f"{(i * j) % 7}.5" for j in range(1, columns)) + f",{'uv'[i % 2]}" for i in range(rows)]
        assert read("\n".join([",".join(f"c{j}" for j in range(columns)), *lines]), "x.csv").X.shape[0] == rows


@pytest.mark.parametrize(("place", "byte"), [(176, 8), (177, 8), (145, 8)])
def test_parts_of_matlab_that_are_of_no_known_kind_are_refused(place: int, byte: int) -> None:
    file = io.BytesIO()
    savemat(file, {"X": np.ones((3, 2)), "y": [1, -1, 1]})
    changed = bytearray(file.getvalue())
    changed[place] = byte
    with pytest.raises(DataError, match="cannot be read as MATLAB's"):
        read_dataset_bytes(bytes(changed), "x.mat")


def test_a_zero_byte_in_a_matrix_market_file_is_refused() -> None:
    rows = "%%MatrixMarket matrix array real general\n2 2\n1\n0\n\x000\n1\n"
    with pytest.raises(DataError, match="zero byte"):
        read_dataset_bytes(rows.encode(), "x.mtx")


def test_new_rows_may_have_other_units_in_what_was_left_out() -> None:
    lines = "".join(f"{i} kg,{i % 7}cm,{'pq'[i % 2]}\n" for i in range(30))
    columns = Columns.of(read(f"w,seat,y\n{lines}", "t.csv", leave_out=["seat"]))
    assert columns.read(columns.table(b"w,seat\n12 kg,3mm\n", "new.csv"))[0].tolist() == [[12.0]]


@pytest.mark.parametrize("kind", ["{}th", "0{}A", "{}D"])
def test_ordinals_and_codes_are_no_numbers_with_a_unit(kind: str) -> None:
    data = read("a,class\n" + "".join(f"{i},{kind.format(4 + i % 2)}\n" for i in range(30)), "t.csv")
    assert set(data.classes) == {kind.format(4), kind.format(5)}


def test_rows_below_those_in_quotes_are_whole() -> None:
    quoted = "".join(f'"{i},{i % 9},{"pq"[i % 2]}"\n' for i in range(1100))
    data = read(f'"a,b,y"\n{quoted}71,3,p\n81,3,q\n', "t.csv")
    assert len(data.y) == 1102
    assert data.X[-2:].tolist() == [[71.0, 3.0], [81.0, 3.0]]


def test_a_table_with_the_labels_does_not_describe_the_others(tmp_path: Path) -> None:
    genes = "gene," + ",".join(f"S{i}" for i in range(12)) + "\n"
    genes += "".join(f"g{k}," + ",".join(str((i * k) % 7) for i in range(12)) + "\n" for k in range(30))
    samples = "sample,age,label\n" + "".join(f"S{i},{20 + i},{'ab'[i % 2]}\n" for i in range(12))
    with pytest.raises(DataError, match="rows"):
        read_dataset(written(tmp_path, expression_csv=genes, samples_csv=samples))
