"""Runs that cannot be lost: every run is written into a folder of its own while it goes on."""

from mklviz.record.store.exchange import Merged
from mklviz.record.store.recorder import Recording
from mklviz.record.store.store import Store, open_store, reset
from mklviz.record.store.stored import EVERYBODY, Asker, Machine, Owner, RunHead, StoredRun
from mklviz.record.store.upkeep import Cleaned

__all__ = [
    "EVERYBODY",
    "Asker",
    "Cleaned",
    "Machine",
    "Merged",
    "Owner",
    "Recording",
    "RunHead",
    "Store",
    "StoredRun",
    "open_store",
    "reset",
]
