"""Factors on disk: the same bank, the same optimum, whatever holds the samples, and nothing left behind."""

from __future__ import annotations

import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from _problems import blobs, left_at

from mklviz.engine import solve
from mklviz.errors import BankTooLarge, KernelError
from mklviz.inner import smooth, sweeps
from mklviz.kernels import Gaussian, NystromBank
from mklviz.kernels.storage import disk, passes
from mklviz.problem import Hinge, Logistic, Loss, LpBall, OneClass, Problem, Simplex, Squared

N, FEATURES, LANDMARKS = 300, 3, 12
X, Y = blobs(N, noise=0.3, features=FEATURES)
FAMILIES = [Gaussian(widths=(0.5, 1.0, 4.0), on="all+each")]
SIZE = 4 * N * 12 * LANDMARKS  # bytes of the factors in single precision


@pytest.fixture(autouse=True)
def _tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few dozen samples at a time, so that a small table has many chunks."""
    for module in (passes, sweeps):
        monkeypatch.setattr(module, "PIECE", 20 * 12 * LANDMARKS)  # chunks of 25 rows
    monkeypatch.setattr(disk, "ROWS", 64)


def bank(points: object = X, max_bytes: int = SIZE - 1, **options: object) -> NystromBank:
    return NystromBank.build(points, FAMILIES, LANDMARKS, max_bytes=max_bytes, **options)  # type: ignore[arg-type]


def test_factors_too_large_for_memory_stand_on_disk_and_are_the_same() -> None:
    inside, away = bank(max_bytes=SIZE), bank()
    weights, v = np.linspace(0.0, 1.0, len(away)), np.random.default_rng(0).normal(size=N)
    np.testing.assert_array_equal(away.factors(weights)[0], inside.factors(weights)[0])
    np.testing.assert_allclose(away.quad(v), inside.quad(v), rtol=1e-12)
    np.testing.assert_allclose(away.apply(weights, v), inside.apply(weights, v), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(away.trace_errors, inside.trace_errors)
    np.testing.assert_array_equal(away.frobenius_errors, inside.frobenius_errors)
    np.testing.assert_array_equal(away.cross(X[:5]).combine(weights), inside.cross(X[:5]).combine(weights))
    assert "on disk" in away.backend
    assert "disk" not in inside.backend


LOSSES = [Hinge(3.0), OneClass(3.0, 0.2), Logistic(3.0), Squared(3.0)]


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        *product(["spg", "level", "closed-form"], LOSSES),
        *product(["newton"], LOSSES[:2]),  # which works on support vector machines
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_chunk_by_chunk_every_solver_finds_the_optimum_that_it_finds_in_memory(solver: str, loss: Loss) -> None:
    regularizer = LpBall(2.0) if solver == "closed-form" else Simplex()
    inside, away = (Problem(one, Y, loss, regularizer) for one in (bank(max_bytes=SIZE), bank()))
    first, second = (solve(problem, solver, gap=1e-6, max_iter=2000) for problem in (inside, away))
    assert second.gap[-1] <= 1e-6
    np.testing.assert_array_equal(second.objective, first.objective)  # bit for bit: where a number stands changes none
    assert inside.objective(second.best.weights, second.best.dual) == pytest.approx(second.best.objective, rel=1e-9)


@pytest.mark.parametrize(("ordered", "every"), [(False, 1), (True, 1), (False, 10)])
def test_chunks_that_are_stepped_in_at_once_gain_what_they_say_and_never_lose(ordered: bool, every: int) -> None:
    """Also where chunks have nothing in common, as where samples are sorted by class, and where few variables move."""
    columns, w = bank(X[np.argsort(Y, kind="stable")] if ordered else X).factors(np.linspace(0.0, 1.0, 12))
    table, y, runs = columns.T, np.sort(Y) if ordered else Y, passes.runs_of(w)
    box, beta = (np.minimum(5.0 * y, 0.0), np.maximum(5.0 * y, 0.0)), np.zeros(N)
    there, q = sweeps.known_there(table, sweeps.bounds_there(table, y, *box), w, runs)
    variables = sweeps.DualVariables(y, *box, q)
    rho, offset, rng = 0.3, 0.1, np.random.default_rng(0)

    def value() -> float:
        total = float(beta.sum())
        return float(y @ beta) - 0.5 * float(w @ (beta @ table) ** 2) - offset * total - 0.5 * rho * total**2

    near, g = np.arange(1, N, every), np.zeros(len(w))
    stepping = sweeps.Sweeps(table, (w, runs), variables, there, near, beta, g, rho, offset, 0.0)
    for _ in range(5):
        before = value()
        gain = stepping.sweep(rng)
        stepping.write(beta)
        assert gain > 0.0
        assert value() - before == pytest.approx(gain, rel=1e-9)
        assert stepping.bias == pytest.approx(offset + rho * beta.sum())
    assert not np.delete(beta, near).any()
    assert (box[0] <= beta).all()
    assert (beta <= box[1]).all()


def test_the_svm_on_disk_is_the_one_of_liblinear_on_the_features() -> None:
    svm = pytest.importorskip("sklearn.svm")
    away, C = bank(), 0.7
    problem = Problem(away, Y, Hinge(C, bias=False))
    trace = solve(problem, "spg", gap=1e-7, max_iter=2000)
    columns, spread = away.factors(trace.best.weights)
    features = columns.T.astype(float) * np.sqrt(spread)
    rival = svm.LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6).fit(features, Y)
    theta = rival.coef_[0]
    theirs = 0.5 * float(theta @ theta) + C * float(np.maximum(1.0 - Y * (features @ theta), 0.0).sum())
    assert trace.best.objective == pytest.approx(theirs, rel=1e-6)


def test_samples_are_read_from_mapped_arrays_npy_and_parquet_files_and_dask_arrays(tmp_path: Path) -> None:
    asked = bank().factors(np.ones(12))[0]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "single.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for given in (mapped, str(tmp_path / "x.npy"), tmp_path / "x.npy"):
        np.testing.assert_array_equal(bank(given).factors(np.ones(12))[0], asked)
    single = bank(tmp_path / "single.npy").factors(np.ones(12))[0]
    np.testing.assert_array_equal(single, bank(X.astype(np.float32)).factors(np.ones(12))[0])

    np.save(tmp_path / "first.npy", X[:100])
    np.save(tmp_path / "rest.npy", X[100:])
    several = [tmp_path / "first.npy", str(tmp_path / "rest.npy")]
    np.testing.assert_array_equal(bank(several).factors(np.ones(12))[0], asked)
    np.save(tmp_path / "narrow.npy", X[:, :2])
    with pytest.raises(KernelError, match=r"must have the same columns, but they have \[3, 2\]"):
        bank([tmp_path / "x.npy", tmp_path / "narrow.npy"])

    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"c{j}": X[:, j] for j in range(FEATURES)}
    parquet.write_table(pyarrow.table({**columns, "label": ["a"] * N}), tmp_path / "x.parquet", row_group_size=50)
    read = bank(tmp_path / "x.parquet", feature_names=[*columns])
    np.testing.assert_array_equal(read.factors(np.ones(12))[0], asked)
    parquet.write_table(pyarrow.table({name: column[100:] for name, column in columns.items()}), tmp_path / "y.parquet")
    both = bank((tmp_path / "first.npy", tmp_path / "y.parquet"))
    np.testing.assert_array_equal(both.factors(np.ones(12))[0], asked)
    assert any("c2" in name for name in read.names)
    with pytest.raises(KernelError, match=r"The column 'label' of x.parquet holds no numbers"):
        bank(tmp_path / "x.parquet")
    with pytest.raises(KernelError, match=r"x.parquet has no column 'c9'"):
        bank(tmp_path / "x.parquet", feature_names=["c9"])

    dask = pytest.importorskip("dask.array")
    np.testing.assert_array_equal(bank(dask.from_array(X, chunks=(70, 2))).factors(np.ones(12))[0], asked)
    frames = pytest.importorskip("dask.dataframe")
    assert bank(frames.read_parquet(tmp_path / "x.parquet", columns=[*columns])).names == read.names


def test_parts_in_a_folder_are_read_by_name_and_the_index_of_pandas_is_no_feature(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=np.arange(N, 0, -1))
    frame[:100].to_parquet(tmp_path / "part.0.parquet")
    frame[100:].to_parquet(tmp_path / "part.1.PQ")
    (tmp_path / "_SUCCESS").touch()
    read = bank(tmp_path)
    np.testing.assert_array_equal(read.factors(np.ones(12))[0], bank().factors(np.ones(12))[0])


@pytest.mark.parametrize("name", ["missing.npy", "text.csv"])
def test_a_path_that_holds_no_samples_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "text.csv").write_text("1,2\n3,4\n")
    with pytest.raises(KernelError, match=r"cannot be read as samples, in a .npy or a .parquet file"):
        bank(tmp_path / name)


def test_nothing_is_left_on_disk_and_a_missing_folder_is_named(tmp_path: Path) -> None:
    here = tmp_path / "scratch"
    here.mkdir()
    away = bank(folder=here)
    assert solve(Problem(away, Y, Hinge(1.0)), "spg", gap=1e-2).gap[-1] <= 1e-2
    del away
    assert list(here.iterdir()) == []
    with pytest.raises(KernelError, match=r"Kernels cannot be kept in .*nowhere.*: No such file"):
        bank(folder=tmp_path / "nowhere")


def test_above_what_the_disk_holds_the_refusal_names_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda where: type("usage", (), {"free": 1000})())
    with pytest.raises(BankTooLarge, match=r"12 kernels of 300 samples .*HistGradientBoosting.*Nystroem"):
        bank()


def test_a_pass_over_the_disk_can_be_stopped_between_chunks() -> None:
    away = bank()
    with left_at(4):  # of eight chunks
        away.quad(np.ones(N))


def test_a_pass_takes_the_memory_of_no_more_than_a_few_chunks() -> None:
    away = bank()
    away.apply(np.ones(12), np.ones(N))  # compiled
    tracemalloc.start()
    away.quad(np.arange(N, dtype=float))
    away.apply(np.ones(12), np.ones(N))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.5 * SIZE


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells what of a file is in memory")
def test_samples_that_are_drawn_for_the_curvature_do_not_stay_in_memory() -> None:
    away, weights = bank(), np.ones(12)
    inner = smooth.LogisticFactors(Logistic(1.0), Y)
    inner.sampled = 100
    inner.solve(away.factors(weights), 1e-2, False)
    inner._curvature(np.zeros(N))
    assert _resident(away.factors(weights)[0]) == 0


def _resident(table: np.ndarray) -> int:
    """Kilobytes that a mapped table takes of memory."""
    inside, at = False, table.ctypes.data
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in (first := line.split()[0]) and not first.endswith(":"):
            low, high = (int(end, 16) for end in first.split("-"))
            inside = low <= at < high
        elif inside and first == "Rss:":
            return int(line.split()[1])
    raise AssertionError("the table is nowhere")
