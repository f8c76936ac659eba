"""A race in the store: its runs, and in words when it was, what it was about and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from mklviz.numbers import counted, share_text
from mklviz.record.store import StoredRun
from mklviz.record.store.stored import CUT_OFF, DAMAGED
from mklviz.scenarios import scenarios

__all__ = ["ORDERS", "STATES", "PastRace", "lesson_title", "races_of", "when"]

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
        """What the race is called."""
        return self.first.name or self.first.data or self.first.problem or "A race"

    @property
    def lesson(self) -> str:
        """The title of its scenario; the name of one that is not there any more."""
        return lesson_title(self.first.lesson)

    @property
    def words(self) -> str:
        """Data and recipe in short."""
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
