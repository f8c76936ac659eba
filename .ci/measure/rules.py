"""SVM solves until a gap is certified, by the run's best bounds and by each iterate alone, on the Level paper's sets.

``python -m mklviz.bench.rules [splits]`` prints medians over the splits (C = 100, half of the samples, the papers'
bank, at most 500 steps) of SVM solves and CPU seconds until

    the run's gap       best objective less best lower bound, averaged dual variables included, is at most 1e-2
    an iterate's own    gap, of its own weights and dual variables alone, is at most 1e-2

from one run each, which goes on until both are reached. A dash means that more than half of the splits did not get
there. Below each data set stands which share of SILP's time the Level method saved by either rule.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from mklviz.datasets import load_dataset
from mklviz.engine import IterateGap, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace

__all__ = ["DATASETS", "Row", "measure", "print_table"]

DATASETS = ("ionosphere", "breast", "pima", "sonar", "wpbc", "heart", "vote", "wdbc")
SOLVERS = ("silp", "simplemkl", "level", "spg", "newton")
GAP = 1e-2
SECONDS = 120.0  # of one run


@dataclass(frozen=True)
class Row:
    """One solver on one data set: medians over the splits, infinite where more than half did not get there.

    Attributes
    ----------
    solves, seconds : pair of float
        SVM solves and CPU seconds by the run's gap, and by an iterate's own.
    """

    dataset: str
    solver: str
    solves: tuple[float, float]
    seconds: tuple[float, float]


def measure(datasets: Sequence[str] = DATASETS, splits: int = 5) -> Iterator[Row]:
    """Yield the rows, one data set after the other."""
    for name in datasets:
        runs: dict[str, list[Trace]] = {solver: [] for solver in SOLVERS}
        for seed in range(splits):
            train, _ = load_dataset(name).split(train=0.5, seed=seed, standardize=True)
            problem = Problem(paper_bank(train.X), train.y, loss=Hinge(C=100.0))
            for solver, found in runs.items():
                solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
                found.append(
                    solve(problem, solver, gap=None, max_iter=500, max_seconds=SECONDS, stop=[IterateGap(GAP)])
                )
        for solver, found in runs.items():
            yield _row(name, solver, found)


def _row(dataset: str, solver: str, runs: Sequence[Trace]) -> Row:
    ends = [[_first(trace.gap), _first(trace.iterate_gap)] for trace in runs]

    def medians(values: Sequence[Sequence[float]]) -> tuple[float, float]:
        """Return the median, by either rule, of a column at the step where each run got there."""
        by_rule = [
            median(
                math.inf if of_run[rule] is None else float(column[of_run[rule]])
                for of_run, column in zip(ends, values, strict=True)
            )
            for rule in (0, 1)
        ]
        return by_rule[0], by_rule[1]

    return Row(dataset, solver, medians([run.svm_solves for run in runs]), medians([run.seconds for run in runs]))


def _first(gaps: Sequence[float]) -> int | None:
    """Return the first step at which the gap is small enough."""
    return next((t for t, gap in enumerate(gaps) if gap <= GAP), None)


def print_table(rows: Iterator[Row]) -> None:
    """Print the rows as they come, and below each data set what Level saved."""
    print(f"{'':23}  SVM solves        CPU seconds\n{'data set':<11} {'solver':<11}   run    own      run      own")
    silp: Row | None = None
    for row in rows:
        print(
            f"{row.dataset:<11} {row.solver:<11} {_said(row.solves[0], '5.0f')}  {_said(row.solves[1], '5.0f')}"
            f"  {_said(row.seconds[0], '7.3f')}  {_said(row.seconds[1], '7.3f')}",
            flush=True,
        )
        silp = row if row.solver == "silp" else silp
        if row.solver == "level" and silp is not None:
            shares = [1.0 - ours / theirs for ours, theirs in zip(row.seconds, silp.seconds, strict=True)]
            print(f"{'':11} Level saved {100 * shares[0]:.0f} % of SILP's time by the run's gap,", end="")
            print(f" {100 * shares[1]:.0f} % by the iterate's own")


def _said(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "–".rjust(len(format(0.0, form)))


if __name__ == "__main__":
    print_table(measure(splits=int(sys.argv[1]) if len(sys.argv) > 1 else 5))
