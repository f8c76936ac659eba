"""The solvers since 2012 beside Newton's method, Level and SPG on the nine tables of two classes of the papers' kind.

``python .ci/measure recent [--splits N] [--json FILE]`` solves each table to a certified gap of 1 %, with half of the
samples, the papers' bank and C = 100, and prints medians over the splits: SVM solves, passes over the kernels
(`Trace.kernel_passes`: OGAProx counts its own, an SVM takes two) and CPU time in fits of one SVM on the mean kernel,
timed in the same process. The solvers of a split run one after the other. ``--json .ci/docs/recent_solvers.json``
writes the table of the documentation, *Which solver when*.

SMKL on the simplex with ridge, and the points that ALIGNF and EasyMKL choose, on the nine tables of two classes.

``python .ci/measure once [--splits N] [--json FILE]`` takes half of the samples, the papers' bank and
C = 100, and prints, for each table, medians over the splits.

SMKL     SVM solves to a certified gap of 1 %, of SMKL, SMKL against averages and SPG, at a price of ten times the
         largest s_k of the SVM at equal weights (high), and at the largest s_k (low); - where one takes more than 300
ALIGNF, EasyMKL   the objective at their weights, over the best that Newton's method certifies to 1e-4 on the simplex;
         CPU time in fits of one SVM on the mean kernel, and the test accuracy, beside that of the optimum

``--json .ci/docs/weights_once.json`` writes the table of the documentation, *Which solver when*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from measure.report import Row, measure_splits
from measure.which import TABLES

from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem, SimplexRidge
from mklviz.record import Trace
from mklviz.sweeps.solving import mean_fit_seconds

SOLVERS = ("newton", "level", "spg", "pairwise", "ogaprox")
GAP, MOST = 1e-2, 2000


def measure_recent(tables: Sequence[str] = TABLES, splits: int = 3) -> Iterator[Row]:
    """Yield a row for each table and solver."""
    for table in tables:
        runs: dict[str, list[Trace]] = {solver: [] for solver in SOLVERS}
        fits: list[float] = []
        for seed in range(splits):
            train, _ = load_dataset(table).split(train=0.5, seed=seed)
            problem = Problem(paper_bank(train.X), train.y, Hinge(C=100.0))
            fits.append(mean_fit_seconds(problem))
            for solver in SOLVERS:
                solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
                runs[solver].append(solve(problem, solver, gap=GAP, max_iter=MOST))
        for solver, traces in runs.items():
            yield _row(table, solver, traces, fits)


def _row(table: str, solver: str, traces: Sequence[Trace], fits: Sequence[float]) -> Row:
    return Row(
        table=table,
        solver=solver,
        solves=median(trace.final.svm_solves for trace in traces),
        passes=median(float(trace.kernel_passes[-1]) for trace in traces),
        fits=median(trace.last_seconds / fit for trace, fit in zip(traces, fits, strict=True)),
        unfinished=sum(trace.status != "converged" for trace in traces),
    )


def recent(arguments: Sequence[str]) -> None:
    """Measure and print."""
    measure_splits("recent", __doc__ or "", measure_recent, arguments)


PLAYERS = {"smkl": {}, "averages": {"against": "average"}, "spg": {}}
MOST_PLAYED = 300


def measure_once(tables: Sequence[str] = TABLES, splits: int = 3) -> Iterator[Row]:
    """Yield a row for each table."""
    for table in tables:
        rows = [_measured(table, seed) for seed in range(splits)]
        yield {"table": table, **{name: median(row[name] for row in rows) for name in rows[0]}}


def _measured(table: str, seed: int) -> Row:
    train, test = load_dataset(table).split(train=0.5, seed=seed)
    problem = Problem(paper_bank(train.X), train.y, Hinge(C=100.0))
    best = solve(problem, "newton", gap=1e-4)
    row: Row = dict(_prices(problem))
    fit = mean_fit_seconds(problem)
    points = {name: solve(problem, name, gap=None) for name in ("alignf", "easymkl")}
    for name, point in points.items():
        row[f"{name}_times"] = point.final.objective / best.best.objective
        row[f"{name}_fits"] = point.last_seconds / fit
    for name, trace in {**points, "optimum": best}.items():
        final = trace.final
        row[f"{name}_score"] = float((problem.predictor(final.weights, final.dual).predict(test.X) == test.y).mean())
    return row


def _prices(problem: Problem) -> Iterator[tuple[str, float]]:
    start = solve(problem, "spg", gap=None, max_iter=1)
    signed = problem.loss.signed(start[0].dual, problem.y)
    largest = float(problem.bank.quad(signed).max())
    for word, factor in (("high", 10.0), ("low", 1.0)):
        posed = Problem(problem.bank, problem.y, problem.loss, SimplexRidge(lam=factor * largest))
        for name, options in PLAYERS.items():
            solver = name if name == "spg" else "smkl"
            yield f"{word}_{name}", _solves(solve(posed, solver, gap=GAP, max_iter=MOST_PLAYED, **options))


def _solves(trace: Trace) -> float:
    return trace.final.svm_solves if trace.status == "converged" else math.inf


def once(arguments: Sequence[str]) -> None:
    """Measure and print."""
    measure_splits("once", __doc__ or "", measure_once, arguments)
