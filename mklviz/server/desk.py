"""One of several processes behind a port, started by `mklviz.server.front`, which hands it connections."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from typing import Any

from bokeh.server.views import session_handler
from bokeh.util.token import generate_session_id
from tornado.ioloop import IOLoop

from mklviz._streams import open_closed_streams
from mklviz.server.contained import run
from mklviz.server.logs import log_to_stderr
from mklviz.server.serving import answer, look_after, make_server
from mklviz.views.places import fitting

__all__ = ["Line", "main"]


class Line:
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


def main() -> None:
    """Serve as the process in front says on the standard input."""
    open_closed_streams()
    log_to_stderr()
    asked = json.load(sys.stdin)
    line = socket.socket(fileno=asked.pop("line"))
    # a page asked for again says by its session which process has it
    session_handler.generate_session_id = lambda **given: fitting(lambda: generate_session_id(**given))
    server = make_server(**asked)
    Line(line, server)
    look_after(server)
    run(server)


if __name__ == "__main__":
    main()
