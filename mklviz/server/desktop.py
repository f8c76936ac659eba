"""The dashboard in a window of its own, by pywebview, or else the browser; its server ends with the window.

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
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from mklviz.errors import MklvizError
from mklviz.quoting import named
from mklviz.server.access import LOCAL, new_code
from mklviz.server.front import end, serve
from mklviz.views.host.beside import ICON_FILE
from mklviz.views.links import GIVEN

NAME = "mklviz"
SIZE = (1280, 860)  # pixels
LOOK_SECONDS, START_SECONDS, END_SECONDS = 0.1, 120.0, 20.0
_PORT, _CODE = "MKLVIZ_WINDOW_PORT", "MKLVIZ_WINDOW_CODE"  # in the environment, which other users cannot read
_PROGRAM = "from mklviz.server.desktop import answer_window; answer_window()"
_NO_WINDOW = 'mklviz: with pip install "mklviz[desktop]" there is a window of its own;'
_NOT_NATIVE = "mklviz: pywebview cannot open a window on this system;"
_INSTEAD = "your browser opens instead. Ctrl-C ends mklviz."


def open_desktop(file: Path | None = None) -> None:
    """Open Start in a window, or a file of runs or a table, and return when the window is closed."""
    if file is not None and not file.is_file():
        raise MklvizError(f"There is no file {named(str(file))}.")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port, code = probe.getsockname()[1], new_code()
    section = "&page=explore" if file is not None else ""
    with _server(port, code, file) as server:
        show_window(f"http://{LOCAL}:{port}/explorer?code={code}{section}", server)


@contextmanager
def _server(port: int, code: str, file: Path | None) -> Iterator[subprocess.Popen[bytes]]:
    """Begin a server and wait until it listens; end it afterwards."""
    given = {} if file is None else {GIVEN: str(file.absolute())}
    server = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, _PORT: str(port), _CODE: code, **given},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    try:
        _wait_until_listening(server, port)
        yield server
    finally:
        server.stdin.close()
        end(server, END_SECONDS)


def _wait_until_listening(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(LOOK_SECONDS)
    raise MklvizError("The server of the window did not start; its error stream says why.")


def answer_window() -> None:
    """Serve a window, in the process that `open_desktop` begins."""
    port, code = int(os.environ.pop(_PORT)), os.environ.pop(_CODE)
    threading.Thread(target=_end_with_window, name="mklviz-window", daemon=True).start()
    serve(port, code=code, shared_runs=True)


def _end_with_window() -> None:
    sys.stdin.buffer.read()  # until the other end is closed
    signal.raise_signal(signal.SIGTERM)


def show_window(address: str, server: subprocess.Popen[bytes]) -> None:
    """Show a page in a window, or say why not and open a browser, until it is closed or the server has ended."""
    try:
        webview = import_module("webview")
        window = webview.create_window(NAME, address, width=SIZE[0], height=SIZE[1])
        webview.start(_close_with_server, (server, window), icon=str(ICON_FILE))
    except Exception as error:  # of pywebview, and of what the system draws with
        print(
            _NO_WINDOW if isinstance(error, ModuleNotFoundError) else _NOT_NATIVE, _INSTEAD, file=sys.stderr, flush=True
        )
        webbrowser.open(address)
        server.wait()


def _close_with_server(server: subprocess.Popen[bytes], window: Any) -> None:
    """Close the window when its server has ended; pywebview calls this in a thread."""
    server.wait()
    if not window.events.closed.is_set():
        window.destroy()
