"""Which store a command line is about."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mklviz.limits import NO_STORE

if TYPE_CHECKING:
    from mklviz.record.store import Store

__all__ = ["MADE_BY", "folder_of", "store_of"]

MADE_BY = "command line"


def folder_of(arguments: argparse.Namespace) -> str:
    """Return the folder that --store names, "none" for --no-store, and "" where neither is given."""
    return NO_STORE if getattr(arguments, "no_store", False) else str(arguments.store or "")


def store_of(arguments: argparse.Namespace) -> Store:
    """Return the store that --store names, none for --no-store, and else the usual one."""
    from mklviz.record.store import open_store

    return open_store(folder_of(arguments) or None)
