"""The runs that figures draw: of a race, or of a recording that is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.engine.facts import ProblemFacts
from mklviz.record import Trace

__all__ = ["DrawnRuns"]


@dataclass(frozen=True)
class DrawnRuns:
    """Runs on one problem, by their keys."""

    traces: Mapping[str, Trace]
    states: Callable[[], list[str]]  # returns the status of the runs; a final status makes a trace final
    facts: ProblemFacts
    solvers: Mapping[str, Solver]
    recorded: bool = False  # whether it is a recording, which is marked as one

    @classmethod
    def of(cls, race: Race) -> DrawnRuns:
        """Return the drawn runs of a race."""
        runs = race.runs
        solvers = {key: run.solver for key, run in runs.items()}

        def states() -> list[str]:
            return [run.status for run in runs.values()]

        return cls(race.traces, states, race.facts, solvers)
