"""Which folder the runs are kept in, and one store for each folder in a process."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import platformdirs

from mklviz.limits import NO_STORE, STORE
from mklviz.record.store.recorder import WRITER
from mklviz.record.store.store import Store

__all__ = ["open_store", "reset"]

_LOCK = threading.Lock()
_OPEN: dict[Path, Store] = {}


def open_store(path: str | Path | None = None) -> Store:
    """Return the store in a folder, one for each folder and process.

    It never fails: where the disk is bad, `Store.trouble` says so in a sentence, and runs stay in memory.

    `path`: the folder; by default what the environment variable MKLVIZ_STORE says, or else the user's data folder.
    With "none" races are not recorded.
    """
    given = str(path or os.environ.get(STORE) or platformdirs.user_data_dir("mklviz", appauthor=False))
    folder = Path(NO_STORE) if given == NO_STORE else Path(os.path.realpath(Path(given).expanduser()))
    with _LOCK:
        if folder not in _OPEN:
            _OPEN[folder] = Store(folder, exists=given != NO_STORE)
        return _OPEN[folder]


def reset() -> None:
    """Leave all stores, so that `open_store` opens them anew; what was recorded is written first."""
    with _LOCK:
        WRITER.leave_all()
        for store in _OPEN.values():
            store.close()
        _OPEN.clear()
