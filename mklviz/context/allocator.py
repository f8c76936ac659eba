"""Memory that has been freed and is kept all the same, handed back to the machine.

Python takes memory for its objects by the megabyte, and keeps a megabyte as long as a single object lives in it; the C
library keeps what is free in the middle of its own. After a class had left, a server held what it needed at its fullest
moment. With the C library's allocator for everything, all that is free can be handed back, page by page.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache

__all__ = ["begin_anew", "give_back"]

ALLOCATOR = "PYTHONMALLOC"  # Python looks for it when it starts, and only then


@cache
def _trim() -> Callable[[int], int] | None:
    """Return glibc's `malloc_trim`, None where the C library has none, as on macOS, Windows and Alpine Linux."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim


def give_back() -> None:
    """Return free memory to the machine, where the C library can."""
    trim = _trim()
    if trim is not None:
        trim(0)


def begin_anew() -> None:
    """Start this very process once more, with an allocator that hands memory back, where there is one.

    An allocator that was chosen stays. To be called before anything is loaded or opened.
    """
    if _trim() is not None and sys.executable and ALLOCATOR not in os.environ:
        os.environ[ALLOCATOR] = "malloc"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
