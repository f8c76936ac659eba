"""Which store a command line is about."""

from __future__ import annotations

import argparse

from mklviz.record.store import Store, open_store
from mklviz.record.store.opening import FOLDER, NONE

__all__ = ["FOLDER", "MADE_BY", "folder_of", "store_of"]

MADE_BY = "command line"


def folder_of(arguments: argparse.Namespace) -> str:
    """Return the folder that --store names, "none" for --no-store, and "" where neither is given."""
    return NONE if getattr(arguments, "no_store", False) else str(arguments.store or "")


def store_of(arguments: argparse.Namespace) -> Store:
    """Return the store that --store names, none for --no-store, and else the usual one."""
    return open_store(folder_of(arguments) or None)
