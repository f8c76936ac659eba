"""Kernels and distances in files, and matrices from elsewhere that are not quite kernels."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _samples import KERNELS, SAMPLES, WORDS, K, N, X, Y, is_the_table, matlab, read, saved, text, written
from scipy.io import mmwrite
from scipy.sparse import coo_matrix, csr_matrix, save_npz
from sklearn.svm import SVC

import mklviz as mv
from mklviz.datasets import DataError, GramFiles, read_dataset
from mklviz.errors import KernelError, MklvizError
from mklviz.kernels import ChiSquared, Gaussian, KernelBank, Laplacian, Polynomial
from mklviz.kernels.families._family import manhattan_distances, squared_distances
from mklviz.learn._function import Function, from_plain, to_plain
from mklviz.recipe import Recipe
from mklviz.recipe.choices import digest
from mklviz.typing import Array


def commas(matrix: Any) -> str:
    """Return a matrix as a spreadsheet writes it where commas are decimal."""
    return pd.DataFrame(matrix).to_csv(sep=";", decimal=",", header=False, index=False)


def sheet(frame: pd.DataFrame, **options: Any) -> bytes:
    """Return a frame as a workbook."""
    file: Any = io.BytesIO()
    frame.to_excel(file, **options)
    return bytes(file.getvalue())


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
    "blanks.csv": text(K),
    "bare.csv": text(K, delimiter=","),
    "pandas.csv": pd.DataFrame(K).to_csv().encode(),
    "upper.csv": "".join(" ".join(map(repr, K[i, i:].tolist())) + "\n" for i in range(N)).encode(),
    "lower.csv": "".join(" ".join(map(repr, K[i, : i + 1].tolist())) + "\n" for i in range(N)).encode(),
}


@pytest.mark.parametrize("name", CONTAINED)
def test_a_kernel_in_any_file_of_tables_is_a_kernel(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(CONTAINED[name])
    data = read_dataset([tmp_path / name, *written(tmp_path, labels_txt="\n".join(WORDS))])
    assert np.allclose(data.grams, K)
    assert data.classes == ("no", "yes")
    with pytest.raises(DataError, match="a kernel or distances, without labels"):
        read_dataset(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("last column.csv", text(np.column_stack([K, Y]), delimiter=",")),
        ("first column.csv", text(np.column_stack([Y, K]))),
        ("pandas.csv", pd.DataFrame(K).assign(label=WORDS).to_csv(index=False)),
        ("k.xlsx", sheet(NAMED.assign(label=WORDS))),
        ("k.json", json.dumps([[*row, word] for row, word in zip(K.tolist(), WORDS.tolist(), strict=True)])),
        ("k.csv", "".join(f"{row};{word}\n" for row, word in zip(commas(K).splitlines(), WORDS, strict=True))),
        ("k.json", json.dumps({"K": K.tolist(), "y": WORDS.tolist()})),
        ("k.json", json.dumps({"kernels": [K.tolist()], "labels": WORDS.tolist()})),
    ],
)
def test_labels_may_stand_beside_a_kernel_in_any_file_of_tables(name: str, content: str | bytes) -> None:
    data = read(content, name)
    assert np.allclose(data.grams, K)
    assert np.array_equal(data.y > 0, Y == 1)
    assert data.classes in (("no", "yes"), ("0", "1"))
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
        ("d.txt", "\n".join([" ".join(SAMPLES[:-1]), *(" ".join(PHYLIP[i].split()[: i + 1]) for i in range(1, N))])),
    ],
    ids=["vector", "upper", "lower", "PHYLIP", "in several lines", "lower triangle of PHYLIP", "as R shows them"],
)
def test_distances_are_a_matrix_however_they_are_written(name: str, content: str | bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    data = read_dataset([tmp_path / name, *written(tmp_path, labels_txt="\n".join(WORDS))])
    assert data.distances
    assert np.allclose(data.grams, DISTANCES)


def test_distances_of_scipy_are_a_matrix_as_it_says_and_those_of_other_samples_are_refused() -> None:
    data = read(saved(first=PAIRS, second=PAIRS**2, y=Y), "d.npz")
    assert np.allclose(data.grams, [DISTANCES, DISTANCES**2])
    assert "Taken for the distances between 40 samples, each pair once: first (780,), second (780,)." in data.notes
    assert np.allclose(read(matlab(d=PAIRS, whose=Y), "d.mat").grams, DISTANCES)
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
    assert np.allclose(data.grams, cut)


def test_matrix_market_is_a_kernel_or_samples(tmp_path: Path) -> None:
    labels = written(tmp_path, labels_txt="\n".join(WORDS))
    mmwrite(tmp_path / "k.mtx", coo_matrix(K), symmetry="symmetric")
    mmwrite(tmp_path / "x.mtx", csr_matrix(X))
    kernel = read_dataset([tmp_path / "k.mtx", *labels])
    assert np.allclose(kernel.grams, K)
    assert np.allclose(read_dataset([tmp_path / "x.mtx", *labels]).X, X)
    with pytest.raises(DataError, match="without labels"):
        read_dataset(tmp_path / "k.mtx")
    with pytest.raises(DataError, match="too large"):
        read(b"%%MatrixMarket matrix coordinate real general\n900000 900000 1\n1 1 1\n", "k.mtx")
    with pytest.raises(DataError, match="does not begin as"):
        read("1 2 3\n4 5 6\n", "k.mtx")
    with pytest.raises(DataError, match="zero byte"):
        read("%%MatrixMarket matrix array real general\n2 2\n1\n0\n\x000\n1\n", "k.mtx")


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every matrix in a file be too large for memory, and be read some rows at a time."""
    for name, value in (("LARGE", 0), ("ENTRIES", 3 * N)):
        monkeypatch.setattr(f"mklviz.datasets._grams.{name}", value)


@pytest.mark.parametrize("solver", ["level", "spg", "silp", "newton"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_kernels_stay_in_their_files_and_every_bit_is_that_of_memory(
    dtype: type, solver: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    np.save(tmp_path / "a.npy", KERNELS[:2].astype(dtype))
    np.save(tmp_path / "b.npy", np.asfortranarray(KERNELS[2], dtype))
    np.save(tmp_path / "y.npy", Y)
    inside = read_dataset(tmp_path)
    request.getfixturevalue("all_large")
    away = read_dataset(tmp_path)
    assert isinstance(away.grams, GramFiles)
    assert not isinstance(inside.grams, GramFiles)
    assert (digest(away), away.kernel_names) == (digest(inside), inside.kernel_names)
    races = [Recipe().on(data).prepare() for data in (inside, away)]
    traces = [mv.solve(race.problem, solver, gap=1e-4, max_iter=50) for race in races]
    for name in ("weights", "objective", "lower_bound"):
        np.testing.assert_array_equal(getattr(traces[1], name), getattr(traces[0], name))
    scores = [race.score(trace.best) for race, trace in zip(races, traces, strict=True)]
    assert scores[1] == scores[0]


@pytest.mark.usefixtures("all_large")
def test_kernels_in_files_beside_a_table_are_those_of_the_rows_in_use(tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", KERNELS)
    pd.DataFrame({"loud": X[:, 0], "class": WORDS}).to_csv(tmp_path / "table.csv", index=False)
    away = read_dataset(tmp_path)
    assert isinstance(away.grams, GramFiles)
    np.testing.assert_array_equal(np.array(list(away.grams)), KERNELS)
    np.save(tmp_path / "k.npy", KERNELS[:, 1:, 1:])
    with pytest.raises(DataError, match=r"k\.npy changed or went away"):
        away.grams[0]


def spoilt(value: float) -> np.ndarray[Any, Any]:
    """Return the kernels with one entry that is wrong."""
    kernels = KERNELS.copy()
    kernels[1, 30, 4] = value
    return kernels


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize(
    ("kernels", "reason"),
    [(spoilt(np.nan), "holds nan between samples 30 and 4"), (spoilt(99.0), "not symmetric")],
)
def test_kernels_in_files_are_checked_some_rows_at_a_time(
    kernels: np.ndarray[Any, Any], reason: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "k.npy", kernels)
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(DataError, match=rf"k\.npy.* {reason}"):
        read_dataset(tmp_path)


@pytest.mark.usefixtures("all_large")
def test_distances_in_files_are_read_into_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.stack([squared_distances(X, X) ** 0.5] * 2))
    np.save(tmp_path / "y.npy", Y)
    data = read_dataset(tmp_path)
    assert data.distances
    assert isinstance(data.grams, np.ndarray)


@pytest.mark.parametrize("rows", range(18, 26))
def test_tables_that_are_nearly_square_are_tables(rows: int) -> None:
    for columns in range(16, 24):
        lines = [",".join(f"{(i * j) % 7}.5" for j in range(1, columns)) + f",{'uv'[i % 2]}" for i in range(rows)]
        assert read("\n".join([",".join(f"c{j}" for j in range(columns)), *lines]), "x.csv").X.shape[0] == rows


WHICH: dict[str, Callable[[int, int], bool]] = {
    "all": lambda i, j: True,
    "upper": lambda i, j: i <= j,
    "lower": lambda i, j: i >= j,
    "above": lambda i, j: i < j,
    "below": lambda i, j: i > j,
}


@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("called", [str, "s{}".format], ids=["numbers", "names"])
def test_a_row_for_every_pair_of_samples_is_a_matrix(which: str, called: Callable[[int], str], tmp_path: Path) -> None:
    matrix = (DISTANCES if which in ("above", "below") else K).tolist()
    pairs = [(i, j) for i in range(N) for j in range(N) if WHICH[which](i, j)]
    for head in ("", "src,dst,weight\n"):
        content = head + "".join(f"{called(i)},{called(j)},{matrix[i][j]}\n" for i, j in pairs)
        data = read_dataset(written(tmp_path, k_csv=content, y_txt=text(Y, fmt="%d")))
        assert np.allclose(data.grams[0], matrix)
        with pytest.raises(DataError, match=f"is a matrix of {N} samples, a kernel or distances, without labels"):
            read(content, "k.csv")


def test_edges_of_a_graph_and_classes_on_a_grid_are_no_kernels() -> None:
    edges = "".join(f"{i},{(7 * i) % 30},{i / 10}\n" for i in range(60))
    assert any("edges of a graph" in note for note in read(f"from_node_id,ToNodeId,weight\n{edges}", "g.csv").notes)
    assert any("edges of a graph" in note for note in read(f"src,dst,weight\n{edges}", "g.csv").notes)
    assert not any("edges of a graph" in note for note in read(f"a,b,weight\n{edges}", "g.csv").notes)
    between = "".join(f"{i / 8},{j / 8},{1 / ((i - j) ** 2 + 1)}\n" for i in range(9) for j in range(9))
    assert read(f"a,b,z\n{between}", "g.csv").X.shape == (81, 2)
    grid = "".join(f"{i},{j},{int((i - 4) ** 2 + (j - 4) ** 2 < 9)}\n" for i in range(9) for j in range(9))
    assert read(f"a,b,class\n{grid}", "g.csv").X.shape == (81, 2)
    for third in ("interacts", "yield"):  # 0 or 1 for every pair, and for all but a diagonal: two classes
        xor = "".join(f"{i},{j},{int(i != j)}\n" for i in range(6) for j in range(6))
        assert read(f"a,b,{third}\n{xor}", "g.csv").X.shape == (36, 2)
    home = "".join(f"{i},{j},{'abcd'[(i + j) % 4]}\n" for i in range(6) for j in range(i))
    assert read(f"home,away,class\n{home}", "g.csv").X.shape == (15, 2)


@pytest.mark.parametrize(
    "called", [lambda i: 101 + i, lambda i: f"s{i}", lambda i: i + 0.5], ids=["numbers", "words", "fractions"]
)
def test_labels_find_their_samples_whatever_the_order_of_pairs_and_labels(
    called: Callable[[int], object], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.permutation([(i, j) for i in range(N) for j in range(N)]).tolist()
    kernel = "".join(f"{called(i)},{called(j)},{K[i, j]}\n" for i, j in pairs)
    labels = "id,class\n" + "".join(f"{called(i)},{WORDS[i]}\n" for i in rng.permutation(N))
    data = read_dataset(written(tmp_path, k_csv=kernel, labels_csv=labels))
    order = [next(i for i in range(N) if np.allclose(np.sort(row), np.sort(K[i]))) for row in data.grams[0]]
    assert np.allclose(data.grams[0], K[np.ix_(order, order)])
    assert len({(label, WORDS[i]) for label, i in zip(data.y, order, strict=True)}) == 2


def test_a_pair_that_stands_twice_is_no_matrix_and_thousands_stay_thousands(tmp_path: Path) -> None:
    pairs = [("s0", "s1") if (i, j) == (1, 0) else (f"s{i}", f"s{j}") for i in range(N) for j in range(N)]
    values = K.ravel()
    twice = "".join(f"{a},{b},{value}\n" for (a, b), value in zip(pairs, values, strict=True))
    with pytest.raises(DataError, match="nothing to predict"):
        read(f"a,b,z\n{twice}", "t.csv")
    places = np.arange(10)
    far = 491 * np.abs(places - places[:, None])
    rows = "".join(",".join(f'"{value:,}"' for value in row) + f",{WORDS[k]}\n" for k, row in enumerate(far))
    data = read(f"{','.join(f'c{k}' for k in places)},class\n{rows}", "far.csv")
    assert (data.X if data.grams is None else data.grams).max() == 9 * 491


# -- what is not quite a kernel is repaired as Chen et al. (2009) do, distances make kernels


RNG = np.random.default_rng(7)
POINTS = RNG.normal(size=(60, 4))
SIGNS = np.where(POINTS[:, 0] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
SMOOTH = np.exp(-0.01 * squared_distances(POINTS, POINTS))
SIGMOID = np.tanh(0.2 * POINTS @ POINTS.T)
TRAIN, TEST = slice(0, 40), slice(40, 60)
ONE = np.ones(1)


def spectrum(repair: str) -> tuple[Array, Array]:
    """Return the training matrix with its eigenvalues repaired, and what new rows are multiplied by."""
    values, U = np.linalg.eigh(SIGMOID[TRAIN, TRAIN])
    changed = {"clip": np.maximum(values, 0.0), "flip": np.abs(values), "shift": values - values.min()}[repair]
    rows = {"clip": (U * (values >= 0)) @ U.T, "flip": (U * np.sign(values)) @ U.T, "shift": np.eye(len(U))}[repair]
    return (U * changed) @ U.T, rows


@pytest.mark.parametrize(
    ("matrix", "note"),
    [
        (SMOOTH.round(4), "as rounding leaves, set to zero: 1 of 1 Gram matrix."),
        (SMOOTH.astype(np.float16), "as rounding leaves, set to zero"),
        (SMOOTH + 1e-4 * RNG.uniform(-1.0, 1.0, SMOOTH.shape), "Averaged with their transposes"),
        (np.triu(SMOOTH), "Mirrored, as one triangle was given"),
        (csr_matrix(SMOOTH), ""),
    ],
    ids=["four decimals", "half precision", "not quite symmetric", "upper triangle", "sparse"],
)
def test_matrices_that_are_kernels_but_for_rounding_are_taken(matrix: Any, note: str) -> None:
    bank = KernelBank.from_grams([matrix])
    assert np.abs(bank.combine(ONE) - SMOOTH).max() < 2e-3  # what rounding to four decimals, or eleven bits, changes
    assert note in " ".join(bank.notes)


@pytest.mark.parametrize("repair", ["clip", "flip", "shift"])
def test_a_repaired_machine_is_that_of_scikit_learn_on_the_repaired_matrix(repair: str) -> None:
    bank, (matrix, rows) = KernelBank.from_grams([SIGMOID[TRAIN, TRAIN]], repair=repair), spectrum(repair)
    assert np.allclose(bank.combine(ONE), matrix, atol=1e-10)
    cross = bank.cross(SIGMOID[None, TEST, TRAIN])
    assert np.allclose(cross.combine(ONE), SIGMOID[TEST, TRAIN] @ rows, atol=1e-10)
    problem = mv.Problem(bank, SIGNS[TRAIN], loss=mv.Hinge(C=1.0))
    best = mv.solve(problem, "silp", gap=1e-8).best
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(matrix, SIGNS[TRAIN])
    theirs = machine.decision_function(SIGMOID[TEST, TRAIN] @ rows)
    estimator = mv.MKLClassifier("precomputed", C=1.0, normalize="none", repair=repair, tol=1e-6)
    estimator.fit(SIGMOID[TRAIN, TRAIN], SIGNS[TRAIN])
    for ours in (
        problem.predictor(best.weights, best.dual).decision_values(cross),
        estimator.decision_function(SIGMOID[TEST, TRAIN]),
    ):
        assert np.allclose(ours, theirs, atol=1e-2)  # two solvers, both accurate to about 1e-4
    assert f'repaired by "{repair}"' in " ".join(bank.notes)


def test_what_is_no_kernel_is_refused_with_its_least_eigenvalue_and_a_way_on() -> None:
    least = np.linalg.eigvalsh(SIGMOID)[0]
    with pytest.raises(KernelError, match=rf"smallest eigenvalue is {least:.3g}.*choose a repair: \"clip\""):
        KernelBank.from_grams([SIGMOID])
    with pytest.raises(KernelError, match="choose a repair"):
        mv.MKLClassifier("precomputed").fit(SIGMOID[TRAIN, TRAIN], SIGNS[TRAIN])
    with pytest.raises(KernelError, match="looks like distances"):
        KernelBank.from_grams([np.sqrt(squared_distances(POINTS, POINTS))])
    with pytest.raises(KernelError, match="repair is"):
        KernelBank.from_grams([SIGMOID], repair="square")


def test_parts_of_a_repaired_bank_want_the_rows_of_all_its_samples() -> None:
    bank = KernelBank.from_grams([SMOOTH[TRAIN, TRAIN], SIGMOID[TRAIN, TRAIN]], repair="flip")
    whole, some = np.stack([SMOOTH, SIGMOID])[:, TEST, TRAIN], np.array([3, 17, 31])
    part = bank.part(np.array([1]), some)
    expected = bank.cross(whole).combine(np.array([0.0, 1.0]))[:, some]
    assert np.allclose(part.cross(whole).combine(ONE), expected)
    function = Function(part, ONE, np.array([1.0, -2.0, 0.5]), 0.25)
    assert np.allclose(from_plain(to_plain(function))(whole), function(whole))
    with pytest.raises(KernelError, match=r"new points need an array of shape \(2, n_new, 40\)"):
        part.cross(whole[1:, :, some])


def test_kernels_of_distances_are_those_of_the_points_they_are_between() -> None:
    euclidean = np.sqrt(squared_distances(POINTS, POINTS))
    taxi = manhattan_distances(POINTS, POINTS)  # whose Gaussians are no kernels
    half = np.sqrt(squared_distances(POINTS[:, :2], POINTS[:, :2]))
    families = [Gaussian(widths=(1.0, 2.0)), Laplacian(widths=(3.0,))]
    bank = KernelBank.from_distances([half[TRAIN, TRAIN], euclidean[TRAIN, TRAIN]], families, names=["h", "e"])
    on_all = [Gaussian(widths=(1.0, 2.0))]
    points = KernelBank.build(POINTS[TRAIN], on_all)
    assert bank.names == [f"{name} of {of}" for of in "he" for name in ("gauss 2⁰", "gauss 2¹", "laplace 3")]
    ours, theirs = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 0.0]), np.array([1.0, 2.0])
    assert np.allclose(bank.combine(ours), points.combine(theirs))
    cross = bank.cross(np.stack([half, euclidean])[:, TEST, TRAIN])
    assert np.allclose(cross.combine(ours), points.cross(POINTS[TEST]).combine(theirs))
    taxi_bank = KernelBank.from_distances([taxi[TRAIN, TRAIN]], [Laplacian(widths=(3.0,))])
    assert np.allclose(taxi_bank.combine(ONE), KernelBank.build(POINTS[TRAIN], [Laplacian(widths=(3.0,))]).combine(ONE))
    with pytest.raises(KernelError, match="not positive semidefinite"):
        KernelBank.from_distances([taxi], [Gaussian(widths=(2.0,))])
    with pytest.raises(KernelError, match="no function of a distance"):
        KernelBank.from_distances([euclidean], [Polynomial()])
    with pytest.raises(KernelError, match="zeros on its diagonal"):
        KernelBank.from_distances([SMOOTH], families)
    assert np.array_equal(ChiSquared().from_distances(taxi), taxi)


def test_distances_in_a_file_are_recognised_and_divided_by_their_mean() -> None:
    distances = np.sqrt(squared_distances(POINTS, POINTS))
    data = mv.read_dataset(saved(grams=distances, y=SIGNS))
    assert data.distances
    assert "they are distances" in " ".join(data.notes)
    prepared = mv.Recipe.from_words("kernels=laplacian:0.5,1").on(data).prepare()
    train = prepared.train.grams
    assert train.mean() == pytest.approx(1.0)
    assert np.allclose(prepared.problem.bank.combine(np.array([0.0, 1.0])) * 30, np.exp(-train[0]))  # of unit trace
    assert "Gram" not in repr(data)
    usual = mv.Recipe().on(data).prepare()  # of the papers' kernels those that are functions of a distance
    assert {name.partition(" ")[0] for name in usual.problem.bank.names} == {"gauss"}


def test_a_recipe_repairs_and_gives_each_view_kernels_of_its_own() -> None:
    data = mv.read_dataset(saved(grams=SIGMOID, y=SIGNS))
    recipe = mv.Recipe.from_words("repair=clip").on(data)
    assert "repair=clip" in recipe.to_words()
    assert mv.Recipe.from_json(recipe.to_json()) == recipe
    bank = recipe.prepare().problem.bank
    assert isinstance(bank, KernelBank)
    assert 'repaired by "clip"' in " ".join(bank.notes)
    with pytest.raises(MklvizError, match="repair is"):
        mv.Recipe.from_words("repair=shave")
    data = mv.read_dataset(saved(sound=POINTS, picture=POINTS**2, y=SIGNS))
    bank = mv.Recipe.from_words("kernels=linear@views gauss:1@views").on(data).prepare().problem.bank
    assert list(bank.names) == ["linear on sound", "linear on picture", "gauss 2⁰ on sound", "gauss 2⁰ on picture"]
    plain = KernelBank.build(POINTS, [Gaussian(widths=(1.0,), on="views")])
    assert list(plain.names) == ["gauss 2⁰ on all"]


def test_ranges_of_columns_are_written_as_they_are_read_and_are_those_of_the_whole_table() -> None:
    words = 'data=ionosphere; kernels=linear@0...7 gaussian:1,2@8...30,2 polynomial:2@"a, b",5,6'
    recipe = mv.Recipe.from_words(words)
    assert recipe.kernels.families[0].on == tuple(range(8))
    assert recipe.to_words() == words
    for wrong in ("linear@7...0", "linear@0...9999999"):
        with pytest.raises(MklvizError, match="no range of columns"):
            mv.Recipe.from_words(f"kernels={wrong}")
    table = np.column_stack([POINTS[:, 0], np.ones(60), POINTS[:, 1:]])
    data = mv.read_dataset(saved(X=table, y=SIGNS, feature_names=np.array(["a", "b", "c", "d", "e"])))
    bank = mv.Recipe.from_words("kernels=linear@1...2 linear@4").on(data).prepare().problem.bank
    assert list(bank.names) == ["linear on c", "linear on e"]
    with pytest.raises(MklvizError, match="constant in the training part"):
        mv.Recipe.from_words("kernels=linear@1").on(data).prepare()
