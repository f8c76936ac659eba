"""What a method for the inner problems of a loss is asked, however its kernels come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mklviz.errors import KernelError
from mklviz.problem import Loss
from mklviz.typing import Array


class Inner(ABC):
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
        no better, where the duality gap ended the solve, or where far more work was done than usual.
    """

    def __init__(self, loss: Loss, y: Array) -> None:
        self._loss: Any = loss
        self._y = y
        self.signed, self.scores, self._start = np.zeros((3, *loss.dual_shape(y)))
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from these signed dual variables, (n,) or (n, c)."""
        self._start = signed.copy()

    @abstractmethod
    def solve(self, K: Any, tol: float, warm: bool) -> None:
        """Solve for the kernel `K` until the optimality conditions are violated by no more than `tol`.

        `K` is what the bank's `access` says: an (n, n) array, a `RowKernel`, or factors Z and w.

        They say that the slopes of the dual objective are equal (zero without bias) for all variables that may still
        move. The violation is the largest slope of one that may grow less the smallest of one that may shrink, zero
        among both without bias: LIBSVM's m(a) - M(a), in units of half the range of the targets, which is the margin
        for labels -1 and +1, or with one class of ``beta'K beta / 1'beta``. With several classes it is the largest of
        any sample's, or of any class' machine.

        The violation is that of the worst sample. Of half a million samples with a large C there is always one that
        violates its condition, long after no bound of the run can tell. So hinge losses on factors end earlier where
        the inner problem's duality gap is at most a tenth of `tol`, relative to its value; `violation` stays true.

        A `tol` below what rounding lets anyone see, some 2 eps (1 + max K_ii sum |beta|) for the box-constrained
        losses, ends the solve there.
        """


def refuse_not_finite(values: Any) -> None:
    """Raise `KernelError` if what a kernel gave holds values that are no numbers."""
    if not np.isfinite(values).all():
        raise KernelError("The kernel holds values that are nan or too large; look for them in the data.")
