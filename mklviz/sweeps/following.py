"""Follow a sweep to its end: one line that says how far it is, and Ctrl-C that ends it without losing what is done."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TextIO

from mklviz.quoting import one_line
from mklviz.streams import ProgressLine
from mklviz.sweeps.running import SweepProgress, SweepRun

__all__ = ["duration_text", "follow", "progress_text", "tell_not_kept"]

LOOK_SECONDS = 0.2
STOP_SECONDS = 10.0


def follow(run: SweepRun, stopped: Callable[[], bool] = lambda: False, stream: TextIO | None = None) -> None:
    """Start a sweep and wait until it has ended, saying how far it is; raise what broke it.

    `stopped` is asked now and then whether to end it. Raises `KeyboardInterrupt` on Ctrl-C, when it has ended.
    """
    line = ProgressLine(stream=stream)
    run.start()
    try:
        while not run.wait(LOOK_SECONDS):
            line.update(lambda: progress_text(run.progress))
            if stopped():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        run.cancel()
        run.wait(STOP_SECONDS)
        raise
    finally:
        line.finish(progress_text(run.progress))
    if run.error is not None:
        raise run.error


def tell_not_kept(run: SweepRun) -> None:
    """Say which runs the store does not have."""
    if run.not_kept:
        print(f"mklviz: {one_line(run.not_kept)}", file=sys.stderr, flush=True)


def progress_text(progress: SweepProgress) -> str:
    """Return how far a sweep is, and what is left."""
    counts = {"failed": progress.failed, "running": progress.running, "there before": progress.skipped}
    counts["solved by another process"] = progress.elsewhere
    parts = [f"{progress.done:,} of {progress.total:,} runs", *(f"{n:,} {word}" for word, n in counts.items() if n)]
    if progress.seconds_left > 0.0:
        parts.append(f"about {duration_text(progress.seconds_left)} left")
    return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """Return "40 s", "12 min" or "3.5 h"."""
    if seconds < 90.0:
        return f"{math.ceil(seconds)} s"
    return f"{math.ceil(seconds / 60.0)} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
