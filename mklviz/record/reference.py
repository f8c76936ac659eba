"""How far objectives lie above the best bound that any of several runs has proved: (P_t - max D) / |min P|.

This number still separates runs that all look optimal, and it falls to zero for every run that reaches the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mklviz.record.trace import Trace

__all__ = ["Reference"]


@dataclass(frozen=True)
class Reference:
    """The best that is known of a problem; nan where nothing is."""

    bound: float = math.nan  # the highest lower bound on the optimum
    objective: float = math.nan  # the least objective

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> Reference:
        """Return the best of runs on one problem, as far as they have come."""
        begun = [trace for trace in traces if len(trace)]
        bounds = [trace.best_bound.lower_bound for trace in begun]
        objectives = [trace.best.objective for trace in begun]
        return cls(
            max(filter(math.isfinite, bounds), default=math.nan),
            min(filter(math.isfinite, objectives), default=math.nan),
        )

    def __bool__(self) -> bool:
        return math.isfinite(self.bound) and math.isfinite(self.objective) and self.objective != 0.0

    def above(self, objective: float) -> float:
        """Return how far an objective lies above the bound, as a share of the least objective; nan if unknown."""
        return (objective - self.bound) / abs(self.objective) if self else math.nan
