"""The data of the tab Stopping: replays, the number that the rule watches, and how far steps are above the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mklviz.contract import Array, Iterate
from mklviz.engine import Measured, Replay, measured
from mklviz.record import Trace
from mklviz.record.summary import Reference
from mklviz.views.lab.lab_charts import Bar, LabCurve
from mklviz.views.lab.rules import judged
from mklviz.views.look.palette import RunStyle

__all__ = ["Judgement", "judge"]

MOST_POINTS = 400  # of a curve
HEAVIEST = 10  # kernels drawn


@dataclass(frozen=True, eq=False)  # arrays are not simply equal or not
class Judgement:
    """A rule on all runs of a race.

    Distances are above the best bound of all runs, or above the least objective where there is no bound.
    """

    traces: Mapping[str, Trace]
    rule: Measured
    replays: Mapping[str, Replay]
    measures: Mapping[str, Array]  # the number that the rule watches, at every step
    own: Mapping[str, Array]  # how far above the optimum each step was
    best: Mapping[str, Array]  # and the best step until there
    reference: Reference  # the best that is known of the problem

    @property
    def silent(self) -> frozenset[str]:
        """Keys of the runs that do not report what the rule looks at."""
        return frozenset(key for key, values in self.measures.items() if np.isnan(values).all())

    def seen(self, styles: Mapping[str, RunStyle]) -> list[LabCurve]:
        """Return the number that the rule watches in each run, with a mark where it fires."""
        lines = []
        for key, values in self.measures.items():
            end = self.replays[key]
            first = self.traces[key].first_step
            mark = (float(first + end.step), float(values[end.step])) if end.verdict is not None else None
            lines.append(_line(styles[key], values, mark, first))
        return lines

    def truth(self, styles: Mapping[str, RunStyle]) -> list[LabCurve]:
        """Return how far above the optimum each run was, at each step and faint, and at best until there."""
        lines = []
        for key, trace in self.traces.items():
            own, end, first = self.own[key], self.replays[key], trace.first_step
            mark = (float(first + end.step), float(own[end.step])) if end.verdict is not None else None
            lines += [_line(styles[key], own, None, first, behind=True)]
            lines += [_line(styles[key], self.best[key], mark, first)]
        return lines

    def bars(self, key: str) -> list[Bar]:
        """Return the weights that a run would have returned beside those of the best solution that is known."""
        end = self.replays[key]
        best = min(self.traces.values(), key=lambda trace: trace.best.objective)
        shares = [_shares(step.weights) for step in (end.best.iterate, best.best, end.last.iterate)]
        heaviest = np.argsort(-np.max(shares, axis=0), kind="stable")[:HEAVIEST]
        names = best.kernel_names
        return [Bar(names[k], *(float(of[k]) for of in shares)) for k in heaviest if max(of[k] for of in shares) > 0.0]


def judge(
    traces: Mapping[str, Trace],
    rule: Measured,
    score: Callable[[Iterate], float] | None,
    before: Judgement | None = None,
) -> Judgement:
    """Replay a rule on all runs of a race; what it looks at may be known from the judgement `before`."""
    reference = Reference.of(traces.values())
    zero = reference.bound if reference else reference.objective  # what distances are from
    scale = abs(reference.objective) or math.nan
    own = {key: (trace.objective - zero) / scale for key, trace in traces.items()}
    best = {key: np.fmin.accumulate(values) for key, values in own.items()}
    if before is not None and before.traces == traces and type(before.rule) is type(rule):
        measures = before.measures  # no threshold changes them
    else:
        measures = {key: measured(trace, rule) for key, trace in traces.items()}
    return Judgement(traces, rule, judged(traces, rule, score), measures, own, best, reference)


def _line(
    style: RunStyle, values: Array, mark: tuple[float, float] | None, first: int = 0, behind: bool = False
) -> LabCurve:
    stride = max(-(-len(values) // MOST_POINTS), 1)
    steps = sorted({*range(0, len(values), stride), *range(len(values) - 1, len(values))})
    dash = "solid" if behind else style.dash
    drawn = [float(values[t]) for t in steps]
    return LabCurve(style.label, [first + t for t in steps], drawn, style.colour, dash, behind, mark, style.marker)


def _shares(weights: Array) -> Array:
    total = float(weights.sum())
    return weights / total if total > 0.0 else weights
