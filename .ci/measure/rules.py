"""SVM solves until a gap is certified, by the run's best bounds and by each iterate alone, on the Level paper's sets.

``python .ci/measure rules [--splits N]`` prints medians over the splits (C = 100, half of the samples, the papers'
bank, at most 500 steps) of SVM solves and CPU seconds until

    the run's gap       best objective less best lower bound, averaged dual variables included, is at most 1e-2
    an iterate's own    gap, of its own weights and dual variables alone, is at most 1e-2

from one run each, which goes on until both are reached. A dash means that more than half of the splits did not get
there. `saved` is the share of SILP's CPU seconds that a method does not need, by either rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from measure.report import Row, parser, print_rows
from mklviz.datasets import load_dataset
from mklviz.engine import IterateGap, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace

__all__ = ["DATASETS", "main", "measure"]

DATASETS = ("ionosphere", "breast", "pima", "sonar", "wpbc", "heart", "vote", "wdbc")
SOLVERS = ("silp", "simplemkl", "level", "spg", "newton")
GAP = 1e-2
SECONDS = 120.0  # of one run


def measure(datasets: Sequence[str] = DATASETS, splits: int = 5) -> Iterator[Row]:
    """Yield the rows, one data set after the other."""
    for name in datasets:
        runs: dict[str, list[Trace]] = {solver: [] for solver in SOLVERS}
        for seed in range(splits):
            train, _ = load_dataset(name).split(train=0.5, seed=seed, standardize=True)
            problem = Problem(paper_bank(train.X), train.y, loss=Hinge(C=100.0))
            for solver, traces in runs.items():
                solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
                traces.append(
                    solve(problem, solver, gap=None, max_iter=500, max_seconds=SECONDS, stop=[IterateGap(GAP)])
                )
        seconds = {solver: _medians(traces, "seconds") for solver, traces in runs.items()}
        for solver, traces in runs.items():
            solves = _medians(traces, "svm_solves")
            saved = [100.0 * (1.0 - ours / silp) for ours, silp in zip(seconds[solver], seconds["silp"], strict=True)]
            yield Row(
                data=name,
                solver=solver,
                solves_run=solves[0],
                solves_own=solves[1],
                cpu_s_run=seconds[solver][0],
                cpu_s_own=seconds[solver][1],
                saved_run=saved[0],
                saved_own=saved[1],
            )


def _medians(runs: Sequence[Trace], column: str) -> list[float]:
    """Return the median of a column at the step where each run got there, by the run's gap and by an iterate's own."""
    return [
        median(_at(getattr(run, column), gaps) for run, gaps in zip(runs, by_rule, strict=True))
        for by_rule in ([run.gap for run in runs], [run.iterate_gap for run in runs])
    ]


def _at(column: Sequence[float], gaps: Sequence[float]) -> float:
    """Return a column's value at the first step whose gap is small enough, infinity where there is none."""
    return next((float(value) for value, gap in zip(column, gaps, strict=True) if gap <= GAP), math.inf)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    known = parser("rules", __doc__)
    known.add_argument("--splits", type=int, default=5, help="splits of every data set (default: 5)")
    print_rows(measure(splits=known.parse_args(arguments).splits))
