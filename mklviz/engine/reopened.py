"""A recorded race on its problem, posed anew: it can be shown as if it had just ended, and gone on from.

On an `UnposedProblem`, whose data are missing, it can only be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mklviz.contract import Solver
from mklviz.engine.branch import BRANCH_DASH
from mklviz.engine.race import Race
from mklviz.engine.registry import make_solver
from mklviz.engine.run import Run
from mklviz.engine.scheduler import Party
from mklviz.engine.stop import StopRule
from mklviz.engine.unposed import NO_STEP
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.problem import Problem
from mklviz.record.trace import Trace

__all__ = ["ReopenedRace"]


class _ReopenedRun(Run):
    """A run that has ended: its trace was recorded."""

    def __init__(
        self, problem: Problem, solver: Solver, trace: Trace, rules: Sequence[StopRule] | None, party: Party
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
        self.problem, self.stored, party = problem, stored, Party()
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
