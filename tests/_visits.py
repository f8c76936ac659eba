"""The dashboard on a server in this process, and visits to it without a browser."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn
from _served import page_of
from _waits import wait_for
from bokeh.client.session import ClientSession
from bokeh.events import DocumentReady
from bokeh.util.token import generate_session_id
from panel.io.server import get_server
from tornado.ioloop import IOLoop

from mklviz.views.explorer.explorer import Explorer
from mklviz.views.host.panel_setup import configure


class Served:
    """The dashboard on a server in this process.

    `build`: returns the explorer of one session; `lifetime`, `check`: milliseconds that a session without a connection
    is kept, and between looks for such sessions; `explorers`, `documents`: those of all sessions that are alive.
    """

    def __init__(self, build: Callable[[], Explorer], lifetime: int = 8000, check: int = 2000) -> None:
        self.explorers: weakref.WeakSet[Explorer] = weakref.WeakSet()
        self.documents: weakref.WeakSet[Any] = weakref.WeakSet()
        self._by_session: weakref.WeakValueDictionary[str, Explorer] = weakref.WeakValueDictionary()
        self._build = build
        self._settings = {"unused_session_lifetime_milliseconds": lifetime, "check_unused_sessions_milliseconds": check}
        self.visitors = IOLoop()  # one for all: Bokeh would leave one a visit behind
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="served", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _serve(self) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        self.loop = IOLoop.current()
        self._server = get_server({"explorer": self._page}, port=0, loop=self.loop, start=False, **self._settings)
        self._server.start()
        self.port: int = self._server.port
        self._ready.set()
        self.loop.start()

    def _page(self) -> Any:
        configure()
        explorer, document = self._build(), pn.state.curdoc
        self.explorers.add(explorer)
        self.documents.add(document)
        self._by_session[document.session_context.id] = explorer
        return page_of(explorer)

    def settle(self) -> None:
        """Receive the first visitor, who is not counted: a clock of Panel's keeps the first session of a process."""
        Visit(self).close()
        wait_for(lambda: not self.sessions)
        self.explorers.clear()
        self.documents.clear()

    def explorer(self, session: str) -> Explorer:
        """Return the explorer of a session that is alive."""
        return self._by_session[session]

    @property
    def sessions(self) -> int:
        """Number of sessions the server keeps."""
        return len(self._server.get_sessions())

    def close(self) -> None:
        """End the server, and the races of those who are still there."""
        for explorer in list(self.explorers):
            if explorer.race_view.race is not None:
                explorer.race_view.race.cancel()

        def stop() -> None:
            self._server.stop()
            self.loop.stop()

        self.loop.add_callback(stop)
        self._thread.join()


class Visit:
    """One websocket to the dashboard, with everything a page does on arrival but the drawing.

    `session`: the session to come back to; a new one by default.
    """

    def __init__(self, served: Served, session: str | None = None) -> None:
        self._served = served
        self.session = session or generate_session_id()
        address = f"ws://127.0.0.1:{served.port}/explorer/ws"
        self._client = ClientSession(self.session, address, io_loop=served.visitors)
        self._client.connect()
        self._client.force_roundtrip()
        if session is None:
            document = self._document()
            self._do(document, lambda: document.callbacks.trigger_event(DocumentReady()))

    def _document(self) -> Any:
        sessions = self._served._server.get_sessions()
        return next(session.document for session in sessions if session.id == self.session)

    @staticmethod
    def _do(document: Any, action: Callable[[], Any]) -> None:
        done = threading.Event()

        def act() -> None:
            try:
                action()
            finally:
                done.set()

        document.add_next_tick_callback(act)
        done.wait()

    @property
    def explorer(self) -> Explorer:
        """The explorer this visitor sees."""
        return self._served.explorer(self.session)

    def do(self, command: str) -> None:
        """Let the explorer do a command, such as "run", as if its button had been pressed."""
        self._do(self._document(), getattr(self.explorer, command))

    def close(self) -> None:
        """Close the connection, as a closed tab does."""
        self._client.close()


def is_forgotten(served: Served) -> bool:
    """Return whether nothing is left of all sessions."""
    if served.sessions:
        return False
    gc.collect()
    return not (served.explorers or served.documents)
