"""Is it a kernel, and are these its derivatives? Asked at some points and some d before a parametric kernel runs.

K(d) = K(d)',   K(d) >= 0,   the same in parts as in one piece
the slope of v'K(d)v along u is u'forms,    for single parameters and for all of them together, see `Line`
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklviz.context import checkpoint
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import check_symmetric
from mklviz.kernels.parametrizations._kernel import ParametricKernel, asked_forms, asked_values, names_of, shown
from mklviz.typing import Array

_POINTS = 32  # samples that are looked at
_TRIALS = 6  # parameter vectors; the last half of them with zeros
_SINGLE = 24  # parameters whose derivative is compared
_UNSEEN = 1e-10  # of v'K(d)v, moving a parameter by its own size: differences are no better than their rounding
_ROUNDING = 1e-14  # of a sum of products, relative to the sum of their sizes
_AGREEMENT = 1e-4  # relative disagreement that differences may cause; a wrong factor or term is far larger
_SURE = 4.0  # times the spread that a few values show
_STEPS = (1e-4, 1e-6, 1e-7, 1e-2)  # shares of the parameters: phi curves at long ones, and short ones show its rounding
_JIGGLE = 1e-12  # share of the parameters by which they are changed to see how much rounding matters
_SHRINKINGS = 12  # tenths of tenths at which points are looked for that are alike
_ALIKE = 1e-3  # of the largest value: two points with a larger one are alike
_SAME = 1e-8  # relative disagreement of values and sums that should be equal


def check_names(kernel: ParametricKernel, features: Sequence[str]) -> list[str]:
    """Return the names of the parameters, or raise `KernelError` if there are none or two are alike."""
    names = names_of(kernel, features)
    if not names or len(set(names)) < len(names):
        raise KernelError(
            f"The {kernel.label} must name its parameters, each differently, but it names {len(names)},"
            f" {len(set(names))} of them different."
        )
    return names


def check_kernel(kernel: ParametricKernel, points: Array, names: Sequence[str]) -> None:
    """Raise `KernelError`, with the numbers, unless values and forms are what `ParametricKernel` asks for."""
    rng, m = np.random.default_rng(0), len(names)
    some = points[np.sort(rng.permutation(len(points))[:_POINTS])]
    for trial in range(_TRIALS):
        weights = 10.0 ** (trial % 3 - 1) / m * rng.exponential(size=m)
        if trial >= _TRIALS // 2:
            weights[rng.random(m) < 0.5] = 0.0
        if trial % 3 == 0:
            weights = _telling(kernel, some, weights)
        _check_values(kernel, some, weights)
        v = rng.normal(size=len(some))
        _Slopes(kernel, some, weights, v).check(rng, names)


def _telling(kernel: ParametricKernel, points: Array, weights: Array) -> Array:
    """Return the parameters, so much smaller that points are alike: where all differ, derivatives are zero."""
    for shrunk in weights * 0.1 ** np.arange(_SHRINKINGS)[:, None]:
        matrix = np.abs(asked_values(kernel, points, points, shrunk))
        if (matrix - np.diag(matrix.diagonal())).max() > _ALIKE * matrix.max():
            return np.asarray(shrunk)
    return weights


class _Slopes:
    """The derivatives of phi(d) = v'K(d)v at one d, beside 2 D(t) - D(2t), where D(t) = (phi(d + t u) - phi(d)) / t."""

    def __init__(self, kernel: ParametricKernel, points: Array, weights: Array, v: Array) -> None:
        self._kernel, self._points, self._weights, self._v = kernel, points, weights, v
        matrix = np.abs(asked_values(kernel, points, points, weights))
        size = float(np.abs(v) @ matrix @ np.abs(v))
        self._units = np.maximum(weights, float(weights.mean()) or 1e-3 / len(weights))
        # rounding of products of the data, or what no difference could show
        floor = _ROUNDING * float(np.abs(v) @ np.minimum(matrix, 1.0) @ np.abs(v)) * float((points**2).sum(1).max())
        self._slack = floor + _UNSEEN * size / self._units
        self._slopes, self._terms = _check_forms(kernel, points, weights, np.outer(v, v), self._slack)
        self._units = np.minimum(
            self._units, size / np.maximum(self._terms, 1e-9 * size)
        )  # further, phi may be another
        self._noise = _SURE * (_ROUNDING * size + self._spread())

    def _phi(self, weights: Array) -> float:
        checkpoint()
        return float(self._v @ asked_values(self._kernel, self._points, self._points, weights) @ self._v)

    def _spread(self) -> float:
        """Return how far apart values are at parameters that are nearly the same, and none of them zero."""
        moves = np.random.default_rng(0).uniform(0.0, _JIGGLE, size=(4, len(self._weights))) * self._units
        return float(np.ptp([self._phi(self._weights + move) for move in [0.0 * self._weights, *moves]]))

    def check(self, rng: np.random.Generator, names: Sequence[str]) -> None:
        """Raise `KernelError` unless single parameters, and all of them together, have the slopes that are seen."""
        m, every = len(names), np.diag(self._units)
        together = self._units * rng.uniform(0.5, 1.5, size=(2, m))
        wrong = self._wrong(np.vstack([every[rng.permutation(m)[:_SINGLE]], together]))
        if not wrong.any():
            return
        alone, where = self._wrong(every), f"all {m} parameters together, along one direction,"
        direction = together[int(wrong[-2:].argmax())]
        if alone.any():
            k = int(alone.argmax())
            direction, where = every[k] / self._units[k], f"the parameter {names[k]}"
        unit = float(self._units @ direction / (direction @ direction))
        seen = self._seen(unit * direction[None], _STEPS[1])[0] / unit
        raise KernelError(
            f"The derivatives of the {self._kernel.label} do not fit its values: at d = {shown(self._weights)},"
            f" differences of v'K(d)v in {where} give the slope {seen:.6g}, but its forms say"
            f" {float(self._slopes @ direction):.6g}."
        )

    def _wrong(self, directions: Array) -> Array:
        """Return by how much differences miss what the forms say along each direction, at the step that suits best."""
        sizes, expected = np.abs(directions), directions @ self._slopes
        best = np.full(len(directions), np.inf)
        for step in _STEPS:
            seen = self._seen(directions, step)
            allowed = _AGREEMENT * (np.abs(seen) + np.abs(expected) + 0.01 * sizes @ self._terms) + sizes @ self._slack
            best = np.fmin(best, np.abs(seen - expected) - allowed - self._noise / step)
            if (best <= 0.0).all():
                break
        return np.maximum(best, 0.0)

    def _seen(self, directions: Array, step: float) -> Array:
        """Return the slopes that differences show, without what they err by in proportion to the step."""
        from scipy.optimize import approx_fprime  # a part of SciPy that no solve of other kernels needs

        def phi(t: Array) -> float:
            return self._phi(self._weights + t @ directions)

        once, twice = (approx_fprime(np.zeros(len(directions)), phi, k * step) for k in (1, 2))
        return np.asarray(2.0 * once - twice)


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
