"""A kernel bank answers as the dense matrices would, however it keeps them, and refuses what it cannot hold."""

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import check_against, dense, random_grams
from _shown import html_of

from mklviz.context import interruptible
from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels import Gaussian, KernelBank, KernelFamily, Laplacian, Linear, NystromBank, Polynomial, paper_bank
from mklviz.kernels.evaluation import grams as _grams
from mklviz.kernels.storage import packed as _packed
from mklviz.kernels.storage.factored import Distinct, low_rank
from mklviz.typing import Array

RNG = np.random.default_rng(3)


TABLES = {
    "two samples": RNG.normal(size=(2, 2)),
    "three samples": RNG.normal(size=(3, 2)),
    "five samples": RNG.normal(size=(5, 3)),
    "thirty samples": RNG.normal(size=(30, 3)),
    "one feature": RNG.normal(size=(12, 1)),
    "more samples than the rank cap": RNG.normal(size=(420, 2)),
    "few values per feature": RNG.integers(0, 4, size=(40, 3)).astype(float) + 1.0,
    "a constant feature": np.insert(RNG.normal(size=(20, 2)), 1, 2.0, axis=1),
    "every point twice": np.repeat(RNG.normal(size=(12, 3)), 2, axis=0),
    "one point ten times": np.repeat(RNG.normal(size=(1, 3)), 10, axis=0),
}
ALL_FAMILIES: list[KernelFamily] = [
    Gaussian(widths=(0.05, 1.0, 30.0), on="all+each"),
    Laplacian(widths=(0.1, 2.0), on="all+each"),
    Polynomial(degrees=(1, 2, 5), on="all+each"),
    Linear(on="all+each"),
    Gaussian(widths=(1.0,), on=[0]),
]


def direct(X: np.ndarray, families: list[KernelFamily], normalize: str, new: np.ndarray | None = None) -> np.ndarray:
    """The definition, in full matrices: of the samples with each other, or of new points with them."""
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    found = []
    for family in families:
        for _, columns in family.subsets(X.shape[1], names):
            part = X[:, list(columns)]
            rows = part if new is None else new[:, list(columns)]
            for value in family.values():
                K = family.profile(family.base(rows, part), value)
                theirs, own = (np.diag(family.profile(family.base(each, each), value)) for each in (rows, part))
                if normalize == "trace":
                    K = K / own.sum()
                if normalize == "mean-diagonal":
                    K = K / own.mean()
                if normalize == "diagonal":
                    K = K / np.sqrt(np.outer(theirs, own))
                found.append(K)
    return np.array(found)


@pytest.mark.each_value
@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal", "diagonal", "none"])
@pytest.mark.parametrize("table", TABLES)
def test_answers_agree_with_dense_matrices(table: str, normalize: str) -> None:
    X = TABLES[table]
    bank = KernelBank.build(X, ALL_FAMILIES, normalize=normalize)
    K = direct(X, ALL_FAMILIES, normalize)
    assert (len(bank), bank.n_samples, len(bank.names)) == (len(K), len(X), len(K))
    check_against(K, bank, 1e-12)  # factors leave at most 1e-14 of the trace out
    w, v = np.linspace(0.0, 1.0, len(K)), np.ones(len(X))
    for asked, given in ((bank.combine, [w]), (bank.apply, [w, v]), (bank.quad, [v])):
        np.testing.assert_array_equal(asked(*(one.tolist() for one in given)), asked(*given))


@pytest.mark.each_value
@pytest.mark.parametrize("columns", [3, 17, 70, 130])
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("table", ["more samples than the rank cap", "few values per feature", "thirty samples"])
def test_forms_of_many_vectors_are_the_sum_of_those_of_each(table: str, precision: Any, columns: int) -> None:
    """Many columns are multiplied with each other first, or taken some at a time: rounding apart, that is the same."""
    bank = KernelBank.build(TABLES[table], ALL_FAMILIES, precision=precision)
    v = np.random.default_rng(0).normal(size=(bank.n_samples, columns))
    each = sum(bank.quad(np.ascontiguousarray(column)) for column in v.T)
    np.testing.assert_allclose(bank.quad(v), each, rtol=1e-10, atol=1e-12)


def test_both_back_ends_are_used_and_named() -> None:
    bank = KernelBank.build(TABLES["more samples than the rank cap"], ALL_FAMILIES)
    assert {"factored", "packed"} <= set(bank.backend.replace(",", "").split())
    assert bank.backend in repr(bank)
    few = KernelBank.build(TABLES["few values per feature"], [Gaussian(on="each"), Laplacian(on="each")])
    assert few.backend == f"{len(few)} factored"  # four values: rank four, whatever the kernel
    assert few.nbytes == 8 * 4 * 4 * len(few) + 4 * 40 * 3  # and which of four values each sample has, three times


def test_threads_may_share_a_bank() -> None:
    bank = KernelBank.build(RNG.normal(size=(300, 6)), [Gaussian(on="all"), Laplacian(on="all")])
    weights = RNG.dirichlet(np.ones(len(bank)), size=4)
    expected = [bank.combine(row) for row in weights]

    def ask(k: int) -> bool:
        return all(np.array_equal(bank.combine(weights[k]), expected[k]) for _ in range(60))

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(4))) == [True] * 4


def test_points_are_copied_and_cannot_be_written() -> None:
    X = RNG.normal(size=(10, 2))
    bank = KernelBank.build(X, [Gaussian(on="each")])
    before = bank.combine(np.ones(len(bank)))
    new = RNG.normal(size=(3, 2))
    crossed = bank.cross(new).combine(np.ones(len(bank)))
    X[:] = 0.0
    np.testing.assert_array_equal(bank.combine(np.ones(len(bank))), before)
    np.testing.assert_array_equal(bank.cross(new).combine(np.ones(len(bank))), crossed)
    assert bank.points is not None
    with pytest.raises(ValueError, match="read-only"):
        bank.points[0, 0] = 1.0


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_papers_bank_has_13_kernels_per_subset(d: int) -> None:
    X = RNG.normal(size=(12, d))
    bank = paper_bank(X)
    assert len(bank) == 13 * (d + 1)
    assert bank.normalize == "trace"
    assert bank.names[0] == "gauss 2⁻³ on all"
    assert bank.names[-1] == f"poly 3 on x{d}"
    assert f"gauss 2⁻¹ on x{d}" in bank.names
    named = paper_bank(X, feature_names=[f"age {j}" for j in range(d)])
    assert named.names[-1] == f"poly 3 on age {d - 1}"


def test_specs_say_where_each_kernel_comes_from_and_the_estimate_counts_kernels_and_dense_bytes_exactly() -> None:
    bank = KernelBank.build(RNG.normal(size=(8, 3)), [Gaussian(widths=(2.0,), on=["b", "c"])], feature_names="abc")
    [spec] = bank.kernels
    assert (spec.name, spec.value, spec.columns) == ("gauss 2¹ on b, c", 2.0, (1, 2))
    assert isinstance(spec.family, Gaussian)
    X = RNG.normal(size=(40, 3))
    families: list[KernelFamily] = [Gaussian(on="all+each"), Polynomial(on=[0, 2]), Linear(on="each")]
    m, _ = KernelBank.estimate(40, 3, families)
    assert m == len(KernelBank.build(X, families)) == 10 * 4 + 3 + 3
    named: list[KernelFamily] = [Gaussian(on=["age"])]
    assert KernelBank.estimate(40, 2, named, feature_names=["size", "age"])[0] == 10
    on_all: list[KernelFamily] = [Gaussian(), Laplacian()]
    assert KernelBank.estimate(40, 3, on_all)[1] == KernelBank.build(X, on_all).nbytes


def test_a_bank_that_would_not_fit_is_refused_before_it_is_built_and_one_larger_than_estimated_then() -> None:
    with pytest.raises(BankTooLarge, match=r"kernels on 3,000 samples need about .* GB, but .* use fewer samples"):
        KernelBank.build(np.zeros((3000, 300)) + RNG.normal(size=300), [Laplacian(on="all")] * 100)
    X = RNG.normal(size=(300, 4))  # narrow kernels have full rank
    narrow: list[KernelFamily] = [Gaussian(widths=(1e-4, 1e-3), on="each")]
    _, size = KernelBank.estimate(300, 4, narrow)
    with pytest.raises(BankTooLarge):
        KernelBank.build(X, narrow, max_bytes=size)


def test_progress_counts_up_to_one_and_may_cancel(tmp_path: Path) -> None:
    seen: list[float] = []
    bank = KernelBank.build(RNG.normal(size=(10, 3)), [Gaussian(on="all+each"), Linear()], progress=seen.append)
    assert len(seen) == len(bank)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    seen.clear()
    KernelBank.from_files(saved(tmp_path, random_grams(4, 6)), progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]

    def cancel(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KernelBank.build(RNG.normal(size=(10, 3)), [Gaussian(on="all+each")], progress=cancel)


@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal"])
@pytest.mark.parametrize("way", ["stored", "streamed", "row by row", "given", "by landmarks"])
def test_weights_of_samples_scale_kernels_as_repeated_samples_do(normalize: str, way: str) -> None:
    X, counts = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    families = [Gaussian(on="all+each")] if way == "streamed" else [Gaussian(), Polynomial(on="all+each")]

    def built(points: Array, sample_weight: Array | None) -> KernelBank | NystromBank:
        options: dict[str, Any] = {"normalize": normalize, "sample_weight": sample_weight}
        if way == "given":
            grams = dense(KernelBank.build(points, families, "none"))
            return KernelBank.from_grams(grams, **options)
        if way == "by landmarks":
            return NystromBank.build(points, families, len(points), **options)
        kept = {"stored": {}, "streamed": {"max_bytes": 20_000}, "row by row": {"rows": True}}[way]
        return KernelBank.build(points, families, **options, **kept)

    held, often = counts > 0, np.repeat(np.arange(30), counts)
    some, spread = np.random.default_rng(1).normal(size=held.sum()), np.zeros(len(often))
    spread[np.searchsorted(often, np.flatnonzero(held))] = some  # on the first of the repeated samples
    found, expected = built(X[held], counts[held]).quad(some), built(X[often], None).quad(spread)
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # landmarks are as exact as that


@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal"])
@pytest.mark.parametrize(
    "built",
    [
        lambda X, **options: KernelBank.build(X, [Gaussian(), Linear(on="each")], **options),
        lambda X, **options: KernelBank.build(X, [Gaussian(), Linear(on="each")], rows=True, **options),
        lambda X, **options: NystromBank.build(X, [Linear(on="each")], 3, **options),
        lambda X, **options: KernelBank.from_grams([np.outer(x, x) for x in X.T], ["x1", "x2"], **options),
    ],
    ids=["stored", "row by row", "by landmarks", "given"],
)
def test_a_kernel_that_is_zero_on_every_sample_stays_so_and_is_named(built: Any, normalize: str) -> None:
    X = np.column_stack([np.zeros(6), np.arange(6.0)])
    bank = built(X, normalize=normalize)
    assert (bank.quad(np.ones(6)) > 0.0).tolist() == [True] * (len(bank) - 2) + [False, True]
    notes = bank.words() if isinstance(bank, NystromBank) else " ".join(bank.notes)
    assert "without effect: " in notes
    assert "x1." in notes
    assert "up to 100 %" not in notes


@pytest.mark.parametrize(
    ("normalize", "says"), [("trace", "Every kernel is zero"), ("diagonal", "zero on sample 0 .* unit")]
)
def test_zero_kernels_alone_or_of_no_diagonal_cannot_be_normalized(normalize: str, says: str) -> None:
    for build in (KernelBank.build, NystromBank.build):
        with pytest.raises(KernelError, match=says):
            build(np.zeros((6, 2)), [Linear(on="each")], normalize=normalize)


# Gram matrices


def changed(n: int, place: object, value: object) -> Array:
    """A multiple of the identity with entries that are wrong."""
    K = 3.0 * np.eye(n)
    K[place] = value  # type: ignore[index]
    return K


@pytest.mark.parametrize("normalize", ["trace", "diagonal"])
def test_gram_matrices_can_be_normalized(normalize: str) -> None:
    grams = [7.0 * gram for gram in random_grams(3, 8)]
    bank = KernelBank.from_grams(grams, names=["a", "b", "c"], normalize=normalize)
    assert bank.names == ["a", "b", "c"]
    for found, gram in zip(dense(bank), grams, strict=True):
        root = np.sqrt(np.diag(gram)) if normalize == "diagonal" else np.full(8, np.sqrt(np.trace(gram)))
        np.testing.assert_allclose(found, gram / np.outer(root, root), rtol=1e-13)


@pytest.mark.parametrize(
    ("grams", "names", "says"),
    [
        ([], None, "No Gram matrices"),
        ([np.zeros((0, 0))], None, "No Gram matrices"),
        ([np.eye(3), np.eye(4)], None, r"kernel 2 must have shape \(3, 3\), but has \(4, 4\)"),
        ([np.ones((3, 4))], None, "must have shape"),
        (np.eye(3), None, r"kernel 1 must have shape \(3, 3\), but has \(3,\)"),
        ([1.0, 2.0], None, "must have shape"),
        ([changed(4, ([1, 3], [2, 0]), [0.5, 0.1])], None, r"not symmetric: entry \(1, 2\) is 0.5, but \(2, 1\) is 0"),
        ([np.eye(2), np.diag([1.0, -0.5])], ["a", "b"], "matrix b is not positive semidefinite.*-0.5"),
        ([np.full((2, 2), np.nan)], None, r"holds nan at \(0, 0\)"),
        ([np.eye(2)], ["a", "b"], "1 Gram matrices need as many names, but 2"),
        ([[["a"]]], None, "numbers only"),
    ],
)
def test_what_is_no_gram_matrix_is_refused_by_name(grams: object, names: list[str] | None, says: str) -> None:
    with pytest.raises(KernelError, match=says) as caught:
        KernelBank.from_grams(grams, names=names)  # type: ignore[arg-type]
    assert str(caught.value).endswith(".")


# new points


@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal", "diagonal", "none"])
def test_new_points_get_the_kernels_of_the_bank(normalize: str) -> None:
    X, new = RNG.normal(size=(15, 3)), RNG.normal(size=(6, 3))
    families = [*ALL_FAMILIES, Polynomial(degrees=(2,), offset=0.25)]
    bank = KernelBank.build(X, families, normalize=normalize)
    cross = bank.cross(new)
    for unit, K in zip(np.eye(len(bank)), direct(X, families, normalize, new), strict=True):
        np.testing.assert_allclose(cross.combine(unit), K, rtol=1e-12, atol=1e-13 * np.abs(K).max())
    weights = RNG.dirichlet(np.ones(len(bank)))
    total = sum(w * cross.combine(unit) for w, unit in zip(weights, np.eye(len(bank)), strict=True))
    np.testing.assert_allclose(cross.combine(weights), total, rtol=1e-12)


def test_gram_banks_take_new_points_as_matrices_and_where_a_kernel_vanishes_there_is_no_unit_diagonal() -> None:
    grams = np.array(random_grams(3, 8))
    new = RNG.normal(size=(3, 5, 8))
    weights = np.array([0.2, 0.0, 0.8])
    np.testing.assert_allclose(
        KernelBank.from_grams(grams).cross(new).combine(weights), np.tensordot(weights, new, 1), rtol=1e-13
    )
    traces = np.trace(grams, axis1=1, axis2=2)
    np.testing.assert_allclose(
        KernelBank.from_grams(grams, normalize="trace").cross(new).combine(weights),
        np.tensordot(weights / traces, new, 1),
        rtol=1e-12,
    )
    with pytest.raises(KernelError, match="unit diagonal cannot be extended"):
        KernelBank.from_grams(grams, normalize="diagonal").cross(new)
    with pytest.raises(KernelError, match=r"shape \(3, n_new, 8\)"):
        KernelBank.from_grams(grams).cross(new[:2])
    bank = KernelBank.build(np.ones((4, 1)), [Linear()], normalize="diagonal")
    with pytest.raises(KernelError, match="linear on all is zero on sample 1"):
        bank.cross([[1.0], [0.0]]).combine(np.ones(1))


# -- however a bank keeps its matrices


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


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (changed(50, (40, 3), 1e-3), r"part 1 is not symmetric: entry \(3, 40\) is 0, but \(40, 3\) is 0.001"),
        (changed(50, (3, 40), np.inf), r"part 1 holds inf at \(3, 40\)"),
        (changed(50, (7, 7), np.nan), r"part 1 holds nan at \(7, 7\)"),
        (changed(50, (7, 7), -0.5), "part 1 is not positive semidefinite: its smallest eigenvalue is -0.5"),
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
    sizes = np.abs(factor[factor != 0.0])
    assert sizes.min() >= 1e-16 * sizes.max()  # half the distance of one from the next number is 1.1e-16
    K = np.exp(-((X - X.T) ** 2) / (2.0 * width**2))
    np.testing.assert_allclose(factor.T @ factor, K, atol=1e-14 * len(X))  # the residual trace allowed
