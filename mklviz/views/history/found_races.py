"""The races that a search finds in the store, looked up in a thread, so that ten thousand of them hold up no page."""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import dataclass, replace

from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.record.store import Store, StoredRun
from mklviz.views.history.past_race import ORDERS, PastRace, lesson_title, races_of
from mklviz.views.session.race_history import KeptRace
from mklviz.views.session.session import Session

__all__ = ["FoundRaces", "Sought"]

LOOK_SECONDS = 1.0  # between two looks whether the store has news
_FAILED = "The races could not be listed"


@dataclass(frozen=True)
class Sought:
    """What is looked for: `where`, as `Store.runs` takes it, a state and a lesson, "" for any, whether it is pinned."""

    where: str = ""
    state: str = ""
    lesson: str = ""
    pinned: bool = False
    order: str = next(iter(ORDERS))


@dataclass(frozen=True)
class _Listing:
    races: list[PastRace]
    total: int
    lessons: dict[str, str]
    fault: str = ""


class FoundRaces:
    """Looks up races, and again whenever the store has news.

    `races`: those found, in order; `total`: how many there are in all; `lessons`: names that occur, by their titles;
    `fault`: what is wrong with the search, in a sentence; `in_memory`: races of the session that are not stored, by the
    keys of their rows, where the store is switched off.
    """

    def __init__(self) -> None:
        self.session: Session | None = None
        self.races: list[PastRace] = []
        self.total, self.lessons, self.fault = 0, dict[str, str](), ""
        self.in_memory: dict[str, KeptRace] = {}
        self._sought = Sought()
        self._task = Task[_Listing]()
        self._all: tuple[object, dict[str, PastRace]] = None, {}  # of what state of the store, and its races
        self._looked = 0.0

    def look(self, sought: Sought) -> None:
        """Look for other races."""
        self._sought = sought
        self._ask()

    def taken(self, now: float) -> bool:
        """Look now and then; return whether there is another answer."""
        if now - self._looked >= LOOK_SECONDS and not self._task.working:
            self._looked = now
            self._ask()
        answer = self._task.take()
        if answer is None:
            return False
        self.races, self.total, self.lessons, self.fault = answer.races, answer.total, answer.lessons, answer.fault
        return True

    def close(self) -> None:
        """Cancel the search."""
        self._task.forget()

    def _ask(self) -> None:
        if self.session is None:
            return
        sought, store, kept = self._sought, self.session.store, self._unstored()
        state = store.revision, store, tuple(map(id, kept.values()))
        self.in_memory = kept
        rows = [run for name, race in kept.items() for run in _rows_of(name, race)]
        self._task.ask((sought, state), lambda _report: self._looked_up(sought, store, rows, state), _FAILED)

    def _looked_up(self, sought: Sought, store: Store, others: list[StoredRun], state: object) -> _Listing:
        """Return the races that are looked for, with all their runs, also those that the search alone would not find.

        All races are read again only where the store's `state` is another.
        """
        if self._all[0] != state:
            self._all = state, races_of([*store.runs(), *others])
        races = self._all[1]
        names = {race.first.lesson for race in races.values() if race.first.lesson}
        lessons = dict(sorted((lesson_title(name), name) for name in names))
        matching: Container[str] = races
        try:
            if sought.where.strip():
                matching = {run.race or run.id for run in store.runs(sought.where)}
        except MklvizError as error:
            return _Listing([], len(races), lessons, str(error))
        matches = [race for key, race in races.items() if key in matching and _fits(race, sought)]
        return _Listing(sorted(matches, key=ORDERS[sought.order]), len(races), lessons)

    def _unstored(self) -> dict[str, KeptRace]:
        """Return the races of the session by keys of their own, where the store takes none."""
        if self.session is None or self.session.store.enabled:
            return {}
        return {f"memory-{id(race)}": race for race in self.session.race_history.races}


def _fits(race: PastRace, sought: Sought) -> bool:
    return (
        sought.state in ("", race.state)
        and sought.lesson in ("", race.first.lesson)
        and (race.first.pinned or not sought.pinned)
    )


def _rows_of(key: str, race: KeptRace) -> list[StoredRun]:
    """Return what a list says of a race that is not stored."""
    empty = StoredRun("", created=time.time())
    return [
        replace(
            empty,
            id=f"{key}-{name}",
            race=key,
            key=name,
            name=race.name,
            solver=trace.solver,
            label=trace.label,
            status=trace.status,
            problem=trace.problem,
            steps=len(trace) - 1,
            svm_solves=trace.final.svm_solves,
            seconds=trace.last_seconds,
            objective=trace.best.objective,
            gap=trace.gap_at(len(trace) - 1),
            tags=("in memory",),
        )
        for name, trace in race.traces.items()
        if len(trace)
    ]
