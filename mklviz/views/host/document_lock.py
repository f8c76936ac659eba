"""Whatever a visitor does is answered when the page is loaded and with the lock of its document, what takes long too.

Panel does not send what changes on a page that a browser has and is still drawing. When an event arrives behind another
one, Panel answers it in a task of its own and without the lock. A model of Bokeh raises an error if it is changed then,
and the page keeps figures that the server no longer knows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, partial, wraps
from typing import Any

from panel.io.document import with_lock
from panel.io.state import set_curdoc, state
from panel.reactive import Syncable

__all__ = ["answer_with_lock", "with_page_locked"]


@cache
def answer_with_lock() -> None:
    """Let Panel wait for the page and ask for the lock before it answers; done once per process."""
    for name in ("_change_coroutine", "_event_coroutine"):
        setattr(Syncable, name, with_lock(_once_loaded(getattr(Syncable, name))))


def _once_loaded(answer: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(answer)
    async def answer_in_time(part: Syncable, document: Any, *event: Any, **names: Any) -> None:
        with set_curdoc(document):
            waits = document.session_context is not None and not state.loaded
            if waits:
                again = partial(getattr(part, answer.__name__), document, *event, **names)
                state.onload(partial(state.execute, again, schedule=True))
        if not waits:
            await answer(part, document, *event, **names)

    return answer_in_time


def with_page_locked(change: Callable[[], None]) -> None:
    """Change the page by a function that is called with the lock of its document; at once where no server shows it.

    Behind an `await` of its own a coroutine has no lock: Panel lets it go on without, so that it holds up nothing.
    """
    document = state.curdoc
    if document is None or document.session_context is None:
        change()
    else:
        document.add_next_tick_callback(change)
