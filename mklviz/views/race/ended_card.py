"""What the cards have in common that look at a race once it has ended, and compute in a thread what they show."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import panel as pn

from mklviz.engine import Race
from mklviz.engine.background import Background
from mklviz.views.form import Button
from mklviz.views.look.palette import DARK, LIGHT, Theme
from mklviz.views.sidebar.controls import note, say

__all__ = ["EndedCard"]

T = TypeVar("T")


class EndedCard(pn.viewable.Viewer, Generic[T]):
    """A card that is hidden until a race has ended of which it has something to say.

    Whoever embeds it calls `begin` once the race has ended, and `look` now and then.

    Attributes
    ----------
    root : pn.Column
        All of it; made by the card itself.
    progress : note
        How far the thread is, or what went wrong in it.
    stop : button
        Gives up what is computed.
    """

    root: pn.Column

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self._race: Race | None = None
        self._work: Background[T] | None = None
        self.progress = note()
        self.stop = Button(self._cancel, label="Stop", variant="text", visible=False)

    def begin(self, race: Race) -> None:
        """Look at a race that has ended; once for each race."""
        if race is not self._race:
            self.clear()
            self._race = race
            self._offer(race)

    def look(self) -> None:
        """Take over how far the thread is."""
        work = self._work
        if work is None:
            return
        if not work.ended:
            say(self.progress, self._how_far(work.fraction))
            return
        self._work, self.stop.visible = None, False
        say(self.progress, work.trouble)
        self._take(work)

    def clear(self) -> None:
        """Forget the race."""
        self._cancel()
        self._race, self._work = None, None
        say(self.progress, "")
        self.root.visible = self.stop.visible = False
        self._forget()

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        theme = DARK if dark else LIGHT
        if theme is not self.theme:
            self.theme = theme
            self._draw()

    def _compute(self, work: Background[T]) -> None:
        """Follow what has begun in a thread."""
        self._work, self.stop.visible = work, True
        self.look()

    def _cancel(self, *_: Any) -> None:
        if self._work is not None:
            self._work.cancel()

    def _offer(self, race: Race) -> None:
        """Show what there is to say of a race, if anything."""
        raise NotImplementedError

    def _how_far(self, fraction: float) -> str:
        """Say how far the thread is."""
        raise NotImplementedError

    def _take(self, work: Background[T]) -> None:
        """Take over what a thread has found that has ended."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Forget what was found."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Draw what was found, in the colours of the page."""
        raise NotImplementedError

    def __panel__(self) -> pn.viewable.Viewable:
        return self.root
