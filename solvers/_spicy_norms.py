"""What the block norms cost, seen from the dual and smoothed: the envelope E whose gradient gives the new norms.

    E(x) = max_{q >= 0}  x'q - G(q) - ||q||^2 / (2 gamma),        q(x) = grad E(x)

x_k = ||beta + f_k / gamma||_{K_k} is the norm of what kernel k is offered, q_k = ||f_k|| what it accepts.

    lam sum q             q = gamma [x - lam]_+
    1/2 (sum q)^2         q = gamma [x - theta]_+ with theta = sum q           (weights on the simplex)
    l1 q + l2/2 q^2       q = [x - l1]_+ / (l2 + 1/gamma)
    powers, lp norms      q = x d(x^2), gamma infinite: the conjugate is smooth by itself ("one step")

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), equations 13, 21 and 22, and section 3.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch

import numpy as np

from mklviz.contract import Iterate
from mklviz.errors import UnsupportedProblem
from mklviz.inner.conjugates import Conjugate
from mklviz.inner.warm import start_duals
from mklviz.problem import BlockPower, ElasticNet, LpBall, LpPenalty, PowerPenalty, Problem, Regularizer
from mklviz.problem.regularizers.power import SeparablePower
from mklviz.typing import Array


@dataclass(frozen=True)
class Response:
    """What the kernels accept of an offer."""

    norms: Array  # (m,): q, the new norms
    slopes: Array  # (m,): c; the derivative of q in x is ``diag(c) - kappa v v'``
    coupling: float = 0.0  # kappa, zero where every kernel answers for itself
    coupled: Array | None = None  # (m,): v


@dataclass(frozen=True)
class Envelope:
    """E, for one regularizer."""

    respond: Callable[[Array, float], Response]  # q(x) and its derivative for offers x (m,) and nearness 1 / gamma
    one_step: bool = False  # whether E is smooth without proximity, so that gamma may be infinite
    needs_one_step: bool = False  # whether it is known for no other


def _respond_elastic(l1: float, l2: float, offers: Array, nearness: float) -> Response:
    """Answer for sum l1 q + l2/2 q^2."""
    excess = np.maximum(offers - l1, 0.0) / (l2 + nearness)
    return Response(excess, (excess > 0.0) / (l2 + nearness))


def _respond_simplex(offers: Array, nearness: float) -> Response:
    """Answer for 1/2 (sum q)^2."""
    largest = -np.sort(-offers)
    # theta = (sum of the j largest) / (j + nearness), where j offers exceed it
    thresholds = np.cumsum(largest) / (np.arange(1, len(offers) + 1) + nearness)
    theta = float(thresholds.max())
    excess = np.maximum(offers - theta, 0.0) / nearness
    active = excess > 0.0
    # gamma - gamma^2 / (1 + gamma j) 11', with v = gamma on the active kernels
    coupling = nearness / (nearness + float(active.sum()))
    return Response(excess, active / nearness, coupling, active / nearness)


def _power_envelope(regularizer: Regularizer, p: float, degree: float | None = None) -> Envelope:
    """Return the conjugate of a power of each norm, or a power of an lr norm ``A/g ||x||_r^g``, without proximity.

    `regularizer`: its ``weights_from(x^2)`` are q / x; `p`: its power of the weights; r = 2p/(p-1); `degree`: g; equal
    to r where the powers are summed up as they are.
    """
    r = 2.0 * p / (p - 1.0)

    def respond(offers: Array, nearness: float) -> Response:
        weights = regularizer.weights_from(offers**2)
        with np.errstate(over="ignore"):  # what overflows is asked about and refused
            norms, slopes = offers * weights, (r - 1.0) * weights
            size = float(norms @ offers)  # A ||x||_r^g
        coupling = (r - (degree or r)) / size if size > 0.0 else 0.0
        return Response(norms, slopes, coupling, norms)

    return Envelope(respond, one_step=True, needs_one_step=True)


@singledispatch
def envelope_of(regularizer: Regularizer) -> Envelope:
    """Return the envelope of the block form of `regularizer`; ``@envelope_of.register`` makes that of another known.

    Raises `UnsupportedProblem` if it is not known.
    """
    if regularizer.linear:
        return Envelope(partial(_respond_elastic, regularizer.norm_slope(0.0), 0.0))  # the same at every size
    if regularizer.on_simplex:
        return Envelope(_respond_simplex)
    known = ", ".join(kind.label for kind in envelope_of.registry if kind is not object)
    raise UnsupportedProblem(
        f"SpicyMKL knows the block norms of the simplex, of prices per unit of weight or norm, and of {known}, not of"
        f" the {regularizer.label}."
    )


@envelope_of.register
def _of_elastic_net(regularizer: ElasticNet) -> Envelope:
    return Envelope(partial(_respond_elastic, regularizer.l1, regularizer.l2), one_step=True)


@envelope_of.register(BlockPower)
@envelope_of.register(PowerPenalty)
def _of_power(regularizer: SeparablePower) -> Envelope:
    return _power_envelope(regularizer, regularizer.terms[0])


@envelope_of.register
def _of_ball(regularizer: LpBall) -> Envelope:
    return _power_envelope(regularizer, regularizer.p, degree=2.0)


@envelope_of.register
def _of_squared_norm(regularizer: LpPenalty) -> Envelope:
    if regularizer.p == 1.0:
        raise UnsupportedProblem(
            f"SpicyMKL needs p above 1 in the {regularizer.label}: its dual is not smooth at p = 1."
        )
    return _power_envelope(regularizer, regularizer.p, degree=4.0)


# Where SpicyMKL starts, and in which units: balanced dual variables, as large as is best, and a gamma to suit them.
#
# Newton's method has a long way to go from dual variables that are far too large for their kernels: a start is scaled
# to the share whose dual value is largest.

_HALVINGS = 60  # shares that the start may choose from
_INTERIOR = 1e-4  # share of the usual start in a warm one, where a dual variable at its bound has no slope


def start_signed(problem: Problem, start: Iterate, usual: Array, conjugate: Conjugate) -> Array:
    """Return the best share of the best dual variables of a start, inside the box where the conjugate is steep."""
    candidates = [_best_share(problem, signed) for signed in start_duals(problem, start)]
    bounds = [_bound(problem, signed) for signed in candidates]
    best = candidates[int(np.argmax(bounds))]
    return (1.0 - _INTERIOR) * best + _INTERIOR * usual if conjugate.steep else best


def _bound(problem: Problem, signed: Array) -> float:
    return problem.lower_bound(problem.loss.dual_from_signed(signed, problem.y), problem.bank.quad(signed))


def spread(problem: Problem) -> float:
    """Return the size of the targets: decision values are of that order."""
    return float(problem.y.std()) if problem.loss.regression else 1.0


def usual_start(problem: Problem) -> Array:
    """Return balanced signed variables of one share of their box, the share of the largest lower bound.

    Newton's method has a long way to go from shares that are far too large for their kernels.
    """
    return _best_share(problem, 0.5 * problem.loss.full_dual(problem.y))


def _best_share(problem: Problem, signed: Array) -> Array:
    """Return the share of beta whose dual value is largest."""
    loss, regularizer = problem.loss, problem.regularizer
    quad = problem.bank.quad(signed)
    dual = loss.dual_from_signed(signed, problem.y)
    shares = regularizer.dual_scale(quad) * 0.5 ** np.arange(_HALVINGS)
    bounds = [
        loss.dual_value(share * dual, problem.y) - regularizer.conjugate(0.5 * share**2 * quad) for share in shares
    ]
    return np.asarray(shares[int(np.argmax(bounds))] * signed)


def natural_reach(problem: Problem, signed: Array) -> float:
    """Return the gamma that gives one kernel decision values of the order of y in one step."""
    largest = float(problem.bank.quad(signed).max())
    size = float(np.abs(signed).sum())
    return size * spread(problem) / largest if largest > 0.0 and size > 0.0 else 1.0
