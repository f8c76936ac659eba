"""The dashboard in a window of its own: a server of this person's alone, which ends with the window.

The server is a process of its own, at a free port, with a code that is made up. It ends when the process of the window
closes its input, however that process ends; runs are in the store by then.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mklviz.errors import MklvizError
from mklviz.quoting import named
from mklviz.server.addresses import LOCAL
from mklviz.server.codes import new_code
from mklviz.server.front import serve
from mklviz.server.window import show_window
from mklviz.views.start.given_file import GIVEN

__all__ = ["answer_window", "open_desktop"]

PATIENCE, LOOK_SECONDS, END_SECONDS = 120.0, 0.1, 20.0
_PORT, _CODE = "MKLVIZ_WINDOW_PORT", "MKLVIZ_WINDOW_CODE"  # in the environment, where nobody else reads them
_PROGRAM = "from mklviz.server.desktop import answer_window; answer_window()"


def open_desktop(file: Path | None = None) -> None:
    """Open Start in a window, or a file of runs or a table, and return when the window is closed.

    Raises `MklvizError` if there is no such file, or the server does not start.
    """
    if file is not None and not file.is_file():
        raise MklvizError(f"There is no file {named(str(file))}.")
    port, code = _free_port(), new_code()
    section = "&page=explore" if file is not None else ""
    with _server(port, code, file) as server:
        show_window(f"http://{LOCAL}:{port}/explorer?code={code}{section}", lambda: server.poll() is None)


def answer_window() -> None:
    """Serve a window, in the process that `open_desktop` begins."""
    port, code = int(os.environ.pop(_PORT)), os.environ.pop(_CODE)
    threading.Thread(target=_end_with_window, name="mklviz-window", daemon=True).start()
    serve(port, code=code, shared_runs=True)


def _end_with_window() -> None:
    sys.stdin.buffer.read()  # until the other end is closed
    signal.raise_signal(signal.SIGTERM)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _server(port: int, code: str, file: Path | None) -> Iterator[subprocess.Popen[bytes]]:
    """Begin a server and wait until it listens; end it afterwards."""
    given = {} if file is None else {GIVEN: str(file.absolute())}
    told = {**os.environ, _PORT: str(port), _CODE: code, **given}
    command = [sys.executable, "-c", _PROGRAM]
    server = subprocess.Popen(command, env=told, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        _wait_for(server, port)
        yield server
    finally:
        if server.stdin is not None:
            server.stdin.close()
        try:
            server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(LOOK_SECONDS)
    raise MklvizError("The server of the window did not start; its error stream says why.")
