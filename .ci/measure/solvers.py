"""SVM solves and motion of every solver on the papers' seven data sets, over several splits.

``python .ci/measure solvers [--splits N]`` prints, for each data set and solver, medians over the splits: SVM solves,
CPU seconds and certified gap at the end, how often all the weight was moved, how often in vain, and the word for that
on most splits. All solvers stop at a certified gap of 1e-2 or after 500 steps, Newton's method at 1e-6; C = 100, half
of the samples, the papers' bank. The solvers of one split run one after the other in one process, so their seconds can
be compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median, mode

from measure.report import Row, parser, print_rows
from mklviz.datasets import load_dataset
from mklviz.engine import available_solvers, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import SOLVED, Trace

__all__ = ["DATASETS", "main", "measure"]

DATASETS = ("ionosphere", "sonar", "wdbc", "heart", "pima", "breast", "vote")
GAP = 1e-2
FINE_GAPS = {"newton": 1e-6}


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
        data=dataset,
        solver=solver,
        solves=median(solves),
        most_solves=max(solves),
        cpu_s=median(run.last_seconds for run in runs),
        gap=median(float(run.gap[-1]) for run in runs),
        moved=median(run.motion.moved for run in runs),
        in_vain=median(run.motion.in_vain for run in runs),
        verdict=mode(run.motion.verdict for run in runs),
        unfinished=f"{sum(run.status not in SOLVED for run in runs)} of {len(runs)}",
    )


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    known = parser("solvers", __doc__)
    known.add_argument("--splits", type=int, default=5, help="splits of every data set (default: 5)")
    print_rows(measure(splits=known.parse_args(arguments).splits))
