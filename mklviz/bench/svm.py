"""How much faster the inner SVM is than ``sklearn.svm.SVC(kernel="precomputed")`` at the same tolerance, 1e-3.

    python -m mklviz.bench.svm

Each row is one kernel K and one C. Both programs solve it in turn in one process with BLAS on one thread, and CPU
time is taken, so other work on the machine weighs on both alike.

- *paper* rows: half of a UCI table and its bank of unit-trace kernels (10 Gaussians and 3 polynomials, on all and on
  each feature) at C = 100; "mean" is the mean kernel, where every solver of multiple kernel learning starts, and
  "single" one Gaussian on all features.
- *unit trace* and *unit diagonal* rows: two Gaussians on drawn points, scaled to ``trace K = 1`` or ``K_ii = 1``. Large
  C on a unit diagonal is the long problem, with many pair steps per point.
- *cold*: ratio of SVC's time to ours, both from scratch: median (smallest-largest).
- *warm*: the same for a kernel whose weights have changed by a few percent, ours from the solution before the change,
  as in multiple kernel learning; SVC cannot start warm.
- *value*: our objective minus SVC's, relative (both maximise, so positive is better), after the cold solve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mklviz.datasets import load_dataset
from mklviz.problem import paper_bank
from mklviz.solvers._svm import InnerSvm

__all__ = ["Case", "Row", "benchmark", "drawn_cases", "paper_cases"]

Array = NDArray[np.float64]

TOLERANCE = 1e-3
TABLES = ("sonar", "heart", "ionosphere", "liver", "breast", "australian", "pima")
SIZES = (1000, 2000, 5000)
WIDTH = 0.05  # of the drawn Gaussians: exp(-WIDTH |x - x'|²) and its square


@dataclass(frozen=True)
class Case:
    """One problem: labels, kernel, the kernel after a small change of weights, and C."""

    name: str
    y: Array
    kernel: Array
    changed: Array
    C: float


@dataclass(frozen=True)
class Row:
    """What was measured: milliseconds, and (median, smallest, largest) of the ratios."""

    name: str
    n: int
    C: float
    svc_ms: float
    cold_ms: float
    warm_ms: float
    cold: tuple[float, float, float]
    warm: tuple[float, float, float]
    value: float

    def __str__(self) -> str:
        cold, warm = (f"{r[0]:6.1f} ({r[1]:.1f}-{r[2]:.1f})" for r in (self.cold, self.warm))
        times = f"{self.svc_ms:9.2f} {self.cold_ms:9.3f} {self.warm_ms:9.3f}"
        return f"{self.name:<24} {self.n:5d} {self.C:5.0f} {times}  {cold:<22} {warm:<22} {self.value:+.1e}"


HEAD = (
    f"{'kernel':<24} {'n':>5} {'C':>5} {'SVC ms':>9} {'cold ms':>9} {'warm ms':>9}  "
    f"{'cold ratio':<22} {'warm ratio':<22} value"
)


def paper_cases() -> Iterator[Case]:
    """Mean and single kernels of the papers' banks, n about 100-400."""
    rng = np.random.default_rng(0)
    for table in TABLES:
        train, _ = load_dataset(table).split(train=0.5, seed=0)
        y = np.asarray(train.y, dtype=np.float64)
        bank = paper_bank(train.X)
        mean = np.full(len(bank), 1.0 / len(bank))
        changed = mean * (1.0 + 0.1 * rng.standard_normal(len(bank)))
        yield Case(f"{table} mean", y, bank.combine(mean), bank.combine(changed / changed.sum()), 100.0)
        single, mixed = np.zeros(len(bank)), np.zeros(len(bank))
        single[5], mixed[5:7] = 1.0, (0.95, 0.05)
        yield Case(f"{table} single", y, bank.combine(single), bank.combine(mixed), 100.0)


def drawn_cases(sizes: tuple[int, ...] = SIZES) -> Iterator[Case]:
    """Two Gaussians on drawn points in ten dimensions, a tenth of the labels noise."""
    rng = np.random.default_rng(0)
    for n in sizes:
        X = rng.standard_normal((n, 10))
        y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5 + 0.5 * rng.standard_normal(n) > 0.0, 1.0, -1.0)
        squares = (X**2).sum(axis=1)
        gaussian = np.exp(-WIDTH * np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0))
        for name, scale in (("unit trace", 1.0 / n), ("unit diagonal", 1.0)):
            kernel = scale * (0.5 * gaussian + 0.5 * gaussian**2)
            changed = scale * (0.45 * gaussian + 0.55 * gaussian**2)
            for C in (1.0, 10.0, 100.0):
                yield Case(name, y, kernel, changed, C)


def _cpu(run: Callable[[], object], times: int = 1) -> float:
    """Milliseconds of CPU per run."""
    start = time.process_time()
    for _ in range(times):
        run()
    return 1e3 * (time.process_time() - start) / times


def _spread(ratios: list[float]) -> tuple[float, float, float]:
    return float(np.median(ratios)), min(ratios), max(ratios)


def measure(case: Case, repeats: int) -> Row:
    """Time SVC and the inner SVM in turn on one case."""
    y, n = case.y, len(case.y)
    svm, svc = InnerSvm(y, case.C), SVC(kernel="precomputed", C=case.C, tol=TOLERANCE)
    value = svm.solve(case.kernel, TOLERANCE, warm=False).value
    start = svm.b.copy()
    inner = max(1, 400 // n)  # a clock tick is short beside this many solves

    def warm() -> None:
        svm.b[:] = start
        svm.solve(case.changed, TOLERANCE)

    times = np.array(
        [
            (
                _cpu(lambda: svc.fit(case.kernel, y)),
                _cpu(lambda: svm.solve(case.kernel, TOLERANCE, warm=False), inner),
                _cpu(lambda: svc.fit(case.changed, y)),
                _cpu(warm, inner),
            )
            for _ in range(repeats)
        ]
    )
    svc_cold, cold, svc_changed, warmed = times.T
    b = np.zeros(n)
    svc.fit(case.kernel, y)
    b[svc.support_] = svc.dual_coef_[0] * np.sign(svc.classes_[1])
    reference = float(y @ b - 0.5 * b @ case.kernel @ b)
    return Row(
        case.name,
        n,
        case.C,
        *(float(np.median(column)) for column in (svc_cold, cold, warmed)),
        _spread(list(svc_cold / cold)),
        _spread(list(svc_changed / warmed)),
        (value - reference) / abs(reference),
    )


def benchmark(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Measure the paper's kernels, then drawn ones of the given sizes."""
    with threadpool_limits(limits=1):
        for case in paper_cases():
            yield measure(case, 11)
        for case in drawn_cases(sizes):
            yield measure(case, 5 if len(case.y) < 3000 else 3)


if __name__ == "__main__":
    print(HEAD)
    for row in benchmark():
        print(row, flush=True)
