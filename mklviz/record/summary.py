"""Results and costs of a run: in numbers for every table, and as the text that terminals and notebooks show."""

from __future__ import annotations

from dataclasses import dataclass

from mklviz.record.trace import Trace
from mklviz.record.words import number

__all__ = ["COLUMNS", "RunResult", "label", "result_at", "summarize"]

COLUMNS = ("solver", "status", "iterations", "SVM solves", "CPU s", "objective", "gap", "kernels", "moved", "undone")


@dataclass(frozen=True)
class RunResult:
    """Results and costs of a run at one of its steps."""

    iterations: int  # includes those of the run that this one continues
    svm_solves: int
    seconds: float  # of CPU
    objective: float  # the least one until then
    gap: float  # by the best bounds until then; nan where there is none
    active: int  # kernels with weight at the least objective
    kernels: int

    def texts(self) -> tuple[str, ...]:
        """Return the entries of `COLUMNS` from the iterations to the kernels."""
        return (
            f"{self.iterations:,}",
            f"{self.svm_solves:,}",
            f"{self.seconds:.2f}",
            f"{self.objective:.6g}",
            number(self.gap, ".2g"),
            f"{self.active:,} of {self.kernels:,}",
        )


def result_at(trace: Trace, index: int | None = None) -> RunResult:
    """Return the result of a run that has begun, as of its iterate `index`, by default the last one."""
    at = len(trace) - 1 if index is None else index
    best = trace[trace.best_index_at(at)]
    return RunResult(
        iterations=trace.first_step + at,
        svm_solves=trace[at].svm_solves,
        seconds=trace.seconds_at(at),
        objective=best.objective,
        gap=trace.gap_at(at),
        active=best.active,
        kernels=len(best.weights),
    )


def summarize(key: str, status: str, trace: Trace) -> tuple[str, ...]:
    """Return the entries of `COLUMNS` for one run of a race; `status` is how it stood before the trace was looked at.

    A run that is paused says so, of which its trace knows nothing.
    """
    if not len(trace):
        return (label(key, trace), status, *["–"] * (len(COLUMNS) - 2))
    motion = trace.motion
    moved = number(motion.moved, ".2f"), f"{100 * motion.share_in_vain:.0f} %"
    return (label(key, trace), status, *result_at(trace).texts(), *moved)


def label(key: str, trace: Trace) -> str:
    """Return the solver's own name; its key in the race where two runs share a solver.

    A branch is called by its key, which files write without blanks.
    """
    is_branch = trace.origin is not None and key == trace.label.replace(" ", "-")
    return trace.label if key == trace.solver or is_branch else key
