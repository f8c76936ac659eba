"""Stochastic steps on theta_k = sum_i c_i y_i phi_k(x_i), one vector per kernel, known by scalar products only.

    images[i, k] = phi_k(x_i)'theta_k,     quad_k = ||theta_k||^2,     f(x_i) = sum_k w_k images[i, k]
    theta += g y_i phi(x_i):    quad_k += 2 g y_i images[i, k] + g^2 K_k(i, i),    images += g y_i K(i, .),    c_i += g

UFO-MKL has w_k = v_k / ||theta_k|| (v_k / ||v||_q)^{q-2} / (lam t) with v_k = [||theta_k|| - alpha t]_+, and OBSCURE
w_k = (||theta_k|| / ||theta||_q)^{q-2} / q. With c classes theta_k has c columns, and a sample is taken from the column
of the class it was nearly mistaken for and given to its own:

    quad_k += 2 (images[i, y_i, k] - images[i, z, k]) + 2 K_k(i, i),    z = the class but y_i of largest score

Powers are taken relative to the largest, as q grows with the kernels.

Kernels are dense with k last: K[i] holds all kernels between sample i and the others.

References: Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011, algorithm 1;
Orabona, Jie, Caputo, Online-batch strongly convex multi kernel learning, CVPR 2010, algorithms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.contract import Facts, Iterate
from mklviz.inner.oracle import dense_kernels, needs_memory
from mklviz.inner.svm_state import dot
from mklviz.inner.warm import usual_weights
from mklviz.problem import GroupSquaredPlusL1, Loss, Problem
from mklviz.typing import Array, Indices

# What stochastic methods keep of theta_k = sum_i c_i y_i phi_k(x_i), and the certified iterate it stands for.
#
#     a = share c,    d = gradient of the conjugate, d_k = ||v||_q^{2-q} v_k^{q-1} / (lam sqrt(s_k)),
#     v = [sqrt(s) - alpha]_+,    s_k = share^2 ||theta_k||^2
#
# so the dual variables give both bounds: the function ``sum_k d_k K_k (a∘y)`` is the method's own. With several classes
# c counts, for every sample, how often each class was the rival: a sample drawn once per epoch has ``sum_k a_ik <= C``.
#
# Reference: Orabona, Luo, ICML 2011, algorithm 1, lines 6 and 7; the dual is derived from its equation 4 by Fenchel.

_CHUNK = 30_000_000  # kernel entries visited between two checkpoints, some hundredths of a second


def needs_group_norm(problem: Problem, losses: tuple[type[Loss], ...], method: str) -> str:
    """Return "" or why `method` cannot follow: it knows one formulation, `losses`, no bias and dense kernels."""
    loss, regularizer = problem.loss, problem.regularizer
    if not isinstance(loss, losses):
        *others, last = (f"the {each.label}" for each in losses)
        known = f"{', '.join(others)} and {last}" if others else last
        return f"{method} is written for {known} loss, not for the {loss.label} loss."
    if not isinstance(regularizer, GroupSquaredPlusL1):
        return f"{method} minimises the {GroupSquaredPlusL1.label}, not the {regularizer.label}."
    if loss.bias:
        return f"{method} learns without a bias: set bias=False."
    return needs_memory(problem, method)


@dataclass(frozen=True, kw_only=True)
class EpochFacts(Facts):
    """What is known of an epoch."""

    epochs: float = math.nan  # epochs so far
    updates: float = math.nan  # steps that moved theta so far
    zero_kernels: float = math.nan  # kernels of weight exactly zero


class ThetaState:
    """theta and all dense kernels of one run.

    `K` (n, n, m); `q`: power of the dual group norm; `lam`, `alpha`: prices that go with the mean of the losses: the
    problem's, divided by n C; `weights` (n,): what each sample counts, 1 where they have no weights: a step of it is so
    many times as long; `coefficients` (n,), or (n, number of classes): c; `images` (n, m), or (n, number of classes,
    m): ``K_k (c∘y)`` for every kernel, by class where there are several; `quad` (m,): ``||theta_k||^2``.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        regularizer = cast(GroupSquaredPlusL1, problem.regularizer)  # `supports` saw to it
        n, m = problem.n, problem.m
        self._problem = problem
        self._rng = np.random.default_rng(seed)
        self.K = dense_kernels(problem)
        self.weights = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        self.q = regularizer.dual_power(m)
        self.lam = regularizer.lam / (n * problem.loss.C)
        self.alpha = regularizer.alpha / (n * problem.loss.C)
        shape = problem.loss.dual_shape(problem.y)
        self.coefficients, self.images, self.quad = np.zeros(shape), np.zeros((*shape, m)), np.zeros(m)
        self.state = self.coefficients, self.images, self.quad

    def epoch(self) -> Iterator[NDArray[np.intp]]:
        """Yield all samples once in random order, in pieces short enough to cancel between them."""
        n = len(self.images)
        order = self._rng.permutation(n)
        piece = max(_CHUNK // self.images.size, 1)
        for first in range(0, n, piece):
            checkpoint()
            yield order[first : first + piece]
        # the increments of ||theta_k||^2 leave rounding behind
        signed = self._problem.loss.signed(self.coefficients, self._problem.y)
        self.quad[:] = np.maximum(np.tensordot(signed, self.images, signed.ndim), 0.0)

    def iterate(self, share: float, step: float, facts: EpochFacts) -> Iterate:
        """Return the iterate with dual variables ``share * c``.

        Dual variables beyond C are scaled down with all others, and the weights up, which leaves the function as
        it is.
        """
        problem = self._problem
        counts = self.coefficients.reshape(problem.n, -1).sum(axis=1)
        beyond = max(share * float(problem.loss.shares(counts).max()), 1.0)
        weights = beyond * problem.regularizer.weights_from(share**2 * self.quad)
        share /= beyond
        return self._certified(weights, share, step, facts)

    def start(self, facts: EpochFacts) -> Iterate:
        """Return the zero function, a = 0, shown with equal weights."""
        return self._certified(usual_weights(self._problem), 0.0, 0.0, facts)

    def _certified(self, weights: Array, share: float, step: float, facts: EpochFacts) -> Iterate:
        problem, s, dual = self._problem, share**2 * self.quad, share * self.coefficients
        scores = self.images @ (share * weights)
        return Iterate(
            weights=weights,
            dual=dual,
            objective=problem.primal(weights, scores, float(weights @ s), s),
            lower_bound=problem.lower_bound(dual, s),
            step=step,
            svm_solves=0,
            facts=replace(facts, zero_kernels=float((weights == 0.0).sum())),
        )


Theta = tuple[Array, Array, Array]  # c, images and quad
Prices = tuple[float, float, float]
FADED = 1e-100  # factor of theta below which it is multiplied out


@njit(cache=True, nogil=True)
def _add_sample(rows: Array, i: int, amount: float, y_i: float, theta: Theta) -> None:
    """theta <- theta + amount y_i phi(x_i), where ``rows`` is K[i]."""
    coefficients, images, quad = theta
    coefficients[i] += amount
    signed = amount * y_i
    for k in range(quad.shape[0]):
        quad[k] = max(quad[k] + 2.0 * signed * images[i, k] + amount * amount * rows[i, k], 0.0)
    for j in range(images.shape[0]):
        for k in range(quad.shape[0]):
            images[j, k] += signed * rows[j, k]


@njit(cache=True, nogil=True)
def _map_back(quad: Array, threshold: float, q: float, w: Array) -> float:
    """w_k <- v_k / ||theta_k|| (v_k / ||v||_q)^{q-2}, v_k = [||theta_k|| - threshold]_+; returns ||v||_q."""
    top = 0.0
    for k in range(quad.shape[0]):
        w[k] = max(math.sqrt(quad[k]) - threshold, 0.0)
        top = max(top, w[k])
    if top == 0.0:
        return 0.0
    total = 0.0
    for k in range(quad.shape[0]):
        if w[k] > 0.0:
            share = w[k] / top
            power = 1.0 if q == 2.0 else share ** (q - 2.0)
            total += power * share * share
            w[k] *= power / math.sqrt(quad[k])
    shrink = total ** ((2.0 - q) / q)
    for k in range(quad.shape[0]):
        w[k] *= shrink
    return top * total ** (1.0 / q)


@njit(cache=True, nogil=True)
def average(
    K: Array, y: Array, order: Indices, t: int, prices: Prices, smooth: bool, weights: Array, theta: Theta
) -> int:
    """Take UFO-MKL's steps t + 1, t + 2, ... on the samples in `order`; returns how many moved theta.

    `prices`: lam and alpha of the mean loss, in which each sample counts as `weights` say, and q; `smooth` tells the
    logistic loss from the hinge loss. `theta` is brought up to date.
    """
    (lam, alpha, q), (_, images, quad) = prices, theta
    w = np.zeros(quad.shape[0])
    if t > 0:
        _map_back(quad, alpha * t, q, w)
    updates = 0
    for i in order:
        score = dot(images[i], w) / (lam * max(t, 1))
        t += 1
        amount = 1.0 if y[i] * score < 1.0 else 0.0
        if smooth:
            amount = 1.0 / (1.0 + math.exp(min(y[i] * score, 700.0)))  # exp(710) overflows
        amount *= weights[i]
        if amount > 0.0:
            updates += 1
            _add_sample(K[i], i, amount, y[i], theta)
        _map_back(quad, alpha * t, q, w)
    return updates


@njit(cache=True, nogil=True)
def _exchange_sample(rows: Array, i: int, own: int, rival: int, amount: float, theta: Theta) -> None:
    """Give amount phi(x_i) to the column `own` of theta and take it from `rival`, where ``rows`` is K[i]."""
    coefficients, images, quad = theta
    coefficients[i, rival] += amount
    for k in range(quad.shape[0]):
        gain = images[i, own, k] - images[i, rival, k]
        quad[k] = max(quad[k] + 2.0 * amount * (gain + amount * rows[i, k]), 0.0)
    for j in range(images.shape[0]):
        for k in range(quad.shape[0]):
            images[j, own, k] += amount * rows[j, k]
            images[j, rival, k] -= amount * rows[j, k]


@njit(cache=True, nogil=True)
def average_classes(
    K: Array, labels: Indices, order: Indices, t: int, prices: Prices, weights: Array, theta: Theta
) -> int:
    """Take UFO-MKL's steps with several classes, as in `average`; returns how many moved theta."""
    (lam, alpha, q), (_, images, quad) = prices, theta
    w = np.zeros(quad.shape[0])
    if t > 0:
        _map_back(quad, alpha * t, q, w)
    updates = 0
    for i in order:
        own, rival, best = labels[i], -1, 0.0
        for c in range(images.shape[1]):
            score = dot(images[i, c], w)
            if c != own and (rival < 0 or score > best):
                rival, best = c, score
        margin = (dot(images[i, own], w) - best) / (lam * max(t, 1))
        t += 1
        if margin < 1.0 and weights[i] > 0.0:
            updates += 1
            _exchange_sample(K[i], i, own, rival, weights[i], theta)
        _map_back(quad, alpha * t, q, w)
    return updates


@njit(cache=True, nogil=True)
def perceive(K: Array, y: Array, order: Indices, rate: float, q: float, theta: Theta) -> int:
    """Take steps of OBSCURE's first stage: each sample inside its margin is added; returns how many were."""
    _, images, quad = theta
    w = np.zeros(quad.shape[0])
    _map_back(quad, 0.0, q, w)
    updates = 0
    for i in order:
        if y[i] * dot(images[i], w) / q < 1.0:
            updates += 1
            _add_sample(K[i], i, rate, y[i], theta)
            _map_back(quad, 0.0, q, w)
    return updates


@njit(cache=True, nogil=True)
def _multiply(factor: float, coefficients: Array, images: Array, quad: Array) -> None:
    coefficients *= factor
    images *= factor
    quad *= factor * factor


@njit(cache=True, nogil=True)
def descend(
    K: Array, y: Array, order: Indices, t: int, prices: Prices, lengths: Array, strength: float, theta: Theta
) -> tuple[int, float]:
    """Take OBSCURE's steps t + 1, t + 2, ... of the second stage; returns the updates and the sum of all tau.

    `prices`: lam, the radius below which the functions' group norm stays, and q; `lengths`: the samples'
    ``||phi(x_i)||_{2,q}``; `strength`: the sum of tau so far. theta is kept as a factor times what is stored, so that
    shrinking it costs nothing.
    """
    (lam, radius, q), (coefficients, images, quad) = prices, theta
    w = np.zeros(quad.shape[0])
    factor, updates = 1.0, 0
    size = _map_back(quad, 0.0, q, w)
    for i in order:
        t += 1
        wrong = y[i] * factor * dot(images[i], w) / q < 1.0
        known = lam * t + strength
        steep = (lengths[i] if wrong else 0.0) + lam / q * factor * size
        strength += 0.5 * (math.sqrt(known * known + q * (steep / radius) ** 2) - known)
        rate = q / (lam * t + strength)
        factor *= 1.0 - rate * lam / q
        if factor < FADED:
            _multiply(max(factor, 0.0), coefficients, images, quad)
            factor = 1.0
            size = _map_back(quad, 0.0, q, w)
        if wrong:
            updates += 1
            _add_sample(K[i], i, rate / factor, y[i], theta)
            size = _map_back(quad, 0.0, q, w)
        if factor * size > q * radius:
            factor = q * radius / size
    _multiply(factor, coefficients, images, quad)
    return updates, strength
