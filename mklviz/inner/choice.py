"""The problem at fixed kernel weights, for every loss: max over beta of D_loss(beta) - 1/2 beta'K beta.

Hinge and epsilon-insensitive losses make quadratic programs over a box, the squared loss a linear system, the
logistic loss a smooth problem, the multiclass hinge a block of variables per sample; each has its own exact method,
all are asked in the same way.
"""

from __future__ import annotations

from typing import Any, Protocol

from mklviz.contract import Array
from mklviz.errors import UnsupportedProblem
from mklviz.inner.box import BoxInner
from mklviz.inner.factors import HingeFactors, SmoothFactors
from mklviz.inner.multiclass import MulticlassInner, OneAgainstAllInner
from mklviz.inner.rows import RowsInner
from mklviz.inner.smooth import LogisticInner, SquaredInner
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, Loss, MulticlassHinge, OneAgainstAllHinge, Squared

__all__ = ["INNER_LOSSES", "WHERE", "Inner", "inner_solver"]

INNER_LOSSES: dict[str, tuple[type[Loss], ...]] = {
    "matrix": (Hinge, EpsilonInsensitive, Logistic, Squared, MulticlassHinge, OneAgainstAllHinge),
    "rows": (Hinge, EpsilonInsensitive),
    "factors": (Hinge, Logistic, Squared),
}
"""The losses whose inner problem is solved, by the bank's `access`."""

WHERE = {
    "matrix": "",
    "rows": " where kernels are computed row by row",
    "factors": " where kernels are given by factors",
}
"""What to add to a sentence about a loss that is not among them."""


class Inner(Protocol):
    """One loss and its targets, solved again and again for changing kernels from the last solution.

    Attributes
    ----------
    signed : (n,) array, or (n, c) with c classes
        Signed dual variables beta of the last solve, feasible; also the start of the next warm one.
    scores : like `signed`
        ``K beta``.
    value : float
        ``D_loss(beta) - 1/2 beta'K beta``.
    violation : float
        How far the optimality conditions are from holding, see `solve`; above the tolerance only where rounding allows
        no better.
    """

    signed: Array
    scores: Array
    value: float
    violation: float

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from these signed dual variables, (n,) or (n, c)."""

    def solve(self, K: Any, tol: float, warm: bool) -> None:
        """Solve for the kernel `K` until the optimality conditions are violated by no more than `tol`.

        `K` is what the bank's `access` says: an (n, n) array, a `RowKernel`, or factors Z and w.

        They say that the slopes of the dual objective are equal (zero without bias) for all variables that may still
        move. The violation is the largest slope of one that may grow less the smallest of one that may shrink, zero
        among both without bias: LIBSVM's m(a) - M(a), in units of half the range of the targets, which is the margin
        for labels -1 and +1. With several classes it is the largest of any sample's, or of any class' machine.

        A `tol` below what rounding lets anyone see, some 2 eps (1 + max K_ii sum |beta|) for the box-constrained
        losses, ends the solve there.
        """


def inner_solver(loss: Loss, y: Array, access: str = "matrix") -> Inner:
    """Return the method for a loss, where the kernel comes as the bank's `access` says."""
    if not isinstance(loss, INNER_LOSSES[access]):
        raise UnsupportedProblem(f"There is no inner solver for the {loss.label} loss{WHERE[access]}.")
    if access == "factors":
        return HingeFactors(loss, y) if isinstance(loss, Hinge) else SmoothFactors(loss, y)  # type: ignore[arg-type]
    if access == "rows":
        assert isinstance(loss, (Hinge, EpsilonInsensitive))
        return RowsInner(loss, y)
    return _on_matrix(loss, y)


def _on_matrix(loss: Loss, y: Array) -> Inner:
    if isinstance(loss, (Hinge, EpsilonInsensitive)):
        return BoxInner(loss, y)
    if isinstance(loss, Squared):
        return SquaredInner(loss, y)
    if isinstance(loss, Logistic):
        return LogisticInner(loss, y)
    if isinstance(loss, MulticlassHinge):
        return MulticlassInner(loss, y)
    assert isinstance(loss, OneAgainstAllHinge)
    return OneAgainstAllInner(loss, y)
