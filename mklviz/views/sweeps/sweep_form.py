"""What is swept: a few fields, and below them the line of words that they stand for, which can be edited, too."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import param

from mklviz.datasets import DataError
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.parsing import show_number
from mklviz.recipe.words import WORDS, split_words
from mklviz.sweeps import Sweep
from mklviz.sweeps.definition import KEYS, Own
from mklviz.views.form import Code, FormRow, Group, TextBox

SPLITS = "0...4"  # at first
_FIELDS = (
    ("data", "Data sets", "Names with commas between them, such as sonar,heart"),
    ("split", "Splits", "Seeds of the splits, one after the other or as a range: 0...19"),
    ("solvers", "Solvers", "Names, and alternatives of an option in braces: level:lam={0.3,0.5}"),
    ("C", "C", "Numbers with commas between them: 1,10,100"),
)


class SweepForm(param.Parameterized):
    """The fields, the line of words and the command that runs the same sweep.

    `sweep`: what they stand for; None where the words cannot be read, and the line of words says why.
    """

    sweep = param.Parameter(default=None)

    def __init__(self) -> None:
        super().__init__()
        self.fields = {key: TextBox(label=label, description=why) for key, label, why in _FIELDS}
        self.words = TextBox(label="Sweep")
        self.command = Code(label="Command line", visible=False)
        self._own: Own = ()  # whose files the words name, though none is opened here
        self._showing = False
        for key, field in self.fields.items():
            field.param.watch(self._editing(key), "value")
        self.words.param.watch(lambda event: self._take(event.new), "value")
        one, two, three, four = self.fields.values()
        self.body = Group(FormRow(one, two, wrap=True), FormRow(three, four, wrap=True), self.words, self.command)

    def load(self, recipe: Recipe) -> None:
        """Sweep over some splits of what the recipe says."""
        self.show(Sweep(recipe, {"split": SPLITS}))

    def show(self, sweep: Sweep) -> None:
        """Show another sweep."""
        self._own = tuple(dict(sweep.own).items())
        self._show(sweep)

    def _editing(self, key: str) -> Callable[[Any], None]:
        def edit(event: Any) -> None:
            if self._showing:
                return
            texts, _ = split_words(self.words.value, KEYS, "A sweep")
            texts = {name: text for name, text in texts.items() if name != key and (name, key) != ("seed", "split")}
            if event.new.strip():
                texts[key] = event.new.strip()
            self._take("; ".join(f"{name}={text}" for name, text in texts.items()))

        return edit

    def _take(self, words: str) -> None:
        """Read the sweep that words describe, and show it, or what is wrong with them."""
        if self._showing:
            return
        try:
            sweep = Sweep.from_words(words, self._own)
        except (MklvizError, DataError) as error:
            self._write(words, str(error))
            self.sweep = None
            return
        self._show(sweep)

    def _write(self, words: str, wrong: str) -> None:
        self._showing = True
        self.words.param.update(value=words, helper_text=wrong)
        self.command.visible = not wrong
        self._showing = False

    def _show(self, sweep: Sweep) -> None:
        """Show a sweep in all its fields."""
        words = sweep.to_words()
        self._write(words, "")
        self._showing = True
        texts, _ = split_words(words, KEYS, "A sweep")
        usual = {
            "split": str(sweep.recipe.split.seed),
            "solvers": WORDS["solvers"].write(sweep.recipe),
            "C": show_number(sweep.recipe.problem.loss.C),
        }
        for key, field in self.fields.items():
            field.value = (texts.get(key) or usual.get(key, "")).replace(" ", ", " if key == "solvers" else " ")
        quoted = words.replace("\\", "\\\\").replace('"', '\\"')
        kept = shlex.quote(words) if set(words) & set("$`!") else f'"{quoted}"'  # the second in every system's shell
        self.command.object = f"mklviz sweep {kept}"
        self._showing = False
        self.sweep = sweep
