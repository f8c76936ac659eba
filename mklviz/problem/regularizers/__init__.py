"""Regularizers of the kernel weights."""

import sys

from mklviz.plugins import named
from mklviz.problem.regularizers._regularizer import CustomRegularizer, Regularizer
from mklviz.problem.regularizers.log_det import LogDet
from mklviz.problem.regularizers.lp import LpBall, LpPenalty
from mklviz.problem.regularizers.mixed_norms import ElasticNet, GroupSquaredPlusL1
from mklviz.problem.regularizers.power import BlockL1, BlockPower, L1Penalty, PowerPenalty
from mklviz.problem.regularizers.simplex import Entropy, Simplex, SimplexRidge

__all__ = [
    "BlockL1",
    "BlockPower",
    "CustomRegularizer",
    "ElasticNet",
    "Entropy",
    "GroupSquaredPlusL1",
    "L1Penalty",
    "LogDet",
    "LpBall",
    "LpPenalty",
    "PowerPenalty",
    "Regularizer",
    "Simplex",
    "SimplexRidge",
    "regularizer_families",
    "unit_ball",
]


def regularizer_families() -> dict[str, type[Regularizer]]:
    """Return every regularizer in this folder and in installed packages, by name."""
    return named(sys.modules[__name__], Regularizer)  # type: ignore[type-abstract]


def unit_ball(p: float) -> Regularizer:
    """Return the constraint on the lp norm of the weights, for p = 1 the simplex."""
    return Simplex() if p == 1.0 else LpBall(p)
