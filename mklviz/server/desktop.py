"""The dashboard in a window of its own, by pywebview, or else the browser; its server ends with the window.

The server is a process of its own, at a free port, with a code that is made up. It ends when the process of the window
closes its input, however that process ends; runs are in the store by then. The window has a process of its own, too: Qt
ends the process where the system lacks a part of what it draws with.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from mklviz.errors import MklvizError
from mklviz.quoting import named
from mklviz.record.archive import replacing
from mklviz.server.access import LOCAL, new_code
from mklviz.server.front import end, serve
from mklviz.server.native_window import GIVEN_WINDOW
from mklviz.views.host.beside import ICON_FILE
from mklviz.views.links import GIVEN

NAME = "mklviz"
SIZE = (1280, 860)  # pixels, of the first window
LEAST, MOST = 320, 10_000
LOOK_SECONDS, START_SECONDS = 0.1, 120.0
WINDOW_ENDS, SERVER_ENDS = 5.0, 20.0  # seconds
_PORT, _CODE = "MKLVIZ_WINDOW_PORT", "MKLVIZ_WINDOW_CODE"  # in the environment, which other users cannot read
_PROGRAM = "from mklviz.server.desktop import answer_window; answer_window()"
_NO_WINDOW = 'mklviz: with pip install "mklviz[desktop]" there is a window of its own;'
_NOT_NATIVE = "mklviz: pywebview cannot open a window on this system;"
_INSTEAD = "your browser opens instead. Ctrl-C ends mklviz."
Served = Callable[[], bool]  # returns whether the page is still there


def open_desktop(file: Path | None = None) -> None:
    """Open Start in a window, or a file of runs or a table, and return when the window is closed."""
    if file is not None and not file.is_file():
        raise MklvizError(f"There is no file {named(str(file))}.")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port, code = probe.getsockname()[1], new_code()
    section = "&page=explore" if file is not None else ""
    with _server(port, code, file) as server:
        show_window(f"http://{LOCAL}:{port}/explorer?code={code}{section}", lambda: server.poll() is None)


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
        end(server, SERVER_ENDS)


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


def show_window(address: str, served: Served) -> None:
    """Show a page in a window, or say why not and open a browser, until it is closed or the page no longer `served`."""
    if find_spec("webview") is None:
        why = _NO_WINDOW
    elif _is_shown_natively(address, served):
        return
    else:
        why = _NOT_NATIVE
    print(why, _INSTEAD, file=sys.stderr, flush=True)
    webbrowser.open(address)
    while served():
        time.sleep(LOOK_SECONDS)


def _is_shown_natively(address: str, served: Served) -> bool:
    """Show the page in a native window, and return whether one has opened."""
    shown = {"title": NAME, "address": address, "icon": str(ICON_FILE), "size": _last_size()}
    window = subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).with_name("native_window.py"))],
        env={**os.environ, GIVEN_WINDOW: json.dumps(shown)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert window.stdout is not None
    with window.stdout as output:
        try:
            while window.poll() is None and served():
                time.sleep(LOOK_SECONDS)
        finally:
            window.terminate()
            end(window, WINDOW_ENDS)
        size = output.read()
    if window.returncode == 0:
        with suppress(OSError):  # then the next window has the usual size
            _size_file().parent.mkdir(parents=True, exist_ok=True)
            with replacing(_size_file()) as file:
                file.write(size)
    return window.returncode == 0 or not served()


def _size_file() -> Path:
    return platformdirs.user_config_path(NAME, appauthor=False) / "window.json"


def _last_size() -> tuple[int, int]:
    """Return the size that the last window had; the usual one where nothing sensible is remembered."""
    try:
        width, height = json.loads(_size_file().read_text(encoding="utf-8"))
        fits = all(isinstance(side, int) and LEAST <= side <= MOST for side in (width, height))
    except (OSError, ValueError, TypeError):
        return SIZE
    return (width, height) if fits else SIZE
