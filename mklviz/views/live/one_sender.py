"""In a notebook, only one thread at a time sends to the page.

JupyterLab has whatever the page says handled by a thread of its own in the kernel (a subshell), and Panel answers from
that thread. A message travels in parts; where parts of two mix, the page can read neither, nor perhaps any later one.
"""

from __future__ import annotations

import threading
from functools import cache, wraps
from typing import Any

__all__ = ["take_turns"]

_TURN = threading.RLock()


@cache
def take_turns() -> None:
    """Let every message of Panel's to a notebook be made and sent as a whole; done once per process."""
    from panel import reactive
    from panel.io import datamodel, notebook
    from panel.pane import base, plot

    push = notebook.push

    @wraps(push)
    def push_alone(*arguments: Any, **keywords: Any) -> None:
        with _TURN:
            push(*arguments, **keywords)

    for module in (notebook, reactive, datamodel, base, plot):  # each has imported it by its name
        module.push = push_alone
