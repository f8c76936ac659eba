"""Every setting of Panel, and what its pages need besides from the browser."""

from __future__ import annotations

import logging
from traceback import extract_tb
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJS
from panel.io.notifications import NotificationAreaBase
from panel.util import edit_readonly

from mklviz.views.host.beside import beside
from mklviz.views.host.page_session import is_served
from mklviz.views.host.workarounds import (
    answer_on_event_loop,
    answer_with_lock,
    import_nothing_for_component_files,
    remember_looks,
)


def _block(name: str, html: str) -> str:
    return f"{{% block {name} %}}{{% raw %}}{html}{{% endraw %}}{{{{ super() }}}}{{% endblock %}}"


def _script(block: str, *files: str) -> str:
    return _block(block, "".join(f"<script>{beside(__file__, file)}</script>" for file in files))


# the scripts stand before those of Bokeh and Panel, and after
PAGE_TEMPLATE = (
    '{% extends "base.html" %}'
    + _script("preamble", "unloaded.js", "press.js")
    + _script("postamble", "built_first.js")
)


def page_template(html: str) -> str:
    """Return the template of a page with some HTML of its own, which is seen before the scripts are loaded."""
    return PAGE_TEMPLATE + _block("contents", html)


def never_busy(page: pmui.Page) -> None:
    """Keep a page from walking twice through its document at each tick of a clock to say that the process is busy.

    Panel's state, which lives as long as the process, would also keep the pages of all sessions that are over.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", [])):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


# reconnect.js does the rest, which is why Bokeh does not reconnect by itself
_LOST = 'window.dispatchEvent(new CustomEvent("mklviz-lost"))'
_READY = beside(__file__, "page_ready.js")

_log = logging.getLogger(__name__)
_LOGGERS = ("bokeh.server.views.ws", "bokeh.server.protocol_handler", "asyncio", "tornado.application")
_HARMLESS = ("Failed sending message as connection was closed", "WebSocketClosedError", "Stream is closed")


def configure() -> None:
    """Load Panel's parts and set its options; to be called once per session, before anything is built."""
    import_nothing_for_component_files()
    answer_on_event_loop()
    answer_with_lock()
    remember_looks()
    pn.extension(notifications=True, reconnect=False, exception_handler=_report)
    if is_served():
        pn.state.curdoc.js_on_event("connection_lost", CustomJS(code=_LOST))
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=_READY))
        pn.state.on_session_destroyed(_release_notifications)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_of_no_closed_tab)  # adding it again does nothing


def _is_of_no_closed_tab(record: logging.LogRecord) -> bool:
    """Return False for what is logged when a tab is closed while a curve, or its last message, is on its way."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, AssertionError) and extract_tb(error.__traceback__)[-1].name == "session":
        return False  # Bokeh's connection has let go of its session
    text = record.getMessage() + (type(error).__name__ if error is not None else "")
    return not any(harmless in text for harmless in _HARMLESS)


def _report(error: Exception) -> None:
    """Log an unexpected error, and tell the user that there was one, unless the page tells of as many as it shows."""
    _log.error("An unexpected error", exc_info=error)
    area = pn.state.notifications
    if area is not None and len(area.notifications) < area.max_notifications:  # each one sends all of them anew
        area.error(f"Something went wrong ({type(error).__name__}); the server's log says more.")


def _release_notifications(context: Any) -> None:
    """Release the notification area of a session that is over: Panel 1.9 keeps it, and with it the whole page."""
    for ref, (view, _root, document, _comm) in list(pn.state._views.items()):
        if document is context._document and isinstance(view, NotificationAreaBase):
            del pn.state._views[ref]
