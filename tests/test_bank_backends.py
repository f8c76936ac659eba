"""However a bank keeps its matrices, in single precision or in files on disk, it answers as the dense ones would."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from _problems import blobs, check_against, dense, random_grams
from _shown import html_of

from mklviz.context.cancelling import interruptible
from mklviz.engine import solve
from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels import Gaussian, KernelBank, KernelFamily, Laplacian, Polynomial
from mklviz.kernels.evaluation import grams as _grams
from mklviz.kernels.storage import packed as _packed
from mklviz.kernels.storage.factored import Distinct, low_rank
from mklviz.problem import Hinge, Problem

RNG = np.random.default_rng(5)
ON_ALL: list[KernelFamily] = [Gaussian(widths=(0.3, 1.0, 4.0)), Laplacian(), Polynomial()]


@pytest.mark.parametrize("precision", ["double", "single"])
def test_pieces_of_a_large_bank_may_be_done_in_any_order(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grams = np.array(random_grams(7, 50))
    bank = KernelBank.from_grams(grams, precision=precision)
    weights, v, which = RNG.exponential(size=7), RNG.normal(size=50), np.array([4, 0, 6])
    monkeypatch.setattr(_packed, "PIECE", 2000)  # entries: one kernel and a half
    expected = [bank.combine(weights), bank.quad(v), bank.products(v, which), bank.apply(weights, v)]
    pieces: list[int] = []

    def backwards(piece: Callable[[int], None], count: int) -> None:
        pieces.append(count)
        for k in reversed(range(count)):
            piece(k)

    with interruptible(lambda: None, spread=backwards):
        found = [bank.combine(weights), bank.quad(v), bank.products(v, which), bank.apply(weights, v)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert pieces == [6, 7, 3, 7]  # 8 kernels of 1275 entries, of which one has no weight; then one each
    check_against(grams, bank, 1e-13 if precision == "double" else 6e-8)


# single precision


@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal", "diagonal", "none"])
@pytest.mark.parametrize("n", [2, 70, 260])
def test_single_precision_rounds_entries_and_nothing_else(n: int, normalize: str) -> None:
    X = RNG.normal(size=(n, 3))
    double = KernelBank.build(X, ON_ALL, normalize, precision="double")
    single = KernelBank.build(X, ON_ALL, normalize, precision="single")
    assert (double.backend, single.backend) == ("11 packed", "11 packed in single precision")
    assert single.nbytes == double.nbytes // 2
    assert double.notes == ()
    assert "agree with the kernels to 6e-8 of their size" in single.notes[0]
    K = dense(double)
    check_against(K, single, 6e-8)  # half a unit in the last of 24 bits
    check_against(K.astype(np.float32).astype(np.float64), single, 1e-14)  # sums are of double precision


def test_single_precision_is_chosen_where_only_so_the_bank_fits() -> None:
    X = RNG.normal(size=(100, 2))
    families: list[KernelFamily] = [Laplacian(), Polynomial()]
    _, size = KernelBank.estimate(100, 2, families)
    assert KernelBank.build(X, families, max_bytes=size).backend == "8 packed"
    assert KernelBank.build(X, families, max_bytes=size - 1).backend == "8 packed in single precision"
    assert KernelBank.check_size(100, 2, families, max_bytes=size - 1) == (8, size // 2)
    for precision, allowed in (("double", size - 1), ("auto", size // 2 - 1), ("single", size // 2 - 1)):
        with pytest.raises(BankTooLarge):
            KernelBank.build(X, families, max_bytes=allowed, precision=precision)


@pytest.mark.full
def test_matrices_given_in_single_precision_are_kept_as_they_are() -> None:
    grams = [gram.astype(np.float32) for gram in random_grams(4, 30)]
    bank = KernelBank.from_grams(grams)
    assert bank.backend == "4 packed in single precision"
    np.testing.assert_array_equal(dense(bank), np.array(grams, dtype=np.float64))
    assert KernelBank.from_grams(grams, precision="double").backend == "4 packed"
    assert KernelBank.from_grams([grams[0], grams[1].astype(float)]).backend == "2 packed"


@pytest.mark.parametrize("factor", [1e35, 1e-35])
def test_sizes_beyond_single_precision_are_refused(factor: float) -> None:
    grams = [factor * np.eye(4)]
    assert KernelBank.from_grams(grams, precision="single", normalize="trace").backend == "1 packed in single precision"
    with pytest.raises(KernelError, match=r"kernel 1 has entries of size 1e.35, too much for single precision"):
        KernelBank.from_grams(grams, precision="single")


# Gram matrices in files


def saved(folder: Path, matrices: list[np.ndarray]) -> list[Path]:
    files = [folder / f"part {k}.npy" for k in range(len(matrices))]
    for file, matrix in zip(files, matrices, strict=True):
        np.save(file, matrix)
    return files


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "double": lambda gram: gram,
    "single": lambda gram: gram.astype(np.float32),
    "by columns": np.asfortranarray,
}


@pytest.mark.each_value
@pytest.mark.parametrize("normalize", ["none", "trace", "diagonal"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 7, 300])
def test_matrices_on_disk_answer_as_those_in_memory(n: int, way: str, normalize: str, tmp_path: Path) -> None:
    grams = [WAYS[way](gram) for gram in random_grams(6, n)]
    bank = KernelBank.from_files(saved(tmp_path, grams), normalize=normalize, max_bytes=0)
    assert bank.backend == "6 memory-mapped from disk" + (" in single precision" if way == "single" else "")
    assert bank.names == [f"part {k}" for k in range(6)]
    assert bank.nbytes == 6 * 8 * n  # the scales
    assert "stay on disk" in bank.notes[0]
    K = np.array(grams, dtype=np.float64)
    roots = np.sqrt(np.diagonal(K, axis1=1, axis2=2)) if normalize == "diagonal" else np.ones((6, n))
    roots = np.sqrt(np.trace(K, axis1=1, axis2=2))[:, None] * roots if normalize == "trace" else roots
    check_against(K / roots[:, :, None] / roots[:, None, :], bank, 1e-13)


def test_files_that_fit_are_held_in_memory(tmp_path: Path) -> None:
    grams = random_grams(3, 40)
    files = saved(tmp_path, grams)
    bank = KernelBank.from_files(files)
    assert (bank.backend, bank.notes) == ("3 packed", ())
    np.testing.assert_array_equal(dense(bank), np.array(grams))
    assert KernelBank.from_files(files, precision="single").backend == "3 packed in single precision"


def test_files_may_hold_several_matrices_and_lie_in_one_folder(tmp_path: Path) -> None:
    grams = np.array(random_grams(5, 9))
    np.save(tmp_path / "a.npy", grams[:3])
    np.save(tmp_path / "b.npy", grams[3])
    np.save(tmp_path / "c.npy", grams[4].astype(np.float32))
    (tmp_path / "about.txt").write_text("not a matrix", encoding="utf-8")
    bank = KernelBank.from_files(tmp_path, max_bytes=0)
    assert bank.names == ["a 1", "a 2", "a 3", "b", "c"]
    assert bank.backend == "4 memory-mapped from disk, 1 memory-mapped from disk in single precision"
    np.testing.assert_allclose(dense(bank), grams, rtol=6e-8)
    assert KernelBank.from_files(str(tmp_path / "a.npy"), names=["x", "y", "z"]).names == ["x", "y", "z"]
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert KernelBank.from_grams(mapped, max_bytes=0).backend == "3 memory-mapped from disk"
    with pytest.raises(BankTooLarge, match=r"give their files to KernelBank.from_files"):
        KernelBank.from_grams(np.array(mapped), max_bytes=0)


def test_a_bank_on_disk_never_stands_in_memory(tmp_path: Path) -> None:
    m, n = 24, 300
    files = saved(tmp_path, random_grams(m, n))
    small = 7 * 8 * n * n  # the answer K_d, and what testing one matrix for negative eigenvalues takes
    assert small < 8 * m * n * n / 3
    tracemalloc.start()  # NumPy tells of its arrays, and maps are none
    bank = KernelBank.from_files(files, max_bytes=small)
    weights, v = RNG.exponential(size=m), RNG.normal(size=n)
    kernel = bank.combine(weights)
    quad, applied = bank.quad(v), bank.apply(weights, v)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < small
    assert "disk" in bank.backend
    assert weights @ quad == pytest.approx(v @ kernel @ v, rel=1e-12)
    np.testing.assert_allclose(applied, kernel @ v, atol=1e-12 * np.abs(kernel).max() * np.abs(v).sum())


def test_a_problem_is_solved_from_disk_as_from_memory(tmp_path: Path) -> None:
    X, y = blobs(40, noise=0.1)
    grams = dense(KernelBank.build(X, [Gaussian(on="all+each")]))
    np.save(tmp_path / "grams.npy", grams)
    runs = [
        solve(Problem(bank, y, Hinge(10.0)), "level", gap=1e-8)
        for bank in (KernelBank.from_grams(grams), KernelBank.from_files(tmp_path, max_bytes=0))
    ]
    assert [run.status for run in runs] == ["converged"] * 2
    assert runs[0].best.objective == pytest.approx(runs[1].best.objective, rel=1e-8)


def test_progress_of_checking_files_is_told_and_may_cancel(tmp_path: Path) -> None:
    seen: list[float] = []
    KernelBank.from_files(saved(tmp_path, random_grams(4, 6)), progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


def _changed(i: int, j: int, value: float) -> np.ndarray:
    K = 3.0 * np.eye(50)
    K[i, j] = value
    return K


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (_changed(40, 3, 1e-3), r"part 1 is not symmetric: entry \(3, 40\) is 0, but \(40, 3\) is 0.001"),
        (_changed(3, 40, np.inf), r"part 1 holds inf at \(3, 40\)"),
        (_changed(7, 7, np.nan), r"part 1 holds nan at \(7, 7\)"),
        (_changed(7, 7, -0.5), "part 1 is not positive semidefinite: its smallest eigenvalue is -0.5"),
        (np.full((50, 50), 1e308), "entries too large to be added up, in row 0"),
        (np.eye(49), r"part 1 must have shape \(50, 50\), but has \(49, 49\)"),
        (np.eye(50, dtype=np.int64), "part 1 holds int64 and is too large to be converted in memory"),
    ],
)
def test_files_that_hold_no_gram_matrix_are_refused_by_name(matrix: np.ndarray, says: str, tmp_path: Path) -> None:
    files = saved(tmp_path, [np.eye(50), matrix])
    with pytest.raises(KernelError, match=says) as caught:
        KernelBank.from_files(files, max_bytes=0)
    assert str(caught.value).endswith(".")


def test_rounding_of_single_precision_is_no_asymmetry() -> None:
    X = RNG.normal(size=(400, 50)).astype(np.float32)
    K = np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(2)) * (1 + 1e-6 * RNG.normal(size=(400, 400)))
    assert len(KernelBank.from_grams([K.astype(np.float32)])) == 1
    assert "Averaged" in KernelBank.from_grams([K.astype(np.float64)]).notes[0]


def test_many_samples_are_tested_in_part_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, samples in {"FULL": 40, "DRAWN": 30}.items():
        monkeypatch.setattr(_grams, name, samples)
    (gram,) = random_grams(1, 50)
    bank = KernelBank.from_grams([gram, gram])
    assert bank.notes == ("Negative eigenvalues were looked for among 30 of the 50 samples, drawn at random.",)
    assert bank.notes[0] in html_of(bank)
    with pytest.raises(KernelError, match="its smallest eigenvalue among 30 of the 50 samples is"):
        KernelBank.from_grams([-gram])


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("1 2 3", encoding="utf-8")
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    np.savez(tmp_path / "archive.npz", grams=np.eye(3))
    (tmp_path / "empty").mkdir()
    for given, says in (
        (tmp_path / "none.npy", "none.npy cannot be read: No such file"),
        (tmp_path / "text.npy", "text.npy cannot be read: it is no .npy file of numbers"),
        (tmp_path / "objects.npy", "objects.npy cannot be read: it is no .npy file of numbers"),
        (tmp_path / "archive.npz", "archive.npz is an archive: unpack it"),
        (tmp_path / "empty", "empty holds no .npy files"),
        ([], "No files of Gram matrices"),
    ):
        with pytest.raises(KernelError, match=says) as caught:
            KernelBank.from_files(given)  # type: ignore[arg-type]
        assert str(caught.value).endswith(".")


def test_factors_hold_nothing_that_rounding_would_drop() -> None:
    X = np.linspace(-8.0, 8.0, 300)[:, None]  # 32 widths from end to end, where the kernel is about 1e-222
    width = 0.5
    factor = low_rank(Gaussian(widths=(width,)), width, Distinct.of(X), 128)
    assert factor is not None
    sizes = np.abs(factor[factor != 0.0])
    assert sizes.min() >= 1e-16 * sizes.max()  # half the distance of one from the next number is 1.1e-16
    K = np.exp(-((X - X.T) ** 2) / (2.0 * width**2))
    np.testing.assert_allclose(factor.T @ factor, K, atol=1e-14 * len(X))  # the residual trace allowed
