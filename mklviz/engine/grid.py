"""The parameters that a path can vary, and the values worth trying: from where all functions are zero.

    lambda_max = min over B0 of  max_k ||beta||_{K_k},     B0 = argmax of D_loss: the duals of the model without kernels

The zero function is optimal exactly where some such beta satisfies the dual constraint of the price: ||beta||_{K_k} <=
lam for the block 1-norm, l1 for the elastic net and alpha for UFO's norm, and s_k / 2 <= sigma for the linear penalty.
Smooth losses have one beta; others may have many (below).

References: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011); Koh, Kim, Boyd, l1-regularized logistic regression,
JMLR 8 (2007), section 2.1, for lambda_max of features; the rest is derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np

from mklviz.engine.registry import make_solver
from mklviz.engine.run import check_problem
from mklviz.engine.solving import solve
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels.interface import numbers
from mklviz.numbers import is_number, is_whole
from mklviz.problem import Loss, Problem, Regularizer, Simplex, regularizer_families
from mklviz.record.run_facts import Verdict
from mklviz.record.trace import Trace
from mklviz.typing import Array

# The model without kernels: which dual variables are optimal for it, and which of them have the least max_k s_k.
#
#     B0 = argmax D_loss = C times the subgradients of the loss at f = b0 that sum to zero: a face of the dual's box
#
# Smooth losses leave one point; so do the others unless samples stand on a kink of the loss at the best bias, as with
# rounded targets or a rare class. Over a face, max_k s_k / 2 is minimised as multiple kernel learning on the simplex,
#
#     max over beta   D_tiny(beta) - max_k s_k(beta) / 2
#
# with a loss of the same face whose C is so small, and whose other samples are so far from their kinks, that leaving
# the face costs more than it brings. Whether it was small enough is seen from what the run proves: its least P is at
# least the value at every point of the face, so max_k s_k / 2 is at least D_tiny(B0) - P there.

_SMALL = (
    0.25  # mean decision value at the first C tried, relative to the distance of the other samples from their kinks
)
_SHRINK = 8.0  # by which C is divided where that was not small enough
_TRIES = 5
_ACCURACY = 1e-6  # relative, of max_k s_k
_PROVED = 1e-5  # what of it must be proved: between the run's bounds lies the correction to the face as well
_NOTHING = 1e-10  # max_k s_k / 2, relative to D_tiny, that is not told from zero


@dataclass(frozen=True)
class Face:
    """Signed dual variables between bounds, with sums that are zero."""

    # `lower`, `upper` (n,) or (n, c)
    lower: Array
    upper: Array
    axis: int | None  # along which the sums must vanish: 0 where there is a bias, 1 for the multiclass hinge

    @property
    def single(self) -> bool:
        """Whether the bounds and the sums leave one point."""
        free = self.upper > self.lower
        return not free.any() if self.axis is None else bool((free.sum(axis=self.axis) <= 1).all())

    def nearest(self, signed: Array) -> Array:
        """Return the point of the face nearest to `signed`: shifted by what makes the sums vanish, and clipped."""
        if self.axis is None:
            return np.clip(signed, self.lower, self.upper)
        low = (self.lower - signed).min(axis=self.axis, keepdims=True)
        high = (self.upper - signed).max(axis=self.axis, keepdims=True)
        for _ in range(200):  # halvings of an interval of doubles end before that
            shift = 0.5 * (low + high)
            heavy = np.clip(signed + shift, self.lower, self.upper).sum(axis=self.axis, keepdims=True) > 0.0
            low, high = np.where(heavy, low, shift), np.where(heavy, shift, high)
        return np.clip(signed + 0.5 * (low + high), self.lower, self.upper)


def least_quad(problem: Problem) -> float:
    """Return the least max_k s_k over the optimal dual variables of the model without kernels."""
    unit = replace(problem, loss=replace(problem.loss, C=1.0))
    face = Face(*unit.loss.null_dual(unit.y))
    middle = face.nearest(0.5 * (face.lower + face.upper))
    quad = float(problem.bank.quad(middle).max())
    if not face.single and quad > 0.0:
        C = _SMALL * float(np.abs(middle).sum()) / quad
        for _ in range(_TRIES):
            least, proved = _solved(_tiny(unit, face, C), face)
            quad = min(quad, least)
            if quad - proved <= _PROVED * quad:
                break
            C /= _SHRINK
    return problem.loss.C**2 * quad


def _tiny(unit: Problem, face: Face, C: float) -> Problem:
    """Return the problem on the simplex with this C and the same face, all other samples 1 or more from their kinks."""
    loss, y = replace(unit.loss, C=C).null_face(face.lower, face.upper, unit.y)
    return replace(unit, y=y, loss=loss, regularizer=Simplex())


def _solved(tiny: Problem, face: Face) -> tuple[float, float]:
    """Return, both at C = 1, max_k s_k at the best point of the face that was found and what it is at least."""
    loss, y = tiny.loss, tiny.y
    total = loss.primal(np.zeros(loss.dual_shape(y)), y)[0]
    method = "level" if make_solver("newton").refusal(tiny) else "newton"
    trace = solve(tiny, method, gap=None, max_iter=1000, stop=(_Known(total),))
    best = trace.best_bound
    dual = best.dual if best.certificate is None else best.certificate
    point = face.nearest(loss.signed(dual, y) / loss.C)
    proved = 2.0 * (total - float(trace.objective.min()))
    return float(tiny.bank.quad(point).max()), proved / loss.C**2


@dataclass(frozen=True)
class _Known:
    """Stop where max_k s_k is known: the bounds are near each other beside it, and not only beside the objective."""

    total: float  # D_tiny on the face, of which max_k s_k / 2 takes its part

    def check(self, trace: Trace) -> Verdict | None:
        low, high = float(trace.lower_bound.max()), float(trace.objective.min())
        known = high - low <= _ACCURACY * max(self.total - low, _NOTHING * self.total)
        return Verdict("converged", "") if known else None


C_RANGE = (1000.0, 0.01)  # SimpleMKL's, from weak to strong as in its paper
RATIO = 1e-3  # smallest price of a path, relative to the largest


class Formulation(Protocol):
    """What has a loss and a regularizer: a problem, or a recipe of one."""

    @property
    def loss(self) -> Loss: ...
    @property
    def regularizer(self) -> Regularizer: ...


def parameters(problem: Formulation) -> dict[str, float]:
    """Return the numbers that a path of `problem` may vary: those of its loss, then those of its regularizer."""
    values: dict[str, float] = {}
    for part in (problem.loss, problem.regularizer):
        for entry in fields(part) if is_dataclass(part) else ():
            value = getattr(part, entry.name)
            if not isinstance(value, bool):
                values[entry.name] = np.nan if value is None else float(value)
    return values


def with_parameter(problem: Problem, name: str, value: float) -> Problem:
    """Return `problem` with another value of one of its `parameters`.

    Raises `ProblemError` if it has no such parameter, or not of that value.
    """
    check_problem(problem)
    return replace(problem, **changed(problem, name, value))


def changed(problem: Formulation, name: str, value: float) -> dict[str, Any]:
    """Return the part, "loss" or "regularizer", with another value of a parameter, or raise `ProblemError`."""
    _check_known(problem, name)
    if not is_number(value):
        raise ProblemError(f"{name} must be a number, but {value!r} was given.")
    part = "loss" if hasattr(problem.loss, name) else "regularizer"
    return {part: replace(getattr(problem, part), **{name: float(value)})}


def _check_known(problem: Formulation, name: str) -> None:
    known = parameters(problem)
    if name not in known:
        raise ProblemError(
            f"This problem, with the {problem.loss.label} loss and the {problem.regularizer.label}, has no parameter"
            f" {name!r}: a path can vary {', '.join(known)}."
        )


def check_range(problem: Formulation, name: str) -> None:
    """Raise `ProblemError` unless a parameter is there, and has a natural range of values."""
    _check_known(problem, name)
    if name not in ("C", problem.regularizer.price_name):
        raise ProblemError(f"There is no natural range of {name}: give the values of the path yourself.")


def lambda_max(problem: Problem) -> float:
    """Return the smallest price at which every function, and so every kernel weight, is zero.

    Parameters
    ----------
    problem : Problem
        With the block 1-norm (the price is lam), the linear penalty (sigma), the elastic net (l1) or the squared group
        norm plus block 1-norm (alpha); its own price does not matter.

    Returns
    -------
    float
        In units of that price. Exact for the squared and the logistic loss and for the hinge loss without bias or with
        classes of equal size; to a relative 1e-5 otherwise, and then never too small.

    Raises
    ------
    UnsupportedProblem
        If no finite price makes all functions zero, as with constraints and powers, or with products of kernels.

    Examples
    --------
    >>> bank, y = mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0])
    >>> mv.lambda_max(mv.Problem(bank, y, regularizer=mv.BlockL1())) > 0.0
    True
    """
    check_problem(problem)
    if not problem.regularizer.price_name or not problem.convex:
        others = {"product": "product of kernels", "parametric": "kernel with parameters"}
        what = others.get(problem.bank.kind, problem.regularizer.label)
        raise UnsupportedProblem(
            f"With the {what} no price makes all kernel weights zero: that takes a sum of kernels and one of these:"
            f" {', '.join(family.label for family in regularizer_families().values() if family.price_name)}."
        )
    largest = least_quad(problem)
    return 0.5 * largest if problem.regularizer.price_of_weight else float(np.sqrt(largest))


def path_values(problem: Problem, parameter: str, count: int = 100, ratio: float | None = None) -> Array:
    """Return values for a path, evenly spaced on a log scale, in the order that suits warm starts.

    Parameters
    ----------
    problem : Problem
    parameter : str
        The price that `lambda_max` knows: values fall from there. C: with such a price they rise from the C at which
        the first kernel gets weight; else they fall from 1000 to 0.01, SimpleMKL's path.
    count : int
    ratio : float, optional
        Smallest value over the largest; 1e-3 (1e-5 for SimpleMKL's path) by default.

    Raises
    ------
    ProblemError
        If the parameter has no natural range, or does not exist.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> len(mv.path_values(problem, "C", count=5))
    5
    """
    check_problem(problem)
    check_range(problem, parameter)
    if not (is_whole(count) and count >= 1) or not (ratio is None or (is_number(ratio) and 0.0 < ratio < 1.0)):
        raise ProblemError(f"A path needs a count of at least 1 and a ratio between 0 and 1, not {count} and {ratio}.")
    share = RATIO if ratio is None else ratio
    price = problem.regularizer.price_name
    if parameter == price:
        top = lambda_max(problem)
        return np.geomspace(top, share * top, count)
    if not price or parameters(problem)[price] == 0.0 or not problem.convex:
        return np.geomspace(C_RANGE[0], C_RANGE[1] if ratio is None else share * C_RANGE[0], count)
    # beta, and with it the root of s, is in proportion to C
    relative = parameters(problem)[price] / lambda_max(problem)
    first = problem.loss.C * (np.sqrt(relative) if problem.regularizer.price_of_weight else relative)
    return np.geomspace(first, first / share, count)


def check_values(values: Sequence[float] | Array, name: str) -> Array:
    """Return the values of a path as an array, or raise `ProblemError`."""
    try:
        checked = numbers(values, name).reshape(-1)
    except ProblemError:
        raise ProblemError(f"The values of {name} must be numbers, such as {name}=[10, 1, 0.1].") from None
    if not len(checked):
        raise ProblemError(f"A path needs at least one value of {name}.")
    return checked
