"""SVM solves and CPU time of every method for lp norms, on halves of the UCI tables with the papers' bank at C = 100.

The penalty is the released SPG program's, half the squared norm; its price is 1. "exact" methods minimise it with each
step, the others follow its slope as the paper does. In the ball there is nothing to follow, so both are the same.

A row is one method on one data set with one regularizer, medians over the splits. `solves` is nan for SMO-MKL, which
solves no SVM; `PGD_over` is the SVM solves of plain PGD over this method's, as in the paper's table 7; `SPG_over` is
the CPU time of SPG over this method's; `unfinished` counts splits on which time ran out above the gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from measure.report import Row
from mklviz.datasets import load_dataset
from mklviz.engine import make_solver, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, LpBall, LpPenalty, Problem
from mklviz.record import Trace

__all__ = ["measure_lp"]

SOLVERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "PGD": ("pgd", {}),
    "PGD+N": ("pgd", {"nonmonotone": True}),
    "PGD+S": ("pgd", {"spectral": True}),
    "PGD+N+S": ("pgd", {"nonmonotone": True, "spectral": True}),
    "SPG, paper": ("spg", {"preset": "paper"}),
    "PGD, exact": ("pgd", {"exact": True}),
    "PGD+N+S, exact": ("pgd", {"nonmonotone": True, "spectral": True, "exact": True}),
    "SPG": ("spg", {}),
    "closed form": ("closed-form", {}),
    "SMO-MKL": ("smo-mkl", {}),
}
GAP = 1e-3


def measure_lp(
    datasets: Sequence[str] = ("ionosphere", "sonar", "australian"),
    powers: Sequence[float] = (1.1, 1.33, 2.0),
    splits: int = 3,
    max_seconds: float = 5.0,
) -> Iterator[Row]:
    """Yield the rows of one data set, norm and power after the other; no run takes longer than `max_seconds`."""
    for name in datasets:
        halves = [load_dataset(name).split(train=0.5, seed=seed)[0] for seed in range(splits)]
        banks = [paper_bank(half.X) for half in halves]
        for p in powers:
            for norm, regularizer in (("penalty", LpPenalty(p, 1.0)), ("ball", LpBall(p))):
                posed = [
                    Problem(bank, half.y, Hinge(C=100.0), regularizer) for bank, half in zip(banks, halves, strict=True)
                ]
                yield from _rows(name, norm, p, _runs(posed, norm, max_seconds))


def _runs(posed: Sequence[Problem], norm: str, max_seconds: float) -> dict[str, list[Trace]]:
    runs_by_label: dict[str, list[Trace]] = {}
    for problem in posed:
        for label, (name, options) in SOLVERS.items():
            repeats = norm == "ball" and label.endswith("exact")
            if repeats or make_solver(name).refusal(problem):
                continue
            solve(problem, name, gap=None, max_iter=1, **options)  # compiled code is loaded outside the clock
            run = solve(problem, name, gap=GAP, max_iter=None, max_seconds=max_seconds, **options)
            runs_by_label.setdefault(label, []).append(run)
    return runs_by_label


def _rows(data: str, norm: str, p: float, runs_by_label: Mapping[str, Sequence[Trace]]) -> Iterator[Row]:
    solves = {label: median(float(run.final.svm_solves) for run in runs) for label, runs in runs_by_label.items()}
    seconds = {label: median(run.last_seconds for run in runs) for label, runs in runs_by_label.items()}
    for label, runs in runs_by_label.items():
        count = solves[label] or float("nan")
        yield Row(
            data=data,
            norm=norm,
            p=p,
            method=label,
            solves=count,
            cpu_s=seconds[label],
            gap=median(run.gap[-1] for run in runs),
            PGD_over=solves["PGD"] / count,
            SPG_over=seconds["SPG"] / seconds[label],
            unfinished=f"{sum(run.status != 'converged' for run in runs)} of {len(runs)}",
        )
