"""The session of a page: whether there is one, whether a browser shows it, and what begins and ends with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import panel as pn

from mklviz.record.store import EVERYBODY, Asker, Owner
from mklviz.views.host.session_expiry import wait_for_browser

__all__ = ["GIVE_UP_AFTER", "OWNER", "follow_session", "is_connected", "is_on_page", "is_served", "owner_of_page"]

GIVE_UP_AFTER = 360.0  # seconds without a connection; a laptop may sleep for some minutes, a page that is left says so
OWNER = "X-Mklviz-Runs"  # the header by which the gate says whose runs a page may see


def owner_of_page() -> Asker:
    """Return whose runs the page being built may see: those of its browser, where its server tells browsers apart."""
    name = (pn.state.headers or {}).get(OWNER) if is_served() else None
    return EVERYBODY if name is None else Owner(str(name))


def is_served() -> bool:
    """Return whether a server is building or changing a page here, rather than a notebook or a script."""
    return pn.state.curdoc is not None and pn.state.curdoc.session_context is not None


def is_on_page(figures: Iterable[Any]) -> bool:
    """Return whether any of these figures of Bokeh is on a page of a server."""
    return any(figure.document is not None and figure.document.session_context is not None for figure in figures)


def is_connected() -> bool:
    """Return whether a browser shows the page; true where no server knows, as in a notebook."""
    # asked of the page and not of its figures, which are in no document while another tab is open
    session = pn.state.curdoc.session_context.session if is_served() else None
    return session is None or session.connection_count > 0


def follow_session(loaded: Callable[[], object], ended: Callable[[], object]) -> None:
    """Call `loaded` when a browser has loaded the page that is being built, and `ended` when its session is over."""
    pn.state.onload(loaded)
    if is_served():
        wait_for_browser()
        pn.state.on_session_destroyed(lambda _context: ended())
