"""One of several processes that serve a port: `mklviz.server.dispatcher` starts it and hands it connections."""

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
    """Takes connections from the dispatcher, and ends this process when the dispatcher has ended."""

    def __init__(self, dispatcher: socket.socket, server: Any) -> None:
        dispatcher.setblocking(False)
        self._server = server
        server.io_loop.add_handler(dispatcher, self._receive, IOLoop.READ)

    def _receive(self, dispatcher: socket.socket, events: int) -> None:
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(dispatcher, 1, 1)
            except BlockingIOError:
                return
            if not message:
                self._server.io_loop.remove_handler(dispatcher)
                os.kill(os.getpid(), signal.SIGTERM)
                return
            for descriptor in descriptors:
                answer(self._server, socket.socket(fileno=descriptor))


def name_sessions_by_process() -> None:
    """Give sessions names that say which process has their pages."""
    for name in _MAKE_SESSIONS:
        module: Any = import_module(name) if find_spec(name) is not None else None
        if hasattr(module, "generate_session_id"):
            module.generate_session_id = lambda **options: name_of_this_process(lambda: generate_session_id(**options))
            return
    raise RuntimeError("This version of Bokeh names sessions elsewhere: serve by one process, with --num-procs 1.")


def main() -> None:
    """Serve with the settings that the dispatcher writes to the standard input."""
    open_closed_streams()
    log_to_stderr()
    asked = json.load(sys.stdin)
    dispatcher = socket.socket(fileno=asked.pop("socket"))
    name_sessions_by_process()
    server = make_server(**asked)
    DispatcherSocket(dispatcher, server)
    look_after(server)
    run(server)


if __name__ == "__main__":
    main()
