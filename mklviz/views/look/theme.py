"""How the pages look: one palette for light, one for dark.

Text has a contrast of at least 4.5:1 with its ground in both themes, lines and boxes of at least 3:1 where they carry
meaning. No web fonts: the pages work without a network.
"""

from __future__ import annotations

from typing import Any

from mklviz.views.look.palette import DARK, FONT, LIGHT, Theme

__all__ = ["PAGE_SX", "SIDEBAR_WIDTH", "THEME", "WITHOUT_DRAWER"]

_TYPOGRAPHY = {
    "fontFamily": FONT,
    "fontSize": 14,
    "h1": {"fontSize": "1.05rem", "fontWeight": 700, "lineHeight": 1.2, "letterSpacing": 0},
    "h2": {"fontSize": "0.72rem", "fontWeight": 700, "lineHeight": 1.4, "letterSpacing": "0.06em"},
    "button": {"textTransform": "none", "fontWeight": 600},
}
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
    "MuiListSubheader": {"styleOverrides": {"root": {"lineHeight": "30px"}}},
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
    "@media (max-width: 599px)": {  # the links of the page stand at the bottom of a phone
        ".main-content": {"marginBottom": "52px"}
    },
}

WITHOUT_DRAWER = {".MuiAppBar-root .MuiIconButton-edgeStart": {"display": "none"}}
"""Hides the button that opens the drawer."""
