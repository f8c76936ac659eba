"""A grid of runs over one knob or two: the recipe at every position, solved as a sweep, so that a store's runs count.

A knob is called as in the tab Knobs: "level.lam" is the option of a solver, "tol" the SVM tolerance of all solvers, and
"C", "p" or another number is of the loss or the regularizer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from mklviz.analysis.knobs import KNOBS, Knob
from mklviz.engine.grid import changed, parameters
from mklviz.errors import MklvizError, SolverError
from mklviz.lazy import cached_property
from mklviz.numbers import is_number
from mklviz.problem.regularizers import unit_ball
from mklviz.recipe import Recipe
from mklviz.recipe.choices import SolverChoice
from mklviz.recipe.words import WORDS
from mklviz.record import Trace
from mklviz.record.store import Store, open_store
from mklviz.sweeps import Member, Sweep, SweepRun
from mklviz.sweeps.running import follow

MOST_RUNS = 250  # whose curves one page has room for
TOLERANCE, POWER = "tol", "p"
_VARIED = ("loss", "regularizer")  # words of a recipe that a knob of the problem changes
_KNOWN: Mapping[str, Knob] = {knob.name: knob for knob in KNOBS if knob.values}


@dataclass(frozen=True)
class LabKnob:
    """A knob with the values at its positions; without any, those of the tab Knobs."""

    name: str
    values: Sequence[Any] = ()
    title: str = field(init=False)  # what it is called on the screen
    symbol: str = field(init=False)  # what stands before its values
    watch: str = field(init=False)  # what to look at while it turns; "" by default

    def __post_init__(self) -> None:
        known = _KNOWN.get(self.name)
        values = tuple(dict.fromkeys(map(_plain, self.values))) or (known.values if known else ())
        if len(values) < 2:
            raise MklvizError(
                f"The knob {self.name!s:.80} needs two values or more to be turned, such as {self.name!s:.80}=0.1,1,10."
            )
        texts = (known.title, known.symbol, known.watch) if known else (self.name, self.name.rpartition(".")[2], "")
        for name, value in zip(("values", "title", "symbol", "watch"), (values, *texts), strict=True):
            object.__setattr__(self, name, value)

    @property
    def names(self) -> list[str]:
        """The positions in words."""
        return [f"{value:g}" if is_number(value) else str(value) for value in self.values]

    def turned(self, recipe: Recipe, value: Any) -> Recipe:
        """Return the recipe at a value, or raise `MklvizError` if it has no such knob, or not of that value."""
        solver, dot, option = self.name.partition(".")
        if dot:
            return _with_option(recipe, option, value, [choice for choice in recipe.solvers if choice.name == solver])
        if self.name == TOLERANCE:
            able = [choice for choice in recipe.solvers if "svm_tolerance" in choice.make().options()]
            return _with_option(recipe, "svm_tolerance", value, able)
        problem = recipe.problem
        own = parameters(problem).get(POWER, 1.0)
        if self.name == POWER and problem.regularizer == unit_ball(max(own, 1.0)):
            return recipe.changed(regularizer=unit_ball(value))
        return recipe.changed(**changed(problem, self.name, value))

    def current(self, recipe: Recipe) -> int:
        """Return the position that is the recipe's own, or else the middle one."""
        solver, _, option = self.name.rpartition(".")
        made = [choice.make().options() for choice in recipe.solvers if choice.name == solver]
        own = made[0].get(option) if made else parameters(recipe.problem).get(self.name)
        return self.values.index(own) if own in self.values else len(self.values) // 2


def usual_solvers(knobs: Iterable[LabKnob]) -> tuple[SolverChoice, ...]:
    """Return the solvers that show best what knobs do, where none are named: those of the tab Knobs."""
    names: list[str] = []
    for knob in knobs:
        known, (solver, dot, _) = _KNOWN.get(knob.name), knob.name.partition(".")
        names += [solver] if dot else [known.solver(0).name_] if known else []
        names += [known.rival] if known and known.rival else []
    return tuple(map(SolverChoice, dict.fromkeys(names or ["spg"])))


@dataclass(frozen=True)
class LabGrid:
    """A recipe and one or two knobs."""

    recipe: Recipe
    knobs: tuple[LabKnob, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.knobs) <= 2 or len({knob.name for knob in self.knobs}) < len(self.knobs):
            raise MklvizError("A laboratory has one knob, or two different ones.")
        if len(self.sweep) > MOST_RUNS:
            raise MklvizError(
                f"One page has room for the curves of {MOST_RUNS} runs, but these positions take {len(self.sweep):,}:"
                " give fewer values, or fewer solvers."
            )

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe at every position; the last knob turns first."""
        recipes = []
        for values in product(*(knob.values for knob in self.knobs)):
            recipe = self.recipe
            for knob, value in zip(self.knobs, values, strict=True):
                recipe = knob.turned(recipe, value)
            for key in _VARIED:  # as the words of a sweep have it, to the last digit
                recipe = WORDS[key].read(recipe, WORDS[key].write(recipe))
            for choice in recipe.solvers:  # a wrong option is reported before anything is solved
                choice.make(recipe.split.seed)
            recipes.append(recipe)
        return tuple(recipes)

    @property
    def turns_problem(self) -> bool:
        """Whether the positions are of several problems, whose objectives do not compare."""
        return len({recipe.problem for recipe in self.recipes}) > 1

    @cached_property
    def sweep(self) -> Sweep:
        """All runs, each once."""
        texts = {key: dict.fromkeys(WORDS[key].write(recipe) for recipe in self.recipes) for key in _VARIED}
        solvers = dict.fromkeys(choice for recipe in self.recipes for choice in recipe.solvers)
        lists = {key: [*values] for key, values in texts.items() if len(values) > 1}
        return Sweep(replace(self.recipes[0], solvers=[*solvers]), lists)


def solve_grid(grid: LabGrid, store: Store | str | Path | None = None) -> list[dict[str, Trace]]:
    """Solve what the store does not know, saying how far it is, and return the traces at every position."""
    with _kept(store if isinstance(store, Store) else open_store(store)) as kept:
        run = SweepRun(grid.sweep, kept, retry=True)
        follow(run)
        if run.not_kept:
            raise MklvizError(run.not_kept)
        ended = run.table().outcomes
        for _, outcome in run.table():
            if outcome.failed:
                raise SolverError(outcome.reason)
        traces = {key: kept.trace(outcome.run) for key, outcome in ended.items()}
    return [
        _keyed((choice.name, traces[Member(replace(recipe, solvers=(choice,))).key]) for choice in recipe.solvers)
        for recipe in grid.recipes
    ]


@contextmanager
def _kept(store: Store) -> Iterator[Store]:
    """Keep runs in the store, or where there is none, in a folder until they have been read."""
    if store.enabled:
        yield store
        return
    with tempfile.TemporaryDirectory() as folder:
        passing = Store(Path(folder))
        yield passing
        passing.close()


def _keyed(traces: Iterable[tuple[str, Trace]]) -> dict[str, Trace]:
    """Return traces by their solvers' names; of one that enters again, with a number."""
    keyed: dict[str, Trace] = {}
    for name, trace in traces:
        again = sum(key.partition(" ")[0] == name for key in keyed)
        keyed[f"{name} {again + 1}" if again else name] = trace
    return keyed


def _with_option(recipe: Recipe, option: str, value: Any, able: Sequence[SolverChoice]) -> Recipe:
    if not able:
        names = ", ".join(choice.name for choice in recipe.solvers)
        raise MklvizError(f"None of the solvers {names} has this knob: name one that does in the recipe.")
    turned = [
        replace(each, options={**dict(each.options), option: value}) if each in able else each
        for each in recipe.solvers
    ]
    return replace(recipe, solvers=turned)


def _plain(value: Any) -> Any:
    """Return a number as Python's own, whatever array it came from."""
    return value.item() if hasattr(value, "item") else value
