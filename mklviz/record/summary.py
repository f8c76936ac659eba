"""The results of a race as text, one row per run: what the command line prints and a notebook shows."""

from __future__ import annotations

from mklviz.record.trace import Trace
from mklviz.record.words import number

__all__ = ["COLUMNS", "label", "summarize"]

COLUMNS = ("solver", "status", "iterations", "SVM solves", "CPU s", "objective", "gap", "kernels", "moved", "in vain")


def summarize(key: str, status: str, trace: Trace) -> tuple[str, ...]:
    """Return the entries of `COLUMNS` for one run of a race; `status` is how it stood before the trace was looked at.

    A run that is paused says so, of which its trace knows nothing.
    """
    if not len(trace):
        return (label(key, trace), status, *["–"] * (len(COLUMNS) - 2))
    best, motion = trace.best, trace.motion
    return (
        label(key, trace),
        status,
        f"{len(trace) - 1:,}",
        f"{trace.final.svm_solves:,}",
        f"{trace.last_seconds:.2f}",
        f"{best.objective:.6g}",
        number(trace.gap_at(len(trace) - 1), ".2g"),
        f"{best.active:,} of {len(best.weights):,}",
        number(motion.moved, ".2f"),
        f"{100 * motion.share_in_vain:.0f} %",
    )


def label(key: str, trace: Trace) -> str:
    """Return the solver's own name; its key in the race where two runs share a solver.

    A branch is called by its key, which files write without blanks.
    """
    is_branch = trace.origin is not None and key == trace.label.replace(" ", "-")
    return trace.label if key == trace.solver or is_branch else key
