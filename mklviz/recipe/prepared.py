"""A problem with the data it came from, and how its kernel bank is built from data and a choice of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Iterate
from mklviz.datasets import NOTHING, Dataset, Task
from mklviz.errors import ProblemError
from mklviz.kernels import (
    Bank,
    Cross,
    KernelBank,
    KernelFamily,
    LearnedPolynomial,
    NystromBank,
    ParametricBank,
    ProductBank,
    paper_families,
)
from mklviz.problem import Loss, Problem, loss_families
from mklviz.recipe.choices import COMBINATIONS, KernelChoice
from mklviz.typing import Array


@dataclass(frozen=True)
class Built:
    """Data in two parts with the kernels on them, whatever problem is posed on them."""

    train: Dataset
    test: Dataset
    bank: Bank
    cross: Cross  # kernels between the test and the training points


@dataclass(frozen=True)
class Prepared:
    """A problem with the data it came from."""

    train: Dataset
    test: Dataset
    problem: Problem
    cross: Cross  # kernels between the test and the training points

    @property
    def score_label(self) -> str:
        """What `score` measures."""
        return "test R²" if self.test.task == "regression" else "test accuracy"

    def score(self, iterate: Iterate) -> float:
        """Return the fraction of the test points that an iterate classifies right, or for regression R²."""
        predictor, y = self.problem.predictor(iterate.weights, iterate.dual), self.test.y
        if self.test.task != "regression":
            return float((predictor.classes(self.cross) == y).mean())
        values, spread = predictor.decision_values(self.cross), float(((y - y.mean()) ** 2).sum())
        return 1.0 - float(((y - values) ** 2).sum()) / spread if spread > 0.0 else float("nan")


def build_bank(
    kernels: KernelChoice, train: Dataset, seed: int = 0, progress: Callable[[float], None] | None = None
) -> Bank:
    """Return the bank of the kernels chosen on the training part, or raise `ProblemError`."""
    if train.grams is not None:
        _check_grams(kernels, train.title)
        shared: dict[str, Any] = {"names": train.kernel_names, "normalize": kernels.normalize, "repair": kernels.repair}
        if train.distances:
            return KernelBank.from_distances(train.grams, families_of_distances(kernels.families), **shared)
        return KernelBank.from_grams(train.grams, **shared)
    names = list(train.feature_names)
    if kernels.combination == "product":
        return ProductBank.build(train.X, feature_names=names, cache_mb=kernels.cache_mb)
    if kernels.combination == "polynomial":
        return ParametricBank.build(train.X, [LearnedPolynomial(p) for p in kernels.degrees], feature_names=names)
    if kernels.approximation is not None:
        landmarks, choice = kernels.approximation.landmarks, kernels.approximation.choice
        return NystromBank.build(
            train.X, kernels.families, landmarks, choice, kernels.normalize, names, seed=seed, progress=progress
        )
    return KernelBank.build(
        train.X,
        kernels.families,
        kernels.normalize,
        feature_names=names,
        progress=progress,
        cache_mb=kernels.cache_mb,
        rows=kernels.by_rows,
    )


def averaged(train: Dataset, test: Dataset, bank: Any) -> tuple[Dataset, Dataset, Bank]:
    """Put the mean of the kernels that have two samples in place of those that lack one; return Gram matrices.

    A kernel lacks a sample that is missing in a view of which it sees columns. Negative eigenvalues that
    this brings are clipped.
    """
    if bank.kind != "sum" or bank.access != "matrix":
        raise ProblemError("missing-view=average is for sums of kernels whose matrices are formed: leave samples out.")
    sees = np.array([[not {*spec.columns}.isdisjoint(view) for view in train.groups or ()] for spec in bank.kernels])
    ours, theirs = (np.asarray(part.absent, float) @ sees.T > 0.0 for part in (train, test))
    cross, single = bank.cross(test.X), np.eye(len(bank))
    grams = _filled(np.array([bank.combine(weights) for weights in single]), ours, ours)
    rows = _filled(np.array([cross.combine(weights) for weights in single]), theirs, ours)
    names = tuple(spec.name for spec in bank.kernels)
    first, second = (
        replace(part, X=np.zeros((len(part.y), 0)), feature_names=(), groups=None, informative=None, absent=None,
                grams=values, kernel_names=names)
        for part, values in ((train, grams), (test, rows))
    )  # fmt: skip
    return first, second, KernelBank.from_grams(grams, names, repair="clip")


def _filled(values: Array, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Array:
    """Return kernel values (m, a, b), the mean of the others where a kernel lacks a row's or a column's sample."""
    there = ~(rows.T[:, :, None] | columns.T[:, None, :])
    mean = (values * there).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, values, mean)


def families_of_distances(families: Sequence[KernelFamily]) -> tuple[KernelFamily, ...]:
    """Return the families as given distances see them, each once; of the papers' families those of distances."""
    paper = tuple(families) == tuple(paper_families())
    able = [f for f in families if not paper or type(f).from_distances is not KernelFamily.from_distances]
    return tuple(dict.fromkeys(replace(family, on="all") for family in able))


def suited(families: Sequence[KernelFamily], whole: Dataset, train: Dataset) -> tuple[KernelFamily, ...]:
    """Return families with those of their columns, by number or name, that are not constant in the training part."""
    if whole.feature_names == train.feature_names:
        return tuple(families)
    left = list(train.feature_names)
    kept: dict[int, int] = {}
    for j, name in enumerate(whole.feature_names):
        if len(kept) < len(left) and left[len(kept)] == name:
            kept[j] = len(kept)
    return tuple(_on_those(family, whole.feature_names, kept) for family in families)


def _on_those(family: KernelFamily, names: Sequence[str], kept: Mapping[int, int]) -> KernelFamily:
    if isinstance(family.on, str):
        return family
    ((_, columns),) = family.subsets(len(names), names)
    on = tuple(kept[j] for j in columns if j in kept)
    if not on:
        what = "column is" if len(columns) == 1 else "columns are all"
        raise ProblemError(f"The {family.label} kernels' {what} constant in the training part: choose other columns.")
    return replace(family, on=on)


def _check_grams(kernels: KernelChoice, title: str) -> None:
    """Refuse what ready Gram matrices cannot be made into."""
    if kernels.combination != "sum":
        what = COMBINATIONS[kernels.combination]
        raise ProblemError(
            f"{title} brings Gram matrices. {what} is made of features: choose the sum of kernels, or"
            " data with features."
        )
    if kernels.approximation is not None:
        raise ProblemError(f"{title} brings Gram matrices, which are used as they are: no landmarks.")
    if kernels.by_rows:
        raise ProblemError(f"{title} brings Gram matrices, of which nothing is left to compute by rows.")


def misfit(title: str, task: Task, loss: Loss) -> str:
    """Return why data of this task cannot be used with a loss, or "".

    A loss for numbers takes two classes as well: it fits the values -1 and +1.
    """
    families = loss_families().values()
    if loss.one_class and task != "binary":
        what = "numbers to predict" if task == "regression" else "more than two classes"
        helps = "" if task == "regression" else "set one class against the rest, or, "
        unlabelled = f"where no column of a table holds labels, say that its target is {NOTHING}"
        return f"{title} has {what}, and the {loss.label} loss learns one class: {helps}{unlabelled}."
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


def refuse(title: str, task: Task, loss: Loss) -> None:
    """Raise `ProblemError` where `misfit` has a reason."""
    reason = misfit(title, task, loss)
    if reason:
        raise ProblemError(reason)


def standard_targets(train: Dataset, test: Dataset) -> tuple[Dataset, Dataset]:
    """Shift and scale the targets by their mean and standard deviation in the training part."""
    largest = float(abs(train.y).max())
    unit = largest if largest > 1e150 else 1.0  # the squares of such numbers overflow
    ours, theirs = train.y / unit, test.y / unit
    shift, scale = float(ours.mean()), float(ours.std()) or 1.0
    return replace(train, y=(ours - shift) / scale), replace(test, y=(theirs - shift) / scale)
