"""How much of the memory that the dashboard may use is held by what, in one ledger for the process.

What exists is charged to an object and counts until that object is freed. What is about to be made asks for room
first, and is refused in a sentence where there is none. Only the dashboard asks; programs and notebooks that call the
library have the machine to themselves.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from mklviz.errors import BankTooLarge, MemoryTaken
from mklviz.limits import LIMITS

ADVICE = "use fewer samples, kernels or solvers"


class Ledger:
    """Counts the bytes held, of a `total` for all; each of `spare` drops something kept for reuse, if there is any."""

    def __init__(self, total: int = LIMITS.memory_bytes) -> None:
        self.total = total
        self.spare: list[Callable[[], bool]] = []
        self._charged = self._held = 0
        self._returned: deque[int] = deque()  # charges whose owners are gone
        self._lock = threading.RLock()

    @property
    def used(self) -> int:
        """Bytes charged or held."""
        with self._lock:
            while self._returned:
                self._charged -= self._returned.popleft()
            return self._charged + self._held

    def charge(self, owner: object, size: int) -> None:
        """Count what exists already, as long as `owner` does."""
        with self._lock:
            self._charged += size
        # an owner may go in the middle of anything, this ledger's arithmetic as well: no lock may be asked for then
        weakref.finalize(owner, self._returned.append, size).atexit = False

    @contextmanager
    def room(self, size: int, what: str, advice: str = ADVICE, held: int = 0, more: int = 0) -> Iterator[None]:
        """Hold `size` bytes for `what`, which holds `held` and will ask for `more`, until they are charged."""
        needs = held + size + more
        if needs > self.total:
            raise BankTooLarge(
                f"{what.capitalize()} needs about {in_words(needs)} of memory, but all that is open here may take"
                f" {in_words(self.total)} together: {advice}."
            )
        if not self._make_room(size):
            left = in_words(self.total - self.used + held)
            raise MemoryTaken(
                f"{what.capitalize()} needs about {in_words(needs)} of memory, and what others have open leaves {left}:"
                f" {advice}, or try again when others have closed their pages."
            )
        try:
            yield
        finally:
            with self._lock:
                self._held -= size

    def _make_room(self, size: int) -> bool:
        """Take so many bytes; where they are not free, drop what is only kept, and then what nothing refers to."""
        collected = False
        while not self._take(size):
            if not any(drop() for drop in self.spare):
                if collected:
                    return False
                gc.collect()
                collected = True
        return True

    def _take(self, size: int) -> bool:
        with self._lock:
            fits = self.used + size <= self.total
            self._held += size if fits else 0
            return fits


def in_words(size: int) -> str:
    """Return a number of bytes for people: "0.5 GB" or "80 MB"."""
    return f"{size / 2**30:.1f} GB" if size >= 2**29 else f"{max(size, 0) / 2**20:.0f} MB"


LEDGER = Ledger()


# -- memory that has been freed and is kept all the same, handed back to the machine
#
# Python keeps each megabyte of objects as long as a single one lives in it, and the C library what is free in the
# middle of its own. With the C library's allocator for everything, all that is free can be handed back, page by page.

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
    """Start this process once more before it has loaded anything, with an allocator that hands memory back."""
    if _trim() is not None and sys.executable and ALLOCATOR not in os.environ:
        os.environ[ALLOCATOR] = "malloc"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
