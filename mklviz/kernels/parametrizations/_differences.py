"""Is this the slope of v'K(d)v along a direction u? Asked with several steps, as one that suits every kernel is not.

phi(t) = v'K(d + t u)v,     D(t) = (phi(t) - phi(-t)) / 2t,     or (4 phi(t) - phi(2t) - 3 phi(0)) / 2t at a border

D(t) is off by what phi curves, which shrinks with t, and by rounding R / t, which grows. What both come to is seen from
two neighbouring steps; a right slope agrees with some D(t) to what is left at the best step, a wrong one with none.

Reference: Press, Teukolsky, Vetterling, Flannery, Numerical Recipes (3rd ed., 2007), section 5.7, for the best step;
More, Wild, Estimating computational noise, SIAM J. Sci. Comput. 33 (2011), for R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.context.cancelling import checkpoint
from mklviz.kernels.parametrizations._asked import asked_values
from mklviz.kernels.parametrizations._kernel import Array, ParametricKernel

__all__ = ["ROUNDING", "Claim", "Line", "typical"]

ROUNDING = 1e-14  # of a sum of products, relative to the sum of their sizes
_AGREEMENT = 1e-4  # relative disagreement that differences may cause; a wrong factor or term is far larger
_FIRST = 1e-4  # the step that suits most kernels, as a share of the parameters
_STEPS = 10.0 ** np.arange(-2, -12, -1)  # where it does not: from kernels that hardly curve to those that are steep
_JIGGLES = 4  # evaluations that show how much rounding matters
_JIGGLE = 3e-15  # by which parameters are changed for it: some last digits
_SURE = 2.0  # times the best step's own uncertainty


def typical(weights: Array) -> float:
    """Return the size of a parameter, also where all are zero."""
    return float(weights.mean()) or 1e-3 / len(weights)


@dataclass(frozen=True)
class Claim:
    """What the forms say of one direction."""

    slope: float
    terms: float  # the sum of the sizes of what was summed
    slack: float  # how far rounding may take the slope


class Line:
    """``v'K(d)v`` around one d, with the size of its terms and of its rounding."""

    def __init__(self, kernel: ParametricKernel, points: Array, weights: Array, v: Array) -> None:
        self._kernel, self._points, self._weights, self._v = kernel, points, weights, v
        matrix = np.abs(asked_values(kernel, points, points, weights))
        self.size = float(np.abs(v) @ matrix @ np.abs(v))
        self.bounded = float(np.abs(v) @ np.minimum(matrix, 1.0) @ np.abs(v))
        self._noise = ROUNDING * self.size + self._spread()

    def _phi(self, weights: Array) -> float:
        checkpoint()
        return float(self._v @ asked_values(self._kernel, self._points, self._points, weights) @ self._v)

    def _spread(self) -> float:
        """Return how far apart values are at parameters that differ in their last digits alone."""
        rng = np.random.default_rng(0)
        moves = 1.0 + _JIGGLE * rng.uniform(-1.0, 1.0, size=(_JIGGLES, len(self._weights)))
        return float(np.ptp([self._phi(self._weights * move) for move in moves]))

    def slope(self, direction: Array, step: float) -> float:
        """Return the difference quotient along the direction, forward where a parameter would fall below zero."""
        move = step * direction
        ahead = self._phi(self._weights + move)
        if (self._weights >= move).all() and (self._weights >= -move).all():
            return (ahead - self._phi(self._weights - move)) / (2.0 * step)
        further, here = self._phi(self._weights + 2.0 * move), self._phi(self._weights)
        return (4.0 * ahead - further - 3.0 * here) / (2.0 * step)

    def seen(self, direction: Array, claim: Claim) -> float | None:
        """Return the slope that differences show if it contradicts the claim, else None."""
        first = self.slope(direction, _FIRST)
        if _excess(first, claim) <= self._noise / _FIRST:
            return None
        slopes = np.array([self.slope(direction, step) for step in _STEPS])
        unsure = self._unsure(slopes)
        excess = np.array([_excess(slope, claim) for slope in slopes])
        if np.isfinite(slopes).any() and np.nanmin(excess) <= _SURE * np.nanmin(unsure):
            return None
        return float(slopes[np.nanargmin(unsure)]) if np.isfinite(unsure).any() else first

    def _unsure(self, slopes: Array) -> Array:
        """Return how uncertain the slopes of all steps but the shortest are.

        Where the kernel changes within less than a step, slopes shrink as steps grow: two that differ by half of
        themselves say nothing, however small they are.
        """
        change, size = np.abs(np.diff(slopes)), np.maximum(np.abs(slopes[:-1]), np.abs(slopes[1:]))
        return np.where(change > 0.5 * size, np.inf, change + self._noise / _STEPS[:-1])


def _excess(seen: float, claim: Claim) -> float:
    """Return by how much a difference misses the claim beyond what is allowed."""
    allowed = _AGREEMENT * (abs(seen) + abs(claim.slope) + 0.01 * claim.terms) + claim.slack
    return abs(seen - claim.slope) - allowed
