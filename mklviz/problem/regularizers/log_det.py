"""Log-determinant of the learned kernel, r(d) = price 1'd - sigma log det(K_d + eps I) for d >= 0.

    dr/dd_k = price - sigma tr((K_d + eps I)^-1 dK_d/dd_k) = price + 2 sigma slopes_k(d, V),     V V' = (K_d + eps I)^-1

where slopes(d, v) = -1/2 v'(dK_d/dd_k)v, summed over the columns of v, is the bank's derivative of -1/2 v'K_d v. It
favours kernels that tell the samples apart: those of full rank, with even eigenvalues. r depends on the kernel, so a
problem makes its own copy of it, see `for_bank`; r* is not known, so there is no lower bound.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar

import numpy as np

from mklviz.context import checkpoint, spending
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.lazy import Later
from mklviz.numbers import is_number
from mklviz.problem.regularizers._regularizer import Penalty, nonnegative, positive_number
from mklviz.typing import Array

if TYPE_CHECKING:
    from mklviz.kernels.interface import Bank

linalg = Later("scipy.linalg")

T = TypeVar("T")

_WORK = 1e9  # multiplications between two questions whether they are still wanted: some hundredths of a second
_KEPT = 16  # points whose value and gradient are remembered: several solvers of a race may share one problem
_FAR = 1e6  # parameters so many times the first ones tell whether the kernel grows with them
_GROWTH = 1e3


@dataclass(frozen=True)
class LogDet(Penalty):
    """Weights d >= 0 that cost a price each and, where the learned kernel is nearly singular, more (GMKL).

    Parameters
    ----------
    sigma : float
        Share of the log-determinant, > 0.
    eps : float
        Added to the diagonal of the kernel, > 0.
    price : float
        Price of one unit of weight, >= 0; zero only where kernels stay bounded, as products do.

    Examples
    --------
    >>> mv.LogDet(sigma=2.0)
    LogDet(sigma=2.0, eps=0.001, price=1.0)
    """

    name_: ClassVar[str] = "log-det"
    label: ClassVar[str] = "log-determinant"
    closed_form: ClassVar[bool] = False
    proximal: ClassVar[bool] = False
    conjugated: ClassVar[bool] = False
    determined: ClassVar[bool] = False
    sigma: float = 1.0
    eps: float = 1e-3
    price: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.sigma, "sigma")
        positive_number(self.eps, "eps")
        if not (is_number(self.price) and self.price >= 0):
            raise ProblemError(f"price must be a number that is not negative, but {self.price!r} was given.")

    def for_bank(self, bank: Bank) -> LogDet:
        """Return a copy that knows the kernels of `bank`, or raise `ProblemError` without matrix or minimum."""
        if bank.access != "matrix":
            raise ProblemError(
                f"The {self.label} works on the whole {bank.n_samples:,} x {bank.n_samples:,} kernel matrix, which this"
                f" bank ({bank.backend}) never forms: choose another regularizer, or fewer samples."
            )
        if self.price == 0.0 and _grows(bank, self.start(len(bank))):
            raise ProblemError(
                f"Without a price the {self.label} rewards ever larger weights of this kernel: give a price above zero."
            )
        linalg.load()
        bound = copy(self)
        object.__setattr__(bound, "_determinant", _Determinant(bank, self.eps))
        return bound

    @property
    def _known(self) -> _Determinant:
        known: _Determinant | None = self.__dict__.get("_determinant")
        if known is None:
            raise UnsupportedProblem(
                f"The {self.label} depends on the kernel: ask problem.regularizer, which knows it, or for_bank(bank)."
            )
        return known

    def value(self, weights: Array) -> float:
        """Return price 1'd - sigma log det(K_d + eps I), infinity where a weight is negative."""
        if not nonnegative(weights):
            return float("inf")
        return self.price * float(weights.sum()) - self.sigma * self._known.logarithm(weights)

    def gradient(self, weights: Array) -> Array:
        """Return price - sigma tr((K_d + eps I)^-1 dK_d/dd_k) for every k."""
        return np.asarray(self.price + 2.0 * self.sigma * self._known.slopes(weights))

    def _no_formula(self, what: str) -> NoReturn:
        raise UnsupportedProblem(
            f"The {self.label} is followed by its gradient: it has no formulas for bounds, proximal steps or weights."
        )


class _Determinant:
    """log det(K_d + eps I) and what the bank's `slopes` make of its derivative, remembered for the last points."""

    def __init__(self, bank: Bank, eps: float) -> None:
        self._bank, self._eps = bank, eps
        self._logarithms: dict[bytes, float] = {}
        self._slopes: dict[bytes, Array] = {}

    def logarithm(self, weights: Array) -> float:
        return _remembered(self._logarithms, weights, lambda d: 2.0 * float(np.log(np.diag(self._factor(d))).sum()))

    def slopes(self, weights: Array) -> Array:
        """Return ``-1/2 tr((K_d + eps I)^-1 dK_d/dd_k)``, (m,)."""
        return _remembered(self._slopes, weights, lambda d: self._bank.slopes(d, _inverse_root(self._factor(d))))

    def _factor(self, weights: Array) -> Array:
        matrix = self._bank.combine(weights)
        matrix[np.diag_indices(len(matrix))] += self._eps
        return _factorized(matrix, self._eps)


def _remembered(known: dict[bytes, T], weights: Array, compute: Callable[[Array], T]) -> T:
    """Keep what is known at the last few points; solvers of a race share it, and each may forget for all."""
    key = weights.tobytes()
    value = known.get(key)
    if value is None:
        value = compute(weights)
        if len(known) >= _KEPT:
            known.clear()
        known[key] = value
    return value


def _grows(bank: Bank, weights: Array) -> bool:
    """Return whether the kernel of the first sample with itself grows with the weights, and so log det K_d does."""
    first = np.zeros(bank.n_samples)
    first[0] = 1.0
    near, far = (float(bank.apply(scale * weights, first)[0]) for scale in (1.0, _FAR))
    return far > _GROWTH * max(near, 1.0 / _FAR)


@spending("subproblem")
def _factorized(matrix: Array, eps: float) -> Array:
    """Return L with ``LL' = matrix``, written over it; what is right of the diagonal means nothing."""
    n = len(matrix)
    for start in range(0, n, _step(n)):
        checkpoint()
        stop = min(start + _step(n), n)
        known = matrix[start:stop, :start]
        matrix[start:, start:stop] -= matrix[start:, :start] @ known.T
        try:
            corner = np.linalg.cholesky(matrix[start:stop, start:stop])
        except np.linalg.LinAlgError:
            raise ProblemError(
                f"K_d + {eps:g} I is not positive definite: rounding in K_d, or a kernel that is none, is beyond eps."
                " Choose a larger eps."
            ) from None
        matrix[start:stop, start:stop] = corner
        matrix[stop:, start:stop] = linalg.solve_triangular(
            corner, matrix[stop:, start:stop].T, lower=True, check_finite=False
        ).T
    return matrix


@spending("subproblem")
def _inverse_root(factor: Array) -> Array:
    """Return V with ``VV' = (LL')^-1``: the transposed inverse of L."""
    n = len(factor)
    inverse = np.zeros((n, n))
    for start in range(0, n, _step(n)):
        checkpoint()
        stop = min(start + _step(n), n)
        corner = linalg.solve_triangular(
            factor[start:stop, start:stop], np.eye(stop - start), lower=True, check_finite=False
        )
        inverse[start:stop, start:stop] = corner
        inverse[start:stop, :start] = -corner @ (factor[start:stop, :start] @ inverse[:start, :start])
    return inverse.T


def _step(n: int) -> int:
    """Return how many columns of a matrix are solved for at a time."""
    return int(np.clip(_WORK / n**2, 16, 256))
