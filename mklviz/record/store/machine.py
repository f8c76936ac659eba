"""The machine that a run was computed on: times of different machines are not to be compared."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.record.words import number_in, text_in

__all__ = ["Machine", "this_machine"]


@dataclass(frozen=True)
class Machine:
    """A machine, as it was when a run began."""

    name: str = ""  # of its processor
    cores: int = 0
    load: float = 0.0  # processes that wanted to run, on average over a minute
    calibration: float = 0.0  # CPU seconds of a fixed piece of work
    id: str = ""  # a digest, which differs between machines

    @classmethod
    def read(cls, stored: Any) -> Machine:
        """Return the machine that a file states; what is missing has its default."""
        stated = stored if isinstance(stored, Mapping) else {}
        cores, load, calibration = (number_in(stated, name, most=1e9) for name in ("cores", "load", "calibration"))
        return cls(text_in(stated, "name"), int(cores), load, calibration, text_in(stated, "id"))


def this_machine() -> Machine:
    """Return the machine that this process runs on; only its load is asked for each time."""
    return replace(_measured(), load=_load())


@cache
def _measured() -> Machine:
    name, cores = _processor(), os.cpu_count() or 1
    text = "\n".join((platform.node(), _installation(), name, str(cores)))
    return Machine(name, cores, 0.0, _calibration(), hashlib.sha256(text.encode()).hexdigest()[:8])


def _processor() -> str:
    """Return what the processor is called."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _installation() -> str:
    """Return the number that an installation of Linux has; "" elsewhere."""
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _load() -> float:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return 0.0


def _calibration() -> float:
    """Return the CPU seconds that some arithmetic and sorting take, the least of five times."""
    numbers = np.random.default_rng(0).standard_normal(20_000)
    times = []
    for _ in range(5):
        begun = time.thread_time()
        np.sort(np.exp(numbers) * numbers).cumsum()
        times.append(time.thread_time() - begun)
    return min(times)
