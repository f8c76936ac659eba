"""How the pages look: one palette for light, one for dark, and every setting of Panel in one place.

Text has a contrast of at least 4.5:1 with its ground in both themes, lines and boxes of at least 3:1 where they carry
meaning. No web fonts: the pages work without a network.
"""

from __future__ import annotations

import logging
from typing import Any

import panel as pn
from bokeh.models import CustomJS
from panel.io.notifications import NotificationAreaBase

from mklviz.views.host.beside import beside
from mklviz.views.host.component_files import import_nothing_for_component_files
from mklviz.views.host.event_loop import answer_on_event_loop
from mklviz.views.look.palette import DARK, FONT, LIGHT, Theme

__all__ = ["PAGE_SX", "PAGE_TEMPLATE", "SIDEBAR_WIDTH", "THEME", "configure"]

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

PAGE_TEMPLATE = f"""{{% extends "base.html" %}}{{% block preamble %}}{{{{ super() }}}}
<script>{{% raw %}}{beside(__file__, "unloaded.js")}{{% endraw %}}</script>{{% endblock %}}"""

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
}

# the lifeline of the page does the rest, which is why Bokeh does not reconnect by itself
_LOST = 'window.dispatchEvent(new CustomEvent("mklviz-lost", { detail: cb_data }))'

_log = logging.getLogger(__name__)
_HARMLESS = ("Failed sending message as connection was closed", "WebSocketClosedError", "Stream is closed")


class _WithoutClosedSockets(logging.Filter):
    """Drops what Bokeh and asyncio log when a tab is closed while a curve is on its way to it."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text += record.exc_info[0].__name__
        return not any(harmless in text for harmless in _HARMLESS)


_FILTER = _WithoutClosedSockets()


def configure() -> None:
    """Load Panel's parts and set its options; to be called once per session, before anything is built."""
    import_nothing_for_component_files()
    answer_on_event_loop()
    pn.extension(notifications=True, reconnect=False, exception_handler=_report)
    if pn.state.curdoc is not None and pn.state.curdoc.session_context:
        pn.state.curdoc.js_on_event("connection_lost", CustomJS(code=_LOST))
        for script in (beside(__file__, "layout_later.js"), beside(__file__, "phone.js"), beside(__file__, "dark.js")):
            pn.state.curdoc.js_on_event("document_ready", CustomJS(code=script))
        pn.state.on_session_destroyed(_release_notifications)
    for name in ("bokeh.server.views.ws", "bokeh.server.protocol_handler", "asyncio", "tornado.application"):
        logging.getLogger(name).addFilter(_FILTER)  # adding it again does nothing


def _report(error: Exception) -> None:
    """Log an error nobody expected, and tell the user that there was one."""
    _log.error("An unexpected error", exc_info=error)
    if pn.state.notifications is not None:
        pn.state.notifications.error(f"Something went wrong ({type(error).__name__}); the server's log says more.")


def _release_notifications(context: Any) -> None:
    """Panel 1.9 keeps the notification area of a session that is over among its views, and with it all of the page."""
    for ref, (view, _root, document, _comm) in list(pn.state._views.items()):
        if document is context._document and isinstance(view, NotificationAreaBase):
            del pn.state._views[ref]
