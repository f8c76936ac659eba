"""What is wrong with the disk that a store is on, in sentences."""

from __future__ import annotations

import errno
from pathlib import Path

from mklviz.quoting import said_by

__all__ = ["MEANWHILE", "NEWER", "NOT_TAKEN", "SWITCHED_OFF", "of_disk", "of_index"]

SWITCHED_OFF = "The store is switched off: runs are not kept."
NOT_TAKEN = "The store has not taken them."
NEWER = (
    "The store's index was written by a newer mklviz and is left alone: runs are found by their folders, which takes"
    " longer. Update mklviz here as well."
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ESTALE)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
MEANWHILE = "Races go on in memory, can be saved from there, and are written when it is mended."


def of_disk(error: OSError, folder: Path) -> str:
    """Return what to say where a store's folder cannot be read or written."""
    if error.errno in _FULL:
        what = f"The disk of the store {folder} is full: free some room, or delete runs."
    elif error.errno in _MISSING or isinstance(error, FileNotFoundError):
        what = f"The store {folder} is missing: connect its disk, or make the folder."
    elif error.errno in _FORBIDDEN or isinstance(error, PermissionError):
        what = f"The store {folder} cannot be written to: permit it, or choose another folder by MKLVIZ_STORE."
    else:
        what = f"The disk of the store {folder} does not work ({said_by(error)})."
    return f"{what} {MEANWHILE}"


def of_index(error: BaseException, path: Path) -> str:
    """Return what to say where the index cannot be used."""
    return f"The index {path} cannot be used ({said_by(error)}): runs are found by their folders, which takes longer."
