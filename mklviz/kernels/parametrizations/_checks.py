"""Is it a kernel, and are these its derivatives? Asked at some points and some d before a parametric kernel runs.

K(d) = K(d)',   K(d) >= 0,   the same in parts as in one piece
(v'K(d + h e_k)v - v'K(d - h e_k)v) / 2h = v'(dK/dd_k)v,    forward differences where d_k = 0
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.build.checks import check_symmetric
from mklviz.kernels.cross import numbers
from mklviz.kernels.parametrizations._asked import shown
from mklviz.kernels.parametrizations._kernel import Array, ParametricKernel

__all__ = ["check_kernel", "check_names"]

_POINTS = 32  # samples that are looked at
_TRIALS = 6  # parameter vectors; the last half of them with zeros
_DIRECTIONS = 24  # parameters whose derivative is compared
_STEP = 1e-4  # of the differences, relative to the parameter
_AGREEMENT = 1e-4  # relative disagreement that differences may cause; a wrong factor or term is far larger
_ROUNDING = 1e-14  # of a sum of products, relative to the sum of their sizes
_SAME = 1e-8  # relative disagreement of values and sums that should be equal


def check_names(kernel: ParametricKernel, features: Sequence[str]) -> list[str]:
    """Return the names of the parameters, or raise `KernelError` if there are none or two are alike."""
    names = [str(name) for name in kernel.names(features)]
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
        _check_values(kernel, some, weights)
        v = rng.normal(size=len(some))
        told, sizes = _check_forms(kernel, some, weights, np.outer(v, v))
        for k in rng.permutation(m)[:_DIRECTIONS]:
            _check_slope(kernel, some, weights, v, (int(k), names[k]), (float(told[k]), float(sizes[k])))


def _check_values(kernel: ParametricKernel, points: Array, weights: Array) -> None:
    what = f"The matrix of the {kernel.label} at d = {shown(weights)}"
    matrix = numbers(kernel.values(points, points, weights), what)
    size = check_symmetric(matrix, what, len(points))
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -_SAME * size * len(points):
        raise KernelError(
            f"{what} is not that of a kernel: it must be positive semidefinite, but has the eigenvalue"
            f" {smallest:.3g}, and {size:.3g} is its largest entry."
        )
    half = len(points) // 2
    apart = numbers(kernel.values(points[:half], points[half:], weights), what)
    if (
        apart.shape != (half, len(points) - half)
        or np.abs(apart - matrix[:half, half:]).max(initial=0.0) > _SAME * size
    ):
        raise KernelError(
            f"{what} depends on which points are asked for together: the {half} x {len(points) - half} values between"
            f" the first {half} and the others, of shape {apart.shape}, are not those of the whole matrix. The value"
            " for a pair of points must depend on these two alone."
        )


def _check_forms(kernel: ParametricKernel, points: Array, weights: Array, charges: Array) -> tuple[Array, Array]:
    """Return the forms, whose shape is right and which are sums over pairs, and how large their terms are."""
    what = f"The derivatives of the {kernel.label} at d = {shown(weights)}"
    told = numbers(kernel.forms(points, points, weights, charges), what)
    if told.shape != weights.shape or not np.isfinite(told).all():
        raise KernelError(
            f"{what} must be {len(weights)} finite numbers, also where parameters are zero, but are"
            f" {shown(np.atleast_1d(told).ravel())}, of shape {told.shape}."
        )
    half = len(points) // 2
    parts = [(slice(None, half), slice(None)), (slice(half, None), slice(None))]
    summed = sum((kernel.forms(points[i], points[j], weights, charges[i, j]) for i, j in parts), np.zeros_like(told))
    sizes = np.abs(kernel.forms(points, points, weights, np.abs(charges)))
    apart = np.abs(summed - told)
    if (apart > _SAME * (np.abs(told).max() + sizes.max())).any():
        k = int(apart.argmax())
        raise KernelError(
            f"{what} must be sums over pairs of points, but those of the first {half} points and of the others add up"
            f" to {summed[k]:.6g} for parameter {k + 1}, where all at once give {told[k]:.6g}."
        )
    return told, sizes


def _check_slope(
    kernel: ParametricKernel,
    points: Array,
    weights: Array,
    v: Array,
    parameter: tuple[int, str],
    forms: tuple[float, float],
) -> None:
    """Compare one derivative of ``v'K(d)v`` with differences, forward ones where the parameter is zero."""
    (k, name), (told, terms) = parameter, forms
    step = _STEP * max(weights[k], float(weights.mean()), 1e-3 / len(weights))

    def form(multiple: float) -> float:
        moved = weights.copy()
        moved[k] += multiple * step
        return float(v @ kernel.values(points, points, moved) @ v)

    if weights[k] >= step:
        seen = (form(1.0) - form(-1.0)) / (2.0 * step)
    else:
        seen = (4.0 * form(1.0) - form(2.0) - 3.0 * form(0.0)) / (2.0 * step)
    size = float(np.abs(v) @ np.abs(kernel.values(points, points, weights)) @ np.abs(v))
    allowed = _AGREEMENT * (abs(seen) + abs(told) + 0.01 * terms) + _ROUNDING * size / step
    if not abs(seen - told) <= allowed:
        raise KernelError(
            f"The derivatives of the {kernel.label} do not fit its values: at d = {shown(weights)}, differences of"
            f" v'K(d)v in the parameter {name} give the slope {seen:.6g}, but its forms say {told:.6g}."
        )
