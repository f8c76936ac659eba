"""Losses with several classes at fixed kernel weights.

    multiclass hinge    max over B  sum_i B_{i,y_i} - 1/2 tr(B'K B),   B_ik <= C_i Y_ik,  sum_k B_ik = 0
    one against all     one support vector machine per class, all on the same kernel

C_i is C, or C times the sample's weight. In the first, a sample's violation is the largest slope among its variables
that may grow minus the smallest of all.
Exact steps on one sample, compiled, bring it down; once the set of free variables has settled, a Newton step on all of
them, bent back to the feasible set or cut at the first bound, whichever gains more, does the rest.

References: Crammer, Singer, JMLR 2 (2001), section 6; Keerthi, Sundararajan, Chang, Hsieh, Lin, A sequential dual
method for large scale multi-class linear SVMs, KDD 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.inner.interface import Inner, refuse_not_finite
from mklviz.inner.svm import LONG, REFRESHES, BoxInner
from mklviz.inner.svm_newton import RIDGE
from mklviz.inner.svm_state import EPS, FAST, FLAT, MASK, SNAP, TINY, add
from mklviz.inner.svm_steps import LARGEST_SYSTEM, PATIENCE, SETTLED, VISIBLE
from mklviz.problem import Hinge, MulticlassHinge, OneAgainstAllHinge
from mklviz.problem.losses import labels_of
from mklviz.typing import Array, Indices, Integers

# The compiled steps.
#
# State, a column per sample: the signed variables B (c, n), their slopes G = Y - (K B)' (c, n) with Y one at the
# samples' own classes, and masks (c, n), zero where B may grow (B_ki < C_i Y_ki) and hugely negative where it may not.
# C (n,) holds what each sample's dual variables may sum to.
#
# One step maximises over all c variables of one sample: B_i = min(C_i Y_i, v - theta), v = B_i + G_i / K_ii, with theta
# such that B_i sums to zero, found by sorting v.


@njit(cache=True, nogil=True)
def _sort_rivals(v: Array, own: int, order: Integers) -> None:
    """order <- the classes but `own`, by v: insertion, as classes are few."""
    filled = 0
    for k in range(v.shape[0]):
        if k != own:
            place = filled
            while place > 0 and v[order[place - 1]] > v[k]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = k
            filled += 1


@njit(cache=True, nogil=True)
def _level(v: Array, order: Integers, lowest: float, amount: float, more: int) -> float:
    """Return theta with ``sum_k [theta - v_k + lowest]_+ + more theta = amount`` over the classes in `order`."""
    total = 0.0
    theta = amount / (1 + more)
    for r in range(1, order.shape[0]):
        rest = v[order[r]] - lowest
        if theta <= rest:
            break
        total += rest
        theta = (amount + total) / (r + 1 + more)
    return theta


@njit(cache=True, nogil=True)
def _place(v: Array, own: int, C: float, order: Integers, out: Array) -> None:
    """out <- the point nearest to v with out <= C in `own`, out <= 0 elsewhere, and sum zero.

    All is taken relative to the lowest v, so that differences are exact where values are huge.
    """
    out[:] = 0.0
    _sort_rivals(v, own, order)
    lowest = v[order[0]]
    rise = v[own] - lowest
    if rise <= 0.0:
        return
    theta = _level(v, order, lowest, rise, 1)
    if rise - theta > C:
        theta = _level(v, order, lowest, C, 0)
    total = 0.0
    for k in range(v.shape[0]):
        share = theta - (v[k] - lowest)
        if k != own and share > SNAP * theta:
            out[k] = -share
            total += share
    if total > C:
        for k in range(v.shape[0]):
            out[k] *= C / total
    out[own] = C if C - total < SNAP * C else total


@njit(cache=True, nogil=True)
def project(V: Array, labels: Integers, C: Array) -> Array:
    """Return the feasible point nearest to V (c, n)."""
    c, n = V.shape
    out, order, v, placed = np.empty((c, n)), np.zeros(c - 1, np.int64), np.empty(c), np.empty(c)
    for i in range(n):
        for k in range(c):  # one entry after the other: an array assigned to another compiles for two seconds
            v[k] = V[k, i]
        _place(v, labels[i], C[i], order, placed)
        for k in range(c):
            out[k, i] = placed[k]
    return out


@njit(cache=True, nogil=True)
def masks(B: Array, labels: Integers, C: Array) -> Array:
    """Return zero where B may grow and -MASK where it may not."""
    up = np.empty_like(B)
    for k in range(B.shape[0]):
        for i in range(B.shape[1]):
            up[k, i] = 0.0 if B[k, i] < (C[i] if k == labels[i] else 0.0) else -MASK
    return up


@njit(cache=True, nogil=True, fastmath=FAST)
def _widen(slopes: Array, up: Array, high: Array, low: Array) -> None:
    """Bring the extremes over the classes up to date with those of one class."""
    for t in range(slopes.shape[0]):
        g = slopes[t]
        h = g + up[t]
        high[t] = h if h > high[t] else high[t]
        low[t] = g if g < low[t] else low[t]


@njit(cache=True, nogil=True)
def _worst(G: Array, up: Array, diagonal: Array, C: Array, high: Array, low: Array) -> tuple[int, float]:
    """Return the sample whose best pair of classes gains most, and the largest violation of any sample."""
    high[:] = -MASK
    low[:] = MASK
    for k in range(G.shape[0]):
        _widen(G[k], up[k], high, low)
    best, most, largest = 0, -1.0, 0.0
    for i in range(high.shape[0]):
        violation = high[i] - low[i]
        largest = max(largest, violation)
        step = min(0.5 * violation / diagonal[i], C[i])
        gain = step * (violation - step * diagonal[i])
        if violation > 0.0 and gain > most:
            most, best = gain, i
    return best, largest


@njit(cache=True, nogil=True)
def climb(
    K: Array, B: Array, G: Array, up: Array, labels: Integers, diagonal: Array, C: Array, tol: float, budget: int
) -> tuple[int, float, bool]:
    """Take up to `budget` steps; returns how many, the violation left, and whether rounding ate the last one."""
    c, n = B.shape
    high, low, v, placed = np.empty(n), np.empty(n), np.empty(c), np.empty(c)
    order = np.zeros(c - 1, np.int64)
    taken = 0
    while True:
        i, violation = _worst(G, up, diagonal, C, high, low)
        if violation <= tol or taken >= budget:
            return taken, violation, False
        own = labels[i]
        for k in range(c):
            v[k] = B[k, i] + G[k, i] / diagonal[i]
        _place(v, own, C[i], order, placed)
        moved = False
        for k in range(c):
            change = placed[k] - B[k, i]
            if change != 0.0:
                moved = True
                add(G[k], -change, K[i])
                B[k, i] = placed[k]
                up[k, i] = 0.0 if B[k, i] < (C[i] if k == own else 0.0) else -MASK
        if not moved:
            return taken, violation, True
        taken += 1


Free = tuple[Indices, Indices, Indices]  # sample, class and partner class

FAR = 1e16  # times a Newton step, beyond which no bound is looked for
HARDEST = 5  # times as much work as shows that K is hard, after which a climb ends
CHUNK = 30_000_000  # kernel entries visited between two checkpoints, some hundredths of a second


class MulticlassInner(Inner):
    """The multiclass hinge loss."""

    def __init__(self, loss: MulticlassHinge, y: Array) -> None:
        super().__init__(loss, y)
        n, c = loss.dual_shape(y)
        self._C, self._labels = np.full(n, loss.cost), labels_of(y).astype(np.int64)
        self._own = np.zeros((c, n))
        self._own[self._labels, np.arange(n)] = 1.0
        self._B, self._G = np.zeros((c, n)), self._own.copy()

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from the feasible point nearest to `signed` (n, c)."""
        self._B = project(np.ascontiguousarray(signed.T), self._labels, self._C)

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve to a violation of `tol`, as in `Inner.solve`."""
        refuse_not_finite(K.sum())
        if not warm:
            self._B = np.zeros_like(self._B)
        diagonal = np.maximum(np.diag(K), max(FLAT * float(np.diag(K).max()), TINY))
        for _ in range(REFRESHES):
            checkpoint()
            self._refresh(K)
            if not self._climb(K, diagonal, tol):
                break
        else:
            self._refresh(K)
        up = masks(self._B, self._labels, self._C)
        self.violation = climb(K, self._B, self._G, up, self._labels, diagonal, self._C, np.inf, 0)[1]
        self.signed, self.scores = self._B.T.copy(), (self._own - self._G).T.copy()
        self.value = self._value()

    def _refresh(self, K: Array) -> None:
        """Compute the slopes anew."""
        for own, b, g in zip(self._own, self._B, self._G, strict=True):
            checkpoint()
            g[:] = own - K @ b

    def _noise(self, diagonal: Array, moved: float) -> float:
        """Return the violation that rounding may feign: as in the inner SVM, where B moved by `moved` in all."""
        largest = float(diagonal.max())
        size = float((np.abs(self._B) @ np.sqrt(diagonal)).max())
        return 0.25 * EPS * (1.0 + math.sqrt(largest) * size + largest * moved)

    def _value(self) -> float:
        """Return ``sum_i B_{i,y_i} - 1/2 tr(B'K B)``."""
        return 0.5 * float(np.vdot(self._B, self._own) + np.vdot(self._B, self._G))

    def _climb(self, K: Array, diagonal: Array, tol: float) -> int:
        """Climb to a violation of `tol`, or as near as rounding allows; returns the steps taken."""
        B, G, labels, C = self._B, self._G, self._labels, self._C
        n, c = len(labels), len(B)
        long = LONG * (n + 16)
        up = masks(B, labels, C)
        rounds, idle, taken, credit, free, value = max(min(n, CHUNK // (n * c)), 1), 0, 0, 0.0, 0, -np.inf
        moved, last_B = 0.0, B.copy()
        while True:
            count, violation, stuck = climb(K, B, G, up, labels, diagonal, C, tol, rounds)
            taken, credit = taken + count, credit + count * 4.0 * n * c
            before, value = value, self._value()
            idle = idle + 1 if value - before <= VISIBLE * abs(value) else 0
            moved, last_B = moved + float(np.abs(B - last_B).sum()), B.copy()
            if violation <= max(tol, self._noise(diagonal, moved)) or idle >= PATIENCE or taken >= HARDEST * long:
                return taken
            checkpoint()
            chosen = _free_variables(up, B)
            size, last = len(chosen[0]), free
            free = size
            settled = stuck or (abs(size - last) <= SETTLED * size and credit >= size**3 / 3.0)
            # where K is singular, steps on one sample creep, and the way leads from bound to bound
            hard, price = taken > long, size**3 / (12.0 * n * c)  # of a Newton step, in steps on one sample
            affordable = 1 + int((HARDEST * long - taken) / max(price, 1.0))
            worthwhile = (settled or hard) and 0 < size <= LARGEST_SYSTEM
            if worthwhile and (steps := self._newton(K, chosen, hard, affordable)):
                credit, up, taken = 0.0, masks(B, labels, C), taken + int(steps * price)
            elif stuck:
                return taken

    def _newton(self, K: Array, chosen: Free, hard: bool, affordable: int) -> int:
        """Take Newton steps, each on the variables that the last one left free, until one ends at no new bound.

        Returns how many, `affordable` at most. A bent one is the last, unless K is `hard`.
        """
        taken = 0
        for _ in range(min(len(chosen[0]), affordable)):
            checkpoint()
            move = self._towards_equal_slopes(K, chosen)
            if move is None:
                break
            # bent, many bounds are met at once; where K is singular it leads nowhere, and straight to the first does
            straight = self._inside(move)
            bent = project(self._B + move, self._labels, self._C) - self._B
            gains = [self._searched(K, each) for each in (bent, straight)]
            gain, change, images = gains[int(gains[1][0] > gains[0][0])]
            if gain <= 0.0:
                break
            self._B += change
            self._B[:] = project(self._B, self._labels, self._C)  # rounding only
            self._G -= images
            taken += 1
            chosen = _free_variables(masks(self._B, self._labels, self._C), self._B)
            if (gains[0][0] >= gains[1][0] and not hard) or not len(chosen[0]):
                break
        return taken

    def _towards_equal_slopes(self, K: Array, chosen: Free) -> Array | None:
        """Return the step that would make the slopes of all free variables equal, None where there is none.

        `chosen` are sample, class and partner class: one unit of each variable is taken from its partner.
        """
        samples, classes, partners = chosen
        unit = np.eye(len(self._B))
        pairs = unit[classes] - unit[partners]
        H = K[np.ix_(samples, samples)] * (pairs @ pairs.T)
        H[np.diag_indices_from(H)] += max(RIDGE * float(np.diag(H).mean()), TINY)
        wanted = self._G[classes, samples] - self._G[partners, samples]
        try:
            step = cho_solve(cho_factor(H, lower=True, overwrite_a=True, check_finite=False), wanted)
        except LinAlgError:
            return None
        move = np.zeros_like(self._B)
        np.add.at(move, (classes, samples), step)
        np.add.at(move, (partners, samples), -step)
        return move if np.isfinite(move).all() else None

    def _inside(self, move: Array) -> Array:
        """Return `move` as long or short as leads to the first bound."""
        growing = move > 0.0
        room = (self._C * self._own - self._B)[growing] / move[growing]
        return float(min(FAR, room.min(initial=FAR))) * move

    def _searched(self, K: Array, change: Array) -> tuple[float, Array, Array]:
        """Return what the best share of `change` gains, that share of it, and its image under K."""
        images = change @ K
        slope, curvature = float(np.vdot(self._G, change)), float(np.vdot(images, change))
        if slope <= 0.0:
            return 0.0, change, images
        share = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
        return share * (slope - 0.5 * share * curvature), share * change, share * images


def _free_variables(up: Array, B: Array) -> Free:
    """Return samples, classes and partner classes of a basis of the moves that free variables allow.

    The partner is the sample's free variable of largest size; all its other free variables are exchanged with it.
    """
    free = up == 0.0
    partner = np.where(free, np.abs(B), -1.0).argmax(axis=0)
    free[partner, np.arange(B.shape[1])] = False
    samples, classes = np.nonzero(free.T)
    return samples, classes, partner[samples]


class OneAgainstAllInner(Inner):
    """One machine per class."""

    def __init__(self, loss: OneAgainstAllHinge, y: Array, machine: Callable[[Hinge, Array], Any] = BoxInner) -> None:
        super().__init__(loss, y)
        c = self.signed.shape[1]
        self._machines = [
            machine(loss.machine, signs) for signs in np.where(labels_of(y) == np.arange(c)[:, None], 1.0, -1.0)
        ]

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from the columns of `signed` (n, c)."""
        for machine, column in zip(self._machines, signed.T, strict=True):
            machine.set_dual(column)

    def solve(self, K: Any, tol: float, warm: bool) -> None:
        """Solve each class to a violation of `tol`, as in `Inner.solve`."""
        for machine in self._machines:
            checkpoint()
            machine.solve(K, tol, warm)
        self.signed = np.stack([machine.signed for machine in self._machines], axis=1)
        self.scores = np.stack([machine.scores for machine in self._machines], axis=1)
        self.value = sum(machine.value for machine in self._machines)
        self.violation = max(machine.violation for machine in self._machines)
