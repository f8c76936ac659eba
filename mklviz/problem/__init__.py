"""What is solved: kernels, kernel banks, losses, regularizers and the problem that puts them together."""

from mklviz.problem._interface import Bank, FactorBank, RowBank, RowKernel
from mklviz.problem._rows import CACHE_MB
from mklviz.problem._sizes import size_remark
from mklviz.problem.against_rest import one_against_all
from mklviz.problem.bank import KernelBank, KernelSpec, paper_bank, paper_families
from mklviz.problem.cross import Cross, CrossBank
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
from mklviz.problem.nystrom import Nystrom, NystromBank
from mklviz.problem.parametric import ParametricBank
from mklviz.problem.parametrizations import LearnedGaussian, LearnedPolynomial, ParametricKernel
from mklviz.problem.predict import Predictor
from mklviz.problem.problem import Problem
from mklviz.problem.product import ProductBank
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
    regularizer_families,
)

__all__ = [
    "CACHE_MB",
    "Bank",
    "BlockL1",
    "BlockPower",
    "Cross",
    "CrossBank",
    "CustomRegularizer",
    "ElasticNet",
    "Entropy",
    "EpsilonInsensitive",
    "Equivalent",
    "FactorBank",
    "Gaussian",
    "GroupSquaredPlusL1",
    "Hinge",
    "KernelBank",
    "KernelFamily",
    "KernelSpec",
    "L1Penalty",
    "Laplacian",
    "LearnedGaussian",
    "LearnedPolynomial",
    "Linear",
    "LogDet",
    "Logistic",
    "Loss",
    "LpBall",
    "LpPenalty",
    "MulticlassHinge",
    "Nystrom",
    "NystromBank",
    "OneAgainstAllHinge",
    "ParametricBank",
    "ParametricKernel",
    "Polynomial",
    "PowerPenalty",
    "Predictor",
    "Problem",
    "ProductBank",
    "Regularizer",
    "RowBank",
    "RowKernel",
    "Simplex",
    "Squared",
    "equivalents",
    "kernel_families",
    "loss_families",
    "one_against_all",
    "paper_bank",
    "paper_families",
    "regularizer_families",
    "size_remark",
]
