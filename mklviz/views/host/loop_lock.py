"""Whatever holds the event loop for long is done one at a time, and the loop does everything else in between.

An event loop makes all calls that are due in one go before it looks at its connections again. The frames of thirty
pages together take a second, in which nobody else is answered, though each alone is short.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

__all__ = ["loop_lock"]

ROUNDS = 4  # of the event loop: a small request is accepted, read and answered in so many

_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


@asynccontextmanager
async def loop_lock() -> AsyncIterator[None]:
    """Wait until no other task of this event loop is within, and let the loop do everything else before the next."""
    async with _LOCKS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        yield
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
