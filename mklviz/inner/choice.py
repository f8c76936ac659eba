"""The problem at fixed kernel weights, for every loss: max over beta of D_loss(beta) - 1/2 beta'K beta.

Hinge and epsilon-insensitive losses make quadratic programs over a box, the squared loss a linear system, the
logistic loss a smooth problem, the multiclass hinge a block of variables per sample; each has its own exact method,
all are asked in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mklviz.contract import Array
from mklviz.errors import UnsupportedProblem
from mklviz.inner.factors import BoxFactors
from mklviz.inner.interface import Inner
from mklviz.inner.multiclass import MulticlassInner, OneAgainstAllInner
from mklviz.inner.rows import RowsInner, Spare
from mklviz.inner.smooth import LogisticFactors, LogisticInner, RidgeFactors, SquaredInner
from mklviz.inner.svm import BoxInner
from mklviz.kernels.interface import Access
from mklviz.problem import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Loss,
    MulticlassHinge,
    OneAgainstAllHinge,
    OneClass,
    Squared,
    loss_families,
)

WHERE: dict[Access, str] = {
    "matrix": "",
    "rows": " where kernels are computed row by row",
    "factors": " where kernels are given by factors",
}
"""What to add to a sentence about a loss whose inner problem is not solved."""


METHODS: dict[Access, dict[type[Loss], Callable[[Any, Array], Inner]]] = {
    "matrix": {
        Hinge: BoxInner,
        EpsilonInsensitive: BoxInner,
        OneClass: BoxInner,
        Logistic: LogisticInner,
        Squared: SquaredInner,
        MulticlassHinge: MulticlassInner,
        OneAgainstAllHinge: OneAgainstAllInner,
    },
    "rows": {
        Hinge: RowsInner,
        EpsilonInsensitive: RowsInner,
        OneClass: RowsInner,
        OneAgainstAllHinge: lambda loss, y: OneAgainstAllInner(loss, y, partial(RowsInner, spare=Spare())),
    },
    "factors": {
        Hinge: BoxFactors,
        OneClass: BoxFactors,
        Logistic: LogisticFactors,
        Squared: RidgeFactors,
        OneAgainstAllHinge: lambda loss, y: OneAgainstAllInner(loss, y, BoxFactors),
    },
}
"""The methods for the inner problems of a loss, by how its kernels come."""


def register_inner(loss: type[Loss], method: Callable[[Any, Array], Inner], access: Access = "matrix") -> None:
    """Let `method(loss, y)` solve the inner problems of a loss, and of losses derived from it.

    A loss of one's own may name its methods itself, as `inner_methods`.

    Parameters
    ----------
    loss : type
        A `Loss`.
    method : callable
        Returns an `Inner` for a loss of that type and its targets.
    access : str
        How the kernels come, see the bank's `access`.
    """
    METHODS[access][loss] = method


def solved_losses(access: Access) -> tuple[type[Loss], ...]:
    """Return the losses whose inner problem is solved where kernels come in that way."""
    own = (kind for kind in loss_families().values() if access in kind.inner_methods)
    return tuple(dict.fromkeys([*METHODS[access], *own]))


def is_solved(loss: Loss, access: Access) -> bool:
    """Return whether the inner problem of a loss is solved where kernels come in that way."""
    return _method_of(loss, access) is not None


def inner_solver(loss: Loss, y: Array, access: Access = "matrix") -> Inner:
    """Return the method for a loss, where the kernel comes as the bank's `access` says."""
    method = _method_of(loss, access)
    if method is None:
        raise UnsupportedProblem(f"There is no inner solver for the {loss.label} loss{WHERE[access]}.")
    return method(loss, y)


def _method_of(loss: Loss, access: Access) -> Callable[[Any, Array], Inner] | None:
    """Return the method of a loss, or of the nearest loss that it derives from."""
    for kind in type(loss).__mro__:
        method = vars(kind).get("inner_methods", {}).get(access) or METHODS[access].get(kind)
        if method is not None:
            return method
    return None
