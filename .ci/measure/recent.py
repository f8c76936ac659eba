"""The solvers since 2012 beside Newton's method, Level and SPG on the nine tables of two classes of the papers' kind.

``python .ci/measure recent [--splits N] [--json FILE]`` solves each table to a certified gap of 1 %, with half of the
samples, the papers' bank and C = 100, and prints medians over the splits: SVM solves, passes over the kernels
(`Trace.kernel_passes`: OGAProx counts its own, an SVM takes two) and CPU time in fits of one SVM on the mean kernel,
timed in the same process. The solvers of a split run one after the other. ``--json .ci/docs/recent_solvers.json``
writes the table of the documentation, *Which solver when*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from measure.report import Row, measure_splits
from measure.which import TABLES

from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace
from mklviz.sweeps.solving import mean_fit_seconds

SOLVERS = ("newton", "level", "spg", "pairwise", "ogaprox")
GAP, MOST = 1e-2, 2000


def measure(tables: Sequence[str] = TABLES, splits: int = 3) -> Iterator[Row]:
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


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    measure_splits("recent", __doc__ or "", measure, arguments)
