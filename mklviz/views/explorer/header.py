"""The parts of the header for everyone in the room: large type for a projector, and the list of keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import panel_material_ui as pmui
import param
from panel.custom import JSComponent

from mklviz.views.form import Button, Form, FormRow, Switch
from mklviz.views.host.beside import LET_GO, beside
from mklviz.views.host.components import Markup
from mklviz.views.links.link import PROJECTOR, query_flag
from mklviz.views.look import cards
from mklviz.views.session.session import Session

__all__ = ["EVERYWHERE", "RACE", "Header", "KeyHelp"]

RACE = {"Space": "run, pause or resume", "S": "one step of every solver", "X": "stop", "R": "reset: clear the curves"}
"""What the keys do on a page that has a race of its own."""
EVERYWHERE = {
    "← →": "in Timeline, Geometry and Model: one step back, one step on; on a tab: the next one, which Enter opens",
    "Home, End": "in Timeline, Geometry and Model: the first step, the last step",
    "Tab": "to the next control; Shift and Tab to the one before",
    "Esc": "close a menu, or this list",
    "?": "open this list",
}
"""What they do on every page."""


class KeyHelp(JSComponent):
    """The button that opens the dialog, and the dialog.

    `rows`: keys, and what they do.
    """

    rows = param.List(default=[])

    _esm = LET_GO + beside(__file__, "key_help.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "key_help.css")]

    def __init__(self, keys: Mapping[str, str], **params: Any) -> None:
        super().__init__(rows=[list(row) for row in keys.items()], **params)


_WHY = "Large type and lines, with objective and kernel weights alone, to be read from the last row"
_NO_SWITCH = "@media (max-width: 599px) { .switch { display: none; } }"  # on a phone
_NO_RUN = "@media (min-width: 600px) { .button { display: none; } }"  # it stands in the drawer, which is in sight


class Header:
    """The switch of a projector, Run where its drawer is folded away, on a projector or a phone, and the list of keys.

    `keys`: what keys do on this page that do nothing on others; `parts`: what stands in the header.
    """

    def __init__(self, session: Session, keys: Mapping[str, str]) -> None:
        self._session = session
        self._page: pmui.Page | None = None
        self._brand: Markup | None = None
        self._drawer = True  # whether it was open before
        self.projector = Switch(label="Projector", description=_WHY)
        self.run = Button(lambda *_: session.press(" "), label="▶ Run", variant="contained")
        self._races = bool(keys)  # whether the page has a race of its own
        self._form = Form(FormRow(self.run, self.projector), sizing_mode=None, align="center", margin=(0, 12, 0, 16))
        self.keys = KeyHelp({**keys, **EVERYWHERE}, align="center", margin=0)
        self.parts = [self._form, self.keys]
        self.projector.value = query_flag(PROJECTOR)
        self.projector.param.watch(self._turn, "value")
        session.param.watch(self._paint, "theme")
        session.project(self.projector.value)
        self._paint()

    def shown_on(self, page: pmui.Page) -> None:
        """Fold the drawer away when objective and weights are shown alone."""
        self._page = page
        if self.projector.value or not self._drawer:
            page.sidebar_open = False

    def fold(self, folded: bool) -> None:
        """Fold the drawer of the page away, or bring it back."""
        if self._page is not None and not self.projector.value:
            self._page.sidebar_open = not folded
        self._drawer = not folded

    def _turn(self, event: Any) -> None:
        page = self._page
        if page is not None and event.new:
            self._drawer, page.sidebar_open = page.sidebar_open, False
        elif page is not None:
            page.sidebar_open = self._drawer
        self._session.project(event.new)

    def dress(self, brand: Markup) -> None:
        """Let the name of the app be as large as everything else in the header."""
        self._brand = brand
        self._paint()

    def offer_run(self, offered: bool) -> None:
        """Say whether there is a race to run beside the header."""
        self._races = offered
        self._paint()

    def show_state(self, state: str) -> None:
        """Let the button say what it does to a race in that state."""
        self.run.label = {"running": "Pause", "paused": "Resume"}.get(state, "▶ Run")

    def _paint(self, *_: Any) -> None:
        self.run.visible = self._races
        sheet = cards.variables(self._session.theme)
        if self._brand is not None:
            self._brand.dress([sheet])
        folded = [_NO_SWITCH] if self._session.theme.projected else [_NO_SWITCH, _NO_RUN]
        self._form.stylesheets, self.keys.stylesheets = [sheet, *folded], [sheet]
