"""Whole solves: Level and SILP against plain implementations of the same algorithm, MKLpy, and one SVC fit.

Half of a UCI table, the papers' bank, C = 100, hinge loss, kernel weights on the simplex, a relative duality gap of
1e-2; in rows that say so of 1e-3 or 1e-6. The plain implementations (`mklviz.bench._plain`) get the kernels as one
array, ours as its bank; making the kernels is timed for neither. The notes compare objectives and numbers of SVMs.

One SVC fit of the mean kernel, as called from Python, is what learning no kernel weights costs: as the fit alone, and
with the mean formed from the array. Newton's method and Level are timed beside it to every gap, and the notes count
fits. MKLpy solves another problem (EasyMKL maximises a margin), so only times compare.

The three large scenarios are solved once each, beside a fixed piece of work (`mklviz.bench._large`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mklviz.bench._large import large_scenarios
from mklviz.bench._plain import PlainResult, plain_level, plain_silp
from mklviz.bench._suite import Bench, Row, Suite, rival
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.inner.oracle import SVM_TOLERANCE
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace
from mklviz.typing import Array

__all__ = ["SUITE", "compare", "gram_matrices", "measure"]

DATASETS = ("ionosphere", "sonar", "wdbc", "heart", "pima", "breast", "vote", "wpbc", "liver")
QUICK = ("heart", "pima", "vote")
SILP_SETS = ("heart", "pima", "breast", "vote")  # on the others it takes more than 500 steps
GAP, C = 1e-2, 100.0
FINE, FINEST = 1e-3, 1e-6
MOST_STEPS = 5000  # Level takes more than 500 to the finest gap
TIMED = {"Newton": "newton", "Level": "level"}
# of the medians over the data sets
GOALS = {"plain Level": 20.0, "one SVC fit": 0.05}  # 20 fits
PLAIN: dict[str, Callable[..., PlainResult]] = {"Level": plain_level, "SILP": plain_silp}


def half(name: str, C: float = 100.0) -> Problem:
    """Return half of a data set with the papers' bank and the hinge loss."""
    train, _ = load_dataset(name).split(train=0.5, seed=0)
    return Problem(paper_bank(train.X), train.y, Hinge(C=C))


def measure(bench: Bench) -> Iterator[Row]:
    """Measure Level and SILP on every set, then the medians over the sets, and the large scenarios."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    names = QUICK if bench.quick else DATASETS
    for name in names:
        problem = half(name, C)
        for row in _rows(name, problem, bench):
            if row.ours in TIMED and not np.isnan(row.ratio):
                groups.setdefault((row.ours, row.other, row.name.removeprefix(name)), []).append(row)
            yield row
    for (_, _, gap), rows in groups.items():
        yield _median(rows, gap)
    if not bench.quick:
        yield from large_scenarios(bench)


def _median(rows: list[Row], gap: str = "") -> Row:
    """Return the median over data sets, as fits of one SVC where that is the other."""
    found = Row.median(f"median of {len(rows)} data sets{gap}", rows, GOALS.get(rows[0].other))
    fits = f"{_fits_of(found.ratio)}, {1.0 / found.most:.3g} to {1.0 / found.least:.3g}"
    return replace(found, note=fits) if "SVC fit" in found.other else found


def _fits_of(ratio: float) -> str:
    return f"{1.0 / ratio:.3g} fits"


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
        if not bench.quick:
            yield compare(name, "Level", problem, grams, fine, bench, FINE)
    easy, reason = _mklpy(grams, y)
    if easy is None:
        yield Row.missing(name, "Level", "MKLpy's EasyMKL", reason, problem.n, problem.m)
        return
    seconds = bench.alternate({"ours": _ours("Level", problem), "easy": easy}, 3)
    pair = ("Level", seconds["ours"]), ("MKLpy's EasyMKL", seconds["easy"])
    yield Row.of(name, *pair, problem.n, problem.m, note="EasyMKL solves another problem")


def compare(name: str, method: str, problem: Problem, grams: Array, svc: Any, bench: Bench, gap: float = GAP) -> Row:
    """Time ours and the plain implementation of one method, and compare what they found."""
    bench.say(f"{method} on {name}{_to(gap)}")
    plain = partial(PLAIN[method], svc, grams, problem.y, gap)
    seconds = bench.alternate({"ours": _ours(method, problem, gap), "plain": plain}, 3 if gap == GAP else 1)
    theirs, ours = plain(), solve(problem, method.lower(), gap=gap).best
    note = f"objectives {ours.objective:,.6g} and {theirs.objective:,.6g}, SVMs {ours.svm_solves} and {theirs.solves}"
    pair = (method, seconds["ours"]), (f"plain {method}", seconds["plain"])
    return Row.of(f"{name}{_to(gap)}", *pair, problem.n, problem.m, note=note)


def _to(gap: float) -> str:
    return "" if gap == GAP else f" to {gap:g}"


def _ours(method: str, problem: Problem, gap: float = GAP) -> Callable[[], object]:
    return lambda: solve(problem, method.lower(), gap=gap)


def _fits(name: str, problem: Problem, grams: Array, svc: Any, bench: Bench) -> Iterator[Row]:
    """Time our solvers to every gap beside one SVC fit of the mean kernel, at the usual gap with forming it as well."""
    mean, y = grams.mean(axis=0), problem.y
    fit, whole = "one SVC fit", "mean and SVC fit"
    ends: dict[str, Trace] = {}

    def run(label: str, gap: float) -> None:
        ends[label] = solve(problem, TIMED[label], gap=gap, max_iter=MOST_STEPS)

    for gap in (GAP, FINE, FINEST):
        bench.say(f"{', '.join(TIMED)} on {name} to {gap:g}, in SVC fits")
        things: dict[str, Callable[[], object]] = {fit: lambda: svc.fit(mean, y)}
        if gap == GAP:
            things[whole] = lambda: svc.fit(grams.mean(axis=0), y)
        ours = {label: partial(run, label, gap) for label in TIMED}
        seconds = bench.alternate({**things, **ours}, 5 if gap == GAP else 3)
        for label in ours:
            for other in things:
                row = Row.of(
                    f"{name}{_to(gap)}", (label, seconds[label]), (other, seconds[other]), problem.n, problem.m
                )
                missed = "" if ends[label].status == "converged" else ", gap not reached"
                note = f"{_fits_of(row.ratio)}, SVMs {ends[label].best.svm_solves}{missed}"
                yield replace(row, note=note)


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
    except Exception as error:  # whatever its version is
        return None, f"MKLpy could not fit ({type(error).__name__})"
    return fit, ""


SUITE = Suite(
    "Whole solves",
    "Level and SILP to a duality gap of 1 % against plain implementations (SVC as called from Python, numpy, linprog,"
    " daqp), MKLpy, and one such SVC fit of the mean kernel; kernels given. The large scenarios"
    " stand beside a fixed piece of work.",
    measure,
)
