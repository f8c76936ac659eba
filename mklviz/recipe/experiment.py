"""Everything that defines a race, as plain values: data, split, kernels, problem, solvers and stop rules.

Scenarios, the dashboard and the command line all speak of races through this one description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mklviz.contract import Iterate, Solver
from mklviz.datasets import Dataset, Task, load_dataset
from mklviz.engine import FLAT, Race, make_solver, recommend, standard_rules
from mklviz.errors import ProblemError, UnknownName
from mklviz.kernels import (
    CACHE_MB,
    Bank,
    Cross,
    KernelBank,
    KernelFamily,
    LearnedPolynomial,
    Nystrom,
    NystromBank,
    ParametricBank,
    ProductBank,
    paper_families,
)
from mklviz.problem import Loss, Problem, Regularizer, Simplex, loss_families

__all__ = ["COMBINATIONS", "Experiment", "Prepared", "SolverChoice", "misfit"]


COMBINATIONS = {
    "sum": "A sum of kernels",
    "product": "A product of kernels",
    "polynomial": "A polynomial of weighted features",
}


@dataclass(frozen=True)
class SolverChoice:
    """A solver by name with the options that differ from its defaults."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, seed: int = 0) -> Solver:
        """Return the solver."""
        return make_solver(self.name, **{"seed": seed, **self.options})


@dataclass(frozen=True)
class Experiment:
    """A race, described.

    Attributes
    ----------
    dataset : str
        Name known to `load_dataset`; ignored where data is given to `prepare`.
    train, seed, standardize
        The split: fraction trained on, its seed, and whether features, and targets that are numbers, are standardized
        (fitted on the training part).
    positive : str, optional
        A class of data with more than two, which is set against all others; all classes at once where not given.
    combination : "sum", "product" or "polynomial"
        Whether the kernels are added, one Gaussian kernel per feature is multiplied, or the weights are those of the
        features in polynomials; the last two have no use for `kernels` and `normalize`, and few solvers follow them.
    degrees : sequence of int
        Degrees of the polynomials, which are added; each weighs the features anew.
    kernels : sequence of KernelFamily
    normalize : "trace", "diagonal" or "none"
    approximation : Nystrom, optional
        How a sum of kernels is approximated, where n is very large; exact kernels where not given.
    cache_mb : int
        Memory for kernel rows used lately, of each solver, where matrices are not formed.
    by_rows : bool
        Whether no kernel matrix is formed on fewer samples either; for sums of exact kernels of features.
    C : float
        Weight of the loss.
    loss : str
        Name of the loss, one of `loss_families`.
    loss_options : mapping
        Its parameters other than C, such as epsilon, where they differ from its defaults.
    regularizer : Regularizer
    solvers : sequence of SolverChoice
    gap, max_iter, max_seconds
        Stop rules; None leaves one out.
    projected_gradient
        The rule that takes the place of the gap where the problem has none, as with a product of kernels.
    threads : int
        Threads of a solver that runs alone; several solvers have one each.
    """

    dataset: str = "ionosphere"
    train: float = 0.5
    seed: int = 0
    standardize: bool = True
    positive: str | None = None
    combination: str = "sum"
    degrees: Sequence[int] = (2,)
    kernels: Sequence[KernelFamily] = field(default_factory=paper_families)
    normalize: str = "trace"
    approximation: Nystrom | None = None
    cache_mb: int = CACHE_MB
    by_rows: bool = False
    C: float = 100.0
    loss: str = "hinge"
    loss_options: Mapping[str, float] = field(default_factory=dict)
    regularizer: Regularizer = field(default_factory=Simplex)
    solvers: Sequence[SolverChoice] = (SolverChoice("silp"), SolverChoice("level"), SolverChoice("spg"))
    gap: float | None = 1e-2
    max_iter: int | None = 500
    max_seconds: float | None = None
    projected_gradient: float | None = FLAT
    threads: int = 1

    def __post_init__(self) -> None:
        if self.combination not in COMBINATIONS:
            *most, last = COMBINATIONS
            raise UnknownName(f"Kernels make a {', a '.join(most)} or a {last}, not {self.combination!r}.")
        if self.approximation is not None and self.combination != "sum":
            what = COMBINATIONS[self.combination]
            raise ProblemError(f"{what} cannot be approximated by landmarks: choose the sum of kernels.")
        object.__setattr__(self, "degrees", tuple(LearnedPolynomial(degree).degree for degree in self.degrees))
        if not self.degrees:
            raise ProblemError("No degrees of polynomials were given: give at least one, such as 2.")
        if self.by_rows and (self.approximation is not None or self.combination != "sum"):
            raise ProblemError("Only a sum of exact kernels can be computed row by row on request.")

    @property
    def convex(self) -> bool:
        """Whether the problem is convex and has a gap: products of kernels, and others, make one that has not."""
        return self.combination == "sum" and self.regularizer.conjugated

    def prepare(self, data: Dataset | None = None, progress: Callable[[float], None] | None = None) -> Prepared:
        """Split the data and build the kernel bank.

        Parameters
        ----------
        data : Dataset, optional
            Data of the user's own, instead of the named data set.
        progress : callable, optional
            Called with the fraction of kernels built; may raise to cancel.

        Raises
        ------
        DataError, ProblemError
            With a sentence saying what is wrong and what to do.
        """
        chosen = load_dataset(self.dataset) if data is None else data
        loss = self.make_loss()
        task = chosen.task if self.positive is None else chosen.against_rest(self.positive).task
        _refuse(misfit(chosen.title, task, loss))
        train, test = chosen.split(train=self.train, seed=self.seed, standardize=self.standardize)
        if self.positive is not None:  # after the split, so that every class meets the same samples
            train, test = train.against_rest(self.positive), test.against_rest(self.positive)
        if chosen.task == "regression" and self.standardize:
            train, test = _standard_targets(train, test)
        bank = self._bank(train, progress)
        problem = Problem(bank, train.y, loss=loss, regularizer=self.regularizer)
        cross = bank.cross(test.X if test.grams is None else test.grams)
        return Prepared(train, test, problem, cross)

    def _bank(self, train: Dataset, progress: Callable[[float], None] | None) -> Bank:
        if train.grams is not None:
            if self.combination != "sum":
                what = COMBINATIONS[self.combination]
                raise ProblemError(
                    f"{train.title} brings Gram matrices. {what} is made of features: choose the sum of kernels, or"
                    " data with features."
                )
            if self.approximation is not None:
                raise ProblemError(f"{train.title} brings Gram matrices, which are used as they are: no landmarks.")
            if self.by_rows:
                raise ProblemError(f"{train.title} brings Gram matrices, of which nothing is left to compute by rows.")
            return KernelBank.from_grams(train.grams, train.kernel_names, normalize=self.normalize)
        names = list(train.feature_names)
        if self.combination == "product":
            return ProductBank.build(train.X, feature_names=names, cache_mb=self.cache_mb)
        if self.combination == "polynomial":
            return ParametricBank.build(train.X, [LearnedPolynomial(p) for p in self.degrees], feature_names=names)
        if self.approximation is not None:
            landmarks, choice = self.approximation.landmarks, self.approximation.choice
            return NystromBank.build(
                train.X, self.kernels, landmarks, choice, self.normalize, names, seed=self.seed, progress=progress
            )
        return KernelBank.build(
            train.X,
            self.kernels,
            self.normalize,
            feature_names=names,
            progress=progress,
            cache_mb=self.cache_mb,
            rows=self.by_rows,
        )

    def make_loss(self) -> Loss:
        """Return the loss.

        Raises
        ------
        ProblemError, UnknownName
            If there is no such loss, or its parameters cannot be used.
        """
        families = loss_families()
        if self.loss not in families:
            raise UnknownName(f"There is no loss {self.loss!r}; there are {', '.join(families)}.")
        options: dict[str, Any] = dict(self.loss_options)
        return families[self.loss](self.C, **options)

    def posed(self, prepared: Prepared) -> Prepared:
        """Return `prepared`, whose data and kernels are those of this experiment, with its loss and regularizer."""
        loss = self.make_loss()
        _refuse(misfit(prepared.train.title, prepared.train.task, loss))
        return replace(prepared, problem=replace(prepared.problem, loss=loss, regularizer=self.regularizer))

    def recommended(self, prepared: Prepared) -> Experiment:
        """Return this experiment with the one solver that is recommended for the prepared problem."""
        return replace(self, solvers=(SolverChoice(recommend(prepared.problem)),))

    def race(self, prepared: Prepared, pace: float = 0.0) -> Race:
        """Return the race over a prepared problem, not yet started."""
        solvers = [choice.make(self.seed) for choice in self.solvers]
        rules = standard_rules(self.gap, self.max_iter, self.max_seconds, (), self.convex, self.projected_gradient)
        return Race(prepared.problem, solvers, rules, pace, threads=self.threads)


@dataclass(frozen=True)
class Prepared:
    """A problem with the data it came from.

    Attributes
    ----------
    train, test : Dataset
    problem : Problem
    cross : Cross
        Kernels between the test and the training points.
    """

    train: Dataset
    test: Dataset
    problem: Problem
    cross: Cross

    @property
    def score_label(self) -> str:
        """What `score` measures."""
        return "test R²" if self.test.task == "regression" else "test accuracy"

    def score(self, iterate: Iterate) -> float:
        """Return how well an iterate does on the test points.

        Their fraction that it classifies right; for regression R², the share of the variance of the targets that it
        explains: 1 is perfect, 0 no better than their mean, and a bad fit is below zero.
        """
        predictor, y = self.problem.predictor(iterate.weights, iterate.dual), self.test.y
        if self.test.task != "regression":
            return float((predictor.classes(self.cross) == y).mean())
        values, spread = predictor.decision_values(self.cross), float(((y - y.mean()) ** 2).sum())
        return 1.0 - float(((y - values) ** 2).sum()) / spread if spread > 0.0 else float("nan")


def misfit(title: str, task: Task, loss: Loss) -> str:
    """Return why data of this task cannot be used with a loss, or "".

    A loss for numbers takes two classes as well: it fits the values -1 and +1.
    """
    families = loss_families().values()
    if task == "multiclass" and not loss.multiclass:
        fitting = " or ".join(f"the {family.label}" for family in families if family.multiclass)
        return (
            f"{title} has more than two classes, and the {loss.label} loss tells two apart: choose {fitting} loss,"
            " or one class against the rest."
        )
    if task == "binary" and loss.multiclass:
        return f"{title} has two classes, which the hinge loss tells apart: the {loss.label} loss is for more of them."
    if task == "regression" and not loss.regression:
        fitting = " or ".join(f"the {family.label}" for family in families if family.regression)
        apart = "classes apart" if loss.multiclass else "two classes apart"
        return f"{title} has numbers to predict, and the {loss.label} loss tells {apart}: choose {fitting} loss."
    return ""


def _refuse(reason: str) -> None:
    if reason:
        raise ProblemError(reason)


def _standard_targets(train: Dataset, test: Dataset) -> tuple[Dataset, Dataset]:
    """Shift and scale the targets by their mean and standard deviation in the training part."""
    shift, scale = float(train.y.mean()), float(train.y.std()) or 1.0
    return replace(train, y=(train.y - shift) / scale), replace(test, y=(test.y - shift) / scale)
