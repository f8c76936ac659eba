"""A race of a sweep: what its solvers did on one problem, which all tabs can show."""

from __future__ import annotations

from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.store import Store
from mklviz.sweeps import SweepTable

__all__ = ["race_of"]


def race_of(table: SweepTable, race: str, store: Store) -> tuple[dict[str, Trace], str]:
    """Return the traces of the runs that have ended on one problem, by their solvers, and the race's key in a store.

    That is "" where the race has been deleted. `race`: what the members on the problem share. Raises `MklvizError`
    where none of these runs is kept.
    """
    runs = {member.solver: outcome.run for member, outcome in table if member.race == race and outcome.run}
    traces = {solver: trace for solver, run in runs.items() if len(trace := store.trace(run))}
    if not traces:
        raise MklvizError("None of these runs is kept with its steps: there is nothing to open.")
    stored = store.runs(f"run:{runs[next(iter(traces))]}")
    return traces, stored[0].race if stored else ""
