"""A kernel k_d(x, z) with m parameters d >= 0 of any meaning, and what methods that follow the gradient ask of it.

    values   k_d(x_i, z_j)                               for two sets of points
    forms    sum_ij P_ij  d k_d(x_i, z_j) / d d_k        for every k:  v'(dK_d/dd_k)v  where P = vv'

Both speak of pairs of points, so that they can be asked tile by tile, and between old points and new ones.

Reference: Varma, Babu, More generality in efficient multiple kernel learning (ICML 2009), section 3; Jain,
Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from mklviz.errors import KernelError, MklvizError
from mklviz.kernels.interface import numbers
from mklviz.typing import Array


class ParametricKernel(ABC):
    """Base class for a kernel with learned parameters, also one of your own.

    Define `names`, `values` and `forms`. `ParametricBank.build` compares them numerically and refuses, with the
    numbers, what is no kernel or does not fit together. They may be called from several threads at once.

    Attributes
    ----------
    label : str
        What people call it.

    Examples
    --------
    >>> class Cauchy(ParametricKernel):  # 1 / (1 + sum_k d_k (x_k - z_k)^2)
    ...     label = "Cauchy kernel"
    ...     def names(self, features):
    ...         return features
    ...     def values(self, left, right, weights):
    ...         return 1.0 / (1.0 + ((left[:, None] - right[None]) ** 2) @ weights)
    ...     def forms(self, left, right, weights, charges):
    ...         slopes = -charges * self.values(left, right, weights) ** 2
    ...         return np.einsum("ij,ijk->k", slopes, (left[:, None] - right[None]) ** 2)
    """

    label: ClassVar[str] = "kernel of your own"

    @abstractmethod
    def names(self, features: Sequence[str]) -> Sequence[str]:
        """Return the names of the m parameters, given those of the points' columns."""

    @abstractmethod
    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return ``k_d(left_i, right_j)``, (n_left, n_right), positive semidefinite for every d = weights >= 0.

        Parameters
        ----------
        left : (n_left, features) array
        right : (n_right, features) array
        weights : (m,) array
            The parameters d.
        """

    @abstractmethod
    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return ``sum_ij charges_ij d k_d(left_i, right_j) / d d_k`` for every parameter k, (m,).

        Parameters
        ----------
        left, right, weights
            As in `values`.
        charges : (n_left, n_right) array
        """


def names_of(kernel: ParametricKernel, features: Sequence[str]) -> list[str]:
    """Return the names of a kernel's parameters, or raise `KernelError` unless they are a list."""
    with _in_a_sentence(f"The names of the {kernel.label}, given those of {len(features)} features,"):
        names = kernel.names(features)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise KernelError(
            f"The names of the {kernel.label} must be a list of texts, one for each of its parameters, but"
            f" {names!r:.80} was given: write it as {[names or 'd']!r:.80} where there is one parameter."
        )
    return [str(name) for name in names]


# A sum of parametric kernels, k_d(x, z) = sum_t k_d(t)(x, z) where d(t) are the parameters of term t.


class SumOfKernels(ParametricKernel):
    """The sum of kernels, each with parameters of its own."""

    def __init__(self, kernels: Sequence[ParametricKernel], features: Sequence[str]) -> None:
        self.kernels = tuple(kernels)
        self.label = " + ".join(kernel.label for kernel in self.kernels)  # type: ignore[misc]
        self._ends = np.cumsum([len(names_of(kernel, features)) for kernel in self.kernels])

    def names(self, features: Sequence[str]) -> list[str]:
        """Return the terms' names with their labels, and with their places where labels are alike."""
        labels = [kernel.label for kernel in self.kernels]
        titles = [f"{label}, term {k}" if labels.count(label) > 1 else label for k, label in enumerate(labels, start=1)]
        terms = zip(titles, self.kernels, strict=True)
        return [f"{name} ({title})" for title, kernel in terms for name in names_of(kernel, features)]

    def _split(self, weights: Array) -> list[Array]:
        return np.split(weights, self._ends[:-1])

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return the sum of the terms' values."""
        total = np.zeros((len(left), len(right)))
        for kernel, some in zip(self.kernels, self._split(weights), strict=True):
            total += asked_values(kernel, left, right, some)
        return total

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return the charged sums of all terms' derivatives, one term after the other."""
        pairs = zip(self.kernels, self._split(weights), strict=True)
        return np.concatenate([asked_forms(kernel, left, right, some, charges.copy()) for kernel, some in pairs])


# What a parametric kernel returns, as arrays of the right shape: a person's own may return anything.
#
# Shapes are checked at every call, as blocks differ in size and the numerics in d.


def shown(weights: Array) -> str:
    """Return the first parameters as text."""
    return "(" + ", ".join(f"{value:.4g}" for value in weights[:4]) + (", …)" if len(weights) > 4 else ")")


def _asked(kernel: ParametricKernel, name: str, left: Array, right: Array, weights: Array, *charges: Array) -> object:
    """Return what a kernel answers; errors of any kind become sentences, but for this library's and memory's."""
    what = (
        f"The {name} of the {kernel.label}, asked for {len(left)} x {len(right)} points of {left.shape[1]} features and"
        f" {len(weights)} parameters,"
    )
    advice = ". Its names must be as many as its parameters; if they are, the mistake is in its own code."
    with _in_a_sentence(what, advice), np.errstate(over="ignore", invalid="ignore"):  # of which a sentence tells
        answer: object = getattr(kernel, name)(left, right, weights, *charges)
    return answer


@contextmanager
def _in_a_sentence(what: str, advice: str = "") -> Iterator[None]:
    try:
        yield
    except (MklvizError, MemoryError):
        raise
    except Exception as error:
        raise KernelError(f"{what} raised {type(error).__name__}: {error}{advice}") from error


def asked_values(kernel: ParametricKernel, left: Array, right: Array, weights: Array) -> Array:
    """Return the values between two sets of points, or raise `KernelError` unless they are such an array."""
    what = f"The matrix of the {kernel.label} at d = {shown(weights)}"
    values = _doubles(_asked(kernel, "values", left, right, weights), what)
    expected = len(left), len(right)
    if values.shape != expected:
        raise KernelError(
            f"{what} must have shape {expected}, a value for each of the {len(left)} points on the left with each of"
            f" the {len(right)} on the right, but has {values.shape}."
        )
    return values


def asked_forms(kernel: ParametricKernel, left: Array, right: Array, weights: Array, charges: Array) -> Array:
    """Return the charged sums of the derivatives, (m,), or raise `KernelError` unless they are such an array."""
    what = f"The derivatives of the {kernel.label} at d = {shown(weights)}"
    forms = _doubles(_asked(kernel, "forms", left, right, weights, charges), what)
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
