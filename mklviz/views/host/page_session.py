"""The session of a page: whether a browser shows it, what begins and ends with it, and how it outlives a connection."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import panel as pn
import param

from mklviz.language import LANGUAGE, Language, preferred
from mklviz.record.store import EVERYBODY, Asker, Owner
from mklviz.views.host.beside import beside
from mklviz.views.host.components import Pulse
from mklviz.views.host.ticks import Ticks

PATIENCE = 60.0  # seconds until the server gives up a browser that has not connected


def wait_for_browser() -> None:
    """Keep the session that is built until its browser, which may have to wait, has connected, and not for ever."""
    document = pn.state.curdoc
    sessions = []

    def hold() -> None:
        session = document.session_context.session
        session.block_expiration()
        sessions.append(session)
        document.add_timeout_callback(release, int(1000 * PATIENCE))

    def release() -> None:
        while sessions:
            session = sessions.pop()
            session.unblock_expiration()
            if session.connection_count == 0:
                session.request_expiration()

    document.add_next_tick_callback(hold)  # there is no session before the page is built
    pn.state.onload(release)


GIVE_UP_AFTER = 360.0  # seconds without a connection; a laptop may sleep for some minutes, a page that is left says so
OWNER = "X-Mklviz-Runs"  # the header by which the gate says whose runs a page may see


def owner_of_page() -> Asker:
    """Return whose runs the page being built may see: those of its browser, where its server tells browsers apart."""
    name = (pn.state.headers or {}).get(OWNER) if is_served() else None
    return EVERYBODY if name is None else Owner(str(name))


def page_language() -> Language:
    """Return the language of the page being built: the one its address asks for, else its browser, else English."""
    asked = (pn.state.session_args or {}).get(LANGUAGE, [b""])[-1].decode("utf-8", "replace")
    return preferred(asked, str((pn.state.headers or {}).get("Accept-Language", "")))


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


BEAT = 5.0  # seconds
GONE_AFTER = 2  # signs of life without an answer after which a page counts as left, even if its connection looks open


class Reconnect(Pulse):
    """Invisible part of a page, by which it outlives its connection.

    The server counts up `beat` and the browser answers with `heard`. A page that hears nothing says so and tries to
    come back to its session. If the session is over, it starts again from its address; see ``reconnect.js``.
    """

    page_id = param.String(default="", doc="Tells this page from one that is built anew for the same session")
    session = param.String(default="", doc="The id of the page's session, without its signature")
    query = param.String(default="", doc='The end of the page\'s address; "" leaves it as it is')
    beat = param.Integer(default=0, doc="How many signs of life were sent")
    heard = param.Integer(default=0, doc="The last of them that was answered")

    _busy__ignore: ClassVar[list[str]] = ["heard"]
    _told, _heard = "beat", "heard"

    _esm = beside(__file__, "reconnect.js")

    def __init__(self) -> None:
        document = pn.state.curdoc
        self._context = document.session_context if document is not None else None
        session = self._context.id.split(".")[0] if self._context else ""
        super().__init__(page_id=secrets.token_hex(8), session=session, width=0, height=0, margin=0)
        if self._context is not None:
            ticks = Ticks(BEAT, self._send_beat)
            pn.state.onload(ticks.start)
            pn.state.on_session_destroyed(lambda _context: ticks.stop())

    async def _send_beat(self) -> None:
        self.beat += 1

    @property
    def present(self) -> bool:
        """Whether a browser shows the page."""
        session = self._context.session if self._context else None
        connected = session is not None and session.connection_count > 0
        return connected and self.beat - self.heard <= GONE_AFTER
