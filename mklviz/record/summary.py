"""The results of a race as text, one row per run: what the command line prints and a notebook shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mklviz.engine.run import Run

__all__ = ["COLUMNS", "label", "number", "shares_text", "summarize"]

COLUMNS = ("solver", "status", "iterations", "SVM solves", "CPU s", "objective", "gap", "kernels", "moved", "in vain")


def summarize(key: str, run: Run) -> tuple[str, ...]:
    """Return the entries of `COLUMNS` for one run of a race."""
    status, trace = run.status, run.trace
    if not len(trace):
        return (label(key, run), status, *["–"] * (len(COLUMNS) - 2))
    best, motion = trace.best, trace.motion
    return (
        label(key, run),
        status,
        f"{len(trace) - 1:,}",
        f"{trace.final.svm_solves:,}",
        f"{trace.last_seconds:.2f}",
        f"{best.objective:.6g}",
        number(trace.gap_at(len(trace) - 1), ".2g"),
        f"{best.active:,} of {run.problem.m:,}",
        number(motion.moved, ".2f"),
        f"{100 * motion.share_in_vain:.0f} %",
    )


def label(key: str, run: Run) -> str:
    """Return the solver's own name; its key in the race where two runs share a solver."""
    return run.trace.label if key == run.solver.name_ else key


def shares_text(shares: Mapping[str, float]) -> str:
    """Return what took the time, largest share first: "SVM 40 %, gradient 35 %"; "" where nobody measured it."""
    by_size = sorted(shares.items(), key=lambda pair: -pair[1])
    named = ((part if part != "svm" else "SVM", f"{100 * share:.0f} %") for part, share in by_size)
    return ", ".join(f"{part} {percent}" for part, percent in named if percent != "0 %")


def number(value: float, form: str) -> str:
    """Format a number; a dash where there is none."""
    return format(value, form) if math.isfinite(value) else "–"
