"""The parts of the sidebar: a section, which shows parts of a `Recipe` and reads them back, and a field for a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

import param

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe
from mklviz.views.form import Alert, Group, Note, TextBox

T = TypeVar("T")


class Touched(param.Parameterized):
    """Something that a person changes; `revision` counts the changes."""

    revision = param.Integer(default=0)

    def touched(self, *_: Any) -> None:
        self.revision += 1

    def count(self, *controls: param.Parameterized, name: str = "value") -> None:
        """Count each change of these controls."""
        for control in controls:
            control.param.watch(self.touched, name)


class Section(Touched):
    """A part of the sidebar; `body` holds its controls."""

    title: ClassVar[str] = ""
    body: Group  # the controls, as a form draws them

    def load(self, recipe: Recipe) -> None:
        """Show the parts of `recipe` this section stands for."""
        raise NotImplementedError

    def parts(self) -> Mapping[str, Any]:
        """Return the parts of a recipe as the controls stand; raise `MklvizError` where a control cannot be used."""
        raise NotImplementedError


class ValueField(Touched, Generic[T]):
    """A text box that holds one value; a sentence under it says what is wrong with its text.

    `label` stands in the box, and `what` is the name of the value in sentences, with a capital. ``parse(text, what)``
    returns the value or raises `ProblemError`; `show` returns the text of a value, and None is an empty box.
    """

    def __init__(
        self,
        label: str,
        what: str,
        parse: Callable[[str, str], T],
        show: Callable[[Any], str],
        placeholder: str = "",
        doc: str = "",
    ) -> None:
        super().__init__()
        self._what, self._parse, self._show = what, parse, show
        self.box = TextBox(label=label, placeholder=placeholder, description=doc)
        self.box.param.watch(self._entered, "value")

    @property
    def value(self) -> T:
        """The value; `ProblemError` is raised while the text cannot be used."""
        return self._parse(self.box.value, self._what)

    def set(self, value: Any) -> None:
        self.box.value = "" if value is None else self._show(value)
        self._check()

    def _entered(self, *_: Any) -> None:
        self._check()
        self.touched()

    def _check(self) -> None:
        try:
            self._parse(self.box.value, self._what)
        except ProblemError as error:
            self.box.helper_text = str(error)
        else:
            self.box.helper_text = ""


def note(text: str = "", **settings: Any) -> Note:
    """Return a line of small grey text, hidden while there is none."""
    return Note(object=text, **{"visible": bool(text), **settings})


def say(line: Note | Alert, text: str) -> None:
    """Put `text` into a note or an alert, which is hidden where there is none."""
    line.param.update(object=text, visible=bool(text))
