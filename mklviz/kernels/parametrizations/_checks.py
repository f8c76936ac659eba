"""Is it a kernel, and are these its derivatives? Asked at some points and some d before a parametric kernel runs.

K(d) = K(d)',   K(d) >= 0,   the same in parts as in one piece
the slope of v'K(d)v along u is u'forms,    for single parameters and for all of them together, see `Line`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.context.cancelling import checkpoint
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import check_symmetric
from mklviz.kernels.parametrizations._asked import GuardedKernel, asked_forms, asked_values, shown
from mklviz.kernels.parametrizations._kernel import Array, ParametricKernel, names_of

__all__ = ["check_kernel", "check_names"]

_POINTS = 32  # samples that are looked at
_TRIALS = 6  # parameter vectors; the last half of them with zeros
_DIRECTIONS = 24  # parameters whose derivative is compared
_TOGETHER = 2  # directions in which all parameters move
_ROOM = 0.05  # parameters above this share of the usual one may move down: the longest step is 0.03 of it
_UNSEEN = 1e-10  # of v'K(d)v, moving a parameter by its own size: differences are no better than their rounding
_SHRINKINGS = 12  # tenths of tenths at which points are looked for that are alike
_ALIKE = 1e-3  # of the largest value: two points with a larger one are alike
_SAME = 1e-8  # relative disagreement of values and sums that should be equal


def check_names(kernel: ParametricKernel, features: Sequence[str]) -> list[str]:
    """Return the names of the parameters, or raise `KernelError` if there are none or two are alike."""
    names = names_of(GuardedKernel(kernel), features)
    if not names or len(set(names)) < len(names):
        raise KernelError(
            f"The {kernel.label} must name its parameters, each differently, but it names {len(names)},"
            f" {len(set(names))} of them different."
        )
    return names


def check_kernel(kernel: ParametricKernel, points: Array, names: Sequence[str]) -> None:
    """Raise `KernelError`, with the numbers, unless values and forms are what `ParametricKernel` asks for."""
    kernel, rng, m = GuardedKernel(kernel), np.random.default_rng(0), len(names)
    some = points[np.sort(rng.permutation(len(points))[:_POINTS])]
    for trial in range(_TRIALS):
        weights = 10.0 ** (trial % 3 - 1) / m * rng.exponential(size=m)
        if trial >= _TRIALS // 2:
            weights[rng.random(m) < 0.5] = 0.0
        if trial % 3 == 0:
            weights = _telling(kernel, some, weights)
        _check_values(kernel, some, weights)
        v = rng.normal(size=len(some))
        slopes = _Slopes(kernel, some, weights, v)
        for k in rng.permutation(m)[:_DIRECTIONS]:
            slopes.check(int(k), names)
        for _ in range(_TOGETHER if m > 1 else 0):
            slopes.check_together(rng, names)


def _telling(kernel: ParametricKernel, points: Array, weights: Array) -> Array:
    """Return the parameters, so much smaller that points are alike: where all differ, derivatives are zero."""
    for shrunk in weights * 0.1 ** np.arange(_SHRINKINGS)[:, None]:
        matrix = np.abs(asked_values(kernel, points, points, shrunk))
        if (matrix - np.diag(matrix.diagonal())).max() > _ALIKE * matrix.max():
            return np.asarray(shrunk)
    return weights


class _Slopes:
    """The derivatives of v'K(d)v at one d, to be compared with differences."""

    def __init__(self, kernel: ParametricKernel, points: Array, weights: Array, v: Array) -> None:
        self._kernel, self._weights = kernel, weights
        self._line = Line(kernel, points, weights, v)
        # rounding of products of the data, or what no difference could show
        floor = ROUNDING * self._line.bounded * float((points**2).sum(1).max())
        self._units = np.maximum(weights, typical(weights))
        self._slack = floor + _UNSEEN * self._line.size / self._units
        self._told, self._terms = _check_forms(kernel, points, weights, np.outer(v, v), self._slack)

    def _disagrees(self, direction: Array) -> tuple[float, float] | None:
        """Return the slopes along a direction as seen and as told where they differ."""
        sizes = np.abs(direction)
        claim = Claim(float(self._told @ direction), float(self._terms @ sizes), float(self._slack @ sizes))
        seen = self._line.seen(direction, claim)
        return None if seen is None else (seen, claim.slope)

    def check(self, k: int, names: Sequence[str]) -> None:
        """Raise `KernelError` unless the derivative in one parameter is what differences show."""
        slopes = self._disagrees(self._units[k] * np.eye(1, len(self._weights), k)[0])
        if slopes is not None:
            self._refuse(f"the parameter {names[k]}", slopes[0] / self._units[k], self._told[k])

    def check_together(self, rng: np.random.Generator, names: Sequence[str]) -> None:
        """Raise `KernelError` unless a direction in which all parameters move has the slope that differences show."""
        usual, m = typical(self._weights), len(self._weights)
        direction = usual * rng.uniform(0.5, 1.5, size=m)
        direction[(self._weights > _ROOM * usual) & (rng.random(m) < 0.5)] *= -1.0
        slopes = self._disagrees(direction)
        if slopes is None:
            return
        self.check(self._culprit(direction), names)
        self._refuse(f"all {m} parameters together, along one direction,", *slopes)

    def _culprit(self, direction: Array) -> int:
        """Return one parameter of those that disagree, by halving them."""
        which = np.arange(len(direction))
        while len(which) > 1:
            left, right = np.array_split(which, 2)
            half = np.zeros_like(direction)
            half[left] = direction[left]
            which = left if self._disagrees(half) is not None else right
        return int(which[0])

    def _refuse(self, where: str, seen: float, claimed: float) -> None:
        raise KernelError(
            f"The derivatives of the {self._kernel.label} do not fit its values: at d = {shown(self._weights)},"
            f" differences of v'K(d)v in {where} give the slope {seen:.6g}, but its forms say {claimed:.6g}."
        )


def _check_values(kernel: ParametricKernel, points: Array, weights: Array) -> None:
    what = f"The matrix of the {kernel.label} at d = {shown(weights)}"
    matrix = asked_values(kernel, points, points, weights)
    size = check_symmetric(matrix, what, len(points))
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -_SAME * size * len(points):
        raise KernelError(
            f"{what} is not that of a kernel: it must be positive semidefinite, but has the eigenvalue"
            f" {smallest:.3g}, and {size:.3g} is its largest entry."
        )
    half = len(points) // 2
    apart = asked_values(kernel, points[:half], points[half:], weights)
    if np.abs(apart - matrix[:half, half:]).max(initial=0.0) > _SAME * size:
        raise KernelError(
            f"{what} depends on which points are asked for together: the {half} x {len(points) - half} values between"
            f" the first {half} and the others are not those of the whole matrix. The value for a pair of points must"
            " depend on these two alone."
        )


def _check_forms(
    kernel: ParametricKernel, points: Array, weights: Array, charges: Array, slack: Array
) -> tuple[Array, Array]:
    """Return the forms, which are finite and sums over pairs but for the slack, and how large their terms are."""
    what = f"The derivatives of the {kernel.label} at d = {shown(weights)}"

    def forms(left: Array, right: Array, some: Array) -> Array:
        return asked_forms(kernel, left, right, weights, some.copy())  # which it may overwrite, as in a run

    whole = forms(points, points, charges)
    if not np.isfinite(whole).all():
        raise KernelError(
            f"{what} must be {len(weights)} finite numbers, also where parameters are zero, but are {shown(whole)}."
        )
    half = len(points) // 2
    parts = [(slice(None, half), slice(None)), (slice(half, None), slice(None))]
    summed = sum((forms(points[i], points[j], charges[i, j]) for i, j in parts), np.zeros_like(whole))
    sizes = np.abs(forms(points, points, np.abs(charges)))
    apart = np.abs(summed - whole) - slack
    if (apart > _SAME * (np.abs(whole).max() + sizes.max())).any():
        k = int(apart.argmax())
        raise KernelError(
            f"{what} must be sums over pairs of points, but those of the first {half} points and of the others add up"
            f" to {summed[k]:.6g} for parameter {k + 1}, where all at once give {whole[k]:.6g}."
        )
    return whole, sizes


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
    """``v'K(d)v`` around one d, with the size of its terms and of its rounding.

    phi(t) = v'K(d + t u)v,     D(t) = (phi(t) - phi(-t)) / 2t,     or (4 phi(t) - phi(2t) - 3 phi(0)) / 2t at a border

    D(t) is off by what phi curves, which shrinks with t, and by rounding R / t, which grows. What both come to is seen
    from two neighbouring steps; a right slope agrees with some D(t) to what is left at the best step, a wrong one with
    none.

    Reference: Press, Teukolsky, Vetterling, Flannery, Numerical Recipes (3rd ed., 2007), section 5.7, for the best
    step; More, Wild, Estimating computational noise, SIAM J. Sci. Comput. 33 (2011), for R.
    """

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
