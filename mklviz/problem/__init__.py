"""What is solved: kernels, kernel banks, losses, regularizers and the problem that puts them together."""

from mklviz.problem.bank import KernelBank, KernelSpec, paper_bank, paper_families
from mklviz.problem.cross import CrossBank
from mklviz.problem.kernels import Gaussian, KernelFamily, Laplacian, Linear, Polynomial, kernel_families
from mklviz.problem.losses import Hinge, Loss
from mklviz.problem.problem import Problem
from mklviz.problem.regularizers import L1Penalty, Regularizer, Simplex

__all__ = [
    "CrossBank",
    "Gaussian",
    "Hinge",
    "KernelBank",
    "KernelFamily",
    "KernelSpec",
    "L1Penalty",
    "Laplacian",
    "Linear",
    "Loss",
    "Polynomial",
    "Problem",
    "Regularizer",
    "Simplex",
    "kernel_families",
    "paper_bank",
    "paper_families",
]
