"""Which folder the runs are kept in, and one store for each folder in a process."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import platformdirs

from mklviz.record.store.store import Store
from mklviz.record.store.writer import WRITER

__all__ = ["FOLDER", "NONE", "open_store", "reset"]

FOLDER = "MKLVIZ_STORE"  # in the environment: the folder of the store
NONE = "none"  # in the place of a folder: races are not recorded

_LOCK = threading.Lock()
_OPEN: dict[Path, Store] = {}


def open_store(path: str | Path | None = None) -> Store:
    """Return the store in a folder, one for each folder and process.

    It never fails: where the disk is bad, `Store.trouble` says so in a sentence, and runs stay in memory.

    `path`: the folder; by default what the environment variable MKLVIZ_STORE says, or else the user's data folder.
    With "none" races are not recorded.
    """
    given = str(path or os.environ.get(FOLDER) or platformdirs.user_data_dir("mklviz", appauthor=False))
    folder = Path(NONE) if given == NONE else Path(os.path.realpath(Path(given).expanduser()))
    with _LOCK:
        if folder not in _OPEN:
            _OPEN[folder] = Store(folder, exists=given != NONE)
        return _OPEN[folder]


def reset() -> None:
    """Leave all stores, so that `open_store` opens them anew; what was recorded is written first."""
    with _LOCK:
        WRITER.leave_all()
        for store in _OPEN.values():
            store.close()
        _OPEN.clear()
