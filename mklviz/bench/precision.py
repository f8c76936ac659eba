"""Whole solves with K_d formed in single precision, beside the same with K_d in double precision.

All of WDBC and drawn points in the shape of Covertype, the papers' bank, the hinge loss, kernel weights on the simplex.
Certificates are those of double precision either way, see `mklviz.inner.oracle`; the notes give SVMs and objectives.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import partial

from mklviz.bench._suite import Bench, Row, Suite
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import KernelBank, paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace

__all__ = ["SUITE", "measure", "unrounded"]

SAMPLES = {"wdbc": 510, "covertype_like": 1000}
SOLVERS = ("level", "spg", "newton")
COSTS = (1.0, 100.0)
GAPS = (1e-2, 1e-3)
LIMIT = 300  # steps
GOAL = 1.0  # else it were not worth its while


class _Unrounded(KernelBank):
    """Kernels whose sum is always formed in double precision."""

    @property
    def rounding_pays(self) -> bool:
        return False


def unrounded(bank: KernelBank) -> KernelBank:
    """Return the same kernels, whose sum is always formed in double precision."""
    same = copy(bank)
    same.__class__ = _Unrounded
    return same


def measure(bench: Bench) -> Iterator[Row]:
    """Measure every solver on every problem, to the coarse gap alone where it is to be quick."""
    for name, n in list(SAMPLES.items())[: 1 if bench.quick else None]:
        data = load_dataset(name)
        train, _ = data.split(train=n / data.n_samples, seed=0)
        bank = paper_bank(train.X)
        for C in COSTS:
            single, double = (Problem(kernels, train.y, Hinge(C=C)) for kernels in (bank, unrounded(bank)))
            for solver in SOLVERS:
                for gap in GAPS[: 1 if bench.quick else None]:
                    bench.say(f"{solver} on {name}, C = {C:g}, to {gap:g}")
                    yield _row(f"{name}, {solver}, C = {C:g}, gap {gap:g}", single, double, solver, gap, bench)


def _row(name: str, single: Problem, double: Problem, solver: str, gap: float, bench: Bench) -> Row:
    ends: dict[str, Trace] = {}

    def run(which: str, problem: Problem) -> None:
        ends[which] = solve(problem, solver, gap=gap, max_iter=LIMIT)

    seconds = bench.alternate({"single": partial(run, "single", single), "double": partial(run, "double", double)}, 3)
    both = ends["single"], ends["double"]
    objectives = " and ".join(f"{trace.best.objective:,.6g}" for trace in both)
    counts = " and ".join(f"{trace.final.svm_solves:,}" for trace in both)
    note = f"objectives {objectives}, SVMs {counts}"
    pair = ("single precision", seconds["single"]), ("double precision", seconds["double"])
    return Row.of(name, *pair, single.n, single.m, GOAL, note)


SUITE = Suite(
    "K_d in single precision",
    "Whole solves; a ratio above 1 says how many times faster the run with K_d in single precision was.",
    measure,
)
