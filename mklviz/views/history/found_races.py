"""The races that a search finds in the store, looked up in a thread, so that ten thousand of them hold up no page."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.record.store import Store, StoredRun
from mklviz.views.history.past_race import ORDERS, PastRace, races_of
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
    lessons: tuple[str, ...]
    fault: str = ""


class FoundRaces:
    """Looks up races, and again whenever the store has news.

    `races`: those found, in order; `total`: how many there are in all; `lessons`: names that occur; `fault`: what is
    wrong with the search, in a sentence; `in_memory`: races of the session that are not stored, by the keys of their
    rows, where the store is switched off.
    """

    def __init__(self, store: Store) -> None:
        self.session: Session | None = None
        self.races: list[PastRace] = []
        self.total, self.lessons, self.fault = 0, tuple[str, ...](), ""
        self.in_memory: dict[str, KeptRace] = {}
        self._store, self._sought = store, Sought()
        self._task = Task[_Listing]()
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
        """Nobody waits for an answer any more."""
        self._task.forget()

    def _ask(self) -> None:
        if self.session is None:
            return
        sought, owner, kept = self._sought, self.session.owner or None, self._unstored()
        key = sought, self._store.revision, tuple(map(id, kept.values()))
        self.in_memory = kept
        rows = [run for name, race in kept.items() for run in _rows_of(name, race)]
        self._task.ask(key, lambda _report: _looked_up(self._store, sought, owner, rows), _FAILED)

    def _unstored(self) -> dict[str, KeptRace]:
        """Return the races of the session by keys of their own, where the store takes none."""
        if self.session is None or self._store.enabled:
            return {}
        return {f"memory-{id(race)}": race for race in self.session.race_history.races}


def _looked_up(store: Store, sought: Sought, owner: str | None, others: list[StoredRun]) -> _Listing:
    """Return the races that are looked for, with all their runs, also those that the search alone would not find."""
    races = races_of([*store.runs(owner=owner), *others])
    lessons = tuple(sorted({race.first.lesson for race in races.values()} - {""}))
    try:
        matching = (
            {run.race or run.id for run in store.runs(sought.where, owner=owner)} if sought.where.strip() else races
        )
    except MklvizError as error:
        return _Listing([], len(races), lessons, str(error))
    found = [race for key, race in races.items() if key in matching and _fits(race, sought)]
    return _Listing(sorted(found, key=ORDERS[sought.order]), len(races), lessons)


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
