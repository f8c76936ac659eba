"""The row of links that leads a page: Start, Lessons, Claims, Explore and Runs.

Start, Lessons, the first lesson and Claims stand in the HTML of the page, so the browser turns to them by itself and
tells the server. Explore and Runs are built by the server when they are first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import param

from mklviz.limits import ADDRESS
from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.panel_setup import with_page_locked
from mklviz.views.links.link import PAGE

__all__ = ["CLAIMS", "CURVE", "EXPLORE", "LESSONS", "RUNS", "SECTIONS", "START", "Navigation", "address_of"]

START, LESSONS, CURVE, CLAIMS, EXPLORE, RUNS = "start", "lessons", "curve", "claims", "explore", "runs"
SECTIONS = {START: "Start", LESSONS: "Lessons", CLAIMS: "Claims", EXPLORE: "Explore", RUNS: "Runs"}
"""What the links say, by the names that stand in addresses."""


def address_of(section: str) -> str:
    """Return the end of the address at which a section opens."""
    return f"?{PAGE}={section}"


class Navigation(ScriptedComponent):
    """The links; `section` is the one that is open.

    `turn` is called with the section asked for and with more words: `scenario` is the name of a lesson,
    `claim` that of a paper's claim, `own` is set where a table of one's own is to be opened.
    """

    section = param.Selector(default=START, objects=[*SECTIONS, CURVE])
    answered = param.Integer(default=0, doc="The last turn asked for that stands on the page")
    rows = param.List(default=[[name, title, address_of(name)] for name, title in SECTIONS.items()])
    dark = param.Boolean(default=False)
    projected = param.Boolean(default=False)
    keeps = param.Boolean(default=True, doc="Whether races of this browser are kept")
    shared = param.Boolean(default=False, doc="Whether others come in by the address that stands at ./class")

    _esm = beside(__file__, "navigation.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "header.css")]

    def __init__(self, turn: Callable[[str, Mapping[str, str]], None], **params: Any) -> None:
        super().__init__(shared=bool(os.environ.get(ADDRESS)), **params)
        self._turn = turn

    def receive(self, message: Any) -> None:
        """Turn to the section asked for; what is no section is not answered."""
        section = message.get("section") if isinstance(message, dict) else None
        if isinstance(section, str) and section in self.param.section.objects:
            words = {name: str(message[name]) for name in ("scenario", "claim", "own") if message.get(name)}
            try:
                self._turn(section, words)
            finally:
                turn = message.get("turn")
                if isinstance(turn, int):  # behind all that it changes
                    with_page_locked(lambda: setattr(self, "answered", turn))
