"""A window for a page of this machine's, by pywebview, or else the browser.

The window's size is remembered in a file. It has a process of its own: Qt ends the process where the system lacks a
part of what it draws with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from mklviz.record.archive import replacing
from mklviz.server.native_window import GIVEN_WINDOW
from mklviz.views.host.icon import ICON_FILE

__all__ = ["show_window"]

NAME = "mklviz"
SIZE = (1280, 860)  # pixels, of the first window
LEAST, MOST = 320, 10_000
LOOK_SECONDS = 0.2
END_SECONDS = 5.0
_NO_WINDOW = 'mklviz: with pip install "mklviz[desktop]" there is a window of its own;'
_NOT_NATIVE = "mklviz: pywebview cannot open a window on this system;"
_INSTEAD = "your browser opens instead. Ctrl-C ends mklviz."
Served = Callable[[], bool]  # returns whether the page is still there


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
    shown = {"title": NAME, "address": address, "icon": str(ICON_FILE), "size": _remembered()}
    with tempfile.TemporaryFile() as output:
        window = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("native_window.py"))],
            env={**os.environ, GIVEN_WINDOW: json.dumps(shown)},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        _wait_for(window, served)
        output.seek(0)
        left = output.read()
    if window.returncode == 0:
        _remember(left)
    return window.returncode == 0 or not served()


def _size_file() -> Path:
    return platformdirs.user_config_path(NAME, appauthor=False) / "window.json"


def _remembered() -> tuple[int, int]:
    """Return the size that the last window had; the usual one where nothing sensible is remembered."""
    try:
        width, height = json.loads(_size_file().read_text(encoding="utf-8"))
        fits = all(isinstance(side, int) and LEAST <= side <= MOST for side in (width, height))
    except (OSError, ValueError, TypeError):
        return SIZE
    return (width, height) if fits else SIZE


def _remember(size: bytes) -> None:
    """Keep the size that a window has said at its end."""
    with suppress(OSError):  # then the next window has the usual size
        _size_file().parent.mkdir(parents=True, exist_ok=True)
        with replacing(_size_file()) as file:
            file.write(size)


def _wait_for(window: subprocess.Popen[bytes], served: Served) -> None:
    """Wait until a window is closed, and close it when the page is no longer `served`."""
    try:
        while window.poll() is None and served():
            time.sleep(LOOK_SECONDS)
    finally:
        window.terminate()
        try:
            window.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            window.kill()
