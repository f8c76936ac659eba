"""A race of the past, of which everything that was kept is here: it can be shown as if it had just ended.

Where its problem can be posed anew, it can be gone on from, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mklviz.contract import Solver
from mklviz.engine.race import BRANCH_DASH, Race
from mklviz.engine.registry import make_solver
from mklviz.engine.run import Run
from mklviz.engine.scheduler import TimeShare
from mklviz.engine.stop import StopRule, standard_rules
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.problem import Problem
from mklviz.record.trace import Trace


class _ReopenedRun(Run):
    """A run that has ended: its trace was recorded."""

    def __init__(self, solver: Solver, trace: Trace, rules: Sequence[StopRule], party: TimeShare) -> None:
        self._set_up(solver, trace, rules, party=party)
        self._status = trace.status
        self._ended.set()


class ReopenedRace(Race):
    """Recorded runs of one problem.

    `problem`: posed anew, or None where its data are not here, and then `missing` says why; `traces`: by the keys of
    the runs, which have ended or were cut off; `rules`: for branches; `stored`: key of the race in the store, "" where
    it came from elsewhere. Raises `MklvizError` if no run has a step or one has other kernels or samples than the
    problem, or its solver is unknown or cannot solve the problem.
    """

    def __init__(
        self,
        problem: Problem | None,
        traces: Mapping[str, Trace],
        rules: Sequence[StopRule] | None = None,
        stored: str = "",
        missing: str = "",
    ) -> None:
        if not any(len(trace) for trace in traces.values()):
            raise MklvizError("No step of this race was recorded: there is nothing to show.")
        self._problem, self.missing, self.stored, self.runs, party = problem, missing, stored, {}, TimeShare()
        if rules is None:
            rules = () if problem is None else standard_rules(convex=problem.convex)
        for key, trace in traces.items():
            solver = make_solver(trace.solver, **{**trace.options, "name": trace.label})
            if problem is not None:
                _check(problem, trace, solver)
            if trace.origin is not None:
                solver.dash = BRANCH_DASH  # type: ignore[misc]
            self.runs[key] = _ReopenedRun(solver, trace, rules, party)


def _check(problem: Problem, trace: Trace, solver: Solver) -> None:
    """Raise `MklvizError` where a trace cannot be about the problem, whose data may have changed."""
    if len(trace) and (trace.final.weights.shape != (problem.m,) or len(trace.final.dual) != problem.n):
        raise MklvizError(
            f"{trace.label} had {len(trace.final.weights):,} kernels and {len(trace.final.dual):,} samples, and the"
            f" problem posed by its recipe has {problem.m:,} and {problem.n:,}: the data may have changed since."
        )
    if reason := solver.refusal(problem):
        raise UnsupportedProblem(reason)
