"""The tabs of the dashboard, one file each; the shell finds them here and knows none by name.

A tab is a title, a position among the others, and a view that follows the session.
"""

from __future__ import annotations

import sys
from typing import ClassVar

from mklviz.plugins import classes
from mklviz.views.host.frames import FigureSync
from mklviz.views.lessons.picture import LessonRuns
from mklviz.views.look import cards
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session

__all__ = ["FigureTab", "Tab", "tab_classes"]


def tab_classes() -> list[type[Tab]]:
    """Return the tabs found in this folder and in installed packages, in their order."""
    tabs = classes(sys.modules[__name__], Tab, ("title", "order"))
    return sorted(tabs, key=lambda tab: (tab.order, tab.title))


class Tab(cards.Rooted):
    """One tab of the dashboard; it is built when it is first opened.

    Attributes
    ----------
    title : str
        Its label.
    order : int
        Its position: the tab with the least is first, and open at the start.
    race_view : RaceView or None
        Its view of the race, if that may play recordings and if its axes are to stand in the address of the page; the
        first tab that has one is asked.
    shown : bool
        Whether it is the one that can be seen; what only the eye needs can wait until it is.
    """

    title: ClassVar[str]
    order: ClassVar[int]
    race_view: RaceView | None = None
    _session: Session  # from the first `follow` on, before which nothing else is called

    def __init__(self) -> None:
        super().__init__()
        self.shown = True

    @classmethod
    def supports(cls, session: Session) -> str:
        """Say in one sentence why there is nothing to show; "" if there is something."""
        return ""

    @classmethod
    def preview(cls, runs: LessonRuns) -> str:
        """Return what the tab shows of recorded runs before there is a race, as SVG; "" for nothing."""
        return ""

    def follow(self, session: Session) -> None:
        """Apply changes of the session: race, step shown, colours."""
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """Draw the news since the last call, some ten times a second; `now` in seconds."""

    def close(self) -> None:
        """The session is over: stop all background work."""


class FigureTab(Tab):
    """A tab with figures of its own; `frames` know whether the browser has them, and their heartbeat is on the page."""

    def __init__(self) -> None:
        super().__init__()
        self.sync = FigureSync()
        self.frames = self.sync.frames
        self.frames.heartbeat.on_key(lambda key: self._session.press(key))
