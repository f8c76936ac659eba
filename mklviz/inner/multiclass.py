"""Losses with several classes at fixed kernel weights.

    multiclass hinge    max over B  sum_i B_{i,y_i} - 1/2 tr(B'K B),   B_ik <= C_i Y_ik,  sum_k B_ik = 0
    one against all     one support vector machine per class, all on the same kernel

C_i is C, or C times the sample's weight. In the first, a sample's violation is the largest slope among its variables
that may grow minus the smallest of all.
Exact steps on one sample bring it down (`mklviz.inner.multiclass_steps`); once the set of free variables has
settled, a Newton step on all of them, bent back to the feasible set or cut at the first bound, whichever gains more,
does the rest.

References: Crammer, Singer, JMLR 2 (2001); Keerthi, Sundararajan, Chang, Hsieh, Lin, KDD 2008.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mklviz.context import checkpoint
from mklviz.errors import KernelError
from mklviz.inner import multiclass_steps as steps
from mklviz.inner.box import BoxInner
from mklviz.problem import MulticlassHinge, OneAgainstAllHinge
from mklviz.problem.losses import labels_of
from mklviz.typing import Array, Indices

__all__ = ["MulticlassInner", "OneAgainstAllInner"]

Free = tuple[Indices, Indices, Indices]  # sample, class and partner class

CHUNK = 30_000_000  # kernel entries visited between two checkpoints, some hundredths of a second
FLAT = 5e-13  # least diagonal of K, relative to its largest
TINY = 1e-300  # least diagonal of all
RIDGE = 1e-11  # on the Newton system, relative to the mean of its diagonal
LARGEST_SYSTEM = 1600  # free variables in a Newton step
SETTLED = 0.2  # relative change of the number of free variables in a round, below which a Newton step pays
VISIBLE = 1e-15  # relative gain of a round that counts as progress
PATIENCE = 10  # rounds without visible progress before rounding is taken for the limit
MOST_STEPS = 10_000_000  # on single samples, as many as the inner SVM takes
REFRESHES = 3  # times the slopes may be computed anew where tiny tolerances meet rounding


class MulticlassInner:
    """The multiclass hinge loss; see `mklviz.inner.choice.Inner`."""

    def __init__(self, loss: MulticlassHinge, y: Array) -> None:
        n, c = loss.dual_shape(y)
        self._C, self._labels = np.full(n, loss.cost), labels_of(y).astype(np.int64)
        self._own = np.zeros((c, n))
        self._own[self._labels, np.arange(n)] = 1.0
        self._B, self._G = np.zeros((c, n)), self._own.copy()
        self.signed, self.scores = np.zeros((n, c)), np.zeros((n, c))
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from the feasible point nearest to `signed` (n, c)."""
        self._B = steps.project(np.ascontiguousarray(signed.T), self._labels, self._C)

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve to a violation of `tol`, as in `Inner.solve`."""
        if not np.isfinite(K.sum()):
            raise KernelError("The kernel holds values that are nan or too large; look for them in the data.")
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
        up = steps.masks(self._B, self._labels, self._C)
        self.violation = steps.climb(K, self._B, self._G, up, self._labels, diagonal, self._C, np.inf, 0)[1]
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
        return 0.25 * float(np.finfo(float).eps) * (1.0 + math.sqrt(largest) * size + largest * moved)

    def _value(self) -> float:
        """Return ``sum_i B_{i,y_i} - 1/2 tr(B'K B)``."""
        return 0.5 * float(np.vdot(self._B, self._own) + np.vdot(self._B, self._G))

    def _climb(self, K: Array, diagonal: Array, tol: float) -> int:
        """Climb to a violation of `tol`, or as near as rounding allows; returns the steps taken."""
        B, G, labels, C = self._B, self._G, self._labels, self._C
        n, c = len(labels), len(B)
        up = steps.masks(B, labels, C)
        rounds, idle, taken, credit, free, value = max(min(n, CHUNK // (n * c)), 1), 0, 0, 0.0, 0, -np.inf
        moved, last_B = 0.0, B.copy()
        while True:
            count, violation, stuck = steps.climb(K, B, G, up, labels, diagonal, C, tol, rounds)
            taken, credit = taken + count, credit + count * 4.0 * n * c
            before, value = value, self._value()
            idle = idle + 1 if value - before <= VISIBLE * abs(value) else 0
            moved, last_B = moved + float(np.abs(B - last_B).sum()), B.copy()
            if violation <= max(tol, self._noise(diagonal, moved)) or idle >= PATIENCE or taken >= MOST_STEPS:
                return taken
            checkpoint()
            chosen = _free_variables(up, B)
            size, last = len(chosen[0]), free
            free = size
            settled = stuck or (abs(size - last) <= SETTLED * size and credit >= size**3 / 3.0)
            if settled and 0 < size <= LARGEST_SYSTEM and self._newton(K, chosen):
                credit, up = 0.0, steps.masks(B, labels, C)
            elif stuck:
                return taken

    def _newton(self, K: Array, chosen: Free) -> bool:
        """Take Newton steps, each on the variables that the last one left free, until one ends at no new bound.

        Returns whether there was any.
        """
        moved = False
        for _ in range(len(chosen[0])):
            checkpoint()
            move = self._towards_equal_slopes(K, chosen)
            if move is None:
                return moved
            # bent, many bounds are met at once; where K is singular it leads nowhere, and straight to the first does
            straight = self._inside(move)
            bent = steps.project(self._B + move, self._labels, self._C) - self._B
            gains = [self._searched(K, each) for each in (bent, straight)]
            gain, change, images = gains[int(gains[1][0] > gains[0][0])]
            if gain <= 0.0:
                return moved
            self._B += change
            self._B[:] = steps.project(self._B, self._labels, self._C)  # rounding only
            self._G -= images
            moved = True
            chosen = _free_variables(steps.masks(self._B, self._labels, self._C), self._B)
            if gains[0][0] >= gains[1][0] or not len(chosen[0]):
                return moved
        return moved

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
        """Return the share of `move` up to the first bound."""
        growing = move > 0.0
        room = (self._C * self._own - self._B)[growing] / move[growing]
        return float(min(1.0, room.min(initial=1.0))) * move

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


class OneAgainstAllInner:
    """One machine per class; see `mklviz.inner.choice.Inner`."""

    def __init__(self, loss: OneAgainstAllHinge, y: Array) -> None:
        n, c = loss.dual_shape(y)
        self._machines = [
            BoxInner(loss.machine, signs) for signs in np.where(labels_of(y) == np.arange(c)[:, None], 1.0, -1.0)
        ]
        self.signed, self.scores = np.zeros((n, c)), np.zeros((n, c))
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from the columns of `signed` (n, c)."""
        for machine, column in zip(self._machines, signed.T, strict=True):
            machine.set_dual(column)

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve each class to a violation of `tol`, as in `Inner.solve`."""
        for machine in self._machines:
            checkpoint()
            machine.solve(K, tol, warm)
        self.signed = np.stack([machine.signed for machine in self._machines], axis=1)
        self.scores = np.stack([machine.scores for machine in self._machines], axis=1)
        self.value = sum(machine.value for machine in self._machines)
        self.violation = max(machine.violation for machine in self._machines)
