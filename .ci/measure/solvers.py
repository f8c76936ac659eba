"""SVM solves and motion of every solver on the papers' seven data sets, over several splits.

``python -m mklviz.bench.solvers [splits]`` prints, for each data set and solver, medians over the splits: SVM solves,
CPU seconds and certified gap at the end, how often all the weight was moved, how often in vain, and the word for that
on most splits. All solvers stop at a certified gap of 1e-2 or after 500 steps, Newton's method at 1e-6; C = 100, half
of the samples, the papers' bank. The solvers of one split run one after the other in one process, so their seconds can
be compared with each other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median, mode

from mklviz.datasets import load_dataset
from mklviz.engine import available_solvers, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import SOLVED, Trace

__all__ = ["DATASETS", "Row", "measure", "print_table"]

DATASETS = ("ionosphere", "sonar", "wdbc", "heart", "pima", "breast", "vote")
GAP = 1e-2
FINE_GAPS = {"newton": 1e-6}


@dataclass(frozen=True)
class Row:
    """One solver on one data set, over several splits.

    Attributes
    ----------
    solves, seconds, gap, moved, in_vain : float
        Medians over the splits.
    most_solves : int
        Largest number of SVM solves.
    verdict : str
        The word for the motion of the weights on most splits.
    unfinished : int
        Splits on which the solver ended above its gap.
    """

    dataset: str
    solver: str
    splits: int
    solves: float
    most_solves: int
    seconds: float
    gap: float
    moved: float
    in_vain: float
    verdict: str
    unfinished: int


def measure(datasets: Sequence[str] = DATASETS, splits: int = 5) -> Iterator[Row]:
    """Yield the rows, one data set after the other."""
    for name in datasets:
        traces: dict[str, list[Trace]] = {}
        for seed in range(splits):
            train, _ = load_dataset(name).split(train=0.5, seed=seed)
            problem = Problem(paper_bank(train.X), train.y, loss=Hinge(C=100.0))
            for solver in available_solvers(problem):
                gap = FINE_GAPS.get(solver, GAP)
                solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
                traces.setdefault(solver, []).append(solve(problem, solver, gap=gap, max_iter=500))
        for solver, runs in traces.items():
            yield _row(name, solver, runs)


def _row(dataset: str, solver: str, runs: Sequence[Trace]) -> Row:
    solves = [run.final.svm_solves for run in runs]
    return Row(
        dataset=dataset,
        solver=solver,
        splits=len(runs),
        solves=median(solves),
        most_solves=max(solves),
        seconds=median(run.last_seconds for run in runs),
        gap=median(float(run.gap[-1]) for run in runs),
        moved=median(run.motion.moved for run in runs),
        in_vain=median(run.motion.in_vain for run in runs),
        verdict=mode(run.motion.verdict for run in runs),
        unfinished=sum(run.status not in SOLVED for run in runs),
    )


def print_table(rows: Iterator[Row]) -> None:
    """Print the rows as they come."""
    print(f"{'data set':<11} {'solver':<11} solves  most   CPU s      gap  moved  in vain  motion      unfinished")
    for row in rows:
        print(
            f"{row.dataset:<11} {row.solver:<11} {row.solves:6.0f} {row.most_solves:5d} {row.seconds:7.3f}"
            f" {row.gap:8.2g} {row.moved:6.1f} {row.in_vain:8.1f}  {row.verdict:<10}  {row.unfinished} of {row.splits}",
            flush=True,
        )


if __name__ == "__main__":
    print_table(measure(splits=int(sys.argv[1]) if len(sys.argv) > 1 else 5))
