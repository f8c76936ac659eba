"""What dual variables prove about a problem where rounding may move the quadratic forms s_k = beta'K_k beta.

    D(beta) = max over t in (0, 1] of  D_loss(t beta) - r*(t^2 s / 2)

No s_k may come out too small: D would come out too high, with a price per unit of weight without bound, as beta is
scaled until s_k <= 2 price. An s_k cancels where beta is large and nearly orthogonal to the range of K_k. So:

1. Each s_k is known to an error e_k, from norms at hand. As long as D(s + e) is no more below D(s) than the share
   of D that `mklviz.context` leaves to rounding, all is well, and D(s) is returned as it is.
2. Otherwise the s_k that matter, those of largest s_k + e_k, are computed anew with compensated products.
3. Entries of a stored kernel are known to eps of their size. Where s_k is below u_k = eps |beta|'|K_k||beta|, or
   negative, the rounding of the kernel itself decides about it: |s_k| + u_k takes its place.

What a bound would be without the last rule is `Proved.stored`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mklviz.context import resolution
from mklviz.kernels.interface import Bank
from mklviz.lazy import Later
from mklviz.problem.losses import Loss
from mklviz.problem.regularizers import Regularizer
from mklviz.typing import Array, Indices

# How far two bounds of the optimum are apart:  gap = (P - D) / |P|,  for every loss, regularizer and C.
#
# An objective that the optimum lies far below, such as that of the zero function where C is large, would promise more
# than is proved. Where P itself is rounding, no relative gap can be reached, and a run ends as "precision".


def relative_gap(upper: float, lower: float) -> float:
    """Return ``(upper - lower) / |upper|``, infinite where it is too large for a number; nan where a bound is nan."""
    return float(upper - lower) / max(float(abs(upper)), float(np.finfo(float).tiny))


optimize = Later("scipy.optimize")
FEWEST = 4  # forms computed anew at a time, then twice as many
EPS = float(np.finfo(np.float64).eps)


class Posed(Protocol):
    """What is asked of a problem here; see `mklviz.problem.Problem`."""

    @property
    def bank(self) -> Bank: ...
    @property
    def y(self) -> Array: ...
    @property
    def loss(self) -> Loss: ...
    @property
    def regularizer(self) -> Regularizer: ...
    @property
    def m(self) -> int: ...


@dataclass(frozen=True)
class Proved:
    """A lower bound."""

    bound: float  # D(beta)
    stored: float  # what it would be if every stored kernel were exact, no less
    doubtful: Indices  # kernels whose own rounding decides about their s_k


def prove(problem: Posed, dual: Array, quad: Array | None = None) -> Proved:
    """Return what feasible dual variables (n,) or (n, c) prove, given s(a) (m,) where it is known."""
    signed = problem.loss.signed(dual, problem.y)
    bank = problem.bank
    s = bank.quad(signed) if quad is None else quad
    share, bound = _best(problem, dual, s)
    nothing = np.zeros(0, dtype=np.intp)
    error = bank.quad_error(signed, s)
    if _holds(problem, dual, s + error, share, bound):
        return Proved(bound, bound, nothing)
    return _compensated(problem, dual, s, error)


def proved_at_least(problem: Posed, dual: Array) -> float:
    """Return what dual variables prove, every form computed with compensated products and off to the worse side."""
    signed, bank = problem.loss.signed(dual, problem.y), problem.bank
    forms, sizes = bank.quad_compensated(signed, np.arange(problem.m))
    return _best(problem, dual, np.abs(forms) + EPS * sizes)[1]


def may_matter(problem: Posed, dual: Array, quad: Array) -> bool:
    """Return whether rounding may move the bound that dual variables prove, given that s(a) <= `quad` (m,)."""
    error = problem.bank.quad_error(problem.loss.signed(dual, problem.y), quad)
    share, bound = _best(problem, dual, quad)
    return not _holds(problem, dual, quad + error, share, bound)


def prove_if_doubtful(problem: Posed, dual: Array) -> Proved | None:
    """Return what dual variables prove if rounding in a stored kernel decides about it, else None.

    It cannot where even forms of the size of their errors would not be seen, which is known at once.
    """
    signed, nothing = problem.loss.signed(dual, problem.y), np.zeros(problem.m)
    largest = 2.0 * problem.bank.quad_error(signed, nothing)
    if _holds(problem, dual, largest, *_best(problem, dual, nothing)):
        return None
    proved = prove(problem, dual)
    return proved if len(proved.doubtful) and proved.stored > proved.bound else None


def _compensated(problem: Posed, dual: Array, s: Array, error: Array) -> Proved:
    """Compute forms anew, those that matter most first, until rounding matters no more."""
    signed, bank = problem.loss.signed(dual, problem.y), problem.bank
    s, error, stored, doubtful, count = s.copy(), error.copy(), s.copy(), np.zeros(len(s), dtype=bool), FEWEST
    while True:
        share, bound = _best(problem, dual, s)
        if not error.any() or _holds(problem, dual, s + error, share, bound):
            break
        order = np.argsort(-np.where(error > 0.0, s + error, -np.inf), kind="stable")
        which = order[: min(count, np.count_nonzero(error))]
        forms, sizes = bank.quad_compensated(signed, which)
        sizes *= EPS
        finite = np.isfinite(forms) & np.isfinite(sizes)  # what is too large to be split keeps its error
        doubtful[which] = unsure = finite & ~(forms >= sizes)
        stored[which] = np.where(finite, np.maximum(forms, 0.0), s[which] + error[which])
        s[which] = np.where(unsure, np.abs(forms) + sizes, stored[which])
        error[which], count = 0.0, 2 * count
    return Proved(bound, _best(problem, dual, stored)[1] if doubtful.any() else bound, np.flatnonzero(doubtful))


def _holds(problem: Posed, dual: Array, s: Array, share: float, bound: float) -> bool:
    """Return whether larger forms `s` prove as much as `bound`, which holds at `share`, to the resolution asked for."""
    if not problem.loss.dual_sum(problem.y):
        share = min(share, problem.regularizer.dual_scale(s))
    least = _value(problem, dual, s, share)
    return bound - least <= resolution() * abs(bound)


def _value(problem: Posed, dual: Array, s: Array, share: float) -> float:
    return problem.loss.dual_value(share * dual, problem.y) - problem.regularizer.conjugate(0.5 * share**2 * s)


def _best(problem: Posed, dual: Array, s: Array) -> tuple[float, float]:
    """Return the share of the dual point whose bound is highest, and that bound."""
    if problem.loss.dual_sum(problem.y):  # no share of the dual point has that sum
        return 1.0, _value(problem, dual, s, 1.0)
    largest = problem.regularizer.dual_scale(s)
    bound = _value(problem, dual, s, largest)
    if not problem.regularizer.steep:
        return largest, bound
    # a bound's error is the square of the share's, times the power of a steep conjugate
    result = optimize.minimize_scalar(
        lambda share: -_value(problem, dual, s, share), bounds=(0.0, largest), method="bounded", options={"xatol": 1e-9}
    )
    return (largest, bound) if bound >= -float(result.fun) else (float(result.x), -float(result.fun))
