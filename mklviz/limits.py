"""What a person may ask of this machine, in one place: every bound that is checked before memory or time is spent.

Bounds on memory are shares of the machine's: a small machine refuses, in a sentence, what a large one accepts. The code
that checks a bound says the sentence. Stands on the standard library alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROCESSES = "MKLVIZ_PROCESSES"  # in the environment of each: how many processes serve the dashboard together
ADDRESS = "MKLVIZ_ADDRESS"  # in the environment of each: where others than this machine find the dashboard
STORE = "MKLVIZ_STORE"  # in the environment: the folder in which runs are kept
LESSONS = "MKLVIZ_LESSONS"  # in the environment: a folder of lessons of one's own
NO_STORE = "none"  # in the place of a folder: races are not recorded

_MB, _GB = 2**20, 2**30
_UNKNOWN = 4 * _GB  # a small machine, where the size is unknown


def machine_memory(container: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Return the bytes of memory that this process may count on: the machine's, or its container's."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = _UNKNOWN
    try:
        allowed = int(container.read_text())
    except (OSError, ValueError):  # no container, or one without a bound
        allowed = memory
    return max(min(memory, allowed), 256 * _MB)


def usable_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def served_by() -> int:
    """Return how many processes serve the dashboard together, and share the machine's memory."""
    return int(os.environ.get(PROCESSES, "1"))


@dataclass(frozen=True)
class Limits:
    """The bounds."""

    cells: int  # numbers in the table of a file
    # `columns`, `rows`: of the table of a file
    columns: int
    rows: int
    gram_cells: int  # numbers in the Gram matrices of a file
    upload_bytes: int  # size of an uploaded file
    # `bank_bytes`, `nystrom_bytes`: kernels of one race, exact or approximate
    bank_bytes: int
    nystrom_bytes: int
    banks_bytes: int  # kernels kept for later requests, in all
    memory_bytes: int  # all that races, data and recordings of a dashboard take together
    preparations: int  # banks being built at once; others wait
    sessions: int  # pages open at once
    race_seconds: float  # CPU seconds of a solver in the dashboard
    sweep_members: int  # runs of a sweep in the dashboard
    sweep_workers: int  # processes that solve it, each with kernels of its own

    @classmethod
    def of(cls, memory: int, processes: int = 1) -> Limits:
        """Return the bounds for each of some processes on a machine with so many bytes of memory.

        They share it, but for the pages: those who follow a race are all where it runs.
        """
        sessions = max(8, min(200, memory // (128 * _MB)))
        memory //= processes
        bank = min(4 * _GB, memory // 2)
        return cls(
            cells=min(50_000_000, memory // 64),
            columns=100_000,
            rows=5_000_000,
            gram_cells=min(4 * _GB, memory // 4) // 8,
            upload_bytes=min(10 * _MB, memory // 256),
            bank_bytes=bank,
            nystrom_bytes=min(6 * _GB, memory // 2),
            banks_bytes=min(128 * _MB, memory // 16),  # those in use are kept anyway
            memory_bytes=memory * 5 // 8,  # the rest is for Python, pages and what a computation needs for a moment
            preparations=max(1, min(4, memory // (2 * bank))),
            sessions=sessions,
            race_seconds=3600.0,
            sweep_members=10_000,
            sweep_workers=max(1, memory // (2 * _GB)),
        )


LIMITS = Limits.of(machine_memory(), served_by())
