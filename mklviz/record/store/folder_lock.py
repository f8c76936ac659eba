"""Who owns a store: the one process that writes its index, packs runs and removes them.

The system holds the lock as long as the process lives, and lets go of it however that ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["FolderLock"]


class FolderLock:
    """The lock of one store, which this process may hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._process = 0

    @property
    def held(self) -> bool:
        """Whether this process owns the store; a fork of it does not."""
        return self._file is not None and self._process == os.getpid()

    def take(self) -> bool:
        """Own the store if nobody else does; return whether this process does now."""
        if self.held:
            return True
        try:
            file = self._path.open("ab")
        except OSError:
            return False
        try:
            _lock(file)
        except OSError:  # another process holds it, or this disk knows no locks
            file.close()
            return False
        self._file, self._process = file, os.getpid()
        return True

    def leave(self) -> None:
        """Own it no more. A fork closes its copy of the file, which lets go of nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(file: IO[bytes]) -> None:
    """Lock a file as long as it is open, or raise `OSError` at once."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
