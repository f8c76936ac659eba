"""What one step of a solver did on a slice: its cuts, level, arrow and trials, recomputed from the trace.

    J(d) >= D_loss(beta_j) - 1/2 beta_j'K_d beta_j = c_j(d)      for whatever dual variables step j has left behind

On a slice c_j is linear in the shares p of its corners, so that its values at the corners say all. SILP goes to the
lowest point of max_j c_j, Level to the nearest point where no c_j exceeds its level.

References: Sonnenburg, Rätsch, Schäfer, Schölkopf, JMLR 7 (2006), section 2.3; Xu, Jin, King, Lyu, NIPS 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mklviz.analysis.weight_map import Slice
from mklviz.contract import Array, Iterate
from mklviz.engine import Race
from mklviz.problem import Problem
from mklviz.record import Trace


class Cuts:
    """The values of cuts at the corners (k, m) of a slice, for a `problem` with weights on the simplex."""

    def __init__(self, problem: Problem, corners: Array) -> None:
        self._problem, self._corners = problem, corners
        self._kernels: list[Array] = []
        self._known: dict[str, list[Array]] = {}

    def up_to(self, last: int, key: str, trace: Trace) -> list[Array]:
        """Return the values of the cuts of a run's steps up to one; those of the run of a `key` are computed once."""
        known = self._known.setdefault(key, [])
        known += [self.of(trace[t].dual) for t in range(len(known), last + 1)]
        return known[: last + 1]

    def of(self, dual: Array) -> Array:
        """Return the cut's values at the corners, (k,)."""
        loss, y = self._problem.loss, self._problem.y
        signed = loss.signed(dual, y)
        norms = np.array([float(np.vdot(signed, image)) for image in self._images(signed)])
        return loss.dual_value(dual, y) - 0.5 * norms

    def _images(self, signed: Array) -> list[Array]:
        bank = self._problem.bank
        if bank.access != "matrix":
            return [bank.apply(corner, signed) for corner in self._corners]
        if not self._kernels:  # formed once, as every step asks for them
            self._kernels = [bank.combine(corner) for corner in self._corners]
        return [kernel @ signed for kernel in self._kernels]


def cuts_known(race: Race) -> bool:
    """Return whether the cuts of solvers that work on them can be computed."""
    return race.facts.on_simplex and not race.missing


def envelope(cuts: Array, shares: Array) -> Array:
    """Return the model max_j c_j (P,) at shares (P, k), from the cuts' values at the corners (J, k)."""
    return np.asarray((shares @ cuts.T).max(axis=1))


def lowest(cuts: Array) -> tuple[float, float]:
    """Return where on a segment the model of `cuts` (J, 2) is least, as a share of the first corner, and how low."""
    slopes, heights = cuts[:, 0] - cuts[:, 1], cuts[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = (heights[None] - heights[:, None]) / (slopes[:, None] - slopes[None])
    candidates = np.unique(np.concatenate([[0.0, 1.0], meets[(meets > 0.0) & (meets < 1.0)]]))
    values = envelope(cuts, np.stack([candidates, 1.0 - candidates], axis=1))
    best = int(values.argmin())
    return float(candidates[best]), float(values[best])


def level_interval(cuts: Array, level: float) -> tuple[float, float] | None:
    """Return the shares of the first corner between which no cut (J, 2) exceeds the level; None if there are none."""
    shares = level_polygon(cuts, level)[:, 0]
    return (float(shares.min()), float(shares.max())) if len(shares) else None


def level_polygon(cuts: Array, level: float) -> Array:
    """Return the corners, as shares (p, k), of the part of a segment or triangle where no cut (J, k) is higher."""
    k = np.shape(cuts)[1]
    polygon = list(np.eye(k))
    for cut in cuts:
        polygon = _clipped(polygon, np.asarray(cut) - level)
    return np.array(polygon).reshape(-1, k)


def _clipped(polygon: Sequence[Array], excess: Array) -> list[Array]:
    """Return the part of a polygon where ``excess'p <= 0`` (Sutherland and Hodgman, 1974)."""
    corners: list[Array] = []
    for before, here in zip([*polygon[-1:], *polygon[:-1]], polygon, strict=True):
        was, now = float(excess @ before), float(excess @ here)
        if (was > 0.0) != (now > 0.0):
            corners.append(before + was / (was - now) * (here - before))
        if now <= 0.0:
            corners.append(here)
    return corners


def edge(cut: Array, level: float) -> Array:
    """Return the ends, as shares (2, 3), of the line in a triangle where a cut (3,) meets the level; (0, 3) if none."""
    ends, excess = [], np.asarray(cut) - level
    for one, other in ((0, 1), (1, 2), (2, 0)):
        if (excess[one] > 0.0) != (excess[other] > 0.0):
            share = excess[one] / (excess[one] - excess[other])
            ends.append((1.0 - share) * np.eye(3)[one] + share * np.eye(3)[other])
    return np.array(ends).reshape(-1, 3)


@dataclass(frozen=True)
class StepFacts:
    """The facts of one step; None where its solver has no such thing."""

    level: float | None  # no cut exceeds it at the weights the step led to
    reference: float | None  # what the objective of the next trial is compared with
    share: float | None  # share of the full move that was taken, the first trial having been the whole of it
    trials: tuple[tuple[float, float], ...]  # of the line search: where along the move, from 0 to 1, and the value


def facts_of(iterate: Iterate) -> StepFacts:
    """Return the facts of a step."""
    level, reference, share = (_number(iterate, name) for name in ("level", "reference_value", "share"))
    return StepFacts(level, reference, share, _trials(iterate))


def keeps_cuts(steps: Sequence[Iterate]) -> bool:
    """Whether a solver works on cuts; only its second step tells."""
    return len(steps) > 1 and _number(steps[1], "cuts") is not None


def _number(iterate: Iterate, name: str) -> float | None:
    value = iterate.facts.known().get(name)
    return float(value) if isinstance(value, (int, float)) else None


def _trials(iterate: Iterate) -> tuple[tuple[float, float], ...]:
    """Read the text of `mklviz.solvers._words`; any other text of a file means no trials."""
    words = str(iterate.facts.known().get("trials", ""))
    try:
        pairs = [tuple(map(float, pair.split())) for pair in words.split(";")] if words else []
    except ValueError:
        return ()
    known = all(len(pair) == 2 and all(map(math.isfinite, pair)) for pair in pairs)
    return tuple((pair[0], pair[1]) for pair in pairs) if known else ()


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
    refused: list[Place] = field(default_factory=list)  # trials that were not low enough, with the solver's value
    passed: list[Place] = field(default_factory=list)  # those that were; the last of them was taken


def step_of(steps: Sequence[Iterate], map_: Slice, cuts: Sequence[Array], height: Height) -> SegmentStep:
    """Return the last of `steps` as a picture.

    `steps`: all up to the one that is shown; `cuts`: those of the same steps, where the solver works on cuts; else
    empty; `height`: the objective at a share, or None where it is not known yet.
    """
    points = [(float(map_.shares(step.weights)[0]), step.objective) for step in steps]
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
