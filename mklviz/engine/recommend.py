"""Which solver for which problem: one table, read by `solve`, the command line and the dashboard.

A kind of problem is told by its own properties (sum or product, loss, regularizer, how its kernels are reached), never
by its data. The ratios are CPU time to a gap of 1e-2 as `mklviz.bench.which` measures it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mklviz.engine.registry import available_solvers, make_solver
from mklviz.errors import UnsupportedProblem
from mklviz.problem import BlockL1, Hinge, L1Penalty, Problem, Simplex

__all__ = ["KINDS", "Kind", "recommend"]


@dataclass(frozen=True)
class Kind:
    """A kind of problem and the solver for it.

    Attributes
    ----------
    name : str
        Key in the benchmark.
    what : str
        Which problems, for people.
    solver : str
        Registry name of the solver to take.
    why : str
        Half a sentence.
    measured : str
        What others took, as multiples of its CPU time.
    fits : callable
        Whether a problem is of this kind.
    """

    name: str
    what: str
    solver: str
    why: str
    measured: str
    fits: Callable[[Problem], bool]


def _is_svm(problem: Problem) -> bool:
    return isinstance(problem.loss, Hinge) and problem.loss.bias and problem.bank.access == "matrix"


def _sparse(problem: Problem) -> bool:
    return isinstance(problem.regularizer, (Simplex, L1Penalty, BlockL1))


KINDS = (
    Kind("product", "products of kernels", "spg", "", "", lambda problem: not problem.convex),
    Kind("svm-sparse", "hinge loss, weights on the simplex or at a price per unit, kernel matrix formed", "newton", "", "", lambda problem: _is_svm(problem) and _sparse(problem)),
    Kind("simplex", "simplex with any other loss", "level", "", "", lambda problem: isinstance(problem.regularizer, Simplex)),
    Kind("priced", "price per unit of weight or of norm with any other loss", "closed-form", "", "", _sparse),
    Kind("dense", "everything else", "closed-form", "", "", lambda problem: True),
)
"""From the special to the general: the first that fits counts."""


def recommend(problem: Problem) -> str:
    """Return the name of the solver to take where none is asked for.

    Raises
    ------
    UnsupportedProblem
        If no solver can follow.
    """
    able = available_solvers(problem)
    for kind in KINDS:
        if kind.fits(problem) and kind.solver in able:
            return kind.solver
    if not able:
        raise UnsupportedProblem("No solver can follow this problem; each says why: solver.supports(problem).")
    return able[0]
