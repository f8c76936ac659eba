"""Regularizers of the kernel weights, one file each."""

from mklviz.problem.regularizers._regularizer import Regularizer
from mklviz.problem.regularizers.l1_penalty import L1Penalty
from mklviz.problem.regularizers.simplex import Simplex

__all__ = ["L1Penalty", "Regularizer", "Simplex"]
