"""One BLAS thread per solver: fair clocks, and no fight over the cores.

Solves in several threads overlap in any order, and each would restore the limits it found, so the first to come sets
the limit and the last to go restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_holders = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of all overlapping uses ends."""
    global _holders, _limits
    with _lock:
        _holders += 1
        if _limits is None:
            _limits = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
