"""Sums over Gaussian kernels of every width on many subsets of features, for a chunk of pairs of samples at a time.

    f = exp(-g D) - 1,      exp(-2 g D) - 1 = f (f + 2),      D = sum over the subset's features of squared differences

One Taylor polynomial at an exponent so small that six terms suffice, and products and sums from there: what a processor
does for eight pairs at a time. f is accurate relative to itself, where exp(-g D) near one would lose its distance from
one, and squaring keeps it: every kernel value is right to about 1e-15. Widths are taken five at a time, whose sums and
whose f stay in registers: a width costs three products and as many sums, about as much as a core can do.
"""

from __future__ import annotations

import numpy as np

from mklviz.compiled import njit
from mklviz.typing import Array, Integers

# every fast-math licence but those that deny nan and infinity
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}
CHUNK = 1024  # pairs visited together: their squared differences along all features stay in the second-level cache
SMALL = 2.0**-7  # exponents below this are left to the Taylor polynomial, whose error is 2^-42 / 7! = 5e-17 of f
ROWS = 4  # features of a subset added at once; shorter lists are filled up with the row of zeros below the features
GROUP = 5  # widths whose sums stay in registers
OCTAVE = 2  # squarings from one width to the next where widths halve, as they mostly do


@njit(cache=True, nogil=True)
def pairs(start: int, first: Integers, second: Integers) -> None:
    """Write the pairs (i, j), j < i, number start, start + 1, ... in the order of a packed triangle."""
    i = int((1.0 + (1.0 + 8.0 * start) ** 0.5) / 2.0)
    while i * (i - 1) // 2 > start:
        i -= 1
    while (i + 1) * i // 2 <= start:
        i += 1
    j = start - i * (i - 1) // 2
    for t in range(first.shape[0]):
        first[t], second[t] = i, j
        j += 1
        if j == i:
            i, j = i + 1, 0


@njit(cache=True, nogil=True, fastmath=FAST)
def differences(left: Array, right: Array, first: Integers, second: Integers, squares: Array) -> None:
    """squares[f, t] = (feature f of left point first[t] - of right point second[t])^2; the row below is zero."""
    squares[left.shape[0]] = 0.0
    for f in range(left.shape[0]):
        for t in range(first.shape[0]):
            difference = left[f, first[t]] - right[f, second[t]]
            squares[f, t] = difference * difference


@njit(cache=True, nogil=True)
def scatter(values: Array, first: Integers, second: Integers, size: float, out: Array) -> None:
    """Add size times values[t] to the entries (first[t], second[t]) and (second[t], first[t]) of `out`."""
    for t in range(values.shape[0]):
        out[first[t], second[t]] += size * values[t]
        out[second[t], first[t]] += size * values[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def _taylor(x: float) -> float:
    """exp(x) - 1 for small x."""
    return x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720))))))


@njit(cache=True, nogil=True, fastmath=FAST)
def _begin(squares: Array, features: Integers, factor: float, halvings: int, f: Array) -> None:
    """f = exp(factor D) - 1: Taylor at the exponent halved `halvings` times, then as many squarings.

    Squares are added four rows at a time: each pass over memory costs more than a sum.
    """
    scale, length, last = factor / 2.0**halvings, f.shape[0], features.shape[0] - ROWS
    for k in range(0, last + 1, ROWS):
        a, b = squares[features[k]], squares[features[k + 1]]
        c, d = squares[features[k + 2]], squares[features[k + 3]]
        if last == 0:
            for t in range(length):
                f[t] = _taylor(scale * ((a[t] + b[t]) + (c[t] + d[t])))
        elif k == 0:
            for t in range(length):
                f[t] = (a[t] + b[t]) + (c[t] + d[t])
        elif k < last:
            for t in range(length):
                f[t] += (a[t] + b[t]) + (c[t] + d[t])
        else:
            for t in range(length):
                f[t] = _taylor(scale * (f[t] + ((a[t] + b[t]) + (c[t] + d[t]))))
    _narrow(f, halvings)


@njit(cache=True, nogil=True, fastmath=FAST)
def _narrow(f: Array, steps: int) -> None:
    """Square every exp = 1 + f `steps` times."""
    for _ in range(steps):
        for t in range(f.shape[0]):
            f[t] *= f[t] + 2.0


@njit(cache=True, nogil=True, fastmath=FAST)
def _half(f: float) -> float:
    """The next width, half of this one: exp^4 - 1."""
    squared = f * (f + 2.0)
    return squared * (squared + 2.0)


@njit(cache=True, nogil=True, fastmath=FAST)
def _five_forms(f: Array, pairs: Array, out: Array) -> None:
    """out[k] += sum of pairs[t] f[t] for the next five widths, each half of the one before."""
    a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(f.shape[0]):
        pair = pairs[t]
        g = _half(f[t])
        a += pair * g
        g = _half(g)
        b += pair * g
        g = _half(g)
        c += pair * g
        g = _half(g)
        d += pair * g
        g = _half(g)
        e += pair * g
        f[t] = g
    out[0] += a
    out[1] += b
    out[2] += c
    out[3] += d
    out[4] += e


@njit(cache=True, nogil=True, fastmath=FAST)
def sum_forms(
    squares: Array,
    pairs: Array,
    starts: Integers,
    features: Integers,
    begin: int,
    end: int,
    factor: float,
    halvings: Integers,
    widths: int,
    steps: int,
    out: Array,
) -> None:
    """out[s, k] += sum over the pairs t of pairs[t] f^(k + 1 steps), for the subsets s from begin to end."""
    f = np.empty(pairs.shape[0])
    for s in range(begin, end):
        _begin(squares, features[starts[s] : starts[s + 1]], factor, halvings[s], f)
        k = 0
        while steps == OCTAVE and k + GROUP <= widths:
            _five_forms(f, pairs, out[s, k : k + GROUP])
            k += GROUP
        while k < widths:
            _narrow(f, steps)
            total = 0.0
            for t in range(f.shape[0]):
                total += pairs[t] * f[t]
            out[s, k] += total
            k += 1


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_five(f: Array, weights: Array, out: Array) -> None:
    """out[t] += sum of weights[k] f[t] for the next five widths, each half of the one before."""
    a, b, c, d, e = weights[0], weights[1], weights[2], weights[3], weights[4]
    for t in range(f.shape[0]):
        g = _half(f[t])
        total = a * g
        g = _half(g)
        total += b * g
        g = _half(g)
        total += c * g
        g = _half(g)
        total += d * g
        g = _half(g)
        out[t] += total + e * g
        f[t] = g


@njit(cache=True, nogil=True, fastmath=FAST)
def sum_kernels(
    squares: Array,
    starts: Integers,
    features: Integers,
    begin: int,
    end: int,
    factor: float,
    halvings: Integers,
    weights: Array,
    steps: int,
    out: Array,
) -> None:
    """out[t] += sum over the subsets s from begin to end and widths k of weights[s, k] f^(k + 1 steps)."""
    f = np.empty(out.shape[0])
    for s in range(begin, end):
        used = weights.shape[1]
        while used > 0 and weights[s, used - 1] == 0.0:
            used -= 1
        if used == 0:
            continue
        _begin(squares, features[starts[s] : starts[s + 1]], factor, halvings[s], f)
        k = 0
        while steps == OCTAVE and k + GROUP <= weights.shape[1] and k < used:
            _add_five(f, weights[s, k : k + GROUP], out)
            k += GROUP
        while k < used:
            _narrow(f, steps)
            weight = weights[s, k]
            for t in range(f.shape[0]):
                out[t] += weight * f[t]
            k += 1
