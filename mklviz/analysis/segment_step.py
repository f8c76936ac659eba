"""One step of a run with two kernels, recomputed from its trace: cuts, level set, arrow, trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mklviz.analysis.cuts import envelope, level_interval, lowest
from mklviz.analysis.step_facts import facts_of
from mklviz.analysis.weight_map import Slice
from mklviz.contract import Array, Iterate

__all__ = ["Place", "SegmentStep", "step_of"]

Place = tuple[float, float]
Height = Callable[[float], float | None]
_SHARES = np.linspace(0.0, 1.0, 129)


@dataclass(frozen=True)
class SegmentStep:
    """One step of a run; points are (share, height)."""

    points: list[Place]  # where the run has been, up to this step
    cuts: Sequence[Array] = ()  # each cut's values at shares 1 and 0; the last one is new
    model: list[Place] = field(default_factory=list)  # the upper envelope that led to this step, from left to right
    line: float | None = None  # the level or the threshold
    level_set: tuple[float, float] | None = None  # shares between which no cut exceeds the level
    arrow: tuple[Place, Place] | None = None
    # `refused`, `passed`: trials that were not low enough, and those that were, with the value that the solver found
    # there; the one that was taken is the last of them
    refused: list[Place] = field(default_factory=list)
    passed: list[Place] = field(default_factory=list)


def step_of(steps: Sequence[Iterate], ground: Slice, cuts: Sequence[Array], height: Height) -> SegmentStep:
    """Return the last of `steps` as a picture.

    `steps`: all up to the one that is shown; `cuts`: those of the same steps, where the solver works on cuts; else
    empty; `height`: the objective at a share, or None where it is not known yet.
    """
    points = [(float(ground.shares(step.weights)[0]), step.objective) for step in steps]
    if len(steps) < 2:
        return SegmentStep(points, cuts)
    if len(cuts):
        return _cut_step(steps, points, cuts)
    return _searched(steps, points, height)


def _cut_step(steps: Sequence[Iterate], points: list[Place], cuts: Sequence[Array]) -> SegmentStep:
    """Return a step of SILP, down to the model's lowest point, or of Level, across to its level set."""
    known = np.array(cuts[:-1])
    heights = envelope(known, np.stack([_SHARES, 1.0 - _SHARES], axis=1))
    model = list(zip(_SHARES.tolist(), heights.tolist(), strict=True))
    (before, left), (here, _), level = points[-2], points[-1], facts_of(steps[-1]).level
    if level is None:
        share, value = lowest(known)
        model = sorted([*model, (share, value)])
        return SegmentStep(points, cuts, model, arrow=((before, left), (share, value)))
    interval = level_interval(known, level)
    return SegmentStep(points, cuts, model, level, interval, ((before, level), (here, level)))


def _searched(steps: Sequence[Iterate], points: list[Place], height: Height) -> SegmentStep:
    """Return a step of a line search: its trials, and the threshold they were compared with."""
    facts, threshold = facts_of(steps[-1]), facts_of(steps[-2]).reference
    (before, left), (here, _) = points[-2:]
    tried = [(min(max(before + along * (here - before), 0.0), 1.0), value) for along, value in facts.trials]
    if threshold is None and tried:
        threshold = left  # a method without a threshold goes down at every step
    if not tried and facts.share is not None and 0.0 < facts.share < 1.0:  # a recording without trials
        whole = min(max(before + (here - before) / facts.share, 0.0), 1.0)
        high = height(whole)
        tried = [] if high is None else [(whole, high)]
        return SegmentStep(points, line=threshold, arrow=(points[-2], points[-1]), refused=tried)
    refused = [trial for trial in tried if threshold is not None and trial[1] > threshold]
    passed = sorted((trial for trial in tried if trial not in refused), key=lambda trial: -abs(trial[0] - here))
    return SegmentStep(points, line=threshold, arrow=(points[-2], points[-1]), refused=refused, passed=passed)
