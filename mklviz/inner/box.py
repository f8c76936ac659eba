"""Hinge and epsilon-insensitive losses at fixed kernel weights: a quadratic program over a box, by the inner SVM.

Support vector regression is an SVM on twice the samples: beta = b+ + b- with 0 <= b+ <= C, -C <= b- <= 0 and linear
terms y - epsilon and y + epsilon. Where samples have weights, each has a C of its own. Without bias the sum of beta is
free: one more sample, whose kernel and linear term are zero, takes up whatever is left.

Reference: Smola, Schölkopf, A tutorial on support vector regression, Statistics and Computing 14 (2004).
"""

from __future__ import annotations

import numpy as np

from mklviz.context import checkpoint
from mklviz.contract import Array
from mklviz.inner.svm import InnerSvm
from mklviz.problem import Loss

__all__ = ["BoxInner", "box_of", "halves_of", "signed_of"]


def box_of(loss: Loss, y: Array) -> tuple[Array, Array, Array]:
    """Return linear term, lower and upper bounds of the program: of b or b+ and b-, then of what takes up the sum."""
    linear, signs = loss.box_program(y)
    cost = np.resize(loss.cost, len(linear))  # both variables of a sample have its own
    lower, upper = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    if not loss.bias:
        room = loss.top * len(linear)
        linear, lower, upper = np.append(linear, 0.0), np.append(lower, -room), np.append(upper, room)
    return linear, lower, upper


def halves_of(signed: Array, size: int) -> Array:
    """Return the `size` variables of the program for signed dual variables beta."""
    n = len(signed)
    halves = [signed] if size < 2 * n else [np.maximum(signed, 0.0), np.minimum(signed, 0.0)]
    if size % n:
        halves.append(np.array([-float(signed.sum())]))
    return np.concatenate(halves)


def signed_of(halves: Array, n: int) -> Array:
    """Return signed dual variables beta (n,) of the variables of the program."""
    return halves[:n] + halves[n : 2 * n] if len(halves) >= 2 * n else halves[:n].copy()


class BoxInner:
    """One loss and its targets; see `mklviz.inner.choice.Inner`."""

    def __init__(self, loss: Loss, y: Array) -> None:
        self._loss, self._y, n = loss, y, len(y)
        self._unit = 0.5 * float(np.ptp(y))
        linear, lower, upper = box_of(loss, y)
        self._svm = InnerSvm.boxed(linear, lower, upper, loss.top)
        self._kernel = np.zeros((len(linear), len(linear))) if len(linear) > n else None
        self.signed, self.scores = np.zeros(n), np.zeros(n)
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from `signed`, clipped to the box and balanced."""
        self._svm.set_dual(halves_of(signed, len(self._svm.b)))

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve to a violation of `tol`, as in `Inner.solve`."""
        n = len(self._y)
        result = self._svm.solve(self._expanded(K), tol * self._unit, warm=warm)
        self.violation = result.violation / self._unit
        b, f = self._svm.b, self._svm.f
        self.scores = self._svm.y[:n] - f[:n]
        self.signed = signed_of(b, n)
        if len(b) < 2 * n:
            self.value = result.value
            return
        b[:n], b[n : 2 * n] = np.maximum(self.signed, 0.0), np.minimum(self.signed, 0.0)  # b+ or b-, never both
        linear_part = self._loss.dual_value(self.signed, self._y)
        self.value = linear_part - 0.5 * float(self.signed @ self.scores)

    def _expanded(self, K: Array) -> Array:
        """Return K for both signs of every sample, and for the sample that takes up the sum."""
        if self._kernel is None:
            return K
        n = len(K)
        for i in range(0, len(self._kernel) - 1, n):
            checkpoint()
            for j in range(0, len(self._kernel) - 1, n):
                self._kernel[i : i + n, j : j + n] = K
        return self._kernel
