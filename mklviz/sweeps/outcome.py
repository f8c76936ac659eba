"""What is known of one member that has ended: a row of the table of results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mklviz.record import Trace
from mklviz.record.store import StoredRun
from mklviz.record.summary import result_at

__all__ = ["DONE", "MemberOutcome"]

DONE = ("converged", "precision", "rule", "limit")  # ends that are not repeated


@dataclass(frozen=True)
class MemberOutcome:
    """How a member ended, and what it took.

    Numbers are nan where a run had none. `results` has what the trace does not know: "score" on the test part and
    "score_label", "moved" (full moves of the weights), "fit_seconds" of one SVM fit of the mean kernel, "samples"
    trained on, "bank" (its kernels) and the "machine".
    """

    key: str
    status: str
    reason: str = ""
    run: str = ""  # in the store
    steps: int = 0
    svm_solves: int = 0
    seconds: float = 0.0
    objective: float = math.nan
    gap: float = math.nan
    kernels: int = 0  # in use
    results: Mapping[str, Any] = field(default_factory=dict)
    unkept: str = ""  # why the store has not kept it

    @classmethod
    def of(cls, key: str, trace: Trace, results: Mapping[str, Any], run: str = "") -> MemberOutcome:
        """Return the outcome that a trace which has ended tells."""
        if not len(trace):
            return cls(key, trace.status, trace.reason, run, results=results)
        end = result_at(trace)
        numbers = (end.iterations, end.svm_solves, end.seconds, end.objective, end.gap, end.active)
        return cls(key, trace.status, trace.reason, run, *numbers, results)

    @classmethod
    def stored(cls, run: StoredRun) -> MemberOutcome:
        """Return the outcome that a store knows."""
        numbers = (run.steps, run.svm_solves, run.seconds, run.objective, run.gap, run.active)
        kinds = {name: str if name in ("machine", "score_label") else (int, float) for name in run.results}
        results = {name: value for name, value in run.results.items() if isinstance(value, kinds[name])}
        return cls(run.member, run.status, run.reason, run.id, *numbers, {"machine": run.machine.id, **results})

    @property
    def failed(self) -> bool:
        """Whether it has no result, and is not repeated unless asked."""
        return self.status == "failed"

    @property
    def done(self) -> bool:
        """Whether it needs no repetition."""
        return self.status in DONE

    @property
    def fits(self) -> float:
        """CPU time in fits of one SVM with the mean kernel."""
        one = self.results.get("fit_seconds", math.nan)
        return self.seconds / one if one else math.nan
