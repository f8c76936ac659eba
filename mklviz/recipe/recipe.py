"""Everything that defines a race, as one value: data, split, kernels, problem, solvers and stop rules.

Scenarios, the dashboard, the command line and links all speak of races through this one description. It is frozen and
hashable, and two recipes are the same when ``==`` says so; `mklviz.recipe.words` and `mklviz.recipe.saved` write it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.datasets import Dataset, list_datasets, load_dataset, read_dataset
from mklviz.engine import Race, recommend, rivals
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.problem.problem import balanced_classes
from mklviz.recipe.choices import DataChoice, RecipeParts, SolverChoice
from mklviz.recipe.parsing import pieces, unquoted
from mklviz.recipe.prepared import Built, Prepared, averaged, build_bank, refuse, standard_targets, suited
from mklviz.recipe.saved import read_json, to_json
from mklviz.recipe.words import from_words, write_words


def own_data(text: str, **options: Any) -> Dataset | None:
    """Return the data in the file that a text names, by `read_dataset`; None for a data set's name."""
    if not text or text in list_datasets() or not (_exists(text) or Path(text).suffix or Path(text).name != text):
        return None
    parts = _files(text)
    several = len(parts) > 1 and not _exists(text) and all(map(_exists, parts))
    return read_dataset(parts if several else text, **options)


def _files(text: str) -> list[str]:
    """Return the names of files that stand in a list, with quotes where a comma is in them."""
    return [unquoted(part.strip()) for part in pieces(text, ",")] if text.count('"') % 2 == 0 else [text]


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False


@dataclass(frozen=True)
class Recipe(RecipeParts):
    """A race, described.

    Parameters
    ----------
    data : DataChoice
    split : Split
    kernels : KernelChoice
    problem : ProblemChoice
    solvers : sequence of SolverChoice
    stop : StopChoice

    Examples
    --------
    >>> Recipe().changed(source="sonar", solvers=[SolverChoice("level")]).to_words()
    'data=sonar; solvers=level'
    """

    def on(self, data: Dataset | None) -> Recipe:
        """Return the recipe for a user's own data, which go with it, known by their digest; for None the same one."""
        return self if data is None else replace(self, data=DataChoice.of(data, self.data.positive))

    def prepare(self, data: Dataset | None = None, progress: Callable[[float], None] | None = None) -> Prepared:
        """Split the data, build the kernel bank and pose the problem.

        Parameters
        ----------
        data : Dataset, optional
            Data of the user's own, instead of those of the recipe.
        progress : callable, optional
            Called with the fraction of kernels built; may raise to cancel.

        Raises
        ------
        DataError, ProblemError
            With a sentence saying what is wrong and what to do.
        """
        chosen, positive = self.load(data), self.data.positive
        task = chosen.task if positive is None else chosen.against_rest(positive).task
        refuse(chosen.title, task, self.problem.loss)  # before the kernels are built
        return self.posed(self.build(chosen, progress))

    def build(self, data: Dataset | None = None, progress: Callable[[float], None] | None = None) -> Built:
        """Split the data and build the kernel bank, whatever the loss and the regularizer; see `prepare`."""
        chosen, positive, split = self.load(data), self.data.positive, self.split
        train, test = chosen.split(train=split.train, seed=split.seed, standardize=split.standardize)
        if positive is not None:  # after the split, so that every class meets the same samples
            train, test = train.against_rest(positive), test.against_rest(positive)
        if chosen.task == "regression" and split.standardize:
            train, test = standard_targets(train, test)
        kernels = replace(self.kernels, families=suited(self.kernels.families, chosen, train))
        bank = build_bank(kernels, train, split.seed, progress)
        if train.absent is not None:
            train, test, bank = averaged(train, test, bank)
        return Built(train, test, bank, bank.cross(test.X if test.grams is None else test.grams))

    def load(self, data: Dataset | None = None) -> Dataset:
        """Return `data`, or else the data of the recipe: a user's own that go with it, or those it names."""
        own = self.data.dataset if data is None else data
        if own is None and self.data.own:
            raise ProblemError("The recipe uses an uploaded file: open that file, or choose other data.")
        return load_dataset(self.data.source) if own is None else own

    def posed(self, built: Built) -> Prepared:
        """Return the problem of this recipe on its data and kernels, as they were built, or raise `ProblemError`."""
        train, loss = built.train, self.problem.loss
        refuse(train.title, train.task, loss)
        weights = None if self.problem.class_weight is None else balanced_classes(train.y)
        if loss.one_class and train.task == "binary":  # the other class is what it is to find
            weights = (train.y > 0.0).astype(np.float64)
        problem = Problem(built.bank, train.y, loss, self.problem.regularizer, weights)
        return Prepared(train, built.test, problem, built.cross)

    def recommended(self, prepared: Prepared) -> Recipe:
        """Return this recipe with the one solver that is recommended for the prepared problem."""
        return replace(self, solvers=(SolverChoice(recommend(prepared.problem)),))

    def usual(self, prepared: Prepared) -> tuple[Recipe, str]:
        """Return this recipe with solvers that can follow the prepared problem, and a sentence on those that cannot."""
        able, why = rivals(prepared.problem, [choice.name for choice in self.solvers])
        choices = {choice.name: choice for choice in self.solvers}
        return replace(self, solvers=tuple(choices.get(name, SolverChoice(name)) for name in able)), why

    def race(self, prepared: Prepared, pace: float = 0.0, threads: int = 1) -> Race:
        """Return the race over a prepared problem, not yet started; a solver that runs alone may have more threads."""
        solvers = [choice.make(self.split.seed) for choice in self.solvers]
        race = Race(prepared.problem, solvers, self.stop.rules(self.convex), pace, threads=threads)
        for trace in race.traces.values():
            trace.recipe = self.to_json()
        return race

    def same_race(self, other: Recipe) -> bool:
        """Return whether another recipe describes the same race; the order of the solvers does not matter."""
        return _in_order(self) == _in_order(other)

    def to_words(self) -> str:
        """Return the recipe as words, ``data=sonar; C=10``: what differs from the defaults, see `from_words`."""
        return write_words(self)

    @classmethod
    def from_words(cls, text: str) -> Recipe:
        """Return the recipe that words describe, in the grammar of `mklviz.recipe.words`.

        Raises
        ------
        MklvizError
            With a sentence for each part that cannot be read.
        """
        return from_words(text, cls())

    def to_json(self) -> str:
        """Return the recipe as JSON, with all its parts and a version."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Return the recipe that `to_json` wrote.

        Raises
        ------
        MklvizError
            With a sentence, if the text is of another version or has a part that cannot be used.
        """
        return cls(**read_json(text))


def _in_order(recipe: Recipe) -> Recipe:
    return replace(recipe, solvers=sorted(recipe.solvers, key=lambda choice: (choice.name, repr(choice.options))))


# -- a recipe as a Python program that runs the same race without the dashboard

_RACE = """\
race = recipe.race(prepared)
race.start()
race.wait()
for trace in race.traces.values():
    print(f"{trace.label}: {trace.status} after {len(trace) - 1} steps, objective {trace.best.objective:.6g}")
"""


def as_python(recipe: Recipe, file: str = "") -> str:
    """Return a program that prepares and runs a recipe, on the data in `file` where they are a user's own."""
    parts = recipe.to_words().split("; ")
    lines = ["import mklviz as mv", "", "recipe = mv.Recipe.from_words("]
    lines += [f"    {part + ('; ' if part is not parts[-1] else '')!r}" for part in parts]
    lines.append(")")
    if recipe.data.own:
        names = _files(file or "the file of your own")
        words = [f"{name}={value!r}" for name, value in recipe.data.table.items() if value not in (None, ())]
        given = ", ".join([repr(names if len(names) > 1 else names[0]), *words])
        lines += [f"data = mv.read_dataset({given})", "prepared = recipe.prepare(data)"]
    else:
        lines.append("prepared = recipe.prepare()")
    return "\n".join([*lines, _RACE])
