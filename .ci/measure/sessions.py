"""Do visits leave anything behind? Opens and closes many sessions of the dashboard and weighs the process.

    python -m mklviz.bench.sessions [--visits 1000]

Every visit is a websocket of its own to a server in this process, without a browser: the page is built, its clocks
start, every tenth visitor runs a race, and the connection is closed as when a tab is closed. Reported are the resident
memory along the way, and how many explorers, views and documents are still alive at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.client.session import ClientSession
from bokeh.events import DocumentReady
from bokeh.util.token import generate_session_id
from panel.io.server import get_server
from tornado.ioloop import IOLoop

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.host.panel_setup import configure

__all__ = ["Served", "Visit", "main", "resident", "survivors"]

AT_ONCE = 4
SMALL = Recipe(data=DataChoice("two_moons"), solvers=(SolverChoice("level"),), stop=StopChoice(gap=1e-9, max_iter=20))


class Served:
    """The dashboard on a server in this process.

    Parameters
    ----------
    build : callable
        Returns the explorer of one session.
    lifetime, check : int
        Milliseconds that a session without a connection is kept, and between looks for such sessions.
    others : mapping, optional
        Pages at other addresses: what returns each, by the name it has in the address.

    Attributes
    ----------
    port : int
    explorers, documents : weakref.WeakSet
        Those of all sessions so far, as far as they are alive.
    """

    def __init__(
        self,
        build: Callable[[], Explorer] = Explorer,
        lifetime: int = 8000,
        check: int = 2000,
        others: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        self.explorers: weakref.WeakSet[Explorer] = weakref.WeakSet()
        self.documents: weakref.WeakSet[Any] = weakref.WeakSet()
        self._by_session: weakref.WeakValueDictionary[str, Explorer] = weakref.WeakValueDictionary()
        self._build = build
        self._pages = {"explorer": self._page, **(others or {})}
        self._settings = {"unused_session_lifetime_milliseconds": lifetime, "check_unused_sessions_milliseconds": check}
        self.visitors = IOLoop()  # one for all: Bokeh would leave one a visit behind
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="served", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _serve(self) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        self.loop = IOLoop.current()
        self._server = get_server(self._pages, port=0, loop=self.loop, start=False, **self._settings)
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
        return explorer.page()

    def settle(self) -> None:
        """Receive the first visitor, who is not counted: a clock of Panel's keeps the first session of a process."""
        Visit(self).close()
        deadline = time.monotonic() + 60.0
        while self.sessions and time.monotonic() < deadline:
            time.sleep(0.1)
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

    Parameters
    ----------
    served : Served
    session : str, optional
        The session to come back to; a new one by default.
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


def resident() -> float:
    """Return the resident memory of this process in megabytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def survivors(served: Served, patience: float = 60.0) -> dict[str, int]:
    """Wait until all sessions are over, and count what is left of them."""
    deadline = time.monotonic() + patience
    while True:
        gc.collect()
        left = {"sessions": served.sessions, "explorers": len(served.explorers), "documents": len(served.documents)}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        time.sleep(0.2)


def small_explorer() -> Explorer:
    """Return an explorer with a small race set up."""
    explorer = Explorer()
    explorer.sidebar.load(SMALL)
    return explorer


def main() -> None:
    """Open and close the sessions, and print memory and time along the way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=1000)
    visits = parser.parse_args().visits
    served = Served(small_explorer, lifetime=3000, check=500)  # longer than it takes to build a page
    served.settle()
    print(f"{'visits':>7} {'resident MB':>12} {'s per visit':>12} {'sessions':>9}")
    begun, first = time.perf_counter(), 0.0
    for count in range(0, visits, AT_ONCE):
        guests = [Visit(served) for _ in range(min(AT_ONCE, visits - count))]
        if count % 40 == 0:
            guests[0].do("run")
            time.sleep(1.0)
        for guest in guests:
            guest.close()
        del guests
        done = count + AT_ONCE
        if done % max(visits // 10 // AT_ONCE * AT_ONCE, AT_ONCE) == 0:
            gc.collect()
            first = first or resident()
            pace = (time.perf_counter() - begun) / done
            print(f"{done:7d} {resident():12.1f} {pace:12.2f} {served.sessions:9d}", flush=True)
    left = survivors(served)
    print(f"left: {', '.join(f'{count} {what}' for what, count in left.items())}")
    print(f"grown by {resident() - first:.1f} MB since the first tenth, {resident():.1f} MB in all")
    served.close()
    sys.exit(1 if any(left.values()) else 0)


if __name__ == "__main__":
    main()
