"""What is solved: losses, regularizers and the problem that puts them together."""

from mklviz.problem.equivalence import Equivalent, equivalents, one_against_all
from mklviz.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Loss,
    MulticlassHinge,
    OneAgainstAllHinge,
    Squared,
    loss_families,
)
from mklviz.problem.predict import Predictor
from mklviz.problem.problem import Problem
from mklviz.problem.regularizers import (
    BlockL1,
    BlockPower,
    CustomRegularizer,
    ElasticNet,
    Entropy,
    GroupSquaredPlusL1,
    L1Penalty,
    LogDet,
    LpBall,
    LpPenalty,
    PowerPenalty,
    Regularizer,
    Simplex,
    SimplexRidge,
    regularizer_families,
)

__all__ = [
    "BlockL1",
    "BlockPower",
    "CustomRegularizer",
    "ElasticNet",
    "Entropy",
    "EpsilonInsensitive",
    "Equivalent",
    "GroupSquaredPlusL1",
    "Hinge",
    "L1Penalty",
    "LogDet",
    "Logistic",
    "Loss",
    "LpBall",
    "LpPenalty",
    "MulticlassHinge",
    "OneAgainstAllHinge",
    "PowerPenalty",
    "Predictor",
    "Problem",
    "Regularizer",
    "Simplex",
    "SimplexRidge",
    "Squared",
    "equivalents",
    "loss_families",
    "one_against_all",
    "regularizer_families",
]
