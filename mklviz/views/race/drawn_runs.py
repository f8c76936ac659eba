"""What figures draw: runs that grow, of a race or of a recording that is played."""

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
    """Runs on one problem, and what figures have to know of it.

    Attributes
    ----------
    traces : mapping of str to Trace
        By the keys of the runs.
    states : callable
        Returns how the runs stand, in the same order; a final status makes a trace final.
    names : sequence of str
        Of the kernels, or whatever has weights.
    solvers : mapping of str to Solver
    regularizer : Regularizer
    noun : str
        What has weights.
    """

    traces: Mapping[str, Trace]
    states: Callable[[], list[str]]
    names: Sequence[str]
    solvers: Mapping[str, Solver]
    regularizer: Regularizer
    noun: str = "kernel"

    @classmethod
    def of(cls, race: Race) -> DrawnRuns:
        """Return what is drawn of a race."""
        runs, problem = race.runs, race.problem
        solvers = {key: run.solver for key, run in runs.items()}

        def states() -> list[str]:
            return [run.status for run in runs.values()]

        return cls(race.traces, states, problem.bank.names, solvers, problem.regularizer, problem.noun)
