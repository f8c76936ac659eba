"""The page of one visitor: which page an address asks for, what stands in its HTML, and the dashboard once wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas  # noqa: F401  # HoloViews would, in the thread of a task, while the ticks of a page meet half of it
import panel as pn
import panel_material_ui as pmui

from mklviz.engine.warmup import WARMUP
from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle
from mklviz.scenarios import scenarios
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import Follower
from mklviz.views.explorer.page import CURVE, EXPLORE, RUNS, SECTIONS, START, Frame, Navigation, build_page
from mklviz.views.explorer.shell import Shell
from mklviz.views.form.inputs import follow
from mklviz.views.host.page_session import follow_session, page_language
from mklviz.views.host.panel_setup import configure, models_on, served
from mklviz.views.host.ticks import in_parts, part_by_part
from mklviz.views.links import FOLLOW, GIVEN, RACE_KEY
from mklviz.views.links.link import PAGE, names_a_race, query_value
from mklviz.views.look.cards import PAGE_SX, WITHOUT_DRAWER
from mklviz.views.sidebar.controls import say
from mklviz.views.sidebar.problem_panel import offered_regularizers
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.start.front import front_html
from mklviz.views.tabs import tab_classes


def open_given(explorer: Explorer) -> None:
    """Open the file that this process was given, once; what is wrong with it stands on the page."""
    path = Path(os.environ.pop(GIVEN, ""))
    if not path.name:
        return
    content = path.read_bytes()
    try:
        traces = read_bundle(content, path.name)
    except MklvizError:  # a table, which says by itself what is wrong with it
        explorer.sidebar.data.file.param.update(filename=path.name, size=len(content), value=content)
        return
    store, keys, wrong = explorer.session.store, list[str](), ""
    try:
        keys = store.import_file(content, path.name) if store.enabled else []
    except MklvizError as error:  # such as a full disk: the race is shown all the same
        wrong = str(error)
    refusal = explorer.open_race(traces, keys[0] if keys else "") or wrong
    say(explorer.alert, refusal)


KEEP = "mklviz-keep"  # the cookie that says whether races of this browser are kept
OWN = "data"  # in the address: a table of one's own is to be opened


class FrontPage:
    """Turns between the sections; `explorer`, the dashboard, is None until it is asked for, and stays with its race."""

    def __init__(self, section: str) -> None:
        self.frame = Frame()
        self.explorer: Explorer | None = None
        self.navigation = Navigation(self.turn, section=section, margin=0, align="center")
        self.frame.header.dressed.append(self.navigation)
        self.frame.session.keeps = (pn.state.cookies or {}).get(KEEP) != "no"
        for name in ("keeps", "room"):
            follow(self.navigation, self.frame.session, name, name)
        self._main = pn.Column(sizing_mode="stretch_width", margin=0)
        self._folded: bool | None = None  # whether the drawer was open before it was folded away

    def page(self) -> pmui.Page:
        """Return the page to serve; to be called once in each session."""
        parts = [self.navigation, *self.frame.parts]
        html = front_html(self.navigation.section, page_language())
        self._page = build_page(parts, self.frame.header, [], self._main, self.set_dark, html)
        WARMUP.start()
        follow_session(self._start, self.close)
        in_parts(self._first())
        return self._page

    def _first(self) -> Iterator[None]:
        """Open what the address asks for, and serve the page."""
        yield from self._open(self.navigation.section, {OWN: query_value(OWN)}, bool(query_value(RACE_KEY)))
        yield from served(self._page)

    def turn(self, section: str, words: Mapping[str, str], then: Callable[[], None] = lambda: None) -> None:
        """Open a section; `words` say which lesson or claim, or that a table of one's own is to be opened."""
        part_by_part(self._turned(section, words, then))

    def _turned(self, section: str, words: Mapping[str, str], then: Callable[[], None]) -> Iterator[None]:
        try:
            yield from self._open(section, words)
            if self.explorer is not None:
                self.explorer.start()
        finally:
            then()

    def _open(self, section: str, words: Mapping[str, str], builds: bool = False) -> Iterator[None]:
        """Open a section, part by part where the dashboard is to be built for it."""
        if self.explorer is not None or not (builds or section in (EXPLORE, RUNS)):
            self._show(section, words)
            return
        shell = Shell(self.frame.session, seen=section == EXPLORE)
        shell.race_view()
        yield
        sidebar = Sidebar()
        yield
        self.explorer = Explorer(frame=self.frame, section=section, shell=shell, sidebar=sidebar)
        yield
        yield from models_on(self._page, self.explorer.main, self.explorer.controls)
        follow(self.navigation, self.explorer.sidebar.scenario.lesson, "open", "lesson")
        self.explorer.turn_to_tabs = lambda: self._show(EXPLORE, {})
        if self.explorer.open():
            self._page.sidebar = [self.explorer.controls]
        self.explorer.set_dark(self.frame.session.theme.dark)
        self._show(section, words)

    def _show(self, section: str, words: Mapping[str, str]) -> None:
        """Bring the dashboard, where there is one, to what is open."""
        self.navigation.section = section
        if self.explorer is None:
            self.frame.header.offer_run(False)
            return
        self._main.visible = section in (EXPLORE, RUNS)
        self._show_drawer(section == EXPLORE)
        self.explorer.show_section(section)
        if words.get("own") or words.get(OWN) == "own":
            self._page.sidebar_open = True  # also on a phone
            self.explorer.sidebar.data.file.wanted += 1
        if words.get("scenario") in scenarios():
            self.explorer.open_lesson(words["scenario"])
        if words.get("claim"):
            self.explorer.open_claim(words["claim"])
        self._main.objects = [self.explorer.main]  # what was asked for stands there when a browser draws it

    def _show_drawer(self, explores: bool) -> None:
        """Fold the controls away where there is no race to be set up, and bring them back as they were."""
        page = self._page
        if explores and self._folded is not None:
            page.param.update(sidebar_open=self._folded, sx=PAGE_SX)
            self._folded = None
        elif not explores and self._folded is None:
            self._folded = page.sidebar_open
            page.param.update(sidebar_open=False, sx={**PAGE_SX, **WITHOUT_DRAWER})

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.frame.session.set_dark(dark)
        if self.explorer is not None:
            self.explorer.set_dark(dark)

    def _start(self) -> None:
        if self.explorer is not None:
            self.explorer.start()
            open_given(self.explorer)

    def close(self) -> None:
        """The session is over."""
        if self.explorer is not None:
            self.explorer.close()


BEFORE = "mklviz-page"  # the cookie that says what was open last in this browser


def open_page() -> None:
    """Serve a page; to be called once in each session."""
    tab_classes()  # of a component that is defined later Panel sends the definition twice, and the page stays empty
    name = query_value(FOLLOW)
    Follower(name).page() if name else FrontPage(wanted_section()).page()


def get_ready() -> None:
    """Draw what stands in the HTML of the first page, and load what the others stand on, before the first visitor."""
    tab_classes()
    configure()  # of all classes that there are
    front_html(START)
    offered_regularizers()  # of which some load compiled code


def wanted_section() -> str:
    """Return what the address of the page asks for, else what this browser had open last, else the start."""
    before = str((pn.state.cookies or {}).get(BEFORE, ""))
    wanted = query_value(PAGE) or (EXPLORE if names_a_race() else before)
    return wanted if wanted in (*SECTIONS, CURVE) else START
