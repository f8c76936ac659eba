"""Whole solves: Level and SILP against plain implementations of the same algorithm, MKLpy, and one SVC fit.

Half of a UCI table, the papers' bank, C = 100, hinge loss, kernel weights on the simplex, a relative duality gap of
1e-2. The plain implementations (`mklviz.bench._plain`) get the kernels as one array, ours as its bank; making the
kernels is timed for neither. The notes compare objectives and numbers of SVMs.

One SVC fit of the mean kernel, as called from Python, is what learning no kernel weights costs: as the fit alone, and
with the mean formed from the array. MKLpy solves another problem (EasyMKL maximises a margin), so only times compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.bench._cuts import half
from mklviz.bench._plain import PlainResult, plain_level, plain_silp
from mklviz.bench._suite import Bench, Row, Suite, rival
from mklviz.engine import solve
from mklviz.problem import Problem
from mklviz.solvers._oracle import SVM_TOLERANCE

__all__ = ["SUITE", "compare", "gram_matrices", "measure"]

Array = NDArray[np.float64]

DATASETS = ("ionosphere", "sonar", "wdbc", "heart", "pima", "breast", "vote")
QUICK = ("heart", "pima", "vote")
SILP_SETS = ("heart", "pima", "breast", "vote")  # on the others it takes more than 500 steps
GAP, C = 1e-2, 100.0
# of the medians over the data sets
GOALS = {"plain Level": 20.0, "one SVC fit": 0.2}
PLAIN: dict[str, Callable[..., PlainResult]] = {"Level": plain_level, "SILP": plain_silp}


def measure(bench: Bench) -> Iterator[Row]:
    """Measure Level and SILP on every set, then the medians over the sets."""
    found: dict[str, list[Row]] = {}
    names = QUICK if bench.quick else DATASETS
    for name in names:
        problem = half(name, C)
        for row in _rows(name, problem, bench):
            if row.ours == "Level" and not np.isnan(row.ratio):
                found.setdefault(row.other, []).append(row)
            yield row
    for other, rows in found.items():
        yield _median(other, rows)


def _median(other: str, rows: list[Row]) -> Row:
    """Return the median over data sets; its extremes are those of the sets."""
    ratios = [row.ratio for row in rows]
    times = median(row.ours_ms for row in rows), median(row.other_ms for row in rows)
    spread = median(ratios), min(ratios), max(ratios)
    return Row(f"median of {len(rows)} data sets", "Level", other, 0, 0, *times, *spread, GOALS.get(other))


def gram_matrices(problem: Problem) -> Array:
    """Return all kernels as one (m, n, n) array."""
    return np.array([problem.bank.combine(one) for one in np.eye(problem.m)])


def _rows(name: str, problem: Problem, bench: Bench) -> Iterator[Row]:
    high, reason = rival("sklearn.svm")
    if high is None:
        for other in ("plain Level", "one SVC fit"):
            yield Row.missing(name, "Level", other, reason, problem.n, problem.m)
        return
    bench.say(f"kernels of {name}")
    grams, y = gram_matrices(problem), problem.y
    fine = high.SVC(kernel="precomputed", C=C, tol=SVM_TOLERANCE)  # at its usual 1e-3 some sets miss the gap
    yield compare(name, "Level", problem, grams, fine, bench)
    yield from _fits(name, problem, grams, high.SVC(kernel="precomputed", C=C), bench)
    if name in SILP_SETS:
        yield compare(name, "SILP", problem, grams, fine, bench)
    easy, reason = _mklpy(grams, y)
    if easy is None:
        yield Row.missing(name, "Level", "MKLpy's EasyMKL", reason, problem.n, problem.m)
        return
    seconds = bench.alternate({"ours": _ours("Level", problem), "easy": easy}, 3)
    pair = ("Level", seconds["ours"]), ("MKLpy's EasyMKL", seconds["easy"])
    yield Row.of(name, *pair, problem.n, problem.m, note="EasyMKL solves another problem")


def compare(name: str, method: str, problem: Problem, grams: Array, svc: Any, bench: Bench) -> Row:
    """Time ours and the plain implementation of one method, and compare what they found."""
    bench.say(f"{method} on {name}")
    plain = partial(PLAIN[method], svc, grams, problem.y, GAP)
    seconds = bench.alternate({"ours": _ours(method, problem), "plain": plain}, 3)
    theirs, ours = plain(), solve(problem, method.lower(), gap=GAP).final
    note = f"objectives {ours.objective:,.6g} and {theirs.objective:,.6g}, SVMs {ours.svm_solves} and {theirs.solves}"
    pair = (method, seconds["ours"]), (f"plain {method}", seconds["plain"])
    return Row.of(name, *pair, problem.n, problem.m, note=note)


def _ours(method: str, problem: Problem) -> Callable[[], object]:
    return lambda: solve(problem, method.lower(), gap=GAP)


def _fits(name: str, problem: Problem, grams: Array, svc: Any, bench: Bench) -> Iterator[Row]:
    """Time Level beside one SVC fit of the mean kernel, without and with forming it."""
    mean, y = grams.mean(axis=0), problem.y
    labels = {"one SVC fit": lambda: svc.fit(mean, y), "mean and SVC fit": lambda: svc.fit(grams.mean(axis=0), y)}
    seconds = bench.alternate({"ours": _ours("Level", problem), **labels}, 5)
    for label in labels:
        pair = ("Level", seconds["ours"]), (label, seconds[label])
        yield Row.of(name, *pair, problem.n, problem.m)


def _mklpy(grams: Array, y: Array) -> tuple[Callable[[], object] | None, str]:
    """Return a fit of MKLpy's EasyMKL, or None and why there is none."""
    module, reason = rival("MKLpy.algorithms")
    if module is None:
        return None, reason
    kernels = list(grams)

    def fit() -> object:
        return module.EasyMKL().fit(kernels, y)

    try:
        fit()
    except Exception as error:  # whatever its version says
        return None, f"MKLpy could not fit ({type(error).__name__})"
    return fit, ""


SUITE = Suite(
    "Whole solves",
    "Level and SILP to a duality gap of 1 % against plain implementations (SVC as called from Python, numpy, linprog,"
    " daqp), MKLpy, and one such SVC fit of the mean kernel; kernels given.",
    measure,
)
