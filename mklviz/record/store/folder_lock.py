"""Locks that say which process owns a store, lives, or has claimed what it solves.

The one that owns a store writes its index, packs runs and removes them. The system holds a lock as long as the process
lives, and lets go of it however that ends.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["BEGUN", "FREE", "HELD", "LOCKS", "Claims", "FolderLock", "is_gone"]

LOCKS = "locks"  # folder of a store: a file for each process that records, and for each claim of the last day
FREE, BEGUN, HELD = "free", "begun", "held"


class FolderLock:
    """A lock that this process may hold, such as that of a store's owner."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._process = 0

    @property
    def held(self) -> bool:
        """Whether this process holds it; a fork of it does not."""
        return self._file is not None and self._process == os.getpid()

    def take(self) -> bool:
        """Take it if it is free; return whether this process has it now."""
        if self.held:
            return True
        try:
            file = _locked(self._path, "ab")
        except OSError:  # it cannot be written to, or this disk knows no locks
            return False
        self._file, self._process = file, os.getpid()
        return file is not None

    def leave(self) -> None:
        """Let go of it. A fork closes its copy of the file, which lets go of nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Claims:
    """What this process solves, so that no other does meanwhile. Where the disk knows no locks, all is free.

    `folder`: of the locks; None where nothing is shared.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._held: dict[str, IO[bytes] | None] = {}

    def take(self, key: str) -> str:
        """Claim what has that key. Returns `FREE`, `BEGUN` where others have had it lately, or `HELD` by others."""
        if self._folder is None:
            return FREE
        path, file = self._folder / key, None
        begun = path.exists()
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            file = _locked(path, "ab")
            if file is None:
                return HELD
            os.utime(path)
        self._held[key] = file
        return BEGUN if begun else FREE

    def leave(self, key: str) -> None:
        """Let others have it."""
        file = self._held.pop(key, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Let others have all."""
        for key in [*self._held]:
            self.leave(key)


def is_gone(path: Path) -> bool:
    """Return whether the process that held a lock lives no more; False where that is unknown."""
    try:
        file = _locked(path, "rb+")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if file is not None:
        file.close()
    return file is not None


def _locked(path: Path, mode: str) -> IO[bytes] | None:
    """Open a file and lock it as long as it is open; None where another process holds it. Raises `OSError`."""
    file: IO[bytes] = path.open(mode)
    try:
        _lock(file)
    except OSError as error:
        file.close()
        if isinstance(error, (BlockingIOError, PermissionError)):
            return None
        raise
    return file


def _lock(file: IO[bytes]) -> None:
    """Lock a file as long as it is open, or raise `OSError` at once."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
