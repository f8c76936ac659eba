"""The inner problem of SpicyMKL, smooth in one variable per sample, and its semismooth Newton method.

    min over beta  h(beta) + E(x(beta)),      x_k = ||beta + f_k / gamma||_{K_k}      (1'beta = 0 with a bias)

    gradient   h' + sum_k q_k e_k,            e_k = K_k (beta + f_k / gamma) / x_k
    Hessian    h'' + K_w + sum_k (c_k - w_k) e_k e_k' - kappa (sum_k v_k e_k)(...)',     w_k = q_k / x_k

Sums run over the kernels with q_k > 0 only. Functions are kept by their values ``K_k alpha_k`` and norms; their
coefficients alpha_k are never needed. The bias is the multiplier of 1'beta = 0, which holds at every step.

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), equations 25 to 27.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, blas, cho_solve

from mklviz.context import checkpoint, spending
from mklviz.contract import Array
from mklviz.errors import SolverError
from mklviz.inner.blocked import Factor, cholesky
from mklviz.inner.conjugates import Conjugate
from mklviz.kernels import Bank
from mklviz.solvers._spicy_norms import Envelope, Response

_NEGLIGIBLE = 1e-14  # of the largest norm: a kernel below it changes no digit of the sums
_RIDGE = 1e-13  # added to the Hessian's diagonal, relative to each entry; more where rounding asks for it
_HUGE = 1e100  # norms whose squares and sums are still numbers
_ENOUGH = 0.1  # a step ends where the slope has fallen to this share of the first one


@dataclass(frozen=True)
class Point:
    """One beta, with all that a Newton step from it needs."""

    signed: Array  # (n,): beta
    quad: Array  # (m,): ``beta'K_k beta``
    offers: Array  # (m,): x
    response: Response
    active: NDArray[np.intp]  # (r,): kernels with q > 0
    rows: Array  # (r, n): their e_k
    gradient: Array  # (n,): of the inner objective


@dataclass(frozen=True)
class InnerResult:
    """Where the Newton method ended."""

    point: Point
    residual: float  # ``||gradient - b 1||`` at the end, in units of decision values
    newton_steps: int
    stuck: bool  # whether the last step found nothing lower, although the residual was not small enough


class InnerProblem:
    """The inner problem around the functions of the last outer step.

    `nearness`: 1 / gamma; zero drops the proximal terms ("one step"); `balanced`: whether ``1'beta = 0``; `caution`:
    curvature added to all samples, those on a kink have none of their own: so much that a residual alone would move
    beta by 1 / `caution` times its size; `sizes`: the least and the largest size that beta may be taken to have.
    """

    def __init__(
        self,
        bank: Bank,
        conjugate: Conjugate,
        envelope: Envelope,
        nearness: float,
        balanced: bool,
        caution: float,
        sizes: tuple[float, float],
    ) -> None:
        self.caution, self.sizes = caution, sizes
        self.bank, self.conjugate, self.envelope = bank, conjugate, envelope
        self.nearness, self.balanced = nearness, balanced
        self.norms = np.zeros(len(bank))
        self._held = np.zeros(0, dtype=np.intp)  # kernels with a function, and its values at the samples
        self._functions = np.zeros((0, bank.n_samples))
        self._matrix = np.empty((bank.n_samples, bank.n_samples))

    def point(self, signed: Array) -> Point:
        """Return what a Newton step from beta (n,) needs."""
        quad = self.bank.quad(signed)
        offers = np.sqrt(np.maximum(self._squared_offers(signed, quad), 0.0))
        response = self.envelope.respond(offers, self.nearness)
        norms = response.norms
        active = np.flatnonzero((norms > _NEGLIGIBLE * norms.max()) & (offers > 0.0))
        rows = self.bank.products(signed, active)
        if self.nearness > 0.0 and len(self._held):
            where = np.searchsorted(self._held, active)
            kept = np.flatnonzero(np.isin(active, self._held))
            rows[kept] += self.nearness * self._functions[where[kept]]
        rows /= offers[active, None]
        gradient = self.conjugate.gradient(signed) + norms[active] @ rows
        return Point(signed, quad, offers, response, active, rows, gradient)

    def first_point(self, signed: Array) -> Point:
        """Return the point at beta (n,), or on the way from there to zero, where powers near the 1-norm overflow.

        No step from beyond is short enough to come back, and an SVM's dual variables may lie there.
        """
        point = self.point(signed)
        while not point.response.norms.max() < _HUGE:
            point = self.point(0.5 * point.signed)
        return point

    def _squared_offers(self, signed: Array, quad: Array) -> Array:
        squares = quad.copy()
        held, near = self._held, self.nearness
        squares[held] += 2.0 * near * (self._functions @ signed) + (near * self.norms[held]) ** 2
        return squares

    @spending("subproblem")
    def solve(self, point: Point, tolerance: float, most: int) -> InnerResult:
        """Take at most `most` Newton steps, until the residual is at most `tolerance`."""
        steps = 0
        while True:
            residual = self.residual(point.gradient)
            if steps == most or residual <= tolerance:
                return InnerResult(point, residual, steps, False)
            checkpoint()
            move = self._direction(point)
            steps += 1
            after = self._search(point, move)
            if after is None:
                return InnerResult(point, residual, steps, True)
            point = after

    def residual(self, gradient: Array) -> float:
        """Return the norm of the gradient, less what the bias takes of it, in units of decision values."""
        return float(np.linalg.norm(self.without_bias(gradient)))

    def without_bias(self, gradient: Array) -> Array:
        """Return the gradient less what the bias takes of it, which would multiply the rounding of ``1'move = 0``."""
        return gradient - gradient.mean() if self.balanced else gradient

    def begin(self, weights: Array, signed: Array) -> None:
        """Take the functions ``weights_k K_k signed`` for those of the last outer step."""
        self._held = np.flatnonzero(weights > 0.0)
        held = weights[self._held]
        rows = self.bank.products(signed, self._held)
        self._functions = held[:, None] * rows
        self.norms = np.zeros_like(self.norms)
        self.norms[self._held] = held * np.sqrt(np.maximum(rows @ signed, 0.0))

    def accept(self, point: Point) -> None:
        """Replace the functions by those that the kernels accept at `point`: the outer step."""
        self.norms = np.zeros_like(self.norms)
        self.norms[point.active] = point.response.norms[point.active]
        self._held = point.active
        # f_k = K_k alpha_k with alpha_k = q_k (beta + alpha_k / gamma) / x_k, and e_k is the rest of it
        self._functions = self.norms[point.active, None] * point.rows

    def _direction(self, point: Point) -> Array:
        """Return the Newton direction, with ``1'direction = 0`` if beta is balanced."""
        factor = self._factor(point)
        move = -cho_solve(factor, point.gradient, check_finite=False)
        if self.balanced:
            of_bias = cho_solve(factor, np.ones_like(move), check_finite=False)
            total = of_bias.sum()
            for _ in range(2):  # the second time against rounding, that of earlier steps included
                move -= (point.signed.sum() + move.sum()) / total * of_bias
        return np.asarray(move)

    def _factor(self, point: Point) -> Factor:
        ridge, caution = _RIDGE, self._caution(point)
        while True:
            hessian = self._hessian(point)
            diagonal = np.diag_indices_from(hessian)
            largest = float(hessian[diagonal].max())
            hessian[diagonal] *= 1.0 + ridge
            hessian[diagonal] += ridge * float(hessian[diagonal].min()) + caution
            try:
                factor = cholesky(hessian)
            except LinAlgError:
                if not np.isfinite(largest) or ridge > 1.0:
                    raise SolverError(
                        f"{len(point.active)} kernels are active, but their second derivatives, up to "
                        f"{largest:.2g}, leave the range of numbers: use a larger penalty or scale the kernels."
                    ) from None
                ridge *= 100.0
            else:
                return factor

    def _caution(self, point: Point) -> float:
        # of the present point: the start may be far too small
        size = float(np.clip(2.0 * np.abs(point.signed).max(), *self.sizes))
        return self.caution * self.residual(point.gradient) / (size * math.sqrt(len(point.signed)))

    def _hessian(self, point: Point) -> Array:
        weights = np.zeros_like(self.norms)
        offers = point.offers[point.active]
        weights[point.active] = point.response.norms[point.active] / offers
        hessian = self.bank.combine(weights, out=self._matrix)
        slopes = point.response.slopes[point.active]
        bends = np.maximum(slopes - weights[point.active], 0.0)
        if len(bends):
            lower = blas.dsyrk(1.0, (np.sqrt(bends)[:, None] * point.rows).T, lower=1)
            hessian += lower + np.tril(lower, -1).T
            if point.response.coupled is not None:
                total = point.response.coupled[point.active] @ point.rows
                hessian -= point.response.coupling * np.outer(total, total)
        hessian[np.diag_indices_from(hessian)] += self.conjugate.curvature(point.signed)
        return hessian

    def _search(self, point: Point, move: Array) -> Point | None:
        """Return the point where the inner objective has stopped falling along `move`, None where it never falls.

        The full step is tried first: it needs no more than the next Newton step would. If it goes too far, all offers
        along the line are known from one more call of `quad`, and the slope's zero is found by bisection.
        """
        slope = float(move @ self.without_bias(point.gradient))
        longest = self.conjugate.longest_step(point.signed, move)
        if not slope < 0.0 or not np.isfinite(slope):
            return None
        full = self.point(point.signed + longest * move)
        while not full.response.norms.max() < _HUGE:  # near the 1-norm powers are so steep that they overflow
            longest *= 0.5
            full = self.point(point.signed + longest * move)
        if float(move @ self.without_bias(full.gradient)) <= -_ENOUGH * slope:
            return full
        if self.residual(full.gradient) <= _ENOUGH * self.residual(point.gradient):
            return full  # near the end the slope is a difference of numbers that agree
        line = _InnerLine(self, point, full, move, longest)
        share = line.lowest(-_ENOUGH * slope, longest)
        return self.point(point.signed + share * move) if share > 0.0 else None


class _InnerLine:
    """The inner objective's slope along ``beta + t move``."""

    def __init__(self, problem: InnerProblem, point: Point, full: Point, move: Array, longest: float) -> None:
        self.problem, self.point, self.move = problem, point, move
        self.square = problem.bank.quad(move)
        start, end = point.offers**2, full.offers**2
        self.start = start
        self.of_bias = float(point.gradient.mean() * move.sum()) if problem.balanced else 0.0
        self.cross = 0.5 * ((end - start) / longest - longest * self.square)

    def slope(self, share: float) -> float:
        """Return the derivative at t = `share`."""
        squares = self.start + share * (2.0 * self.cross + share * self.square)
        offers = np.sqrt(np.maximum(squares, 0.0))
        norms = self.problem.envelope.respond(offers, self.problem.nearness).norms
        active = np.flatnonzero((norms > 0.0) & (offers > 0.0))
        rates = (self.cross[active] + share * self.square[active]) / offers[active]
        of_loss = self.problem.conjugate.gradient(self.point.signed + share * self.move)
        return float(self.move @ of_loss + norms[active] @ rates) - self.of_bias

    def lowest(self, enough: float, longest: float) -> float:
        """Return t up to which the objective falls all the way and its slope is at most `enough` in size."""
        low, high = 0.0, longest
        for _ in range(60):
            middle = 0.5 * (low + high)
            slope = self.slope(middle)
            low, high = (middle, high) if slope <= 0.0 else (low, middle)
            if -enough <= slope <= 0.0:
                break
        return low
