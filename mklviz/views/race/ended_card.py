"""The common part of the cards that appear when a race has ended, and compute their content in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import panel as pn

from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.views.form import Button
from mklviz.views.look.palette import DARK, LIGHT, Theme
from mklviz.views.sidebar.controls import note, say

__all__ = ["EndedCard"]

T = TypeVar("T")


class EndedCard(pn.viewable.Viewer, Generic[T]):
    """A card that is hidden until a race has ended for which it has an answer.

    Its view calls `begin` once the race has ended, and `update` now and then. The note `progress` says how far
    the `task` is or why it failed, and the button `stop` cancels it. The card itself makes `root`.
    """

    root: pn.Column  # the whole card; made by the subclass

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self.task = Task[T]()
        self._race: Race | None = None
        self.progress = note()
        self.stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", visible=False)

    def begin(self, race: Race) -> None:
        """Turn to a race that has ended; once for each race."""
        if race is not self._race:
            self.clear()
            self._race = race
            self._offer(race)

    def update(self) -> None:
        """Show the progress of the task, and its answer once."""
        if not self.task.working:
            return
        answer = self.task.take()
        self.stop.visible = self.task.working
        say(self.progress, self.task.status)
        if not self.task.working:
            self._show(answer)

    def clear(self) -> None:
        """Forget the race."""
        self.task.forget()
        self._race = None
        say(self.progress, "")
        self.root.visible = self.stop.visible = False
        self._forget()

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        theme = DARK if dark else LIGHT
        if theme is not self.theme:
            self.theme = theme
            self._draw()

    def _compute(self, compute: Callable[[ProgressReport], T], what: str, progress: str) -> None:
        """Begin the task, also where it was done before; see `Task.ask`."""
        self.task.ask(object(), compute, what, progress)
        self.update()

    def _offer(self, race: Race) -> None:
        """Show the content for a race, if there is any."""
        raise NotImplementedError

    def _show(self, answer: T | None) -> None:
        """Show the task's answer, None if it failed."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Forget the task's answer."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Draw the task's answer in the colours of the page."""
        raise NotImplementedError

    def __panel__(self) -> pn.viewable.Viewable:
        return self.root
