"""Runs that cannot be lost: every run is written into a folder of its own while it goes on."""

from mklviz.record.store.exchange import Merged
from mklviz.record.store.head import RunHead
from mklviz.record.store.machine import Machine
from mklviz.record.store.opening import open_store, reset
from mklviz.record.store.owner import EVERYBODY, Asker, Owner
from mklviz.record.store.recording import Recording
from mklviz.record.store.store import Store
from mklviz.record.store.stored import StoredRun
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
