"""A window for a page of this machine's: a native one, one of a browser without its bars, or else the browser itself.

Its size is remembered: of a native window in a file, of a browser's by the browser, which has a profile for it. A
native window has a process of its own: Qt ends the process where the system lacks a part of what it draws with.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from mklviz.record.files import replacing
from mklviz.record.store.folder_lock import FolderLock
from mklviz.server.native_window import GIVEN_WINDOW
from mklviz.views.host.icon import ICON_FILE

__all__ = ["show_window"]

NAME = "mklviz"
SIZE = (1280, 860)  # pixels, of the first window
LEAST, MOST = 320, 10_000
LOOK_SECONDS = 0.2
END_SECONDS = 5.0
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "msedge", "chrome"),
    *("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",),
    *("/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",),
    *("C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",),
    *("C:/Program Files/Google/Chrome/Application/chrome.exe",),
)
_NO_WINDOW = (
    "mklviz: there is no Chromium, Chrome or Edge for a window of its own, so your browser opens; with"
    ' pip install "mklviz[desktop]" there is one. Ctrl-C ends mklviz.'
)
_NOT_NATIVE = "mklviz: pywebview cannot open a window on this system, so a browser takes its place."
Served = Callable[[], bool]  # returns whether the page is still there


def show_window(address: str, served: Served) -> None:
    """Show a page in a window until that is closed, or the page is no longer `served`."""
    if _is_shown_natively(address, served):
        return
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is not None:
        _show_in(browser, address, served)
        return
    print(_NO_WINDOW, file=sys.stderr, flush=True)
    webbrowser.open(address)
    while served():
        time.sleep(LOOK_SECONDS)


def _is_shown_natively(address: str, served: Served) -> bool:
    """Show the page in a native window, where pywebview is installed, and say so if none opens; return whether."""
    if find_spec("webview") is None:
        return False
    shown = {"title": NAME, "address": address, "icon": str(ICON_FILE), "size": _remembered()}
    with tempfile.TemporaryFile() as said:
        window = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("native_window.py"))],
            env={**os.environ, GIVEN_WINDOW: json.dumps(shown)},
            stdout=said,
            stderr=subprocess.DEVNULL,
        )
        _wait_for(window, served)
        said.seek(0)
        left = said.read()
    if window.returncode == 0:
        _remember(left)
    elif served():
        print(_NOT_NATIVE, file=sys.stderr, flush=True)
        return False
    return True


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


def _remember(said: bytes) -> None:
    """Keep the size that a window has said at its end."""
    with suppress(OSError):  # then the next window has the usual size
        _size_file().parent.mkdir(parents=True, exist_ok=True)
        with replacing(_size_file()) as file:
            file.write(said)


def _show_in(browser: str, address: str, served: Served) -> None:
    """Show the page in a window of a browser, which has a profile of its own and so ends with the window."""
    with _profile() as profile:
        command = [browser, f"--app={address}", f"--user-data-dir={profile}", f"--class={NAME}"]
        command += ["--no-first-run", "--no-default-browser-check"]
        if not _has_size(profile):
            command.append(f"--window-size={SIZE[0]},{SIZE[1]}")
        window = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_for(window, served)


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


def _has_size(profile: Path) -> bool:
    """Return whether the browser knows how large its window was left."""
    try:
        return "app_window_placement" in (profile / "Default" / "Preferences").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


@contextmanager
def _profile() -> Iterator[Path]:
    """Return the folder of the browser's profile; a passing one where another window has that, or nothing is kept."""
    kept = platformdirs.user_cache_path(NAME, appauthor=False) / "window"
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
    owner = FolderLock(kept.with_suffix(".lock"))
    if owner.take():
        try:
            yield kept
        finally:
            owner.leave()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)
