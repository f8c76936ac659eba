"""Whatever a visitor does on a page is answered with the lock of its document, also what takes a thread some time.

When an event arrives behind another one, Panel answers it in a task of its own and without the lock. A model of Bokeh
raises an error if it is changed then, and the page keeps figures that the server no longer knows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from panel.io.document import with_lock
from panel.io.state import state
from panel.reactive import Syncable

__all__ = ["answer_with_lock", "with_page_locked"]


@cache
def answer_with_lock() -> None:
    """Let Panel ask for the lock before it answers; done once per process."""
    for name in ("_change_coroutine", "_event_coroutine"):
        setattr(Syncable, name, with_lock(getattr(Syncable, name)))


def with_page_locked(change: Callable[[], None]) -> None:
    """Change the page by a function that is called with the lock of its document; at once where no server shows it.

    Behind an `await` of its own a coroutine has no lock: Panel lets it go on without, so that it holds up nothing.
    """
    document = state.curdoc
    if document is None or document.session_context is None:
        change()
    else:
        document.add_next_tick_callback(change)
