"""The past races of a session, which can be shown again and over each other, and whether they can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mklviz.context.memory import LEDGER
from mklviz.errors import MklvizError
from mklviz.quoting import MOST_NAME, one_line
from mklviz.recipe import Recipe
from mklviz.record import Trace


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
MOST_BYTES = 64 * 10**6  # of their steps, in all


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
    """Past races as they ended, without the oldest where there are too many; `revision` counts the changes."""

    def __init__(self) -> None:
        self.races: list[KeptRace] = []
        self.revision = self._added = 0

    def add(self, name: str, traces: Mapping[str, Trace]) -> KeptRace | None:
        """Add a race; return None where it has no steps, is here already, or is too large."""
        race = KeptRace(name, dict(traces))
        begun = race.begun
        if not begun or race.size > MOST_BYTES:
            return None
        same = next((other for other in self.races if begun[0] in other.begun), None)
        if same is not None:
            return self._extend(same, race)
        self._added += 1
        race.name = one_line(f"{self._added}. {name}", MOST_NAME)
        self.races.append(race)
        LEDGER.charge(race, race.size)
        while len(self.races) > MOST or sum(other.size for other in self.races) > MOST_BYTES:
            del self.races[0]
        self.revision += 1
        return race

    def _extend(self, old: KeptRace, new: KeptRace) -> KeptRace | None:
        """Add the new runs of a race that is here already, such as a branch; return None where there are none."""
        if len(new.begun) <= len(old.begun):
            return None
        old.traces = new.traces
        self.revision += 1
        return old

    def forget(self, race: KeptRace) -> None:
        if race in self.races:
            self.races.remove(race)
            self.revision += 1


def overlaid(races: Sequence[KeptRace]) -> dict[str, Trace]:
    """Return the runs of several races as those of one, each named by its race as well."""
    if len(races) == 1:
        return dict(races[0].traces)
    return {f"{trace.label} ({race.name})": trace for race in races for trace in race.begun}
