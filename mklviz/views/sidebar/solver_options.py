"""The options of one solver in the race: its Params give the controls with their bounds, choices and help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param

from mklviz.contract import Solver
from mklviz.engine import solver_classes
from mklviz.recipe import SolverChoice
from mklviz.recipe.parsing import bounded, optional, show_number, whole
from mklviz.views.form import Button, FormRow, Group, Select, Switch
from mklviz.views.sidebar.controls import ValueField, note

__all__ = ["EntryEditor", "option_control", "shown_options"]

_ELSEWHERE = ("name", "seed")  # the seed of the race is set with the data


class EntryEditor(param.Parameterized):
    """One entry of the race: a solver with its options.

    The buttons for another variant and for its removal call `add` and `remove` with this editor.
    """

    revision = param.Integer(default=0)

    def __init__(
        self, choice: SolverChoice, add: Callable[[EntryEditor], None], remove: Callable[[EntryEditor], None]
    ) -> None:
        super().__init__()
        self.name_ = choice.name
        self._class = solver_classes()[choice.name]
        self.title = note(self._class.label, strong=True)
        again = f"Race {self._class.label} once more, with other options"
        copy = Button(lambda *_: add(self), label="Add variant", variant="text", description=again)
        head = FormRow(self.title, copy, Button(lambda *_: remove(self), label="Remove", variant="text"))
        self.controls = {name: option_control(self._class, name) for name in shown_options(self._class)}
        options = dict(choice.options)
        for name, control in self.controls.items():
            control.set(options.get(name, self._class.param[name].default))
            control.param.watch(self._changed, "revision")
        boxes = [control.box for control in self.controls.values()]
        self.body = Group(head, *(boxes or [note("This method has no options.")]))

    def _changed(self, *_: Any) -> None:
        self.revision += 1

    @property
    def choice(self) -> SolverChoice:
        """The solver with the options that differ from its defaults."""
        options = {name: control.value for name, control in self.controls.items()}
        return SolverChoice(self.name_, {k: v for k, v in options.items() if v != self._class.param[k].default})

    @property
    def solver(self) -> Solver:
        """The solver as the controls stand."""
        return self.choice.make()

    @property
    def label(self) -> str:
        """The name that the race will give it."""
        try:
            return str(self.solver.name)
        except ValueError:  # an option that cannot be used: its field says why
            return self._class.label

    def set_title(self, text: str) -> None:
        """Show the name of this entry, which differs from those of the others."""
        self.title.object = text


def shown_options(solver: type[Solver]) -> list[str]:
    """Return the options a person may change; a negative precedence hides one, as everywhere in param."""
    return [name for name in solver.param if name not in _ELSEWHERE and (solver.param[name].precedence or 0) >= 0]


class _Plain(param.Parameterized):
    """A part of a form with the methods of a `ValueField`: value, set, revision and box."""

    revision = param.Integer(default=0)

    def __init__(self, box: Select | Switch) -> None:
        super().__init__()
        self.box = box
        box.param.watch(lambda *_: self.param.update(revision=self.revision + 1), "value")

    @property
    def value(self) -> Any:
        return self.box.value

    def set(self, value: Any) -> None:
        """Show a value."""
        self.box.value = value


def option_control(solver: type[Solver], name: str) -> Any:
    """Return a control for the option `name` of a solver class, with `value`, `set`, `revision` and `box`."""
    option = solver.param[name]
    words = name.replace("_", " ")
    what = f"{solver.label}: {words}"
    doc = " ".join((option.doc or "").split())
    if isinstance(option, param.Boolean):
        return _Plain(Switch(label=words, description=doc))
    if isinstance(option, param.Selector):
        names = {str(value): value for value in option.objects}
        return _Plain(Select(label=words, options=names, description=doc))
    if isinstance(option, param.Number):
        parse: Callable[[str, str], Any] = _within(option)
        return ValueField(words, what, optional(parse) if option.allow_None else parse, show_number, doc=doc)
    return ValueField(words, what, lambda text, _what: text, str, doc=doc)


def _within(option: param.Number) -> Callable[[str, str], float]:
    """Return a parser for numbers within the bounds of an option."""
    low, high = option.bounds or (None, None)
    if isinstance(option, param.Integer):
        return lambda text, what: whole(text, what, low, high)
    open_low = not option.inclusive_bounds[0]
    return lambda text, what: bounded(text, what, low, high, open_low)
