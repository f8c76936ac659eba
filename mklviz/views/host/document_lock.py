"""On a page, whatever a visitor does is answered with the document's lock.

Panel answers an event that arrives behind another one in a task of its own and without the lock. Raw Bokeh models raise
when they are changed then, and the page is left with figures that the server no longer knows.
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
