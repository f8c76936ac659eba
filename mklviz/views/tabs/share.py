"""SHARE: a link that opens the same race elsewhere, a program that runs it, and files to keep."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from mklviz.engine.task import Task
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.recipe import as_python
from mklviz.views.export.page import KINDS, race_file
from mklviz.views.form import Alert, Button, Checkbox, Code, Form, FormRow, Link, Note, ProgressBar, Select
from mklviz.views.lessons.picture import LessonRuns
from mklviz.views.links.link import ALL, HIDE, LOCK, SETUP
from mklviz.views.look import cards
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs import Tab, tab_classes

_OWN = (
    "The data are your own, which no link carries: on the other page, first open the same file under Data."
    " Points drawn by hand are downloaded in the tab Model."
)
_FOLLOWS = "This page follows another page's race; only that page has a link to its set-up."
PROGRAM = "Python that runs the same race"
_LINK = "Opens the same set-up, tab and step on another page; Run starts the race there."


class Share(Tab):
    """The exports of the dashboard: link, program, files."""

    title, order = "Share", 40

    def __init__(self) -> None:
        super().__init__()
        self.link = Link(label="Link")
        tabs = {tab.title: tab.title.lower() for tab in tab_classes() if tab is not Share}
        self.tab = Select(label="opens at", options=tabs, value="race", width=200)
        self.hide = Checkbox(label="without the set-up", description="Only the buttons of the race stay beside it.")
        self.lock = Checkbox(label="set-up locked", description="It can be seen and not changed.")
        self._note = Note(object=_LINK)
        self.code = Code(label="Python")
        self._trouble = Alert(visible=False, closeable=True)
        self._tasks, self._race = [Task[tuple[str, bytes]]() for _ in KINDS], None
        self.buttons = [
            Button(partial(self._make, task, ending), label=label, description=why)
            for task, (label, why, ending) in zip(self._tasks, KINDS, strict=True)
        ]
        self._opening = FormRow(self.tab, self.hide, self.lock, wrap=True)
        for part in (self.tab, self.hide, self.lock):
            part.param.watch(lambda _event: self._tell_link(), "value")
        self._status, self._bar = note(spoken=True), ProgressBar(label="Making the files", visible=False)
        row = FormRow(*self.buttons, wrap=True)
        self._files = Form(self._trouble, row, self._status, self._bar, margin=(6, 0, 4, 0))
        self.root = cards.column(
            cards.card(cards.html(cards.title("Link")), Form(self._note, self.link, self._opening)),
            cards.card(cards.html(cards.title(PROGRAM)), Form(self.code, margin=(6, 0, 4, 0))),
            cards.card(cards.html(cards.title("Files of this race")), self._files),
        )

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race that has taken steps is needed."""
        return "" if session.last_step >= 0 else "Press Run first: what can be shared is the race that is shown."

    @classmethod
    def preview(cls, runs: LessonRuns) -> str:
        """Write the program that runs the recorded race."""
        recipe = Recipe.from_json(next(iter(runs.traces.values())).recipe)
        return f'{cards.title(PROGRAM)}<pre tabindex="0">{escape(as_python(recipe))}</pre>'

    def follow(self, session: Session) -> None:
        self._session = session
        if session.race is not self._race:  # files of a race that is gone are nobody's wish
            self._race = session.race
            for task in self._tasks:
                task.forget()
        if session.missing:
            self.code.object = f"# {session.missing}"
        elif session.recipe is not None:
            try:
                own = session.recipe.data.dataset
                file = "" if own is None or session.follows else own.source  # whose name is not others' to know
                self.code.object = as_python(session.recipe, file)
            except MklvizError as error:
                self.code.object = f"# {error}"
        self._tell_link()

    def tick(self, now: float) -> None:
        """Keep the link up to date, and offer finished files."""
        if self.shown:
            self._tell_link()
        for task in self._tasks:
            if task.ended:
                file = task.take()
                if file is None:
                    say(self._trouble, task.fault)
                else:
                    self._files.hand_over(*file)
        self._show_work()

    def _tell_link(self) -> None:
        session = self._session
        untold = _FOLLOWS if session.link is None else session.missing
        self.link.visible = self._opening.visible = not untold
        if session.link is None or untold:
            self._note.object = untold
            return
        own = session.recipe is not None and session.recipe.data.own
        self._note.object = f"{_LINK} {_OWN}" if own else _LINK
        more = {HIDE: SETUP if self.hide.value else "", LOCK: ALL if self.lock.value else ""}
        self.link.address = session.link(self.tab.value, session.cursor, more)

    def _make(self, task: Task[tuple[str, bytes]], ending: str, _event: Any) -> None:
        task.ask(object(), lambda report: race_file(ending, self._session, report), "The file could not be made")
        self._show_work()

    def _show_work(self) -> None:
        """Say which files are being made; each of them only once at a time."""
        making = []
        for button, task in zip(self.buttons, self._tasks, strict=True):
            button.disabled = task.working
            if task.working:
                making.append(button.label)
        say(self._status, f"Making: {', '.join(making)} …" if making else "")
        done = max(task.fraction for task in self._tasks)
        self._bar.param.update(value=round(100 * done), visible=done > 0)

    def close(self) -> None:
        for task in self._tasks:
            task.forget()
