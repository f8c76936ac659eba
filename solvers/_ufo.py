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

import numpy as np

from mklviz.compiled import njit
from mklviz.typing import Array, Indices

__all__ = ["average", "average_classes", "descend", "perceive"]

# every fast-math licence but those that deny nan and infinity
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}
FADED = 1e-100  # factor of theta below which it is multiplied out


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@njit(cache=True, nogil=True)
def _add_sample(
    rows: Array, i: int, amount: float, y_i: float, coefficients: Array, images: Array, quad: Array
) -> None:
    """theta <- theta + amount y_i phi(x_i), where ``rows`` is K[i]."""
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
    K: Array,
    y: Array,
    order: Indices,
    t: int,
    lam: float,
    alpha: float,
    q: float,
    smooth: bool,
    weights: Array,
    coefficients: Array,
    images: Array,
    quad: Array,
) -> int:
    """Take UFO-MKL's steps t + 1, t + 2, ... on the samples in `order`; returns how many moved theta.

    `lam` and `alpha` belong to the mean loss, in which each sample counts as `weights` say; `smooth` tells the logistic
    loss from the hinge loss. `coefficients`, `images` and `quad` are brought up to date.
    """
    w = np.zeros(quad.shape[0])
    if t > 0:
        _map_back(quad, alpha * t, q, w)
    updates = 0
    for i in order:
        score = _dot(images[i], w) / (lam * max(t, 1))
        t += 1
        amount = 1.0 if y[i] * score < 1.0 else 0.0
        if smooth:
            amount = 1.0 / (1.0 + math.exp(min(y[i] * score, 700.0)))  # exp(710) overflows
        amount *= weights[i]
        if amount > 0.0:
            updates += 1
            _add_sample(K[i], i, amount, y[i], coefficients, images, quad)
        _map_back(quad, alpha * t, q, w)
    return updates


@njit(cache=True, nogil=True)
def _exchange_sample(
    rows: Array, i: int, own: int, rival: int, amount: float, coefficients: Array, images: Array, quad: Array
) -> None:
    """Give amount phi(x_i) to the column `own` of theta and take it from `rival`, where ``rows`` is K[i]."""
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
    K: Array,
    labels: Indices,
    order: Indices,
    t: int,
    lam: float,
    alpha: float,
    q: float,
    weights: Array,
    coefficients: Array,
    images: Array,
    quad: Array,
) -> int:
    """Take UFO-MKL's steps with several classes, as in `average`; returns how many moved theta."""
    w = np.zeros(quad.shape[0])
    if t > 0:
        _map_back(quad, alpha * t, q, w)
    updates = 0
    for i in order:
        own, rival, best = labels[i], -1, 0.0
        for c in range(images.shape[1]):
            score = _dot(images[i, c], w)
            if c != own and (rival < 0 or score > best):
                rival, best = c, score
        margin = (_dot(images[i, own], w) - best) / (lam * max(t, 1))
        t += 1
        if margin < 1.0 and weights[i] > 0.0:
            updates += 1
            _exchange_sample(K[i], i, own, rival, weights[i], coefficients, images, quad)
        _map_back(quad, alpha * t, q, w)
    return updates


@njit(cache=True, nogil=True)
def perceive(
    K: Array, y: Array, order: Indices, rate: float, q: float, coefficients: Array, images: Array, quad: Array
) -> int:
    """Take steps of OBSCURE's first stage: each sample inside its margin is added; returns how many were."""
    w = np.zeros(quad.shape[0])
    _map_back(quad, 0.0, q, w)
    updates = 0
    for i in order:
        if y[i] * _dot(images[i], w) / q < 1.0:
            updates += 1
            _add_sample(K[i], i, rate, y[i], coefficients, images, quad)
            _map_back(quad, 0.0, q, w)
    return updates


@njit(cache=True, nogil=True)
def _multiply(factor: float, coefficients: Array, images: Array, quad: Array) -> None:
    coefficients *= factor
    images *= factor
    quad *= factor * factor


@njit(cache=True, nogil=True)
def descend(
    K: Array,
    y: Array,
    order: Indices,
    t: int,
    lam: float,
    radius: float,
    q: float,
    lengths: Array,
    strength: float,
    coefficients: Array,
    images: Array,
    quad: Array,
) -> tuple[int, float]:
    """Take OBSCURE's steps t + 1, t + 2, ... of the second stage; returns the updates and the sum of all tau.

    The functions' group norm stays below `radius`; `lengths` are the samples' ``||phi(x_i)||_{2,q}``, and `strength`
    is the sum of tau so far. theta is kept as a factor times what is stored, so that shrinking it costs nothing.
    """
    w = np.zeros(quad.shape[0])
    factor, updates = 1.0, 0
    size = _map_back(quad, 0.0, q, w)
    for i in order:
        t += 1
        wrong = y[i] * factor * _dot(images[i], w) / q < 1.0
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
            _add_sample(K[i], i, rate / factor, y[i], coefficients, images, quad)
            size = _map_back(quad, 0.0, q, w)
        if factor * size > q * radius:
            factor = q * radius / size
    _multiply(factor, coefficients, images, quad)
    return updates, strength
