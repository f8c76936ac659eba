"""Which of several processes a page belongs to.

Where one port is served by several processes, every name by which a page is asked for again (its session, its room)
says by itself which of them has it: names are drawn until one falls to the process that gives it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

from mklviz.limits import served_by

__all__ = ["PROCESS", "name_of_this_process", "process_of"]

PROCESS = "MKLVIZ_PROCESS"  # in the environment of each process: its number, from 0


def process_of(name: str, processes: int) -> int:
    """Return the number of the process that gave `name`, which may be followed by a dot and its signature."""
    return zlib.crc32(name.partition(".")[0].encode()) % processes


def name_of_this_process(draw: Callable[[], str], place: int | None = None, processes: int | None = None) -> str:
    """Return the first name drawn that falls to this process.

    Parameters
    ----------
    draw : callable
        Returns a new name.
    place, processes : int, optional
        The number of this process, and how many there are; by default as its environment says.
    """
    if processes is None:
        processes = served_by()
    if place is None:
        place = int(os.environ.get(PROCESS, "0"))
    while process_of(name := draw(), processes) != place:
        pass
    return name
