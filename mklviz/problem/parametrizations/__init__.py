"""Kernels with learned parameters, one file each."""

from mklviz.problem.parametrizations._kernel import ParametricKernel, SumOfKernels
from mklviz.problem.parametrizations.gaussian import LearnedGaussian
from mklviz.problem.parametrizations.polynomial import LearnedPolynomial

__all__ = ["LearnedGaussian", "LearnedPolynomial", "ParametricKernel", "SumOfKernels"]
