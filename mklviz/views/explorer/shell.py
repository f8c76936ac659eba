"""The row of tabs. It knows none by name: a tab is a file, built when it is first opened."""

from __future__ import annotations

import logging
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.views.look import cards
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab, tab_classes

__all__ = ["Shell"]

_log = logging.getLogger(__name__)


class Shell:
    """Tabs that follow one session.

    Attributes
    ----------
    root : pn.Column
        All of it.
    strip : pmui.Tabs
        The titles.
    tabs : dict of type to Tab
        Those that have been opened so far.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tabs: dict[type[Tab], Tab] = {}
        self._broken: dict[type[Tab], str] = {}
        self._behind: set[type[Tab]] = set()  # in other colours, as nobody sees them, or without steps to show
        self._classes = tab_classes()
        self._places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in self._classes]
        self._reasons = [cards.html() for _ in self._classes]
        self._filled: list[Any] = [None for _ in self._classes]
        headings = [(found.title, pn.Spacer(height=0)) for found in self._classes]
        self.strip = pmui.Tabs(*headings, sizing_mode="stretch_width", margin=0)
        # places are hidden rather than taken off the page, where BokehJS would lay figures out before they are drawn
        self.root = pn.Column(self.strip, *self._places, sizing_mode="stretch_width", margin=0)
        self.strip.param.watch(self._open, "active")
        session.param.watch(self._follow, ["race", "cursor", "theme", "pinned"])
        self._open()

    @property
    def titles(self) -> list[str]:
        """What stands on the tabs."""
        return [found.title for found in self._classes]

    def turn_to(self, title: str) -> bool:
        """Open the tab of that title, in small letters or large; return whether there is one."""
        places = [place for place, known in enumerate(self.titles) if known.lower() == title.lower()]
        if places:
            self.strip.active = places[0]
        return bool(places)

    def tick(self, now: float) -> None:
        """Let the tabs take over what has happened; what had nothing to show may have something now."""
        self._open()
        for tab in self.tabs.values():
            tab.tick(now)

    def close(self) -> None:
        """The session is over."""
        for tab in self.tabs.values():
            tab.close()

    def _follow(self, *events: Any) -> None:
        """Let the tabs take over what has changed; those that are not seen get other colours when they are opened."""
        paints = all(event.name == "theme" for event in events)
        for kind, tab in self.tabs.items():
            if paints and not tab.shown:
                self._behind.add(kind)
            else:
                self._behind.discard(kind)
                tab.follow(self.session)
                if kind not in self._broken and kind.supports(
                    self.session
                ):  # nothing to show yet of a race that begins
                    self._behind.add(kind)
        self._open()

    def _open(self, *_: Any) -> None:
        """Put into the open place its tab, or why it has nothing to show."""
        for index, place in enumerate(self._places):
            place.visible = index == self.strip.active
        for kind, tab in self.tabs.items():
            tab.shown = kind is self._classes[self.strip.active]
        reason = self._build(self._classes[self.strip.active])
        if reason:
            said = self._reasons[self.strip.active]
            said.object = f'<p class="why" style="padding: 24px 4px">{escape(reason)}</p>'
            self._fill(said)
        else:
            self._fill(self.tabs[self._classes[self.strip.active]])

    def _build(self, found: type[Tab]) -> str:
        """Build a tab unless it is there; return why there is nothing to show, also where it broke down, or ""."""
        if found in self._broken:
            return self._broken[found]
        try:
            reason = found.supports(self.session)
            if not reason and found not in self.tabs:
                tab = found()
                tab.follow(self.session)
                self.tabs[found] = tab
            elif not reason and found in self._behind:
                self._behind.discard(found)
                self.tabs[found].follow(self.session)
        except Exception as error:  # whatever is in the file, the others are not to suffer
            _log.exception("The tab %s broke down", found.title)
            reason = f"The tab {found.title} broke down and stays empty ({type(error).__name__}: {error})."
            self._broken[found] = reason
        return reason

    def _fill(self, content: Any) -> None:
        active = self.strip.active
        sheet = cards.variables(self.session.theme)
        if self._places[active].stylesheets != [sheet]:
            self._places[active].stylesheets = [sheet]
        if self._filled[active] is not content:
            self._filled[active] = content
            self._places[active].objects = [content]
