"""One of several processes behind a port, started by `mklviz.server.dispatcher`, which hands it connections."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bokeh.util.token import generate_session_id
from tornado.ioloop import IOLoop

from mklviz.server.contained import run
from mklviz.server.logs import log_to_stderr
from mklviz.server.serving import answer, look_after, make_server
from mklviz.streams import open_closed_streams
from mklviz.views.host.process_of import name_of_this_process

__all__ = ["DispatcherSocket", "main", "name_sessions_by_process"]

_MAKE_SESSIONS = ("bokeh.server.core", "bokeh.server.views.session_handler")  # from Bokeh 3.10 on, and before


class DispatcherSocket:
    """Takes connections from the process in front, and ends this one when that has ended."""

    def __init__(self, line: socket.socket, server: Any) -> None:
        line.setblocking(False)
        self._line, self._server = line, server
        server.io_loop.add_handler(line, self._look, IOLoop.READ)

    def _look(self, line: socket.socket, events: int) -> None:
        while True:
            try:
                told, found, _, _ = socket.recv_fds(line, 1, 1)
            except BlockingIOError:
                return
            if not told:
                self._server.io_loop.remove_handler(line)
                os.kill(os.getpid(), signal.SIGTERM)
                return
            for descriptor in found:
                answer(self._server, socket.socket(fileno=descriptor))


def name_sessions_by_process() -> None:
    """Let a page that is asked for again say by its session which process has it."""
    for name in _MAKE_SESSIONS:
        found: Any = import_module(name) if find_spec(name) is not None else None
        if hasattr(found, "generate_session_id"):
            found.generate_session_id = lambda **given: name_of_this_process(lambda: generate_session_id(**given))
            return
    raise RuntimeError("This version of Bokeh names sessions elsewhere: serve by one process, with --num-procs 1.")


def main() -> None:
    """Serve as the process in front says on the standard input."""
    open_closed_streams()
    log_to_stderr()
    asked = json.load(sys.stdin)
    line = socket.socket(fileno=asked.pop("line"))
    name_sessions_by_process()
    server = make_server(**asked)
    DispatcherSocket(line, server)
    look_after(server)
    run(server)


if __name__ == "__main__":
    main()
