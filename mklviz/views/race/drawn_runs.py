"""The runs that figures draw: of a race, or of a recording that is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.problem import Regularizer
from mklviz.record import Trace

__all__ = ["DrawnRuns"]


@dataclass(frozen=True)
class DrawnRuns:
    """Runs on one problem, by their keys, and the facts of the problem that figures need."""

    traces: Mapping[str, Trace]
    states: Callable[[], list[str]]  # returns the status of the runs; a final status makes a trace final
    names: Sequence[str]  # of the kernels, or of other things with weights
    solvers: Mapping[str, Solver]
    regularizer: Regularizer
    noun: str = "kernel"  # what has weights
    no_bound: str = ""  # why the problem has no lower bound
    recorded: bool = False  # whether it is a recording, which is marked as one

    @classmethod
    def of(cls, race: Race) -> DrawnRuns:
        """Return the drawn runs of a race."""
        runs, problem = race.runs, race.problem
        solvers = {key: run.solver for key, run in runs.items()}

        def states() -> list[str]:
            return [run.status for run in runs.values()]

        names, noun, no_bound = problem.bank.names, problem.noun, problem.no_bound
        return cls(race.traces, states, names, solvers, problem.regularizer, noun, no_bound)
