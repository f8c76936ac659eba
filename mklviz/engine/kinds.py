"""Which solver for which problem: one table, read by `solve`, the estimators, the command line and the dashboard.

A kind of problem is told by its own properties (sum or product, loss, regularizer, how its kernels are reached) and its
size, never by its data. The table is fitted to what `python .ci/which.py` measures; ratios are CPU time to a gap
of 1e-2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mklviz.contract import Solver
from mklviz.engine.registry import available_solvers, make_solver, solver_classes, why_not
from mklviz.errors import UnsupportedProblem
from mklviz.problem import Loss, Problem, Regularizer, Simplex
from mklviz.record.trace import Trace
from mklviz.typing import Array

MOST_POINTS = 1000  # of methods whose steps take the cube of the points
PRICED_POINTS = 500  # of Newton's method where a price leaves the size of the weights open, which takes more steps
FEW = 16  # kernels over which a linear program takes next to no time
LOW_RANK, THIN = 8.0, 4.0  # numbers stored for each kernel and point, up to which passes are short, and next to none
SPREAD, WIDE = 8, 16  # points for each kernel, from which nearly every kernel keeps weight, and of thin ones
SMALL_C = 1.0  # beside a diagonal of one; up to there the SVMs hardly change with the weights
FLAT_C, MANY = 35.0, 1.25  # C beside a unit trace, up to which a few planes describe it all, and kernels for each point
LEAST_C, DENSE = 25.0, 200  # the same C of so many kernels, which take more planes
LIGHT_C = 120.0  # C beside a unit trace, up to which an SVM costs less than the sum of so many kernels
FEWER, LARGE = 1.5, 60_000  # points for each kernel, and points times kernels, from which Newton's program costs more
SINGLE_C = 0.1  # beside a diagonal of one; the same of kernels that see one feature each, and are not of low rank
EASY_CLASSES = {False: 1.0, True: 10.0}  # the same for several classes, without and with an SVM for each
NOT_HERE = ("on the fly", "on a Dask cluster", "from disk")  # whose bytes in memory say nothing of a pass


class ProblemSize(NamedTuple):
    """What the time of a solve depends on: points, kernels, their bytes, the mean of a diagonal, and what they see."""

    n: int
    m: int
    nbytes: int
    diagonal: float = 1.0
    single: bool = False  # whether every kernel sees one feature alone

    @classmethod
    def of(cls, problem: Problem) -> ProblemSize:
        bank, n, m = problem.bank, problem.n, problem.m
        elsewhere = any(where in bank.backend for where in NOT_HERE)
        nbytes = 4 * n * n * m if elsewhere else bank.nbytes  # what is not kept is no less to pass
        specs = getattr(bank, "kernels", ())
        single = 0 < len(specs) <= MANY * n and all(len(spec.columns) == 1 for spec in specs)
        return cls(n, m, nbytes, mean_diagonal(getattr(bank, "normalize", ""), n), single)

    @property
    def rank(self) -> float:
        """Numbers stored for each kernel and point."""
        return self.nbytes / (8.0 * self.n * self.m)


def mean_diagonal(normalize: str, n: int) -> float:
    """Return the mean of a kernel's diagonal, as far as its scaling tells."""
    return 1.0 / max(n, 1) if normalize == "trace" else 1.0


Fits = Callable[[Problem, ProblemSize], bool]


@dataclass(frozen=True)
class Kind:
    """A kind of problem and the solver for it."""

    name: str  # key in the benchmark
    what: str  # which problems, for people
    solver: str  # registry name of the solver to take
    why: str  # the rest of a sentence that begins with the solver
    measured: str  # what others took, as multiples of its CPU time
    fits: Fits  # whether a problem of this size is of this kind


def _is_svm(problem: Problem) -> bool:
    """Return whether this is an SVM with intercept whose kernel matrix is formed, as Newton's model has it."""
    return problem.bank.access == "matrix" and problem.loss.svm and problem.loss.bias


def _simplex_svm(problem: Problem) -> bool:
    return problem.regularizer.on_simplex and _is_svm(problem)


def _scaled_C(problem: Problem, size: ProblemSize) -> float:
    """Return what C would be if the mean of a kernel's diagonal were one."""
    return float(problem.loss.top * size.diagonal)


def _dense(size: ProblemSize) -> bool:
    """Return whether a sum of all kernels costs more than an SVM, so that few kernels are to have weight."""
    return size.rank <= THIN and size.m >= DENSE


def _flat(problem: Problem, size: ProblemSize) -> bool:
    """Return whether C is so small that the objective hardly curves."""
    C = _scaled_C(problem, size)
    most = LIGHT_C if _dense(size) else LEAST_C if size.m >= DENSE and size.rank > LOW_RANK else FLAT_C
    return C * size.n <= most or (size.single and size.rank > LOW_RANK and C <= SINGLE_C)


def _easy(problem: Problem, size: ProblemSize) -> bool:
    """Return whether an SVM costs next to nothing, so that a step is to cost nothing either."""
    C, large = _scaled_C(problem, size), size.n >= FEWER * size.m and size.n * size.m >= LARGE
    low = size.rank <= LOW_RANK and not _dense(size)
    return (low and C <= SMALL_C) or (large and C * size.n <= LIGHT_C)


def _small(problem: Problem, size: ProblemSize) -> bool:
    return size.n <= MOST_POINTS and problem.bank.access == "matrix"


def _priced(problem: Problem) -> bool:
    return problem.regularizer.sparse and problem.regularizer.unbounded


def _sparse(problem: Problem) -> bool:
    return problem.regularizer.on_simplex or _priced(problem)


KINDS = (
    Kind(
        name="product",
        what="product of kernels, or a kernel with parameters",
        solver="spg",
        why="takes the long steps that long valleys ask for",
        measured="PGD took 6 times as long.",
        fits=lambda problem, size: not problem.convex,
    ),
    Kind(
        name="svm-few",
        what="SVM on the simplex, up to 16 kernels",
        solver="silp",
        why="has the few planes that so few kernels need at once",
        measured="SPG took 1.7-3.5 times as long, Newton 1.2-6.2, closed form 1.9-3.5, Level 2.4-9.7.",
        fits=lambda problem, size: _simplex_svm(problem) and size.m <= FEW,
    ),
    Kind(
        name="svm-flat",
        what="SVM on the simplex, C up to 35 beside a unit trace (of 200 kernels and more up to 120 if they are of"
        " features with few values, up to 25 if not of low rank; of kernels of one feature each also up to 0.1 beside a"
        " unit diagonal), at most five kernels for four points",
        solver="silp",
        why="has the few planes that describe an objective of hardly any curvature",
        measured="SPG took 1-10 times as long, closed form 0.9-3.8, Newton 1.3-12, Level 1.2-17.",
        fits=lambda problem, size: _simplex_svm(problem) and size.m <= MANY * size.n and _flat(problem, size),
    ),
    Kind(
        name="svm-easy",
        what="SVM on the simplex, C up to 1 beside a unit diagonal and kernels of low rank (fewer than 200 if of"
        " features with few values), or C up to 120 beside a unit trace, at least three points for two kernels and"
        " 60,000 points times kernels",
        solver="closed-form",
        why="is there in the few steps that weights of little consequence take",
        measured="Level took 0.8-6.8 times as long, Newton 0.6-7.9, SILP 0.9-5.2, SPG 0.7-8.4.",
        fits=lambda problem, size: _simplex_svm(problem) and _easy(problem, size),
    ),
    Kind(
        name="svm-thin",
        what="SVM on the simplex, kernels of features with few values, less than 16 points for each",
        solver="level",
        why="takes steps that cost nothing beside Newton's where a pass over the kernels is short",
        measured="Closed form took 0.6-3.5 times as long, SPG 1.1-1.9, Newton 0.4-3.2 and more, SILP 1.9-3.6.",
        fits=lambda problem, size: _simplex_svm(problem) and size.rank <= THIN and size.n < WIDE * size.m,
    ),
    Kind(
        name="svm-spread",
        what="SVM on the simplex, eight points or more for each kernel",
        solver="closed-form",
        why="shares the weight out over many kernels in a few steps",
        measured="SILP took 1.6-12 times as long, SPG 1.2-3.4, Newton 1.4-6.5, Level 1.4-3.7.",
        fits=lambda problem, size: _simplex_svm(problem) and size.n >= SPREAD * size.m,
    ),
    Kind(
        name="svm-sparse",
        what="SVM on the simplex, all others",
        solver="newton",
        why="needs some ten SVMs whatever the gap and the number of kernels",
        measured="Closed form took 0.9-6.7 times as long and more, Level 1-3.9, SILP 0.8-10, SPG 1.5-7.5.",
        fits=lambda problem, size: _simplex_svm(problem),
    ),
    Kind(
        name="svm-priced",
        what="SVM on up to 500 points, a price per unit of weight",
        solver="newton",
        why="needs some ten SVMs whatever the gap and the number of kernels",
        measured="Closed form took 1.5-4.8 times as long, SpicyMKL 0.9-1.8, SPG 1.8-4.2.",
        fits=lambda problem, size: problem.regularizer.linear and _is_svm(problem) and size.n <= PRICED_POINTS,
    ),
    Kind(
        name="smooth",
        what="simplex or price per unit of weight or norm, logistic or squared loss on up to 1,000 points",
        solver="spicymkl",
        why="takes Newton steps on a smooth dual, few whatever the gap",
        measured="Closed form took 1.4-3.4 times as long and more, SPG 1.2-6, Level 2-6.5, SILP 1.2-2.7.",
        fits=lambda problem, size: _sparse(problem) and _small(problem, size) and problem.loss.smooth,
    ),
    Kind(
        name="classes-flat",
        what="several classes on the simplex, C up to 1 beside a unit diagonal, up to 10 with an SVM for each",
        solver="silp",
        why="has the few planes at once that describe an objective of hardly any curvature",
        measured="Closed form took 0.6-3.7 times as long, Level 1-4.7, SPG 0.7-2.9.",
        fits=lambda problem, size: (
            problem.regularizer.on_simplex
            and problem.loss.multiclass
            and _scaled_C(problem, size) <= EASY_CLASSES[problem.loss.by_class]
        ),
    ),
    Kind(
        name="simplex",
        what="simplex, other losses, or kernels that are not formed",
        solver="spg",
        why="takes steps that cost nothing beside what is solved at each",
        measured="Closed form took 0.8-1.7 times as long, Level 0.8-2.5, SILP 1-1.7, SpicyMKL 1.4-12.",
        fits=lambda problem, size: problem.regularizer.on_simplex,
    ),
    Kind(
        name="priced",
        what="price per unit of weight or norm, other losses or more points",
        solver="closed-form",
        why="has a formula for the size of the weights, which a price leaves open",
        measured="SPG took 0.9-1.8 times as long, SpicyMKL 1.4-2.1.",
        fits=lambda problem, size: _priced(problem),
    ),
    Kind(
        name="dense",
        what="norms and prices that leave every kernel some weight",
        solver="closed-form",
        why="comes nearer by the factor 1/p with every step",
        measured="SPG took 1-3.2 times as long, SpicyMKL 0.2-5.3.",
        fits=lambda problem, size: True,
    ),
)
"""From the special to the general: the first that fits counts."""


def kind_of(problem: Problem, size: ProblemSize | None = None) -> Kind | None:
    """Return the first kind that fits the problem and whose solver can follow it, None where there is none.

    `size`: what the problem is of, where `problem` is a small one that stands for it.
    """
    able, size = available_solvers(problem), size or ProblemSize.of(problem)
    return next((kind for kind in KINDS if kind.solver in able and kind.fits(problem, size)), None)


def recommend(problem: Problem) -> str:
    """Return the name of the solver to take where none is asked for.

    Raises
    ------
    UnsupportedProblem
        If no solver can follow.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> mv.recommend(problem)
    'silp'
    """
    kind = kind_of(problem)
    if kind is not None:
        return kind.solver
    able = available_solvers(problem)
    if not able:
        why = why_not(solver_classes()["spg"](), problem)
        raise UnsupportedProblem(f"No solver can follow this problem: {why}")
    return able[0]


def solver_for(problem: Problem, solver: str | Solver, seed: int, **options: Any) -> Solver:
    """Return the solver asked for, the recommended one for "auto"; ready ones, and words with a seed, keep theirs."""
    asked = recommend(problem) if solver == "auto" else solver
    made = make_solver(asked, **options)
    return make_solver(asked, **{"seed": seed, **options}) if isinstance(asked, str) and not made.seed else made


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


# -- What figures and tabs say of the problem of a race: of one that is posed, or as far as recorded steps tell.


def falls_below_zero(loss: Loss, regularizer: Regularizer) -> bool:
    """Return whether objectives may fall below zero, as with one class, or with a logarithm of the weights."""
    return loss.one_class or not regularizer.conjugated


_ON_SIMPLEX = 1e-6  # by which rounding may move the sum of the weights from one


@dataclass(frozen=True)
class ProblemFacts:
    """Facts that need no data.

    `names`: of what has weights, a `noun` each; `no_bound`: why there is no lower bound, ""; `signed`: whether
    objectives fall below zero; `on_simplex`: whether the weights sum to one; `project`: returns the allowed weights
    (m,) nearest to others.
    """

    names: Sequence[str]
    noun: str = "kernel"
    no_bound: str = ""
    signed: bool = False
    on_simplex: bool = False
    project: Callable[[Array], Array] = Simplex().project

    @property
    def m(self) -> int:
        """Number of weights."""
        return len(self.names)

    @classmethod
    def of(cls, problem: Problem) -> ProblemFacts:
        """Return those of a problem."""
        r, below = problem.regularizer, falls_below_zero(problem.loss, problem.regularizer)
        return cls(problem.bank.names, problem.noun, problem.no_bound, below, r.on_simplex, r.project)

    @classmethod
    def recorded(cls, traces: Iterable[Trace]) -> ProblemFacts:
        """Return what the steps of runs on one problem tell; one of the runs has a step."""
        begun = [trace for trace in traces if len(trace)]
        first, m = begun[0], len(begun[0].final.weights)
        names = first.kernel_names if len(first.kernel_names) == m else [f"kernel {k + 1}" for k in range(m)]
        bounded = any(np.isfinite(trace.best_bound.lower_bound) for trace in begun)
        no_bound = "" if bounded else "No lower bound was recorded, hence no gap."
        on_simplex = all(abs(trace.best.weights.sum() - 1.0) <= _ON_SIMPLEX for trace in begun)
        signed = any(trace.best.objective <= 0.0 for trace in begun)
        project = Simplex().project if on_simplex else lambda weights: np.maximum(weights, 0.0)
        return cls(names, "kernel", no_bound, signed and not on_simplex, on_simplex, project)
