"""The boxes of a page: white cards with a heading, grids of equal columns, and the theme, as CSS and for Material UI.

Text has a contrast of at least 4.5:1 with its ground in both themes, lines and boxes of at least 3:1 where they carry
meaning. No web fonts: the pages work without a network.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import panel as pn

from mklviz.views.host.components import Markup
from mklviz.views.look.palette import DARK, FONT, LIGHT, TEXT_CSS, RunStyle, Theme, run_name, tokens
from mklviz.views.look.palette import word_variables as word_variables
from mklviz.views.look.styles import title as title

GAP = 12  # pixels between cards
_CARD = """
:host { background: var(--mk-card); border: 1px solid var(--mk-border); border-radius: 10px; padding: 12px 14px 8px;
  box-sizing: border-box; min-width: 0; }
@media print { :host { break-inside: avoid; } }"""
_GRID = """
:host {{ display: grid; grid-template-columns: repeat({columns}); column-gap: {gap}px; align-content: start; }}
.bk-panel-models-layout-Column {{ height: auto; }}  /* as high as the highest card of the row */
:host(.bk-hidden) {{ display: none; }}
.scroll-button {{ display: none; }}"""


class Rooted(pn.viewable.Viewer):
    """Something on a page that is seen as its `root`."""

    root: Any

    def __panel__(self) -> Any:
        return self.root


def variables(theme: Theme) -> str:
    """Return the theme as a stylesheet for the outermost element; custom properties reach into every shadow root."""
    return f":host {{ {tokens(theme)} }}"


def figure(plot: Any = None) -> pn.pane.Bokeh:
    """Return a figure as wide as its card."""
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)


def cell(heading: Any, plot: Any, below: int = 0) -> pn.Column:
    """Return a figure under its heading, one of several beside each other."""
    return pn.Column(heading, figure(plot), margin=(0, 0, below, 0), min_width=0, sizing_mode="stretch_width")


def column(*objects: Any) -> pn.Column:
    """Return the cards of a tab below each other."""
    return pn.Column(*objects, margin=(8, 0, 0, 0), sizing_mode="stretch_width")


def html(text: str = "", **params: Any) -> pn.pane.HTML:
    """Return a pane for markup made here; whatever came from elsewhere has been escaped."""
    return Markup(text, stylesheets=[TEXT_CSS], margin=0, sizing_mode="stretch_width", **params)


def heading(text: str, why: str, *, term: str = "", beside: str = "") -> str:
    """Return a card's heading with the line that explains the card below."""
    return title(text, term=term, beside=beside) + lines(why)


def lines(*sentences: str) -> str:
    """Return each sentence as a line in small letters; nothing for empty ones."""
    return "".join(f'<p class="why">{escape(sentence)}</p>' for sentence in sentences if sentence)


def legend(styles: Iterable[RunStyle]) -> str:
    """Return the names of runs, each beside its line and marker."""
    entries = "".join(f"<span>{run_name(style)}</span>" for style in styles)
    return f'<span class="legend">{entries}</span>'


def card(*objects: Any, **params: Any) -> pn.Column:
    """Return a white box around `objects`."""
    return pn.Column(*objects, stylesheets=[_CARD], margin=(0, 0, GAP, 0), sizing_mode="stretch_width", **params)


def grid(*objects: Any, columns: str, **params: Any) -> pn.Column:
    """Return `objects` in equal columns; `columns` is the argument of CSS ``repeat``."""
    sheet = _GRID.format(columns=columns, gap=GAP)
    return pn.Column(*objects, stylesheets=[sheet], margin=0, sizing_mode="stretch_width", **params)


# -- the theme of the page's shell


_TYPOGRAPHY = {"fontFamily": FONT, "fontSize": 14, "button": {"textTransform": "none", "fontWeight": 600}}
_COMPONENTS = {
    # a tooltip describes its control; as a name it would hide the visible one, and stand where none may
    "MuiTooltip": {"defaultProps": {"describeChild": True}},
    "MuiButtonBase": {
        "styleOverrides": {"root": {"&.Mui-focusVisible": {"outline": "2px solid", "outlineOffset": "-2px"}}}
    },
    "MuiTab": {"styleOverrides": {"root": {"minHeight": 40, "padding": "6px 12px", "minWidth": 0, "fontWeight": 600}}},
    "MuiTabs": {"styleOverrides": {"root": {"minHeight": 40}}},
    "MuiAppBar": {"defaultProps": {"elevation": 0}},
    "MuiMenuItem": {"styleOverrides": {"root": {"minHeight": 32, "paddingTop": 2, "paddingBottom": 2}}},
    "MuiListItemText": {
        "styleOverrides": {"root": {"margin": "2px 14px !important"}, "primary": {"fontSize": "0.88rem"}}
    },
}


def _theme(colours: Theme) -> dict[str, Any]:
    return {
        "palette": {
            "primary": {"main": colours.accent, "contrastText": colours.card},
            "background": {"default": colours.page, "paper": colours.card},
            "text": {"primary": colours.text, "secondary": colours.muted},
            "divider": colours.border,
        },
        "typography": _TYPOGRAPHY,
        "shape": {"borderRadius": 8},
        "components": _COMPONENTS,
    }


THEME = {"light": _theme(LIGHT), "dark": _theme(DARK)}

SIDEBAR_WIDTH = 300

# The app bar has the colour of a card, not of the theme; empty headings and the busy bar of the shell are hidden.
PAGE_SX = {
    ".MuiAppBar-root": {
        "bgcolor": "primary.contrastText",
        "color": "primary.main",
        "backgroundImage": "none",
        "borderBottom": "1px solid var(--mui-palette-divider)",
    },
    ".MuiAppBar-root .MuiToolbar-root": {"minHeight": "52px"},
    ".MuiAppBar-root .MuiIconButton-root": {"color": "text.secondary"},
    ".MuiDrawer-paper, .main": {"& > .MuiToolbar-root, & > div > .MuiToolbar-root": {"minHeight": "52px"}},
    ".MuiToolbar-root > h5, .MuiAppBar-root > .MuiLinearProgress-root": {"display": "none"},
    ".MuiDrawer-paper": {"backgroundImage": "none", "borderRight": "1px solid var(--mui-palette-divider)"},
    ".main": {"bgcolor": "background.default"},
    "@media (max-width: 819px)": {  # the links of the page stand at the bottom of a phone, and of a page at 200 %
        "body:has(#mklviz-front[data-open]) & .main-content": {"marginBottom": "52px"},
        "body:has(#mklviz-front[data-open]) & .MuiDrawer-root .MuiDrawer-paper": {"height": "calc(100vh - 52px)"},
    },
    "@media print": {  # all that the page scrolls over, in its colours, without controls
        **dict.fromkeys(("display", "height", "width", "overflow"), "revert !important"),
        "printColorAdjust": "exact",
        "nav, .MuiAppBar-root, .main .MuiToolbar-root": {"display": "none !important"},
        ".main, .main *": {"overflow": "visible !important", "height": "auto !important"},
        ".main": {"width": "100% !important", "margin": "0 !important"},
    },
}

WITHOUT_DRAWER = {".MuiAppBar-root .MuiIconButton-edgeStart": {"display": "none"}}
"""Hides the button that opens the drawer."""
