"""Whatever a visitor does on a page is answered with the lock of its document.

When an event arrives behind another one, Panel answers it in a task of its own and without the lock. A model of Bokeh
raises an error if it is changed then, and the page keeps figures that the server no longer knows.
"""

from __future__ import annotations

from functools import cache

from panel.io.document import with_lock
from panel.reactive import Syncable

__all__ = ["answer_with_lock"]


@cache
def answer_with_lock() -> None:
    """Let Panel ask for the lock before it answers; done once per process."""
    for name in ("_change_coroutine", "_event_coroutine"):
        setattr(Syncable, name, with_lock(getattr(Syncable, name)))
