"""The folder of a run, which is the truth about it: small files in JSON, frames, and the packed run.

Each file is written beside its place, brought to the disk and then given its name, so that it is whole or not there.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from mklviz.quoting import message_of
from mklviz.record.archive import replacing
from mklviz.record.bundle import SUFFIX

HEAD, END, ABOUT, SEEN = "head.json", "end.json", "about.json", "seen"
PACKED = f"run{SUFFIX}"
FRAME = ".frame"
CUT_OFF_SECONDS = 30.0  # a run that is going on says so more often
MOST_STATED = 10**7  # bytes of a file in JSON: what is longer was not written here


def bring_to_disk(folder: Path) -> None:
    """Have a name that was given in a folder survive a power cut, where the system can promise that."""
    with suppress(OSError):  # Windows opens no folders, and some network disks bring none to the disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_json(path: Path) -> dict[str, Any]:
    """Return what a file states; nothing where it is missing or damaged."""
    try:
        with path.open("rb") as file:
            stated = json.loads(file.read(MOST_STATED).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    return stated if isinstance(stated, dict) else {}


def write_json(path: Path, stated: Mapping[str, Any]) -> int:
    """Replace a file whole, or raise `OSError`; return its size. What JSON does not know is written as text."""
    content = json.dumps(stated, ensure_ascii=False, default=str).encode("utf-8", "replace")
    with replacing(path) as file:
        file.write(content)
    bring_to_disk(path.parent)
    return len(content)


def read_seen(folder: Path) -> float:
    """Return when a run last gave a sign of life, in seconds since 1970; 0 where it never has."""
    try:
        return float((folder / SEEN).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0


def write_seen(folder: Path) -> float:
    """Say that a run is going on, and return the time that was written. A power cut may lose it, which says as much."""
    now = time.time()
    beside = folder / f".{SEEN}.part"
    beside.write_text(f"{now:.1f}", encoding="ascii")
    beside.replace(folder / SEEN)
    return now


# -- locks, which say which process owns a store, lives, or has claimed what it solves
#
# The one that owns a store writes its index, packs runs and removes them. The system holds a lock as long as the
# process lives, and lets go of it however that ends.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
    """What this process solves, by locks in a folder, so that no other does; where there are no locks, all is free."""

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


# -- what is wrong with the disk, in sentences

SWITCHED_OFF = "The store is switched off: runs are not kept."
NOT_TAKEN = "The store has not taken them."
NEWER = (
    "The store's index was written by a newer mklviz and is left alone: runs are listed from their folders, which takes"
    " longer. Update mklviz here as well."
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ESTALE)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
MEANWHILE = "Races go on in memory, can be saved from there, and are written when it is mended."


def of_disk(error: OSError, folder: Path) -> str:
    """Return what to say where a store's folder cannot be read or written."""
    if error.errno in _FULL:
        what = (
            f"The disk of the store {folder} is full: free some room, or let the oldest runs go by mklviz runs clean"
            " --limit-mb N."
        )
    elif file := next(filter(os.path.isfile, (folder, *folder.parents)), None):
        what = (
            f"The store {folder} cannot be there, where {file} is a file: choose a folder by --store or MKLVIZ_STORE."
        )
    elif error.errno in _MISSING or isinstance(error, FileNotFoundError):
        what = f"The store {folder} is missing: connect its disk, or make the folder."
    elif error.errno in _FORBIDDEN or isinstance(error, PermissionError):
        what = f"The store {folder} cannot be written to: permit it, or choose another folder by MKLVIZ_STORE."
    else:
        what = f"The disk of the store {folder} does not work ({message_of(error)})."
    return f"{what} {MEANWHILE}"


def of_index(error: BaseException, path: Path) -> str:
    """Return what to say where the index cannot be used."""
    return f"The index {path} cannot be used ({message_of(error)}): runs are listed by folders, which takes longer."
