"""Stop rules on recordings: where each would have fired, the number it watches, how far steps are above the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mklviz.analysis.curves import Bar, RunCurve, heaviest_bars, thinned
from mklviz.contract import Array, Iterate
from mklviz.engine import (
    KKT,
    Gap,
    IterateGap,
    Measured,
    ModelGap,
    ObjectiveChange,
    ProjectedGradient,
    Replay,
    WeightChange,
    measured,
    replay,
)
from mklviz.recipe.parsing import show_number, show_percent
from mklviz.record import Trace
from mklviz.record.summary import Reference, best_of
from mklviz.record.weights import scaled

DIGITS = (*(float(f"{digit}e{power}") for power in range(-6, 0) for digit in (1, 2, 5)), 1.0)  # thresholds offered


@dataclass(frozen=True)
class Rule:
    """A rule as it is offered."""

    title: str
    make: Callable[[float], Measured]  # returns the rule with a threshold
    usual: float  # the threshold to begin with, one of `DIGITS`
    why: str  # the number that it watches, and what that proves
    share: bool = True  # whether the threshold is a share, written in per cent


RULES = (
    Rule(
        "Duality gap of the run",
        Gap,
        1e-2,
        "The best objective minus the best lower bound so far. It never rises, and it is a proof.",
    ),
    Rule(
        "Duality gap of the iterate",
        IterateGap,
        1e-2,
        "The gap of the last weights and dual variables alone, SimpleMKL's and SpicyMKL's rule. It is proved, and"
        " comes late where a method jumps about.",
    ),
    Rule(
        "Gap of the cutting planes",
        ModelGap,
        1e-2,
        "What the cutting planes still promise: SILP's and Level's own rule. Other methods have no such model.",
    ),
    Rule(
        "Change of the weights",
        WeightChange,
        1e-2,
        "The largest change of any kernel weight, a rule of SimpleMKL's program. It proves nothing: short"
        " steps look like the end.",
        share=False,
    ),
    Rule(
        "Change of the objective",
        ObjectiveChange,
        1e-3,
        "By how much of it the last step changed the objective. It proves nothing: a step that failed changes nothing.",
    ),
    Rule(
        "Optimality conditions",
        KKT,
        5e-2,
        "How far the optimality conditions in the kernel weights are from holding, SimpleMKL's rule. It needs the"
        " slopes to be right, and so exact SVMs.",
    ),
    Rule(
        "Projected gradient",
        ProjectedGradient,
        1e-3,
        "The slope that is left, relative to the objective, the rule of SPG-GMKL. Only SPG and PGD report it.",
    ),
)


def threshold_text(rule: Rule, value: float) -> str:
    """Return a threshold in words: "0.5 %", or "0.005" where it is no share."""
    return show_percent(float(f"{value:.3g}")) if rule.share else show_number(float(f"{value:.3g}"))


@dataclass(frozen=True, eq=False)  # arrays are not simply equal or not
class Judgement:
    """A rule on all runs of a race; distances are above the best bound of all, or else above the least objective."""

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

    def seen(self) -> list[RunCurve]:
        """Return the number that the rule watches in each run, with a mark where it fires."""
        return [self._curve(key, values, fired=True) for key, values in self.measures.items()]

    def truth(self) -> list[RunCurve]:
        """Return how far above the optimum each run was, at each step and faint, and at best until there."""
        faint = [replace(self._curve(key, values), behind=True) for key, values in self.own.items()]
        return [*faint, *(self._curve(key, self.best[key], fired=True, at=self.own[key]) for key in self.traces)]

    def _curve(self, key: str, values: Array, fired: bool = False, at: Array | None = None) -> RunCurve:
        """Return values over the steps of a run, with a mark where the rule `fired`, at another height if need be."""
        first, end = self.traces[key].first_step, self.replays[key]
        steps = thinned(len(values))
        height = float((values if at is None else at)[end.step])
        mark = (float(first + end.step), height) if fired and end.verdict is not None else None
        return RunCurve(key, [first + t for t in steps], [float(values[t]) for t in steps], mark=mark)

    def bars(self, key: str) -> list[Bar]:
        """Return the weights that a run would have returned beside those of the best solution that is known."""
        end = self.replays[key]
        best = best_of(self.traces.values())
        steps = end.best.iterate, best.best, end.last.iterate
        return heaviest_bars(best.kernel_names, *(scaled(step.weights) for step in steps))


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
    replays = {key: replay(trace, rule, traces.values(), score) for key, trace in traces.items()}
    return Judgement(traces, rule, replays, measures, own, best, reference)
