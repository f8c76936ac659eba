"""What cuts say on a slice: lines below the objective, their upper envelope, its lowest point and its level sets.

    J(d) >= D_loss(beta_j) - 1/2 beta_j'K_d beta_j = c_j(d)      for whatever dual variables step j has left behind

On a slice c_j is linear in the shares p of its corners, so that its values at the corners say all. Nothing but the
trace is needed. SILP goes to the lowest point of max_j c_j, Level to the nearest point where no c_j exceeds its level.

References: Sonnenburg, Rätsch, Schäfer, Schölkopf, JMLR 7 (2006), section 2.3; Xu, Jin, King, Lyu, NIPS 2008.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklviz.engine import Race
from mklviz.problem import Problem
from mklviz.typing import Array

__all__ = ["Cuts", "cuts_known", "edge", "envelope", "level_interval", "level_polygon", "lowest"]


class Cuts:
    """The values of cuts at the corners of a slice.

    `problem`: whose kernels are added, with weights on the simplex; `corners` (k, m).
    """

    def __init__(self, problem: Problem, corners: Array) -> None:
        self._problem, self._corners = problem, corners
        self._kernels: list[Array] = []

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
    low, high = 0.0, 1.0
    for at_one, at_zero in cuts:
        slope = at_one - at_zero
        if slope == 0.0:
            high = high if at_zero <= level else -1.0
        elif slope > 0.0:
            high = min(high, (level - at_zero) / slope)
        else:
            low = max(low, (level - at_zero) / slope)
    return (low, high) if low <= high else None


def level_polygon(cuts: Array, level: float) -> Array:
    """Return the corners, as shares (p, 3), of the part of a triangle where no cut (J, 3) exceeds the level."""
    polygon = list(np.eye(3))
    for cut in cuts:
        polygon = _clipped(polygon, np.asarray(cut) - level)
    return np.array(polygon).reshape(-1, 3)


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
