"""The row of tabs. It knows none by name: a tab is a file, built when it is first opened."""

from __future__ import annotations

import logging
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.views.host.frames import document_of
from mklviz.views.links.link import STEP, TAB, query_value, unusable
from mklviz.views.look import cards
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab, tab_classes
from mklviz.views.tabs._previews import preview_of

OPENING = "Drawing this tab …"
_ALONE = ".alone:has(~ :not(.scroll-button)) { display: none !important; }"  # Panel puts a button behind all
_log = logging.getLogger(__name__)


class Shell:
    """Tabs that follow one session: their titles in a strip, and below it a box for each."""

    def __init__(self, session: Session, seen: bool = True, classes: list[type[Tab]] | None = None) -> None:
        """`seen`: whether the page shows the tabs at once, or none before `show`; `classes`: all tabs by default."""
        self.session, self._seen = session, seen
        self.tabs: dict[type[Tab], Tab] = {}  # those that have been opened so far
        self._told: set[type[Tab]] = set()  # tabs of which the browser has heard before they were built
        self._broken: dict[type[Tab], str] = {}
        self._behind: set[type[Tab]] = set()  # at another step or in other colours, unseen, or without steps
        self.step: int | None = None  # of the address, that is still to be shown
        self._before: tuple[int, bool] | None = None  # the tab that was open, and whether the row was seen
        self._classes = classes or tab_classes()
        self.boxes: dict[type[Tab], pn.Column] = {}  # of the tabs that have been seen so far
        self._contents: dict[type[Tab], Tab | str] = {}  # of the boxes: a tab, or why there is none
        headings = [(kind.title, pn.Spacer(height=0)) for kind in self._classes]
        size = {"& .MuiTab-root": {"fontSize": "calc(14px * var(--mk-scale, 1))"}}
        self.strip = pmui.Tabs(*headings, sizing_mode="stretch_width", margin=0, sx=size)
        # boxes are hidden rather than taken off the page, where BokehJS would lay figures out before they are drawn
        self.root = pn.Column(self.strip, sizing_mode="stretch_width", margin=0)
        self.strip.param.watch(self._open, "active")
        session.param.watch(self._follow, ["race", "cursor", "theme", "pinned", "stale"])
        self._open()

    @property
    def titles(self) -> list[str]:
        """The tabs and their content."""
        return [kind.title for kind in self._classes]

    def turn_to(self, title: str) -> bool:
        """Open the tab of that title, in small letters or large; return whether there is one."""
        titles = [known.lower() for known in self.titles]
        if title.lower() not in titles:
            return False
        self.strip.active = titles.index(title.lower())
        return True

    def open_address(self) -> str:
        """Open the tab of the address, and its step soon; return a sentence on what does not exist."""
        wrong = [] if not query_value(TAB) or self.turn_to(query_value(TAB)) else [unusable(TAB)]
        if query_value(STEP).isdecimal() and len(query_value(STEP)) < 10:
            self.step = int(query_value(STEP))
        elif query_value(STEP):
            wrong.append(unusable(STEP))
        return " ".join(wrong)

    def go_to_step(self) -> None:
        """Show the step of the address once the race has reached it or has ended before."""
        session = self.session
        if self.step is None or session.race is None:
            return
        if session.last_step >= self.step or session.race.finished:
            session.cursor = min(self.step, max(session.last_step, 0))
            self.step = None

    def show_alone(self, title: str) -> None:
        """Show one tab without the row of tabs; "" brings back the row and the tab that was open."""
        if self._before is None and title:
            self._before = self.strip.active, self.strip.visible
            self.turn_to(title)
            self.strip.visible = False
        elif self._before is not None and not title:
            (self.strip.active, self.strip.visible), self._before = self._before, None

    def show(self, seen: bool) -> None:
        """Say whether the page shows the tabs, which otherwise need not draw what is new."""
        self._seen = seen
        self._open()

    def sees(self, view: RaceView) -> bool:
        """Return whether a view of the race is in the open tab of a page that shows the tabs."""
        return any(tab.shown for tab in self.tabs.values() if tab.race_view is view)

    def race_view(self) -> RaceView:
        """Return the view of the first tab that has one, which is built for it if need be."""
        for kind in self._classes:
            view = None if self._build(kind) else self.tabs[kind].race_view
            if view is not None:
                return view
        raise LookupError("None of the tabs has a view of the race.")

    def tick(self, now: float) -> None:
        """Update the tabs; an empty one may have something to show now."""
        self._open()
        for tab in self.tabs.values():
            tab.tick(now)

    def close(self) -> None:
        for tab in self.tabs.values():
            tab.close()

    def _follow(self, *events: Any) -> None:
        """Bring changes to the tabs; hidden ones get new colours and the step shown when they are opened."""
        seen_only = {event.name for event in events} <= {"theme", "cursor"}
        for kind, tab in self.tabs.items():
            if seen_only and not tab.shown:
                self._behind.add(kind)
            else:
                self._behind.discard(kind)
                tab.follow(self.session)
                if kind not in self._broken and kind.supports(self.session):
                    self._behind.add(kind)  # nothing to show yet of a race that begins
        self._open()

    def _open(self, *_: Any) -> None:
        """Put into the open box its tab, or why it has nothing to show."""
        kind = self._classes[self.strip.active]
        for each, box in self.boxes.items():
            if box.visible != (each is kind):  # to set what is set costs half of a tick
                box.visible = each is kind
        for each, tab in self.tabs.items():
            tab.shown = self._seen and each is kind
        if not self._seen:
            return
        if reason := self._build(kind):
            elsewhere = self.session.follows or self.session.lesson_open  # another page or the stage has the button
            reason = reason.replace("Press Run first:", "No race yet:") if elsewhere else reason
            sentence = f'<p class="why" style="padding: 24px 4px 4px">{escape(reason)}</p>'
            self._fill(kind, self._preview(kind) or sentence)
        else:
            self._fill(kind, self.tabs[kind])

    def _preview(self, kind: type[Tab]) -> str:
        """Return what a tab without a race shows of the recording of what is set up."""
        session = self.session
        if session.race is not None or not session.preview or kind in self._broken:
            return ""
        return preview_of(kind.preview, session.preview, session.theme)

    def _build(self, kind: type[Tab]) -> str:
        """Build a tab unless it exists; return why it shows nothing, such as an error, or ""."""
        if kind in self._broken:
            return self._broken[kind]
        try:
            reason = kind.supports(self.session)
            if not reason and kind not in self.tabs:
                if kind not in self._told and document_of(self.root) is not None:
                    self._told.add(kind)  # the next tick builds it, and the browser then draws it: both take a while
                    return OPENING
                tab = kind()
                tab.follow(self.session)
                self.tabs[kind] = tab
            elif not reason and kind in self._behind:
                self._behind.discard(kind)
                self.tabs[kind].follow(self.session)
        except Exception as error:  # whatever is in the file, the others are not to suffer
            _log.exception("The tab %s broke down", kind.title)
            reason = f"The tab {kind.title} broke down and stays empty ({type(error).__name__}: {error})."
            self._broken[kind] = reason
        return reason

    def _fill(self, kind: type[Tab], content: Tab | str) -> None:
        if kind not in self.boxes:
            self.boxes[kind] = pn.Column(sizing_mode="stretch_width", margin=0, stylesheets=[_ALONE])
            self.root.append(self.boxes[kind])
        if self._contents.get(kind) != content:
            self._contents[kind] = content
            if isinstance(content, str):
                self.boxes[kind].objects = [cards.html(content, css_classes=["alone"])]
            else:  # words that stand there stay until the browser has built it
                self.boxes[kind].objects = [*(self.boxes[kind].objects if kind in self._told else ()), content]
