"""Losses, one file each."""

from mklviz.problem.losses._loss import Loss
from mklviz.problem.losses.hinge import Hinge

__all__ = ["Hinge", "Loss"]
