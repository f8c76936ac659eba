"""What a run had spent at given parts of its way down, from its start to the least objective of all runs.

P_t <= P* + (1 - s) (P_0 - P*) for s = 90, 99 and 99.9 %, with P* the least objective that any run has found
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mklviz.record.reference import Reference
from mklviz.record.trace import Trace
from mklviz.typing import Flags

__all__ = ["PARTS", "Milestone", "milestones"]

PARTS = (0.9, 0.99, 0.999)  # of the way


class Milestone(NamedTuple):
    """What had been spent: steps, SVM solves and CPU seconds."""

    steps: int
    svm_solves: int
    seconds: float

    def __str__(self) -> str:
        """Say it in words: "12 steps · 13 SVM solves · 0.07 s"."""
        steps = f"{self.steps:,} step{'' if self.steps == 1 else 's'}"
        solves = f"{self.svm_solves:,} SVM solve{'' if self.svm_solves == 1 else 's'}"
        return f"{steps} · {solves} · {self.seconds:.2f} s"


def milestones(trace: Trace, best: Reference) -> tuple[Milestone | None, ...]:
    """Return what a run had spent at each of `PARTS` of its way; None where it has not come so far."""
    if not len(trace) or not math.isfinite(trace[0].objective) or math.isnan(best.objective):
        return (None,) * len(PARTS)
    objectives = trace.objective
    way = float(objectives[0]) - best.objective
    return tuple(_reached(trace, objectives <= best.objective + (1.0 - part) * way) for part in PARTS)


def _reached(trace: Trace, low: Flags) -> Milestone | None:
    """Return what had been spent at the first step whose objective is low enough."""
    at = int(low.argmax())
    return Milestone(trace.first_step + at, trace[at].svm_solves, trace.seconds_at(at)) if low[at] else None
