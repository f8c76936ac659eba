"""A page that has been built waits for its browser.

When many visitors come at once, pages are built one after the other, and browsers connect when all are built. That may
take longer than a server keeps sessions without a connection. A page that expired meanwhile would be built again,
behind the others.
"""

from __future__ import annotations

import panel as pn

__all__ = ["PATIENCE", "wait_for_browser"]

PATIENCE = 60.0  # seconds until the server gives up a browser that has not connected


def wait_for_browser() -> None:
    """Keep the session that is being built until its browser has connected, and not for ever."""
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
