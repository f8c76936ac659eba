"""What the address of a page says: a recipe, what is hidden or locked, and which of several processes has the page.

If several processes serve one port, every name by which a page is asked for again (its session, its shared race) says
which of them has it: a process draws names until one falls to itself. The server's front process reads them, too.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

from mklviz.limits import served_by

__all__ = ["FOLLOW", "GIVEN", "RACE_KEY", "WORKER", "name_of_this_process", "process_of"]

RACE_KEY, FOLLOW = "race", "follow"  # words of the address that name a page
GIVEN = "MKLVIZ_OPEN"  # in the environment: the path of the file that ``mklviz desktop FILE`` opens with
WORKER = "MKLVIZ_WORKER"  # in the environment of each process: its number, from 0


def process_of(name: str, processes: int) -> int:
    """Return the number of the process that gave `name`, which may be followed by a dot and its signature."""
    return zlib.crc32(name.partition(".")[0].encode()) % processes


def name_of_this_process(draw: Callable[[], str]) -> str:
    """Draw names until one falls to this process, and return it."""
    number, processes = int(os.environ.get(WORKER, "0")), served_by()
    while process_of(name := draw(), processes) != number:
        pass
    return name
