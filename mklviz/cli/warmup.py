"""``mklviz warmup``: compile everything now, with a line that shows the progress."""

from __future__ import annotations

import sys
import time

from mklviz.engine.compiling import PARTS, CompilePool
from mklviz.streams import redraws

__all__ = ["compile_all"]


def compile_all() -> bool:
    """Compile into numba's cache whatever is not there yet; return whether it was left to end.

    Ctrl-C ends it; what has been compiled until then stays.
    """
    begun, last = time.monotonic(), ""
    try:
        with CompilePool().open() as pool:
            for part in PARTS:
                last = _show(pool.fraction, last)
                pool.ensure(part)
    except KeyboardInterrupt:
        print("\nmklviz: stopped; compiled functions stay, and the next call continues.", file=sys.stderr)
        return False
    _show(1.0, last)
    print(f"Everything is compiled; it took {time.monotonic() - begun:.1f} s.")
    return True


def _show(fraction: float, last: str) -> str:
    """Write the progress, each tenth on a line of its own where lines cannot be redrawn; return what was written."""
    live = redraws(sys.stderr)
    line = f"compiling: {100 * fraction if live else 10 * int(10 * fraction):.0f} %"
    if line != last:
        start, end = ("\x1b[2K\r", "\n" if fraction >= 1.0 else "") if live else ("", "\n")
        print(f"{start}{line}", end=end, file=sys.stderr, flush=True)
    return line
