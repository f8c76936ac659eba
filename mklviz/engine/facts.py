"""What figures and tabs say of the problem of a race: of one that is posed, or as far as recorded steps tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.problem import Problem, Simplex
from mklviz.record.trace import Trace
from mklviz.typing import Array

__all__ = ["ProblemFacts"]

_ON_SIMPLEX = 1e-6  # by which rounding may move the sum of the weights from one


@dataclass(frozen=True)
class ProblemFacts:
    """Facts that need no data.

    `names`: of what has weights, a `noun` each; `no_bound`: why there is no lower bound, ""; `signed`: whether
    objectives fall below zero; `on_simplex`: whether the weights sum to one; `project`: returns the allowed weights
    (m,) nearest to others.
    """

    names: Sequence[str]
    noun: str = "kernel"
    no_bound: str = ""
    signed: bool = False
    on_simplex: bool = False
    project: Callable[[Array], Array] = Simplex().project

    @property
    def m(self) -> int:
        """Number of weights."""
        return len(self.names)

    @classmethod
    def of(cls, problem: Problem) -> ProblemFacts:
        """Return those of a problem."""
        r = problem.regularizer
        return cls(problem.bank.names, problem.noun, problem.no_bound, not r.conjugated, r.on_simplex, r.project)

    @classmethod
    def recorded(cls, traces: Iterable[Trace]) -> ProblemFacts:
        """Return what the steps of runs on one problem tell; one of the runs has a step."""
        begun = [trace for trace in traces if len(trace)]
        first, m = begun[0], len(begun[0].final.weights)
        names = first.kernel_names if len(first.kernel_names) == m else [f"kernel {k + 1}" for k in range(m)]
        bounded = any(np.isfinite(trace.best_bound.lower_bound) for trace in begun)
        no_bound = "" if bounded else "No lower bound was recorded, hence no gap."
        on_simplex = all(abs(trace.best.weights.sum() - 1.0) <= _ON_SIMPLEX for trace in begun)
        signed = any(trace.best.objective <= 0.0 for trace in begun)
        project = Simplex().project if on_simplex else lambda weights: np.maximum(weights, 0.0)
        return cls(names, "kernel", no_bound, signed and not on_simplex, on_simplex, project)
