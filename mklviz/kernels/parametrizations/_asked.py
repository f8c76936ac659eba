"""What a parametric kernel returns, as arrays of the right shape: a person's own may return anything.

Shapes are checked at every call, as blocks differ in size and the numerics in d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mklviz.errors import KernelError, MklvizError
from mklviz.kernels.cross import numbers
from mklviz.kernels.parametrizations._kernel import Array, ParametricKernel

__all__ = ["GuardedKernel", "asked_forms", "asked_slopes", "asked_values", "shown"]


def shown(weights: Array) -> str:
    """Return the first parameters as text."""
    return "(" + ", ".join(f"{value:.4g}" for value in weights[:4]) + (", …)" if len(weights) > 4 else ")")


_COUNT = ". Its names must be as many as its parameters; if they are, the mistake is in its own code."


class GuardedKernel(ParametricKernel):
    """A kernel whose errors of any kind become sentences, for the first time that it is asked."""

    def __init__(self, kernel: ParametricKernel) -> None:
        self._kernel = kernel
        self.label = kernel.label  # type: ignore[misc]

    def names(self, features: Sequence[str]) -> Sequence[str]:
        with self._told(f"The names of the {self.label}, given those of {len(features)} features,"):
            return self._kernel.names(features)

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        with self._told(self._what("values", left, right, weights), _COUNT):
            return self._kernel.values(left, right, weights)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        with self._told(self._what("forms", left, right, weights), _COUNT):
            return self._kernel.forms(left, right, weights, charges)

    def _what(self, name: str, left: Array, right: Array, weights: Array) -> str:
        return (
            f"The {name} of the {self.label}, asked for {len(left)} x {len(right)} points of {left.shape[1]} features"
            f" and {len(weights)} parameters,"
        )

    @contextmanager
    def _told(self, what: str, advice: str = "") -> Iterator[None]:
        try:
            yield
        except MklvizError:
            raise
        except Exception as error:
            raise KernelError(f"{what} raised {type(error).__name__}: {error}{advice}") from error


def asked_values(kernel: ParametricKernel, left: Array, right: Array, weights: Array) -> Array:
    """Return the values between two sets of points, or raise `KernelError` unless they are such an array."""
    with np.errstate(over="ignore", invalid="ignore"):  # of which a sentence tells
        answer = kernel.values(left, right, weights)
    what = f"The matrix of the {kernel.label} at d = {shown(weights)}"
    values, expected = _doubles(answer, what), (len(left), len(right))
    if values.shape != expected:
        raise KernelError(
            f"{what} must have shape {expected}, a value for each of the {len(left)} points on the left with each of"
            f" the {len(right)} on the right, but has {values.shape}."
        )
    return values


def asked_forms(kernel: ParametricKernel, left: Array, right: Array, weights: Array, charges: Array) -> Array:
    """Return the charged sums of the derivatives, (m,), or raise `KernelError` unless they are such an array."""
    with np.errstate(over="ignore", invalid="ignore"):
        answer = kernel.forms(left, right, weights, charges)
    what = f"The derivatives of the {kernel.label} at d = {shown(weights)}"
    forms = _doubles(answer, what)
    if forms.shape != weights.shape:
        raise KernelError(
            f"{what} must be {len(weights)} finite numbers, one for each parameter that it names, but are"
            f" {shown(np.atleast_1d(forms).ravel())}, of shape {forms.shape}."
        )
    return forms


def asked_slopes(
    kernel: ParametricKernel, points: tuple[Array, Array], weights: Array, charges: Array, names: Sequence[str]
) -> Array:
    """Return `asked_forms` between two sets of points, or say where a solver looked and they are no numbers."""
    forms = asked_forms(kernel, *points, weights, charges)
    if not np.isfinite(forms).all():
        k = int(np.argmin(np.isfinite(forms)))
        raise KernelError(
            f"The derivative of the {kernel.label} in the parameter {names[k]} is {forms[k]} at d = {shown(weights)},"
            f" where a solver looked and this parameter is {weights[k]:.4g}. Its forms must be finite wherever its"
            " values are: look for logarithms and quotients of values that have become zero."
        )
    return forms


def _doubles(answer: object, what: str) -> Array:
    """Return what a kernel gave as an array of doubles, if it is nothing that misleads."""
    if isinstance(answer, np.matrix):
        raise KernelError(
            f"{what} must be an array, but a numpy.matrix was given, whose * and ** are products of matrices: return"
            " numpy.asarray of it."
        )
    kind = getattr(answer, "dtype", None)
    if kind in (np.float16, np.float32):
        raise KernelError(
            f"{what} must be given in double precision (float64), but {kind} was given, which is too rough for the"
            " solvers: compute in float64 all the way, as what is lost does not come back when the result is converted."
        )
    return numbers(answer, what)  # type: ignore[arg-type]
