"""What is solved: kernels, kernel banks, losses, regularizers and the problem that puts them together."""

from mklviz.problem.bank import KernelBank, KernelSpec, paper_bank, paper_families
from mklviz.problem.cross import CrossBank
from mklviz.problem.equivalence import Equivalent, equivalents
from mklviz.problem.kernels import Gaussian, KernelFamily, Laplacian, Linear, Polynomial, kernel_families
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
    LpBall,
    LpPenalty,
    PowerPenalty,
    Regularizer,
    Simplex,
    regularizer_families,
)

__all__ = [
    "BlockL1",
    "BlockPower",
    "CrossBank",
    "CustomRegularizer",
    "ElasticNet",
    "Entropy",
    "EpsilonInsensitive",
    "Equivalent",
    "Gaussian",
    "GroupSquaredPlusL1",
    "Hinge",
    "KernelBank",
    "KernelFamily",
    "KernelSpec",
    "L1Penalty",
    "Laplacian",
    "Linear",
    "Logistic",
    "Loss",
    "LpBall",
    "LpPenalty",
    "MulticlassHinge",
    "OneAgainstAllHinge",
    "Polynomial",
    "PowerPenalty",
    "Predictor",
    "Problem",
    "Regularizer",
    "Simplex",
    "Squared",
    "equivalents",
    "kernel_families",
    "loss_families",
    "paper_bank",
    "paper_families",
    "regularizer_families",
]
