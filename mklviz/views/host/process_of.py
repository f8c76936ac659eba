"""Which of several processes a page belongs to.

If several processes serve one port, every name by which a page is asked for again (its session, its shared race) says
which of them has it: a process draws names until one falls to itself.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

from mklviz.limits import served_by

__all__ = ["WORKER", "name_of_this_process", "process_of"]

WORKER = "MKLVIZ_WORKER"  # in the environment of each process: its number, from 0


def process_of(name: str, processes: int) -> int:
    """Return the number of the process that gave `name`, which may be followed by a dot and its signature."""
    return zlib.crc32(name.partition(".")[0].encode()) % processes


def name_of_this_process(draw: Callable[[], str], number: int | None = None, processes: int | None = None) -> str:
    """Draw names until one falls to the process with this `number`, by default to this process, and return it."""
    if processes is None:
        processes = served_by()
    if number is None:
        number = int(os.environ.get(WORKER, "0"))
    while process_of(name := draw(), processes) != number:
        pass
    return name
