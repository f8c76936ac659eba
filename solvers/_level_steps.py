"""Compiled steps of the projection onto a level set; `mklviz.solvers._level_qp` puts them together.

The formulas and their letters (G, mu, D, psi, M) are those of its docstring.
"""

from __future__ import annotations

import math

import numpy as np

from mklviz.compiled import njit
from mklviz.typing import Array, Flags, Integers

FEASIBLE, EMPTY = 0, 1  # outcomes
_FLAGS = {"reassoc", "contract", "arcp", "nsz"}  # sums may be reordered, NaN and infinity keep their meaning


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def simplex_point(z: Array, p: Array, work: Array) -> None:
    """p = the point of the simplex nearest to z: p = (z - tau)_+, tau by Michelot's shrinking set of candidates.

    Any set S bounds tau from below by (sum_S z - 1) / |S|; the positive entries of p are the first one tried.
    """
    m = z.shape[0]
    top = z[0]
    for k in range(m):
        if z[k] > top:
            top = z[k]
    count = 0
    total = 0.0
    for k in range(m):
        inside = p[k] > 0.0
        total += z[k] - top if inside else 0.0
        count += 1 if inside else 0
    tau = max((total - 1.0) / count, -1.0) if count > 0 else -1.0  # tau - top lies in [-1, 0)
    count = 0
    total = 0.0
    for k in range(m):
        if z[k] - top > tau:
            work[count] = z[k] - top
            total += work[count]
            count += 1
    tau = (total - 1.0) / count
    while True:
        kept = 0
        total = 0.0
        for k in range(count):
            if work[k] > tau:
                work[kept] = work[k]
                total += work[k]
                kept += 1
        if kept == count:
            break
        count = kept
        tau = (total - 1.0) / count
    for k in range(m):
        p[k] = max(z[k] - top - tau, 0.0)


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _combine(cuts: Array, level: float, units: Array, weights: Array, out: Array) -> None:
    """out = G'weights with the rows G_j = units_j (c_j - level), skipping zeros."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for j in range(cuts.shape[0]):
        if weights[j] != 0.0:
            w = weights[j] * units[j]
            row = cuts[j]
            for k in range(out.shape[0]):
                out[k] += w * (row[k] - level)


@njit(cache=True, nogil=True)
def _support(p: Array) -> Integers:
    """Integers of the positive entries."""
    support = np.empty(p.shape[0], np.int64)
    count = 0
    for k in range(p.shape[0]):
        if p[k] > 0.0:
            support[count] = k
            count += 1
    return support[:count]


@njit(cache=True, nogil=True)
def _range(v: Array) -> tuple[float, float]:
    """Least and largest entry."""
    least = most = v[0]
    for k in range(v.shape[0]):
        least, most = min(least, v[k]), max(most, v[k])
    return least, most


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _slopes(cuts: Array, level: float, units: Array, p: Array, r: Array) -> None:
    """r = G p, reading only the kernels with weight."""
    support = _support(p)
    weights = np.empty(support.shape[0])
    for i in range(support.shape[0]):
        weights[i] = p[support[i]]
    for j in range(cuts.shape[0]):
        row = cuts[j]
        total = 0.0
        if 4 * support.shape[0] > p.shape[0]:
            for k in range(p.shape[0]):
                total += p[k] * (row[k] - level)
        else:
            for i in range(support.shape[0]):
                total += weights[i] * (row[support[i]] - level)
        r[j] = units[j] * total


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _solve_guarded(A: Array, q: int, x: Array) -> None:
    """Solve A x = x in place by Cholesky on the leading q by q block; a vanishing pivot leaves its variable at 0."""
    for i in range(q):
        floor = 1e-14 * A[i, i]
        for j in range(i + 1):
            v = A[i, j]
            for k in range(j):
                v -= A[i, k] * A[j, k]
            if j < i:
                A[i, j] = v / A[j, j]
            else:
                A[i, i] = math.sqrt(v) if v > floor else 1e150
    for i in range(q):
        v = x[i]
        for k in range(i):
            v -= A[i, k] * x[k]
        x[i] = v / A[i, i]
    for i in range(q - 1, -1, -1):
        v = x[i]
        for k in range(i + 1, q):
            v -= A[k, i] * x[k]
        x[i] = v / A[i, i]


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _bounded_step(M: Array, r: Array, mu: Array, D: Array) -> None:
    """D = argmax r'D - 1/2 D'MD with mu + D >= 0, M positive definite: active set method started at D = 0."""
    q = r.shape[0]
    free = np.empty(q, np.bool_)
    index = np.empty(q, np.int64)
    A = np.empty((q, q))
    x = np.empty(q)
    for i in range(q):
        free[i], D[i] = mu[i] > 0.0, 0.0
    for _ in range(4 * q + 10):
        while True:
            count = _free_system(M, r, D, free, index, A, x)
            if count == 0:
                break
            _solve_guarded(A, count, x)
            if _advance(x, index, count, mu, D, free):
                break
        entering = _entering(M, r, D, free)
        if entering < 0:
            break
        free[entering] = True


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _free_system(M: Array, r: Array, D: Array, free: Flags, index: Integers, A: Array, x: Array) -> int:
    """A, x = lower triangle of M and slope on the free variables, the others held at D; returns how many are free."""
    count = 0
    for i in range(r.shape[0]):
        if free[i]:
            index[count] = i
            count += 1
    for a in range(count):
        i = index[a]
        x[a] = r[i]
        for j in range(r.shape[0]):
            if not free[j]:
                x[a] -= M[i, j] * D[j]
        for b in range(a + 1):
            A[a, b] = M[i, index[b]]
    return count


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _advance(x: Array, index: Integers, count: int, mu: Array, D: Array, free: Flags) -> bool:
    """Move the free part of D towards x; True if it arrived, else the variable that met its bound is held there."""
    t = 1.0
    blocking = -1
    for a in range(count):
        i = index[a]
        if mu[i] + x[a] < 0.0:
            room = mu[i] + D[i]
            limit = room / (D[i] - x[a])
            if limit < t or blocking < 0:
                t = min(limit, t)
                blocking = i
    for a in range(count):
        D[index[a]] += t * (x[a] - D[index[a]])
    if blocking < 0:
        return True
    D[blocking] = -mu[blocking]
    free[blocking] = False
    return False


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _entering(M: Array, r: Array, D: Array, free: Flags) -> int:
    """Index of the held variable whose release raises the quadratic fastest; -1 if none does beyond rounding."""
    best = 0.0
    entering = -1
    for i in range(r.shape[0]):
        if not free[i]:
            slope = r[i]
            size = abs(r[i])
            for j in range(r.shape[0]):
                slope -= M[i, j] * D[j]
                size += abs(M[i, j] * D[j])
            if slope > 1e-12 * size and slope > best:
                best = slope
                entering = i
    return entering


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _search(z: Array, q: Array, p: Array, work: Array) -> float:
    """Largest t in [0, 1] up to which g rises along D: the root of psi(t) = q'proj(z - t q), q = G'D; 0 if none.

    psi falls and is piecewise linear, so Newton inside a bracket ends exactly; the bracket is grown from the scale
    where the projection begins to change, because along a nearly flat ray the step offered is huge.
    """
    m = z.shape[0]
    point = np.empty(m)
    least, most = _range(q)
    low, t = 0.0, min(1.0, 1.0 / max(most - least, 1e-300))
    high = -1.0  # none known yet
    first = _dot(q, p)
    if not first > 0.0:
        return 0.0
    for _ in range(100):
        for k in range(m):
            point[k] = z[k] - t * q[k]
        simplex_point(point, p, work)
        value = _dot(q, p)
        if value >= 0.0:
            low = t
            if t == 1.0:
                return 1.0
        else:
            high = t
        if abs(value) <= 1e-6 * first:
            return t
        if high < 0.0:
            t = min(8.0 * t, 1.0)
            continue
        if high - low <= 1e-15 * high:
            break
        t = _newton_root(q, p, value, t, low, high)
    return low


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _newton_root(q: Array, p: Array, value: float, t: float, low: float, high: float) -> float:
    """Newton step for psi from t, with slope -sum_S (q - mean_S q)^2; the middle if it leaves the bracket."""
    count = 0
    mean = 0.0
    for k in range(q.shape[0]):
        if p[k] > 0.0:
            mean += q[k]
            count += 1
    mean /= count
    curvature = 0.0
    for k in range(q.shape[0]):
        if p[k] > 0.0:
            curvature += (q[k] - mean) * (q[k] - mean)
    root = t + value / curvature if curvature > 0.0 else -1.0
    return root if low < root < high else 0.5 * (low + high)


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _model(cuts: Array, level: float, units: Array, p: Array, working: Integers) -> Array:
    """M = G_S (I - 11'/|S|) G_S' over the working rows, S the support of p."""
    q = working.shape[0]
    support = _support(p)
    size = support.shape[0]
    centred = np.empty((q, size))
    M = np.empty((q, q))
    for a in range(q):
        row = cuts[working[a]]
        unit = units[working[a]]
        mean = 0.0
        for k in range(size):
            centred[a, k] = unit * (row[support[k]] - level)
            mean += centred[a, k]
        mean /= size
        for k in range(size):
            centred[a, k] -= mean
        for b in range(a + 1):
            M[a, b] = _dot(centred[a], centred[b])
            M[b, a] = M[a, b]
    return M


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _violation(r: Array, mu: Array) -> float:
    """Largest residual of mu >= 0, r <= 0, mu r = 0."""
    worst = 0.0
    for j in range(r.shape[0]):
        v = abs(r[j]) if mu[j] > 0.0 else r[j]
        if v > worst:
            worst = v
    return worst


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _direction(
    cuts: Array, level: float, units: Array, p: Array, r: Array, mu: Array, violation: float, D: Array
) -> None:
    """D = the bounded Newton step on the cuts that hold, are violated or nearly so; zero elsewhere."""
    J, q = r.shape[0], 0
    working, slope, held = np.empty(J, np.int64), np.empty(J), np.empty(J)
    for j in range(J):
        D[j] = 0.0
        if mu[j] > 0.0 or r[j] > -1e-3 * violation:
            working[q], slope[q], held[q] = j, r[j], mu[j]
            q += 1
    working = working[:q]
    M = _model(cuts, level, units, p, working)
    trace = 0.0
    for a in range(q):
        trace += M[a, a]
    for a in range(q):
        M[a, a] += 1e-12 * trace + 1e-13
    step = np.empty(q)
    _bounded_step(M, slope[:q], held[:q], step)
    for a in range(q):
        D[working[a]] = step[a]


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _proves_empty(w: Array, lowest: float) -> bool:
    """True if w >= 0 and min_k (G'w)_k, given as `lowest`, is positive beyond rounding."""
    total = 0.0
    for j in range(w.shape[0]):
        if w[j] < 0.0:
            return False
        total += w[j]
    return lowest > 1e-13 * total


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def newton(
    d0: Array, cuts: Array, level: float, units: Array, mu: Array, p: Array, max_steps: int
) -> tuple[int, int, float, float]:
    """Maximize the dual from mu (overwritten); p receives the projection.

    The rows G_j = units_j (c_j - level) are never stored: a step needs few of them, and few of their entries.

    Returns the outcome, the steps taken, the violation and min_k (G'mu)_k.
    """
    J, m = cuts.shape
    u, q, z, work = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    r, D = np.empty(J), np.empty(J)
    for k in range(m):
        p[k] = d0[k]  # a guess of its support
    for step in range(max_steps + 1):
        _combine(cuts, level, units, mu, u)
        for k in range(m):
            z[k] = d0[k] - u[k]
        simplex_point(z, p, work)
        _slopes(cuts, level, units, p, r)
        violation = _violation(r, mu)
        lowest, largest = _range(u)
        if _proves_empty(mu, lowest):
            return EMPTY, step, violation, lowest
        if violation <= max(1e-13, 1e-15 * (largest - lowest)) or step == max_steps:
            break
        _direction(cuts, level, units, p, r, mu, violation, D)
        _combine(cuts, level, units, D, q)
        least, _ = _range(q)
        if _proves_empty(D, least):  # the ray itself proves it long before mu has grown along it
            for j in range(J):
                mu[j] = D[j]
            return EMPTY, step + 1, violation, least
        t = _search(z, q, p, work)
        if t == 0.0:  # rounding hides whatever is left to gain
            break
        for j in range(J):
            mu[j] = max(mu[j] + t * D[j], 0.0)
    return FEASIBLE, step, violation, lowest
