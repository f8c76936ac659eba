"""Kernels: their families, how many of them are built and kept, and banks that combine them."""

from mklviz.kernels.bank import KernelBank, paper_bank, paper_families
from mklviz.kernels.evaluation.checks import size_remark
from mklviz.kernels.evaluation.nystrom import Nystrom
from mklviz.kernels.evaluation.specs import KernelSpec
from mklviz.kernels.families import (
    ChiSquared,
    Cosine,
    FunctionKernel,
    Gaussian,
    Intersection,
    KernelFamily,
    Laplacian,
    Linear,
    Polynomial,
    kernel_families,
)
from mklviz.kernels.interface import Bank, Cross, FactorBank, RowBank, RowKernel
from mklviz.kernels.nystrom import NystromBank
from mklviz.kernels.parametric import ParametricBank
from mklviz.kernels.parametrizations import LearnedGaussian, LearnedPolynomial, ParametricKernel
from mklviz.kernels.part import CrossBank
from mklviz.kernels.product import ProductBank
from mklviz.kernels.storage.rows import CACHE_MB

__all__ = [
    "CACHE_MB",
    "Bank",
    "ChiSquared",
    "Cosine",
    "Cross",
    "CrossBank",
    "FactorBank",
    "FunctionKernel",
    "Gaussian",
    "Intersection",
    "KernelBank",
    "KernelFamily",
    "KernelSpec",
    "Laplacian",
    "LearnedGaussian",
    "LearnedPolynomial",
    "Linear",
    "Nystrom",
    "NystromBank",
    "ParametricBank",
    "ParametricKernel",
    "Polynomial",
    "ProductBank",
    "RowBank",
    "RowKernel",
    "kernel_families",
    "paper_bank",
    "paper_families",
    "size_remark",
]
