"""The inner SVM against LIBSVM: ``sklearn.svm.SVC(kernel="precomputed")`` and its low-level call, tolerance 1e-3.

- *paper* cases: half of a UCI table and its bank of unit-trace kernels (10 Gaussians and 3 polynomials, on all and on
  each feature) at C = 100; the mean kernel, where every solver of multiple kernel learning starts, and one Gaussian on
  all features.
- *drawn* cases: two Gaussians on drawn points, scaled to ``trace K = 1`` or ``K_ii = 1``. Large C on a unit diagonal is
  the long problem, with many pair steps per point.
- *cold*: both from scratch. *warm*: for a kernel whose weights have changed by a few percent, ours from the solution
  before the change, as in multiple kernel learning; LIBSVM cannot start warm.

The goals are those against SVC as called from Python, which checks its input and makes a model at every fit: on a small
kernel that is most of its time. So LIBSVM's own call, which does neither, stands beside it in every row and in the
medians; it only has to be slower. The note tells how much higher our dual objective is than LIBSVM's, relative; both
maximise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.bench._suite import Bench, Row, Suite, rival
from mklviz.datasets import load_dataset
from mklviz.inner.svm import InnerSvm
from mklviz.kernels import paper_bank
from mklviz.typing import Array

Fit = Callable[[Array], tuple[NDArray[np.intp], Array]]

TOLERANCE = 1e-3
TABLES = ("sonar", "heart", "ionosphere", "liver", "breast", "australian", "pima")
SIZES = (1000, 2000, 5000)
CS = (1.0, 10.0, 100.0)
WIDTH = 0.05  # of the drawn Gaussians: exp(-WIDTH |x - x'|²) and its square
SMALL = 400  # points up to which the kernel stays in the cache
GOALS = {True: (10.0, 30.0), False: (5.0, 12.0)}  # cold and warm; small kernels, larger ones
LIBSVM, LOW_LEVEL = "SVC as called from Python", "LIBSVM's own call"


@dataclass(frozen=True)
class SvmCase:
    """One problem: labels, kernel, the kernel after a small change of weights, and C."""

    name: str
    y: Array
    kernel: Array
    changed: Array
    C: float


def paper_cases(tables: tuple[str, ...] = TABLES) -> Iterator[SvmCase]:
    """Mean and single kernels of the papers' banks, n about 100-400."""
    rng = np.random.default_rng(0)
    for table in tables:
        train, _ = load_dataset(table).split(train=0.5, seed=0)
        y = np.asarray(train.y, dtype=np.float64)
        bank = paper_bank(train.X)
        mean = np.full(len(bank), 1.0 / len(bank))
        changed = mean * (1.0 + 0.1 * rng.standard_normal(len(bank)))
        yield SvmCase(f"{table}, mean kernel", y, bank.combine(mean), bank.combine(changed / changed.sum()), 100.0)
        single, mixed = np.zeros(len(bank)), np.zeros(len(bank))
        single[5], mixed[5:7] = 1.0, (0.95, 0.05)
        yield SvmCase(f"{table}, one Gaussian", y, bank.combine(single), bank.combine(mixed), 100.0)


def drawn_cases(sizes: tuple[int, ...] = SIZES, Cs: tuple[float, ...] = CS) -> Iterator[SvmCase]:
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
            for C in Cs:
                yield SvmCase(f"drawn, {name}, n = {n:,}, C = {C:g}", y, kernel, changed, C)


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the papers' kernels, their medians, then drawn ones."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for case in paper_cases(TABLES[:2] if bench.quick else TABLES):
        for row in _rows(case, bench):
            if not np.isnan(row.ratio):
                groups.setdefault((row.ours, row.other), []).append(row)
            yield row
    for rows in groups.values():
        yield Row.median(f"median of {len(rows)} of the papers' kernels", rows)
    sizes, Cs = ((1000,), (1.0, 100.0)) if bench.quick else (SIZES, CS)
    for case in drawn_cases(sizes, Cs):
        yield from _rows(case, bench)


def _rows(case: SvmCase, bench: Bench) -> Iterator[Row]:
    """Time LIBSVM and the inner SVM in turn on one case."""
    bench.say(case.name)
    n = len(case.y)
    svm = InnerSvm.of_labels(case.y, case.C)
    value = svm.solve(case.kernel, TOLERANCE, warm=False).value
    start = svm.b.copy()

    def cold() -> None:
        svm.solve(case.kernel, TOLERANCE, warm=False)

    def warm() -> None:
        svm.b[:] = start
        svm.solve(case.changed, TOLERANCE)

    fits, reasons = _fits(case)
    things = {"cold": cold, "warm": warm}
    for label, fit in fits.items():
        things |= {label: _bound(fit, case.kernel), f"{label}, changed": _bound(fit, case.changed)}
    seconds = bench.alternate(things, 9 if n <= SMALL else 5 if n < 3000 else 3)
    goals = dict(zip(("cold", "warm"), GOALS[n <= SMALL], strict=True))
    for label, fit in fits.items():
        b = _signed(case, *fit(case.kernel))
        reference = float(case.y @ b - 0.5 * b @ case.kernel @ b)
        note = f"our dual objective is higher by {(value - reference) / abs(reference):+.1e}, relative"
        for ours, other in (("cold", label), ("warm", f"{label}, changed")):
            pair = (f"inner SVM, {ours}", seconds[ours]), (label, seconds[other])
            goal = goals[ours] if label == LIBSVM else 1.0
            yield Row.of(case.name, *pair, n=n, goal=goal, note=note if ours == "cold" else "")
    for label, reason in reasons.items():
        yield Row.missing(case.name, "inner SVM", label, reason, n)


def _fits(case: SvmCase) -> tuple[dict[str, Fit], dict[str, str]]:
    """Return what fits LIBSVM to a kernel, giving support vectors and coefficients, and why others cannot."""
    high, reason = rival("sklearn.svm")
    if high is None:
        return {}, {LIBSVM: reason}
    svc = high.SVC(kernel="precomputed", C=case.C, tol=TOLERANCE)

    def fit(kernel: Array) -> tuple[NDArray[np.intp], Array]:
        svc.fit(kernel, case.y)
        return svc.support_, svc.dual_coef_

    low, reason = rival("sklearn.svm._libsvm")
    if low is None:
        return {LIBSVM: fit}, {LOW_LEVEL: reason}
    if hasattr(low, "set_verbosity_wrap"):
        low.set_verbosity_wrap(0)  # it talks until SVC has been fitted once
    y = np.array(case.y)
    options: dict[str, Any] = {"svm_type": 0, "kernel": "precomputed", "C": case.C, "tol": TOLERANCE}

    def low_fit(kernel: Array) -> tuple[NDArray[np.intp], Array]:
        support, _, _, coefficients, *_ = low.fit(kernel, y, **options)
        return support, coefficients

    try:
        low_fit(case.kernel)
    except (TypeError, ValueError) as error:  # not a public function: other versions may ask for other arguments
        return {LIBSVM: fit}, {LOW_LEVEL: f"its arguments have changed ({error})"}
    return {LIBSVM: fit, LOW_LEVEL: low_fit}, {}


def _signed(case: SvmCase, support: NDArray[np.intp], coefficients: Array) -> Array:
    """Return y ∘ a from LIBSVM's coefficients, whose signs depend on which class it counts as the first."""
    b = np.zeros(len(case.y))
    b[support] = np.abs(coefficients[0]) * case.y[support]
    return b


def _bound(fit: Fit, kernel: Array) -> Callable[[], object]:
    return lambda: fit(kernel)


SUITE = Suite(
    "Inner SVM against LIBSVM",
    "One kernel, one C, tolerance 1e-3: CPU time of ours, of SVC as called from Python and of LIBSVM's own call, and"
    " how many times faster ours is.",
    measure,
)
