"""A recipe with lists, solved run by run: on this machine, shared among machines, or on a cluster."""

from mklviz.sweeps.member import RESULT_VERSION, Member
from mklviz.sweeps.sweep import Sweep

__all__ = ["RESULT_VERSION", "Member", "Sweep"]
