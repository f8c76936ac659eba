"""The kernel bank against what the memory gives: v'K_k v for every kernel, sum_k d_k K_k, and preparing it.

- *papers' banks*: half of a UCI table, 10 Gaussians and 3 polynomials on all and on each feature; v is the solution of
  the SVM with the mean kernel at C = 100, as in the first gradient of every solver. The packed GEMV is one
  matrix-vector product with all kernels as packed triangles, the fastest plain way; its vector is made outside the
  clock. `tensordot` takes the (m, n, n) array of whole matrices.
- *dense banks*: drawn Gram matrices, too many for the cache, against ``numpy.sum`` of the memory they take. Those on
  disk have been read before, so the system holds them in memory, yet page by page.
- *prepared*: the bank from the table, against forming and scaling every (n, n) matrix with NumPy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mklviz.bench._suite import Bench, Row, Suite
from mklviz.bench.svm import TABLES
from mklviz.datasets import load_dataset
from mklviz.inner.svm import InnerSvm
from mklviz.kernels import KernelBank, paper_bank, paper_families
from mklviz.kernels.storage.packed import PackedBlock, pack_scaled
from mklviz.kernels.storage.triangles import packed_length
from mklviz.typing import Array

__all__ = ["SUITE", "measure"]

GRADIENT_GOAL = 5.0  # over the packed GEMV, median of the papers' tables
READING_GOAL = 0.8  # of the speed at which the same memory is read
DENSE = (1000, 60)  # samples and kernels: 240 MB packed, several times the cache
QUICK = (500, 40)
RANK = 20


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the papers' banks, then dense ones in memory and on disk."""
    gradients = []
    for table in TABLES[:2] if bench.quick else TABLES:
        bench.say(table)
        rows = list(_paper_rows(table, bench))
        gradients.append(rows[0])
        yield from rows
    name = f"gradient, median of {len(gradients)} tables"
    yield Row.median(name, gradients, GRADIENT_GOAL, "extremes are those of the tables")
    n, m = QUICK if bench.quick else DENSE
    bench.say(f"dense banks, n = {n:,}")
    yield from _dense_rows(n, m, bench)


def _paper_rows(table: str, bench: Bench) -> Iterator[Row]:
    """Time one of the papers' banks; the first row is that of the gradient."""
    train, _ = load_dataset(table).split(train=0.5, seed=0)
    bank = paper_bank(train.X)
    m, n = len(bank), bank.n_samples
    mean = np.full(m, 1.0 / m)
    svm = InnerSvm(np.asarray(train.y, dtype=np.float64), 100.0)
    svm.solve(bank.combine(mean), 1e-3, warm=False)
    v = svm.b.copy()
    whole = np.array([bank.combine(unit) for unit in np.eye(m)])
    packed, vector = _packed(whole), _paired(v)
    error = float(np.abs(packed @ vector - bank.quad(v)).max() / bank.quad(v).max())
    differ = f"they differ by {error:.0e} of the largest entry; {bank.backend}"
    pairs: list[tuple[str, Callable[[], object], str, Callable[[], object], str]] = [
        ("gradient", lambda: bank.quad(v), "packed GEMV", lambda: packed @ vector, differ),
        ("combine", lambda: bank.combine(mean), "tensordot", lambda: np.tensordot(mean, whole, 1), ""),
        ("prepare", lambda: paper_bank(train.X), "dense matrices in NumPy", lambda: _plain_bank(train.X), ""),
    ]
    for ours, our_run, other, other_run, note in pairs:
        seconds = bench.alternate({ours: our_run, other: other_run}, 9)
        yield Row.of(f"{table}, {ours}", (ours, seconds[ours]), (other, seconds[other]), n=n, m=m, note=note)


def _plain_bank(X: Array) -> list[Array]:
    """Return the papers' kernels as whole matrices of unit trace."""
    matrices = []
    for family in paper_families():
        for _, columns in family.subsets(X.shape[1], [f"x{j}" for j in range(X.shape[1])]):
            part = X[:, list(columns)]
            base = family.base(part, part)
            for value in family.values():
                K = family.profile(base, value)
                matrices.append(K / np.trace(K))
    return matrices


def _paired(v: Array) -> Array:
    """Return what packed triangles are multiplied with for v'K v: v_i v_j, twice beside the diagonal."""
    return _packed((2.0 * np.outer(v, v) - np.diag(v**2))[None])[0]


def _packed(whole: Array) -> Array:
    packed = np.empty((len(whole), packed_length(whole.shape[1])))
    for matrix, row in zip(whole, packed, strict=True):
        pack_scaled(matrix, np.ones(len(matrix)), row)
    return packed


def _dense_rows(n: int, m: int, bench: Bench) -> Iterator[Row]:
    """Time banks of drawn Gram matrices, kept in three ways, and reading the same memory."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((m, n, RANK))
    grams = factors @ factors.transpose(0, 2, 1)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "grams.npy"), grams)
        double, single = KernelBank.from_grams(grams), KernelBank.from_grams(grams, precision="single")
        mapped = KernelBank.from_files(folder, max_bytes=0)
        v, weights, out = rng.standard_normal(n), rng.dirichlet(np.ones(m)), np.empty((n, n))
        questions: dict[str, Callable[[], object]] = {}
        for name, bank in (("double", double), ("single", single)):
            ((_, block),) = bank._blocks
            assert isinstance(block, PackedBlock)
            questions[f"read {name}"] = block.packed.sum
        for name, bank in (("double", double), ("single", single), ("disk", mapped)):
            questions |= _questions(name, bank, v, weights, out)
        questions["tensordot"] = lambda: np.tensordot(weights, grams, 1)
        for ours, other, label, goal in (
            ("gradient, double", "read double", "reading the memory", READING_GOAL),
            ("combine, double", "read double", "reading the memory", READING_GOAL),
            ("products, double", "read double", "reading the memory", None),
            ("gradient, single", "read single", "reading the memory", None),
            ("combine, single", "read single", "reading the memory", None),
            ("gradient, single", "gradient, double", "double precision", None),
            ("combine, single", "combine, double", "double precision", None),
            ("gradient, disk", "gradient, double", "in memory", None),
            ("combine, disk", "combine, double", "in memory", None),
            ("combine, double", "tensordot", "tensordot", None),
        ):
            seconds = bench.alternate({name: questions[name] for name in (ours, other)}, 9)
            note = f"{double.nbytes / seconds[ours].min() / 1e9:.0f} GB/s" if other == "read double" else ""
            times = (ours, seconds[ours]), (label, seconds[other])
            yield Row.of(f"dense, {ours}", *times, n=n, m=m, goal=goal, note=note)
        del questions, mapped, bank  # before the files go


def _questions(name: str, bank: KernelBank, v: Array, weights: Array, out: Array) -> dict[str, Callable[[], object]]:
    return {
        f"gradient, {name}": lambda: bank.quad(v),
        f"combine, {name}": lambda: bank.combine(weights, out),
        f"products, {name}": lambda: bank.products(v, np.arange(len(bank))),
    }


SUITE = Suite(
    "Kernel bank against memory and plain linear algebra",
    "One question to a bank: CPU time of ours and of the plain way, and how many times faster ours is.",
    measure,
)
