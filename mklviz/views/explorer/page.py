"""The page around the dashboard: header with links, drawer for the controls, and what stands around what is open.

The links lead to Start, Lessons, Claims, Explore and Runs. Start, Lessons, the first lesson and Claims stand in the
HTML of the page, so the browser turns to them by itself and tells the server. Explore and Runs are built by the server
when they are first asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
import param
from panel.custom import JSComponent

from mklviz.language import LANGUAGE
from mklviz.limits import ADDRESS
from mklviz.views.form import Button, Form, FormRow, Switch
from mklviz.views.host.beside import CONTROLS, ICON, WORDS_SCRIPT, beside
from mklviz.views.host.components import Markup, ScriptedComponent
from mklviz.views.host.environment import is_loaded
from mklviz.views.host.page_session import Reconnect, owner_of_page, page_language
from mklviz.views.host.panel_setup import never_busy, page_template, with_page_locked
from mklviz.views.host.solved_paths import DRAG_HANDLE
from mklviz.views.links.link import PAGE, PROJECTOR, query_flag, query_value
from mklviz.views.look import cards
from mklviz.views.look.cards import PAGE_SX, SIDEBAR_WIDTH, THEME
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.session.session import Session

HEADER_SCRIPT = WORDS_SCRIPT + CONTROLS + beside(__file__, "header.js")
_SHEET = beside(__file__, "header.css")

START, LESSONS, CURVE, CLAIMS, EXPLORE, RUNS = "start", "lessons", "curve", "claims", "explore", "runs"
SECTIONS = {START: "Start", LESSONS: "Lessons", CLAIMS: "Claims", EXPLORE: "Explore", RUNS: "Runs"}
"""What the links say, by the names that stand in addresses."""


def address_of(section: str) -> str:
    """Return the end of the address at which a section opens."""
    return f"?{PAGE}={section}"


class Navigation(ScriptedComponent):
    """The links; `section` is the one that is open.

    `turn` is called with the section asked for, with more words and with what is to be called once it is open. Of the
    words `scenario` is the name of a lesson, `claim` that of a paper's claim, and `own` is set where a table of one's
    own is to be opened.
    """

    section = param.Selector(default=START, objects=[*SECTIONS, CURVE])
    answered = param.Integer(default=0, doc="The last turn asked for that stands on the page")
    rows = param.List(default=[], doc="Name, title and address of each")
    lesson = param.Boolean(default=False, doc="Whether a lesson stands on Explore")
    keeps = param.Boolean(default=True, doc="Whether races of this browser are kept")
    shared = param.Boolean(default=False, doc="Whether others come in by the address that stands at ./class")
    room = param.String(default="", doc="The end of that address where this page is followed")

    _esm = f"{HEADER_SCRIPT}export const render = navigation"
    _stylesheets: ClassVar[list[str]] = [_SHEET]

    def __init__(self, turn: Callable[[str, Mapping[str, str], Callable[[], None]], None], **params: Any) -> None:
        language = page_language()
        kept = f"&{LANGUAGE}={language.code}" if query_value(LANGUAGE) else ""
        rows = [[name, language(title), address_of(name) + kept] for name, title in SECTIONS.items()]
        super().__init__(shared=bool(os.environ.get(ADDRESS)), rows=rows, **params)
        self._turn = turn

    def receive(self, message: Any) -> None:
        """Turn to the section asked for; what is no section is not answered."""
        section = message.get("section") if isinstance(message, dict) else None
        if isinstance(section, str) and section in self.param.section.objects:
            words = {name: str(message[name]) for name in ("scenario", "claim", "own") if message.get(name)}
            turn = message.get("turn")

            def answer() -> None:
                if isinstance(turn, int):  # behind all that it changes
                    with_page_locked(lambda: setattr(self, "answered", turn))

            self._turn(section, words, answer)


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
    """The button that opens the dialog, and the dialog; `rows` are keys and what they do."""

    rows = param.List(default=[])
    dark = param.Boolean(default=False)
    projected = param.Boolean(default=False)

    _esm = f"{HEADER_SCRIPT}export const render = keyHelp"
    _stylesheets: ClassVar[list[str]] = [_SHEET]

    def __init__(self, keys: Mapping[str, str], **params: Any) -> None:
        language = page_language()
        super().__init__(rows=[[language(key), language(does)] for key, does in keys.items()], **params)


_WHY = "Large type and lines, with objective and kernel weights alone, to be read from the last row"
_NO_SWITCH = "@media (max-width: 599px) { .switch { display: none; } }"  # on a phone
_NO_RUN = "@media (min-width: 600px) { .button { display: none; } }"  # it stands in the drawer


class Header:
    """The name of the app, a line for the status, the switch of a projector, Run where no drawer has it, and `keys`."""

    def __init__(self, session: Session, keys: Mapping[str, str]) -> None:
        self._session = session
        self._page: pmui.Page | None = None
        self.brand, self.status = _brand(), Markup(margin=0, align="center", sizing_mode="stretch_width")
        self._drawer = True  # whether it was open before
        language = page_language()
        self.projector = Switch(label=language("Projector"), description=language(_WHY))
        self.run = Button(lambda *_: session.press(" "), label="▶ Run", variant="contained")
        self._races = bool(keys)  # whether the page has a race of its own
        self._form = Form(FormRow(self.run, self.projector), sizing_mode=None, align="center", margin=(0, 12, 0, 16))
        self.keys = KeyHelp({**keys, **EVERYWHERE}, align="center", margin=0)
        self.parts, self.dressed = [self._form, self.keys], list[Any]([self.keys])
        self.projector.value = query_flag(PROJECTOR)
        self.projector.param.watch(self._turn, "value")
        session.param.watch(self.paint, "theme")
        session.project(self.projector.value)
        self.paint()

    def shown_on(self, page: pmui.Page) -> None:
        """Fold the drawer away when objective and weights are shown alone."""
        self._page = page
        if self.projector.value or not self._drawer:
            page.sidebar_open = False
        self.paint()

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

    def offer_run(self, offered: bool) -> None:
        """Say whether there is a race to run beside the header."""
        self._races = offered
        self.paint()

    def show_state(self, state: str) -> None:
        """Let the button say what it does to a race in that state."""
        self.run.label = {"running": "Pause", "paused": "Resume"}.get(state, "▶ Run")

    def paint(self, *_: Any) -> None:
        """Use the sizes of the theme, and show Run where no drawer does."""
        self.run.visible = self._races
        sheet = cards.variables(self._session.theme)
        self.brand.dress([sheet])
        self.status.dress([sheet, ":host { min-width: 0; }"])  # it leaves room for what stands behind it
        away = self._session.theme.projected or (self._page is not None and not self._page.sidebar_open)
        folded = [_NO_SWITCH] if away else [_NO_SWITCH, _NO_RUN]
        self._form.stylesheets, self.keys.projected = [sheet, *folded], self._session.theme.projected
        for part in self.dressed:
            part.stylesheets = [sheet]


# Bokeh lets nothing be higher than what is around it, which in a page that scrolls is the window: a column would end
# there, its cards drawn over each other
_AS_HIGH_AS_IT_IS = ":host { max-height: none !important; }"

_ALWAYS_IN_SIGHT = {
    "position": "sticky",
    "bottom": "0",
    "z-index": "5",
    "padding-bottom": "6px",
    "background": "var(--mk-card)",
    "border-top": "1px solid var(--mk-border)",
}
_COVER = (  # until the server has drawn the page in its colours
    f"<style>#mklviz-front {{ position: fixed; inset: 0; z-index: 9998; background: {LIGHT.page}; }}"
    f"@media (prefers-color-scheme: dark) {{ #mklviz-front {{ background: {DARK.page}; }} }}"
    '#mklviz-front[data-dark] { display: none; }</style><div id="mklviz-front"></div>'
)
TICK = 0.1  # seconds between looks at the race
TITLE = "mklviz"


def build_page(
    parts: Sequence[Any],
    header: Header,
    controls: Sequence[Any],
    main: Any,
    set_dark: Callable[[bool], None],
    html: str = "",
) -> pmui.Page:
    """Return the page of one session, which says whether it is dark, with its first `html`; no controls, no drawer."""
    language = page_language()
    page = pmui.Page(
        template=page_template(html or _COVER + language.script(HEADER_SCRIPT + DRAG_HANDLE), language.code),
        meta_title=TITLE,
        favicon=ICON,
        header=[header.brand, *parts, *header.parts],
        sidebar=list(controls),
        main=[pn.Column(main, stylesheets=[_AS_HIGH_AS_IT_IS], sizing_mode="stretch_width", margin=(4, 20, 24, 20))],
        theme_config=THEME,
        sx=PAGE_SX,
        sidebar_width=SIDEBAR_WIDTH,
        sidebar_resizable=False,
        busy_indicator=None,
    )
    never_busy(page)
    header.shown_on(page)
    page.param.watch(header.paint, "sidebar_open")

    def turn(dark: bool) -> None:
        set_dark(dark)
        header.keys.dark = dark  # last: the browser waits for it to show what is open

    page.param.watch(lambda event: turn(event.new), "dark_theme")
    turn(page.dark_theme)
    return page


def controls_column(sidebar: Any, run_panel: Any) -> pn.Column:
    """Return the column of all controls; those of the race stay in sight."""
    run = pn.Column(run_panel.form, sizing_mode="stretch_width", margin=0, styles=_ALWAYS_IN_SIGHT)
    return pn.Column(sidebar.form, run, sizing_mode="stretch_width", margin=(0, 14, 0, 14))


def cell_layout(controls: pn.Column, main: pn.Column) -> pmui.Row:
    """Return the dashboard for the output of a notebook cell."""
    if not is_loaded(pn.extension):
        pn.extension(inline=True)  # a notebook without a network would show nothing otherwise
    main.margin = (8, 8, 8, 16)
    return pmui.Row(
        pn.Column(controls, width=SIDEBAR_WIDTH, margin=0), main, theme_config=THEME, sizing_mode="stretch_width"
    )


def status_html(sentence: str) -> str:
    """Return a sentence that is spoken when it changes; a projector shows its first words, and which solvers failed."""
    first, *rest = (escape(part) for part in re.split(r"(?=[;:]|\. )", sentence))
    detail = "".join(
        part if "failed" in part else f'<span style="display: var(--mk-detail, inline)">{part}</span>' for part in rest
    )
    return (
        '<span role="status" aria-live="polite" style="font-family: var(--bokeh-base-font); line-height: 1.2;'
        " font-size: calc(13px * var(--mk-scale, 1)); overflow: hidden;"
        " display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;"
        f' color: var(--mui-palette-text-secondary)">{first}{detail}</span>'
    )


def _brand() -> Markup:
    """The name of the app, which is also the page's heading."""
    return Markup(
        f'<h1 style="margin: 0 16px 0 0; font: 700 calc(17px * var(--mk-scale, 1)) var(--bokeh-base-font);'
        f' white-space: nowrap; color: var(--mui-palette-text-primary)">{TITLE}</h1>',
        margin=0,
        align="center",
    )


class Frame:
    """One page's session, header, line of status and connection, before and after the dashboard is built."""

    def __init__(self) -> None:
        self.session = Session(owner=owner_of_page())
        self.reconnect = Reconnect()
        self.header = Header(self.session, RACE)

    @property
    def parts(self) -> list[Any]:
        """What stands in the header between the name and the switches."""
        return [self.header.status, self.reconnect]
