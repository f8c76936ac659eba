"""Kernels with learned parameters."""

from mklviz.kernels.parametrizations._kernel import ParametricKernel, SumOfKernels
from mklviz.kernels.parametrizations.families import LearnedGaussian, LearnedPolynomial

__all__ = ["LearnedGaussian", "LearnedPolynomial", "ParametricKernel", "SumOfKernels"]
