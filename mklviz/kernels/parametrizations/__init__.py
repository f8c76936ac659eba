"""Kernels with learned parameters."""

from mklviz.kernels.parametrizations._kernel import ParametricKernel, SumOfKernels
from mklviz.kernels.parametrizations.gaussian import LearnedGaussian
from mklviz.kernels.parametrizations.polynomial import LearnedPolynomial

__all__ = ["LearnedGaussian", "LearnedPolynomial", "ParametricKernel", "SumOfKernels"]
