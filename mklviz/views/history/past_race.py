"""Races in the store: in words what each was about and what came of it; a search; and the list in which they stand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

import param

from mklviz.engine import solver_classes
from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.numbers import counted, score_text, share_text
from mklviz.quoting import MOST_NAME, one_line
from mklviz.record.store import Store, StoredRun
from mklviz.record.store.stored import CUT_OFF, DAMAGED
from mklviz.scenarios import scenarios
from mklviz.views.form import FormRow, Group, Note, TextBox
from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, swatch
from mklviz.views.look.styles import own_style
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
        score, what = best.results.get("score"), str(best.results.get("score_label", "score"))
        scored = f"{what} {score_text(score, what)}" if isinstance(score, float) else ""
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
class Listing:
    """The races found, in order, and how many there are in all.

    `lessons`: names that occur, by their titles; `fault`: what is wrong with the search, in a sentence.
    """

    races: Sequence[PastRace] = ()
    total: int = 0
    lessons: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


class FoundRaces:
    """Looks up races, and again whenever the store has news; `listing` is what was found last.

    `in_memory`: races of the session that are not stored, by the keys of their rows, where the store is switched off.
    """

    def __init__(self) -> None:
        self.session: Session | None = None
        self.listing = Listing()
        self.in_memory: dict[str, KeptRace] = {}
        self._sought = Sought()
        self._task = Task[Listing]()
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
        self.listing = answer or self.listing
        return answer is not None

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

    def _looked_up(self, sought: Sought, store: Store, others: list[StoredRun], state: object) -> Listing:
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
            return Listing((), len(races), lessons, str(error))
        matches = [race for key, race in races.items() if key in matching and _fits(race, sought)]
        return Listing(sorted(matches, key=ORDERS[sought.order]), len(races), lessons)


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


PAGE = 40  # rows that are sent at once


class RaceList(ScriptedComponent):
    """Races as rows that scroll, of which those in view are drawn; `act` takes "open" or "pin", and a race's key."""

    total = param.Integer(default=0)
    version = param.Integer(default=0, doc="Grows when rows say something else")
    first = param.List(default=[], doc="The first page of rows")
    chosen = param.List(default=[], doc="Keys of the races that are ticked")

    _esm = CONTROLS + beside(__file__, "race_list.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "race_list.css")]

    def __init__(self, act: Callable[[str, str], None], **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", "margin": 0, **params})
        self._act, self._races, self._theme = act, list[PastRace](), LIGHT

    def show(self, races: Sequence[PastRace], theme: Theme) -> None:
        self._races, self._theme = list(races), theme
        there = {race.id for race in races}
        chosen = [key for key in self.chosen if key in there]
        self.param.update(total=len(races), first=self.rows(0), version=self.version + 1, chosen=chosen)

    def rows(self, page: int) -> list[dict[str, Any]]:
        """Return what stands in the rows of a page."""
        now = datetime.now().astimezone()
        return [self._row(race, now) for race in self._races[page * PAGE : (page + 1) * PAGE]]

    def _row(self, race: PastRace, now: datetime) -> dict[str, Any]:
        first = race.first
        return {
            "id": race.id,
            "name": race.name,
            "words": race.words,
            "lesson": race.lesson,
            "tags": list(first.tags),
            "pinned": first.pinned,
            "when": when(first.created, now),
            "at": f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}",
            "state": "" if race.state == ENDED else race.state,
            "result": race.result,
            "solvers": [[run.label, swatch(_style(run, self._theme))] for run in race.runs],
        }

    def receive(self, message: Any) -> None:
        """Send rows that are asked for, or take what the visitor did to one."""
        page, done, key = (message.get(name) for name in ("page", "act", "id"))
        if type(page) is int and 0 <= page * PAGE < len(self._races):
            self.send({"page": page, "version": self.version, "rows": self.rows(page)})
        elif done in ("open", "pin") and any(race.id == key for race in self._races):
            self._act(done, key)


def _style(run: StoredRun, theme: Theme) -> RunStyle:
    """Return the style of a run's solver; a branch is dashed in figures alone, for its label says where it began."""
    kind = solver_classes().get(run.solver)
    return RunStyle(run.label, theme.muted, "solid", "circle") if kind is None else own_style(kind, run.label, theme)


# What a person says of a race in the store, name, tags and note, and what each of its runs came to.

_CUT_OFF = (
    "This race was cut off: its program ended without a word. Open replays it up to its last frame; Repeat runs it"
    " anew; and from the tab Timeline, once it is open, “Continue from here” goes on from any of its steps."
)


class RaceWords:
    """Fields for one race; `body` is what a form draws, hidden while there is no race."""

    def __init__(self, say_wrong: Callable[[str], None]) -> None:
        self.store: Store | None = None  # as the visitor has it
        self._say_wrong = say_wrong
        self._race: PastRace | None = None
        self._filling = False
        self.name, self.tags = TextBox(label="Name"), TextBox(label="Tags", placeholder="such as thesis, chapter 3")
        self.note = TextBox(label="Note", placeholder="what it showed")
        self._about, self._cut_off = Note(), Note(object=_CUT_OFF, visible=False)
        self.body = Group(
            self._cut_off, FormRow(self.name, self.tags, wrap=True), self.note, self._about, visible=False
        )
        for part in (self.name, self.tags, self.note):
            part.param.watch(self._say, "value")

    def show(self, race: PastRace | None) -> None:
        """Show a race, or none; what is being typed stays as it is while the race does."""
        other = race is None or self._race is None or race.id != self._race.id
        self._race = race
        self.body.visible = race is not None
        if race is None:
            return
        if other:
            self._fill(race)
        self._cut_off.visible = race.state == CUT_OFF
        first = race.first
        began = f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}"
        made = f", made in the {first.made_by}" if first.made_by in ("dashboard", "notebook") else ""
        seed = "" if first.seed is None else f"; seed {first.seed}"
        self._about.object = "\n".join(filter(None, (f"{began}{made}{seed}", race.words, race.lines)))

    def _fill(self, race: PastRace) -> None:
        self._filling = True
        try:
            self.name.value, self.note.value = race.name, race.first.note
            self.tags.value = ", ".join(race.first.tags)
        finally:
            self._filling = False

    def _say(self, _event: Any) -> None:
        if self._filling or self._race is None or self.store is None:
            return
        tags = [one_line(tag.strip(), MOST_NAME) for tag in self.tags.value.split(",")]
        name = one_line(self.name.value.strip(), MOST_NAME) or self._race.name
        try:
            tags = list(dict.fromkeys(filter(None, tags)))
            self.store.describe(self._race.id, name=name, note=self.note.value.strip(), tags=tags)
        except MklvizError as error:
            self._say_wrong(str(error))
