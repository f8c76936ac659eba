"""The model without kernels: which dual variables are optimal for it, and which of them have the least max_k s_k.

    B0 = argmax D_loss = C times the subgradients of the loss at f = b0 that sum to zero: a face of the dual's box

Smooth losses leave one point; so do the others unless samples stand on a kink of the loss at the best bias, as with
rounded targets or a rare class. Over a face, max_k s_k / 2 is minimised as multiple kernel learning on the simplex,

    max over beta   D_tiny(beta) - max_k s_k(beta) / 2

with a loss of the same face whose C is so small, and whose other samples are so far from their kinks, that leaving
the face costs more than it brings. Whether it was small enough is seen from what the run proves: its least P is at
least the value at every point of the face, so max_k s_k / 2 is at least D_tiny(B0) - P there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mklviz.contract import Array
from mklviz.engine.registry import make_solver
from mklviz.engine.solving import solve
from mklviz.problem import Problem, Simplex
from mklviz.record.run_facts import Verdict
from mklviz.record.trace import Trace

__all__ = ["Face", "least_quad"]

_SMALL = (
    0.25  # mean decision value at the first C tried, relative to the distance of the other samples from their kinks
)
_SHRINK = 8.0  # by which C is divided where that was not small enough
_TRIES = 5
_ACCURACY = 1e-6  # relative, of max_k s_k
_PROVED = 1e-5  # what of it must be proved: between the run's bounds lies the correction to the face as well
_NOTHING = 1e-10  # max_k s_k / 2, relative to D_tiny, that is not told from zero


@dataclass(frozen=True)
class Face:
    """Signed dual variables between bounds, with sums that are zero."""

    # `lower`, `upper` (n,) or (n, c)
    lower: Array
    upper: Array
    axis: int | None  # along which the sums must vanish: 0 where there is a bias, 1 for the multiclass hinge

    @property
    def single(self) -> bool:
        """Whether the bounds and the sums leave one point."""
        free = self.upper > self.lower
        return not free.any() if self.axis is None else bool((free.sum(axis=self.axis) <= 1).all())

    def nearest(self, signed: Array) -> Array:
        """Return the point of the face nearest to `signed`: shifted by what makes the sums vanish, and clipped."""
        if self.axis is None:
            return np.clip(signed, self.lower, self.upper)
        low = (self.lower - signed).min(axis=self.axis, keepdims=True)
        high = (self.upper - signed).max(axis=self.axis, keepdims=True)
        for _ in range(200):  # halvings of an interval of doubles end before that
            shift = 0.5 * (low + high)
            heavy = np.clip(signed + shift, self.lower, self.upper).sum(axis=self.axis, keepdims=True) > 0.0
            low, high = np.where(heavy, low, shift), np.where(heavy, shift, high)
        return np.clip(signed + 0.5 * (low + high), self.lower, self.upper)


def least_quad(problem: Problem) -> float:
    """Return the least max_k s_k over the optimal dual variables of the model without kernels."""
    unit = replace(problem, loss=replace(problem.loss, C=1.0))
    face = Face(*unit.loss.null_dual(unit.y))
    middle = face.nearest(0.5 * (face.lower + face.upper))
    quad = float(problem.bank.quad(middle).max())
    if not face.single and quad > 0.0:
        C = _SMALL * float(np.abs(middle).sum()) / quad
        for _ in range(_TRIES):
            least, proved = _solved(_tiny(unit, face, C), face)
            quad = min(quad, least)
            if quad - proved <= _PROVED * quad:
                break
            C /= _SHRINK
    return problem.loss.C**2 * quad


def _tiny(unit: Problem, face: Face, C: float) -> Problem:
    """Return the problem on the simplex with this C and the same face, all other samples 1 or more from their kinks."""
    loss, y = replace(unit.loss, C=C).null_face(face.lower, face.upper, unit.y)
    return replace(unit, y=y, loss=loss, regularizer=Simplex())


def _solved(tiny: Problem, face: Face) -> tuple[float, float]:
    """Return, both at C = 1, max_k s_k at the best point of the face that was found and what it is at least."""
    loss, y = tiny.loss, tiny.y
    total = loss.primal(np.zeros(loss.dual_shape(y)), y)[0]
    method = "level" if make_solver("newton").refusal(tiny) else "newton"
    trace = solve(tiny, method, gap=None, max_iter=1000, stop=(_Known(total),))
    best = trace.best_bound
    dual = best.dual if best.certificate is None else best.certificate
    point = face.nearest(loss.signed(dual, y) / loss.C)
    proved = 2.0 * (total - float(trace.objective.min()))
    return float(tiny.bank.quad(point).max()), proved / loss.C**2


@dataclass(frozen=True)
class _Known:
    """Stop where max_k s_k is known: the bounds are near each other beside it, and not only beside the objective."""

    total: float  # D_tiny on the face, of which max_k s_k / 2 takes its part

    def check(self, trace: Trace) -> Verdict | None:
        low, high = float(trace.lower_bound.max()), float(trace.objective.min())
        known = high - low <= _ACCURACY * max(self.total - low, _NOTHING * self.total)
        return Verdict("converged", "") if known else None
