"""Which solver for which problem: one table, read by `solve`, the command line and the dashboard.

A kind of problem is told by its own properties (sum or product, loss, regularizer, how its kernels are reached), never
by its data. The ratios are CPU time to a gap of 1e-2 as `python .ci/measure which` measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mklviz.engine.registry import available_solvers, solver_classes, why_not
from mklviz.errors import UnsupportedProblem
from mklviz.problem import Problem

__all__ = ["KINDS", "Kind", "kind_of", "recommend", "rivals"]

MOST_POINTS = 1000  # of methods whose steps take the cube of the points


@dataclass(frozen=True)
class Kind:
    """A kind of problem and the solver for it."""

    name: str  # key in the benchmark
    what: str  # which problems, for people
    solver: str  # registry name of the solver to take
    why: str  # the rest of a sentence that begins with the solver
    measured: str  # what others took, as multiples of its CPU time
    fits: Callable[[Problem], bool]  # whether a problem is of this kind


def _small(problem: Problem) -> bool:
    return problem.n <= MOST_POINTS and problem.bank.access == "matrix"


def _is_svm(problem: Problem) -> bool:
    """Return whether Newton's model, made of the kernel matrix of an SVM with intercept, can follow at its best."""
    return _small(problem) and problem.loss.svm and problem.loss.bias


def _sparse(problem: Problem) -> bool:
    return problem.regularizer.on_simplex or problem.regularizer.linear


def _priced(problem: Problem) -> bool:
    return problem.regularizer.sparse and problem.regularizer.unbounded


KINDS = (
    Kind(
        name="product",
        what="product of kernels, or a kernel with parameters",
        solver="spg",
        why="takes the long steps that long valleys ask for",
        measured="PGD took 6 times as long.",
        fits=lambda problem: not problem.convex,
    ),
    Kind(
        name="svm-sparse",
        what="SVM on up to 1,000 points, weights on the simplex or at a price each",
        solver="newton",
        why="needs some ten SVMs whatever the gap and the number of kernels",
        measured=(
            "On nine sets Level took 0.6-5.1 times as long, SPG 0.7-7.3, SILP 0.6-11 and more, closed form 0.1-14 and"
            " more; to a gap of 1e-4 Level took 2.5-9 times as long, SPG 3.5-25 and more; with a price each SpicyMKL"
            " 1.1-10."
        ),
        fits=lambda problem: _sparse(problem) and _is_svm(problem),
    ),
    Kind(
        name="simplex",
        what="simplex, other losses or more points",
        solver="spg",
        why="takes steps that cost nothing beside what is solved at each",
        measured="Closed form took 0.5-1.4 times as long, Level 0.6-2.5, SILP 0.5-2.6, SimpleMKL 3-21.",
        fits=lambda problem: problem.regularizer.on_simplex,
    ),
    Kind(
        name="priced-smooth",
        what="price per unit of weight or norm, logistic or squared loss on up to 1,000 points",
        solver="spicymkl",
        why="takes Newton steps on a smooth dual, few whatever the gap",
        measured=(
            "On nine sets closed form took 1.9-5.4 times as long, SPG 1.9-8.1, PGD 3.7-18 and more; to a gap of 1e-4"
            " closed form 2.5-110 and more, SPG 1.8-110 and more."
        ),
        fits=lambda problem: _priced(problem) and _small(problem) and problem.loss.smooth,
    ),
    Kind(
        name="priced",
        what="price per unit of weight or norm, other losses or more points",
        solver="closed-form",
        why="has a formula for the size of the weights, which a price leaves open",
        measured="SPG took 0.8-2 times as long, SpicyMKL 1.6-2.2, PGD 2.2-8 and more.",
        fits=_priced,
    ),
    Kind(
        name="dense",
        what="norms and prices that leave every kernel some weight",
        solver="closed-form",
        why="comes nearer by the factor 1/p with every step",
        measured="SPG took 1.6-4.6 times as long, SpicyMKL 1.1-26, SMO-MKL 8, PGD 1-26.",
        fits=lambda problem: True,
    ),
)
"""From the special to the general: the first that fits counts."""


def kind_of(problem: Problem) -> Kind | None:
    """Return the first kind that fits the problem and whose solver can follow it, None where there is none."""
    able = available_solvers(problem)
    return next((kind for kind in KINDS if kind.solver in able and kind.fits(problem)), None)


def recommend(problem: Problem) -> str:
    """Return the name of the solver to take where none is asked for.

    Raises
    ------
    UnsupportedProblem
        If no solver can follow.
    """
    kind = kind_of(problem)
    if kind is not None:
        return kind.solver
    able = available_solvers(problem)
    if not able:
        raise UnsupportedProblem("No solver can follow this problem; make_solver(name).refusal(problem) says why.")
    return able[0]


def rivals(problem: Problem, usual: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the solvers to race by default, and a sentence on the usual ones that are left out, or "".

    If fewer than two of the usual ones can follow, those of the table above that can are taken, the recommended one
    first. If that is still only one, any other that can follow is added.

    `usual`: registry names of the solvers that race where all of them can follow. Raises `UnsupportedProblem` if no
    solver can follow.
    """
    makes = solver_classes()
    reasons = {name: why_not(makes[name](), problem) for name in usual}
    chosen = [name for name in usual if not reasons[name]]
    if len(chosen) < 2:
        able = available_solvers(problem)
        first = [recommend(problem), *(kind.solver for kind in KINDS if kind.solver in able), *chosen]
        chosen = list(dict.fromkeys(first))
        chosen += [name for name in able if name not in chosen][: 2 - len(chosen)] if len(chosen) < 2 else []
    return tuple(chosen), _left_out({makes[name].label: reason for name, reason in reasons.items() if reason})


def _left_out(reasons: Mapping[str, str]) -> str:
    """Return a sentence on the solvers that are left out, by label; solvers with the same reason share a sentence."""
    groups: dict[str, list[str]] = {}
    for label, reason in reasons.items():
        groups.setdefault(reason.replace(label, "It"), []).append(label)
    sentences = []
    for first, *others in groups.values():
        likewise = f", and so {'is' if len(others) == 1 else 'are'} {' and '.join(others)}" if others else ""
        reason = reasons[first]
        sentences.append(f"{first} is left out{likewise}: {reason if reason.startswith(first) else _lower(reason)}")
    return " ".join(sentences)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
