"""The parts of the sidebar: a section, which shows parts of a `Recipe` and reads them back, and a field for a value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

import param

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe
from mklviz.views.form import Alert, Button, Form, FormRow, Group, Heading, Link, Note, ProgressBar, Select, TextBox

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


class ValueField(TextBox, Generic[T]):
    """A text box that holds one value, `parsed` from its text; a sentence under it says what is wrong with that.

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
        super().__init__(label=label, placeholder=placeholder, description=doc)
        self._what, self._parse, self._show = what, parse, show
        self.param.watch(self._check, "value")

    @property
    def parsed(self) -> T:
        """The value; `ProblemError` is raised while the text cannot be used."""
        return self._parse(self.value, self._what)

    def set(self, value: Any) -> None:
        self.value = "" if value is None else self._show(value)
        self._check()

    def _check(self, *_: Any) -> None:
        try:
            self._parse(self.value, self._what)
        except ProblemError as error:
            self.helper_text = str(error)
        else:
            self.helper_text = ""


def note(text: str = "", **settings: Any) -> Note:
    """Return a line of small grey text, hidden while there is none."""
    return Note(object=text, **{"visible": bool(text), **settings})


def say(line: Note | Alert, text: str) -> None:
    """Put `text` into a note or an alert, which is hidden where there is none."""
    line.param.update(object=text, visible=bool(text))


# RUN: run, pause, step, stop, reset, the pace, and how far a preparation is.


STATES = ("empty", "preparing", "running", "paused", "finished")
PACES = {"full speed": 0.0, "50 steps/s": 50.0, "10 steps/s": 10.0, "2 steps/s": 2.0, "1 step/s": 1.0}
_RESET = "Clear the curves; seed and settings stay"
_HELP = "Space run/pause · S step · X stop · ? keys"
USABLE = {  # the buttons that mean something in each state
    "empty": ("run", "step"),
    "preparing": ("stop",),
    "running": ("pause", "step", "stop", "reset"),
    "paused": ("pause", "step", "stop", "reset"),
    "finished": ("run", "reset"),
}


class RunPanel:
    """The buttons of a race, which call `commands` by their names, and below them `stage`, `progress` and `hint`."""

    def __init__(self, commands: Mapping[str, Callable[..., Any]]) -> None:
        self.buttons = {
            "run": Button(commands["run"], label="▶ Run", variant="contained", wide=True),
            "pause": Button(commands["pause"], label="Pause", wide=True),
            "step": Button(commands["step"], label="Step", wide=True),
            "stop": Button(commands["stop"], label="Stop", wide=True),
            "reset": Button(commands["reset"], label="Reset", width=64, description=_RESET),
        }
        self.pace = Select(label="pace", options=PACES, value=0.0, bare=True)
        self.full_speed = Button(commands["full_speed"], label="Full speed", width=82, disabled=True)
        self.pace.param.watch(lambda event: self.full_speed.param.update(disabled=event.new <= 0.0), "value")
        cores = os.cpu_count() or 1
        counts = {str(k): k for k in range(1, cores + 1)}
        self.threads = Select(label="threads", options=counts, value=1, visible=False)
        self.stage = note()
        self.progress = ProgressBar(label="Progress of the preparation", visible=False)
        self.hint = note()
        self._link = Link(label="Link to follow this race", visible=False)
        self.form = Form(
            Heading(object="Run"),
            self.threads,
            FormRow(*(self.buttons[name] for name in ("run", "pause", "step", "stop"))),
            FormRow(self.pace, self.full_speed, self.buttons["reset"]),
            # below the buttons, which what comes and goes would move under the pointer
            Group(self.stage, self.progress, self.hint, self._link, note(_HELP, small=True), steady=True),
        )
        self.show("empty")

    def show(self, state: str, blocked: str = "", hint: str = "") -> None:
        """Enable what can be used in one of `STATES`; below stands why a race is `blocked`, and otherwise `hint`."""
        beginning = ("run", "step") if blocked and state in ("empty", "finished") else ()
        for name, control in self.buttons.items():
            control.disabled = name not in USABLE[state] or name in beginning
        self.buttons["pause"].label = "Resume" if state == "paused" else "Pause"
        say(self.hint, f"Run is not possible: {blocked}" if blocked else hint)
        if state != "preparing":
            self.show_progress(0.0, "")

    def offer_threads(self, solvers: int) -> None:
        """Offer several threads to a solver that runs alone; several solvers have one each, to be fair."""
        alone = solvers == 1 and len(self.threads.options) > 1
        self.threads.param.update(visible=alone, value=self.threads.value if alone else 1)

    def offer_link(self, address: str) -> None:
        """Show where others can follow the race, by the end of the page's address; "" hides it."""
        self._link.param.update(address=address, visible=bool(address))

    def show_progress(self, fraction: float, stage: str) -> None:
        """Show how far a preparation is; an empty `stage` hides it."""
        say(self.stage, stage)
        self.progress.param.update(value=round(100 * fraction), visible=bool(stage))
