"""The problem at fixed kernel weights, public to writers of solvers: one oracle, and an exact method per loss."""

from mklviz.inner.averaging import SvmPoint
from mklviz.inner.choice import register_inner
from mklviz.inner.interface import Inner
from mklviz.inner.oracle import SvmOracle, needs_hinge, refuse

__all__ = ["Inner", "SvmOracle", "SvmPoint", "needs_hinge", "refuse", "register_inner"]
