"""A recorded race on its problem, posed anew: it can be shown as if it had just ended, and gone on from.

On an `UnposedProblem`, whose data are missing, it can only be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from mklviz.contract import Solver
from mklviz.engine.race import BRANCH_DASH, Race
from mklviz.engine.registry import make_solver
from mklviz.engine.run import Run
from mklviz.engine.scheduler import TimeShare
from mklviz.engine.stop import StopRule
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.kernels import Bank
from mklviz.problem import CustomRegularizer, Problem, Regularizer, Simplex
from mklviz.record.trace import Trace
from mklviz.typing import Array

# What recorded steps say of a problem whose data are missing: its sizes, the names of its kernels, where weights were.
#
# Nothing of it can be computed: what computes something asks `Problem.unposed` first.

NO_STEP = "No step of this race was recorded: there is nothing to show."

_ON_SIMPLEX = 1e-6  # by which rounding may move the sum of the weights from one


class UnposedProblem(Problem):
    """The problem of recorded runs; `missing` says why it cannot be posed, a sentence.

    Raises `MklvizError` if none of the runs has a step.
    """

    def __init__(self, traces: Iterable[Trace], missing: str) -> None:
        begun = [trace for trace in traces if len(trace)]
        if not begun:
            raise MklvizError(NO_STEP)
        first = begun[0]
        m, n = len(first.final.weights), len(first.final.dual)
        names = first.kernel_names if len(first.kernel_names) == m else [f"kernel {k + 1}" for k in range(m)]
        known = {
            "bank": cast(Bank, _NamedKernels(names, n)),
            "y": np.zeros(n),
            "regularizer": _regularizer_of(begun),
            "sample_weight": None,
            "_missing": missing,
            "_bounded": any(np.isfinite(trace.best_bound.lower_bound) for trace in begun),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)  # what a frozen problem checks cannot be checked here

    @property
    def unposed(self) -> str:
        return str(vars(self)["_missing"])

    @property
    def convex(self) -> bool:
        """Whether there were lower bounds."""
        return bool(vars(self)["_bounded"])

    @property
    def no_bound(self) -> str:
        return "" if self.convex else "No lower bound was recorded, hence no gap."


class _NamedKernels:
    """Kernels of which the names are known."""

    convex, kind, backend, nbytes = True, "sum", "not at hand", 0

    def __init__(self, names: Sequence[str], n_samples: int) -> None:
        self.names, self.n_samples = names, n_samples

    def __len__(self) -> int:
        return len(self.names)


def _regularizer_of(traces: Sequence[Trace]) -> Regularizer:
    """Return what is known of it: whether the solutions share one weight, and whether objectives fell below zero."""
    sums = np.array([trace.best.weights.sum() for trace in traces])
    if np.abs(sums - 1.0).max() <= _ON_SIMPLEX:
        return Simplex()
    return _SignedRegularizer() if any(trace.best.objective <= 0.0 for trace in traces) else _UnknownRegularizer()


class _UnknownRegularizer(CustomRegularizer):
    label = "unknown regularizer"

    def value(self, weights: Array) -> float:
        raise UnsupportedProblem("Nobody knows the regularizer of this race.")

    def gradient(self, weights: Array) -> Array:
        raise UnsupportedProblem("Nobody knows the regularizer of this race.")

    def conjugate(self, slopes: Array) -> float:
        raise UnsupportedProblem("Nobody knows the regularizer of this race.")


class _SignedRegularizer(_UnknownRegularizer):
    conjugated = False


class _ReopenedRun(Run):
    """A run that has ended: its trace was recorded."""

    def __init__(
        self, problem: Problem, solver: Solver, trace: Trace, rules: Sequence[StopRule] | None, party: TimeShare
    ) -> None:
        self._set_up(problem, solver, trace, rules, party=party)
        self._status = trace.status
        self._ended.set()


class ReopenedRace(Race):
    """Recorded runs of one problem, which is posed anew, or unposed.

    `traces`: by the keys of the runs, which have ended or were cut off; `rules`: for branches; `stored`: key of the
    race in the store, "" where it came from elsewhere. Raises `MklvizError` if a run has other kernels or samples than
    the problem, or its solver is unknown or cannot solve the problem.
    """

    def __init__(
        self,
        problem: Problem,
        traces: Mapping[str, Trace],
        rules: Sequence[StopRule] | None = None,
        stored: str = "",
    ) -> None:
        if not any(len(trace) for trace in traces.values()):
            raise MklvizError(NO_STEP)
        self.problem, self.stored, party = problem, stored, TimeShare()
        self.runs = {}
        for key, trace in traces.items():
            _check_sizes(problem, trace)
            solver = make_solver(trace.solver, **{**trace.options, "name": trace.label})
            reason = "" if problem.unposed else solver.refusal(problem)
            if reason:
                raise UnsupportedProblem(reason)
            if trace.origin is not None:
                solver.dash = BRANCH_DASH  # type: ignore[misc]
            self.runs[key] = _ReopenedRun(problem, solver, trace, rules, party)


def _check_sizes(problem: Problem, trace: Trace) -> None:
    """Raise `MklvizError` where a trace cannot be about the problem, whose data may have changed."""
    if len(trace) and (trace.final.weights.shape != (problem.m,) or len(trace.final.dual) != problem.n):
        raise MklvizError(
            f"{trace.label} had {len(trace.final.weights):,} kernels and {len(trace.final.dual):,} samples, and the"
            f" problem posed by its recipe has {problem.m:,} and {problem.n:,}: the data may have changed since."
        )
