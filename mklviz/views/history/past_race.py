"""A race in the store: its runs, and in words when it was, what it was about and what came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.numbers import counted, share_text
from mklviz.record.store import Store, StoredRun
from mklviz.record.store.stored import CUT_OFF, DAMAGED
from mklviz.scenarios import scenarios
from mklviz.views.session.session import KeptRace, Session

RUNNING, FAILED, STOPPED, ENDED = "running", "failed", "stopped", "ended"
STATES = (ENDED, STOPPED, CUT_OFF, RUNNING, FAILED, DAMAGED)
_FIRST = (RUNNING, DAMAGED, CUT_OFF, FAILED, STOPPED)  # a race is what one of its runs is, in this order


@dataclass(frozen=True)
class PastRace:
    """The runs of one race, in the order in which they began."""

    id: str
    runs: tuple[StoredRun, ...]

    @property
    def first(self) -> StoredRun:
        """The run that says what all share."""
        return self.runs[0]

    @property
    def name(self) -> str:
        return self.first.name or self.first.data or self.first.problem or "A race"

    @property
    def lesson(self) -> str:
        """The title of its scenario; the name of one that is not there any more."""
        return lesson_title(self.first.lesson)

    @property
    def words(self) -> str:
        return self.first.words or self.first.problem

    @property
    def best(self) -> StoredRun:
        """The run with the smallest gap; where there is none, with the least objective."""
        return min(self.runs, key=lambda run: (_last(run.gap), _last(run.objective)))

    @property
    def state(self) -> str:
        """One of `STATES`."""
        states = {run.status for run in self.runs}
        return next((state for state in _FIRST if state in states), ENDED)

    @property
    def result(self) -> str:
        """What came of it, in a few words."""
        best = self.best
        if not best.steps and math.isnan(best.objective):
            return "no steps"
        gap = "" if math.isnan(best.gap) else f"gap {share_text(best.gap)}"
        score = best.results.get("score")
        scored = f"{best.results.get('score_label', 'score')} {score:.3f}" if isinstance(score, float) else ""
        return " · ".join(filter(None, (gap, counted(best.svm_solves, "SVM solve"), scored)))

    @property
    def lines(self) -> str:
        """Each run in a line: how it ended, and what it cost."""
        return "\n".join(
            run.reason
            if run.status == DAMAGED
            else f"{run.label}: {run.status}, {counted(run.steps, 'step')}, {counted(run.svm_solves, 'SVM solve')},"
            f" {run.seconds:.2f} CPU s" + ("" if math.isnan(run.gap) else f", gap {share_text(run.gap)}")
            for run in self.runs
        )


def lesson_title(name: str) -> str:
    """Return what a scenario is called; its name where it is not there any more, "" for ""."""
    known = scenarios() if name else {}  # which are looked through each time: too slow to ask for each of many races
    return known[name].title if name in known else name


def _last(value: float) -> float:
    return math.inf if math.isnan(value) else value


ORDERS: Mapping[str, Callable[[PastRace], Any]] = {
    "newest first": lambda race: -race.first.created,
    "oldest first": lambda race: race.first.created,
    "by name": lambda race: (race.name.casefold(), -race.first.created),
    "smallest gap first": lambda race: _last(race.best.gap),
    "fewest SVM solves first": lambda race: race.best.svm_solves,
    "longest first": lambda race: -sum(run.seconds for run in race.runs),
}


def races_of(runs: Iterable[StoredRun]) -> dict[str, PastRace]:
    """Return the races that runs belong to, by their keys."""
    races: dict[str, list[StoredRun]] = {}
    for run in runs:
        races.setdefault(run.race or run.id, []).append(run)
    return {key: PastRace(key, tuple(sorted(each, key=lambda run: run.created))) for key, each in races.items()}


def when(seconds: float, now: datetime) -> str:
    """Return a time, in seconds since 1970, as people say it at the time `now`: "today 10:32"."""
    then = datetime.fromtimestamp(seconds).astimezone(now.tzinfo)
    clock, days = f"{then:%H:%M}", (now.date() - then.date()).days
    if days in (0, 1):
        return f"{'yesterday' if days else 'today'} {clock}"
    if now - then < timedelta(days=7):
        return f"{then:%A} {clock}"
    return f"{then.day} {then:%B}" + ("" if then.year == now.year else f" {then.year}")


# The races that a search finds in the store, looked up in a thread, so that ten thousand of them hold up no page.

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
        self._task.forget()

    def _ask(self) -> None:
        if self.session is None:
            return
        sought, store = self._sought, self.session.store
        kept = {} if store.enabled else {f"memory-{id(race)}": race for race in self.session.race_history.races}
        state = store.revision, store, tuple(map(id, kept.values()))
        self.in_memory = kept
        rows = [run for name, race in kept.items() for run in _rows_of(name, race)]
        self._task.ask((sought, state), lambda _report: self._looked_up(sought, store, rows, state), _FAILED)

    def _looked_up(self, sought: Sought, store: Store, others: list[StoredRun], state: object) -> _Listing:
        """Return the races looked for, with all their runs, read again only where the store's `state` is another."""
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


def _fits(race: PastRace, sought: Sought) -> bool:
    return (
        sought.state in ("", race.state)
        and sought.lesson in ("", race.first.lesson)
        and (race.first.pinned or not sought.pinned)
    )


def _rows_of(key: str, race: KeptRace) -> list[StoredRun]:
    """Return what a list says of a race that is not stored."""
    now = time.time()
    return [
        StoredRun(
            f"{key}-{name}",
            created=now,
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
