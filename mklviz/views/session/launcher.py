"""What is prepared in a thread and shown when it is ready, so that the page never waits: a new race, or a past one."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from mklviz.contract import Iterate, Solver
from mklviz.datasets import DataError
from mklviz.engine import Race
from mklviz.engine.race import ReopenedRace
from mklviz.errors import Interrupted, MklvizError
from mklviz.limits import LIMITS
from mklviz.recipe import Recipe
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.sweeps.dask_race import CLUSTER, on_cluster
from mklviz.typing import Array
from mklviz.views.session.session import Session

_log = logging.getLogger(__name__)


class PendingRace:
    """A recipe that is being prepared, for a race that is then shown with a `note`, or what went wrong."""

    note = ""

    failed: ClassVar[str]
    no_memory: ClassVar[str]
    show: Callable[[Session, Prepared, int, float], None]  # in a session, with so many threads and at a pace

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.preparation = Preparation(recipe)
        self.preparation.start()

    def cancel(self) -> None:
        self.preparation.cancel()

    def enter(self, session: Session, threads: int, pace: float) -> str:
        """Show the race in `session`; return a sentence if that is impossible."""
        try:
            self.show(session, self.preparation.result(), threads, pace)
        except Interrupted:
            return ""
        except (MklvizError, DataError) as error:
            return str(error)
        except MemoryError:
            return self.no_memory
        except Exception as error:
            _log.exception(self.failed)
            return f"{self.failed} ({type(error).__name__}); the server's log says more."
        return ""


MOST_RUNS = 12  # runs of a race; more cannot be told apart


class Launch(PendingRace):
    """A recipe that is being prepared for a race, which pauses after so many `steps`; 0 stands for all."""

    failed = "The race could not be prepared"
    no_memory = "There is not enough memory for these kernels: use fewer of them, or fewer samples."

    def __init__(self, recipe: Recipe, steps: int) -> None:
        self._steps = steps
        super().__init__(recipe)

    def show(self, session: Session, prepared: Prepared, threads: int, pace: float) -> None:
        race = bounded(self.recipe).race(prepared, pace, threads)
        for trace in race.traces.values():
            trace.recipe = self.recipe.to_json()  # as asked for: the bound is this server's
        if cluster := os.environ.get(CLUSTER):
            on_cluster(race, cluster)
        self.preparation.hold(race)
        if self._steps:
            race.step(self._steps)
        else:
            race.start()  # while the figures are built, so that they come with points
        with _cancelled_unless_shown(race):
            session.show(self.recipe, prepared, race)


@contextmanager
def _cancelled_unless_shown(race: Race) -> Iterator[None]:
    """Cancel a race where showing it fails."""
    try:
        yield
    except BaseException:
        race.cancel()
        raise


def bounded(recipe: Recipe) -> Recipe:
    """Return the recipe with a bound on each solver's CPU seconds, as its page may be left."""
    asked = recipe.stop.max_seconds
    return recipe.changed(max_seconds=LIMITS.race_seconds if asked is None else min(asked, LIMITS.race_seconds))


def begin_at(session: Session, weights: Array) -> str:
    """Race the same solvers again, all from the same weights (m,); return a sentence if that is impossible."""
    try:
        again = race_from(session.race, weights)
    except MklvizError as error:
        return str(error)
    again.start()
    session.show(session.recipe, session.prepared, again)
    return ""


def race_from(race: Race | None, weights: Array) -> Race:
    """Return a race of the same solvers from the same weights (m,), to which no recipe leads, ready to be started."""
    if race is None or race.status != "finished":
        raise MklvizError(
            "Every solver can start from a point of the map when the race has ended: let it end, or press Stop."
        )
    problem, known = race.problem, next((trace.best.dual for trace in race.traces.values() if len(trace)), None)
    if known is None:
        raise MklvizError("Wait for a solver's first step.")
    start = Iterate(weights, known, math.nan, math.nan, 0.0, 0)
    begun = [run.solver for run in race.runs.values() if run.trace.origin is None]  # branches begin elsewhere
    solvers = [type(solver)(**solver.options(), name=solver.name) for solver in begun]
    rules = next(iter(race.runs.values())).rules
    return Race(problem, solvers, rules, race.pace, start=start)


def branch_at(session: Session, key: str, step: int, solver: Solver) -> str:
    """Let a solver go on from a step of a run, in the race shown; return a sentence if that is impossible."""
    race = session.race
    if race is None or session.follows:
        return "Press Run first: there is no race of your own to continue."
    if len(race.runs) >= MOST_RUNS:
        return f"A race holds up to {MOST_RUNS} runs, branches among them: begin a new one."
    try:
        again = race.branch(key, step, solver)
    except MklvizError as error:
        return str(error)
    next(reversed(again.runs.values())).start()
    session.show(session.recipe, session.prepared, again)
    return ""


class Reopening(PendingRace):
    """A recorded race whose problem is being prepared; `stored` is its key in the store, if it has one."""

    failed = "The race could not be opened"
    no_memory = "There is not enough memory to open this race."

    def __init__(self, recipe: Recipe, traces: Mapping[str, Trace], stored: str = "") -> None:
        self._traces, self._stored = traces, stored
        super().__init__(recipe)

    def show(self, session: Session, prepared: Prepared, threads: int, pace: float) -> None:
        """Show the recorded steps; nothing is started."""
        rules = bounded(self.recipe).stop.rules(self.recipe.convex)  # for branches
        session.reopen(ReopenedRace(prepared.problem, self._traces, rules, self._stored), self.recipe, prepared)
