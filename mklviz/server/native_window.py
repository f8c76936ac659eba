"""A native window, by pywebview: the program of a process that `mklviz.server.desktop` begins.

It is run by its path and imports nothing of mklviz, so that the window is there at once. The environment says what to
show; it prints the size that the window had, and fails where none opens.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

GIVEN_WINDOW = "MKLVIZ_WINDOW"


def _show(title: str, address: str, icon: str, size: list[int]) -> None:
    webview = import_module("webview")
    window: Any = webview.create_window(title, address, width=size[0], height=size[1])

    def resized(width: float, height: float) -> None:
        size[:] = int(width), int(height)

    window.events.resized += resized
    webview.start(icon=icon)
    print(json.dumps(size))


if __name__ == "__main__":
    _show(**json.loads(os.environ.pop(GIVEN_WINDOW)))
