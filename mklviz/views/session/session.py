"""What one person looks at: the recipe, its problem and its race, the step shown and the colours.

Tabs read it and keep no copy. A change is made here once, and every tab follows.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import param

from mklviz.context.memory import LEDGER
from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.engine.race import ReopenedRace
from mklviz.errors import MklvizError
from mklviz.quoting import MOST_NAME, one_line
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recorded import RecordedRace, head_for
from mklviz.record import Trace
from mklviz.record.store import Asker, Owner, open_store
from mklviz.scenarios import Answer
from mklviz.views.look.palette import LIGHT, theme_for

# The past races of a session, which can be shown again and over each other, and whether they can be compared.


def difference(traces: Iterable[Trace]) -> str:
    """Return a sentence on why the objectives of these runs cannot be compared, or ""."""
    traces = list(traces)
    problems = {trace.problem for trace in traces}
    if len(problems) > 1:
        one, other = sorted(problems)[:2]
        return (
            f"These runs solved different problems, such as “{one}” and “{other}”, and their objectives cannot be"
            " compared: choose runs on one problem."
        )
    recipes = filter(None, map(recipe_of, traces))
    if len({(recipe.bank_key, recipe.problem) for recipe in recipes}) > 1:
        return (
            "These runs solved problems that differ in data, split or kernels, and their objectives cannot be"
            " compared: choose runs on one problem."
        )
    return ""


def recipe_of(trace: Trace) -> Recipe | None:
    """Return the recipe of a run; None if it has none, or an unreadable one."""
    try:
        return Recipe.from_json(trace.recipe) if trace.recipe else None
    except MklvizError:
        return None


def shared_recipe(traces: Iterable[Trace]) -> Recipe | None:
    """Return the recipe of runs on one problem, with the solvers of all; None if none of them has one."""
    recipes = list(filter(None, map(recipe_of, traces)))
    if not recipes:
        return None
    return recipes[0].changed(solvers=list(dict.fromkeys(choice for each in recipes for choice in each.solvers)))


MOST = 20  # races
MOST_PINNED = 3  # races in grey behind another; more would be unreadable


@dataclass(eq=False)
class KeptRace:
    """A past race: the name that its owner gave it, the traces of its runs, and its key in the store, if it has one."""

    name: str
    traces: Mapping[str, Trace]
    stored: str = ""

    @property
    def size(self) -> int:
        """The approximate number of bytes of its steps."""
        return sum(len(trace) * (trace.final.weights.nbytes + 2 * trace.final.dual.nbytes) for trace in self.begun)

    @property
    def begun(self) -> list[Trace]:
        return [trace for trace in self.traces.values() if len(trace)]

    @property
    def summary(self) -> str:
        """Its solvers and its problem, in one line."""
        begun = self.begun
        return f"{', '.join(trace.label for trace in begun)} · {begun[0].problem}" if begun else "no steps"


class RaceHistory:
    """Past races as they ended, without the oldest where there are too many."""

    def __init__(self) -> None:
        self.races: list[KeptRace] = []
        self._added, self.most_bytes = 0, 64 * 10**6  # of their steps, in all

    def add(self, name: str, traces: Mapping[str, Trace]) -> KeptRace | None:
        """Add a race; return None where it has no steps, is here already, or is too large."""
        race = KeptRace(name, dict(traces))
        begun = race.begun
        if not begun or race.size > self.most_bytes:
            return None
        same = next((other for other in self.races if begun[0] in other.begun), None)
        if same is not None:  # such as one that a branch has joined
            if len(begun) <= len(same.begun):
                return None
            same.traces = race.traces
            return same
        self._added += 1
        race.name = one_line(f"{self._added}. {name}", MOST_NAME)
        self.races.append(race)
        LEDGER.charge(race, race.size)
        while len(self.races) > MOST or sum(other.size for other in self.races) > self.most_bytes:
            del self.races[0]
        return race

    def forget(self, race: KeptRace) -> None:
        if race in self.races:
            self.races.remove(race)


def overlaid(races: Sequence[KeptRace]) -> dict[str, Trace]:
    """Return the runs of several races as those of one, each named by its race as well."""
    if len(races) == 1:
        return dict(races[0].traces)
    return {f"{trace.label} ({race.name})": trace for race in races for trace in race.begun}


@dataclass(frozen=True)
class LessonResult:
    """What came of the question of a lesson: its answer, or a sentence why it is left open, or neither without one."""

    answer: Answer | None = None
    left_open: str = ""


class Session(param.Parameterized):
    """What one person looks at: a race with the recipe that defines it and its prepared problem.

    The page sets callbacks: `chosen` returns the recipe of its controls, None where they cannot be read; `link` returns
    the query of an address that opens all this, from a tab's name, a step or None, and more words; `on_points` takes
    points that were drawn, as a file and its name, and returns their digest; `on_key` takes a key that was pressed:
    " ", "s", "x" or "r". Two more begin what a past race allows, and return a sentence where that is impossible:
    `on_open` takes the traces of a race to show and its key in the store, and `on_repeat` a recipe to run.
    """

    recipe = param.Parameter(default=None, doc="Recipe or None")
    prepared = param.Parameter(default=None, doc="Prepared or None")
    race = param.Parameter(default=None, doc="Race or None")
    sweep = param.Parameter(default=None, doc="SweepRun of the tab Sweep, under way or the last, or None")
    cursor = param.Integer(default=None, bounds=(0, None), allow_None=True, doc="The step shown; None follows the end")
    theme = param.Parameter(default=LIGHT)
    pinned = param.Parameter(default=(), doc="Past races drawn in grey behind the one shown")
    stale = param.Boolean(default=False, doc="Whether the controls are set to another race than the one shown")
    preview = param.String(default="", doc="The scenario set up whose recording shows what a race will look like")
    scenario = param.Parameter(default=None, doc="The scenario with its lesson, which pages that follow show as well")
    lesson_open = param.Boolean(default=False, doc="Whether the lesson stands on the stage of the leader")
    keeps = param.Boolean(default=True, doc="Whether new races are kept, where the server keeps any")
    room = param.String(default="", doc="The end of the address by which others follow, where there is what to follow")
    lesson_result = param.Parameter(default=None, doc="LessonResult; None as long as the race goes on")

    def __init__(self, follows: bool = False, owner: Asker | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._kept: Callable[[], Race | None] = lambda: None  # returns the race added last, if it is still there
        self.follows = follows  # another page's race, to look at and not to touch
        self.gives_way = False  # whether the next race waits for memory, which the one shown may hold
        self.race_history = RaceHistory()
        self.score: Callable[[Iterate], float] | None = None  # on the test samples, computed once for all tabs
        self.owner = owner or Owner(secrets.token_hex(12))  # without an owner, what it records itself is all
        self.store = open_store().of(self.owner)  # whatever the page reads, changes and records goes through it
        self.can_keep = self.store.enabled  # whether the server keeps any races
        self.recorded: RecordedRace | None = None  # the race shown, or the one before, in the store
        self.link: Callable[[str, int | None, Mapping[str, str]], str] | None = None
        self.chosen: Callable[[], Recipe | None] | None = None
        self.on_points: Callable[[bytes, str], str] | None = None
        self.on_key: Callable[[str], None] | None = None
        self.on_open: Callable[[Mapping[str, Trace], str], str] | None = None
        self.on_repeat: Callable[[Recipe], str] | None = None
        self.param.watch(self._turn_store, "keeps")
        self._turn_store()

    def _turn_store(self, *_: object) -> None:
        self.store.enabled = self.keeps and self.can_keep

    @property
    def missing(self) -> str:
        """Why the data of the race shown are not here, a sentence; "" where they are, or there is no race."""
        return "" if self.race is None else self.race.missing

    @property
    def fits_numbers(self) -> bool:
        """Whether the problem is a regression, as far as it is known."""
        return self.prepared is not None and self.prepared.test.task == "regression"

    def show(self, recipe: Recipe, prepared: Prepared, race: Race) -> None:
        """Turn to another race, which is recorded from now on; the caller ends the one before."""
        self.score = _once(prepared.score)
        self._record(recipe, prepared, race)
        self.param.update(recipe=recipe, prepared=prepared, race=race, cursor=None)

    def _record(self, recipe: Recipe, prepared: Prepared, race: Race) -> None:
        """Let the store hold a race, or the branches that have joined the one it is recording."""
        if self.recorded is not None and self.recorded.holds(race):
            self.recorded.add(race)
            return
        made = all(trace.recipe for trace in race.traces.values())  # and not begun at a point of the map
        posed = made and self.scenario is not None and recipe.same_race(self.scenario.recipe)
        head = head_for(recipe, "dashboard", self.scenario.name if posed else "")
        self.recorded = RecordedRace(race, head, prepared, self.score, self.store)

    def reopen(self, race: ReopenedRace, recipe: Recipe | None = None, prepared: Prepared | None = None) -> None:
        """Turn to a race of the past, of which only branches are recorded; without its data, it has no problem."""
        self._kept = weakref.ref(race)
        self.score = self.recorded = None
        if recipe is not None and prepared is not None:
            self.score = _once(prepared.score)
            head = replace(head_for(recipe, "dashboard"), race=race.stored)
            self.recorded = RecordedRace(race, head, prepared, self.score, self.store, stored=race.runs)
        self.param.update(recipe=recipe, prepared=prepared, race=race, cursor=None)

    def keep(self) -> None:
        """Add the race, which has ended, to the history; once, for it may be deleted."""
        if self._kept() is self.race:
            return
        self._kept = weakref.ref(self.race)
        self.race_history.add("Own data" if self.recipe is None else self.recipe.data.title, self.traces)

    def pin(self, race: KeptRace) -> str:
        """Draw a past race in grey behind the one shown; return why that is impossible, or ""."""
        if len(self.pinned) >= MOST_PINNED:
            return f"{MOST_PINNED} races are pinned already: take one of them off first."
        if race not in self.pinned:
            self.pinned = (*self.pinned, race)
        return ""

    def unpin(self, race: KeptRace) -> None:
        self.pinned = tuple(other for other in self.pinned if other is not race)

    def take(self, other: Session) -> None:
        """Turn to the race of another session, which its owner goes on recording."""
        self.score, self.recorded = other.score, None
        if self.owner == other.owner:
            self.recorded, self.store = other.recorded, other.store
            self._turn_store()
        self.param.update(recipe=other.recipe, prepared=other.prepared, race=other.race, cursor=None)

    @property
    def at_work(self) -> bool:
        """Whether there is a race or a sweep, which a page that is reloaded takes over."""
        return self.race is not None or self.sweep is not None

    def clear(self) -> None:
        self.score = self.recorded = None
        self.param.update(recipe=None, prepared=None, race=None, cursor=None)

    def give_way(self, wanted: bool) -> None:
        """Give up the race while the next one waits for memory; its steps stay in the history."""
        self.gives_way = wanted
        if wanted and self.race is not None:
            self.clear()

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.theme = theme_for(dark, self.theme.projected)

    def project(self, projected: bool) -> None:
        """Use large type and lines, for a projector, or those of the usual size."""
        self.theme = theme_for(self.theme.dark, projected)

    def press(self, key: str) -> None:
        """Pass on a key that was pressed."""
        if self.on_key is not None:
            self.on_key(key)

    @property
    def traces(self) -> dict[str, Trace]:
        """The traces of the runs so far."""
        return {} if self.race is None else self.race.traces

    @property
    def last_step(self) -> int:
        """The last step of the longest run; -1 as long as there is none."""
        return max((trace.last_step for trace in self.traces.values()), default=-1)

    @property
    def tolerance(self) -> float | None:
        """The gap at which runs stop, or the projected gradient where the problem is not convex; None if unknown."""
        return None if self.recipe is None else self.recipe.goal


def _once(score: Callable[[Iterate], float]) -> Callable[[Iterate], float]:
    """Return `score` computed once for each iterate; several threads may call it."""
    scores: dict[int, tuple[Iterate, float]] = {}  # it holds the iterate, so that no other gets its id
    lock = threading.Lock()

    def cached(iterate: Iterate) -> float:
        with lock:
            if id(iterate) not in scores:
                scores[id(iterate)] = iterate, score(iterate)
            return scores[id(iterate)][1]

    return cached
