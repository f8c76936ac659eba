"""Everything that defines a race, as plain values: data, split, kernels, problem, solvers and stop rules.

Scenarios, the dashboard and the command line all speak of races through this one description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mklviz.contract import Iterate, Solver
from mklviz.datasets import Dataset, load_dataset
from mklviz.engine import Race, make_solver, standard_rules
from mklviz.errors import ProblemError
from mklviz.problem import CrossBank, Hinge, KernelBank, KernelFamily, Problem, Regularizer, Simplex, paper_families

__all__ = ["Experiment", "Prepared", "SolverChoice"]


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
        The split: fraction trained on, its seed, and whether features are standardized (fitted on the training part).
    kernels : sequence of KernelFamily
    normalize : "trace", "diagonal" or "none"
    C : float
        Weight of the hinge loss.
    regularizer : Regularizer
    solvers : sequence of SolverChoice
    gap, max_iter, max_seconds
        Stop rules; None leaves one out.
    """

    dataset: str = "ionosphere"
    train: float = 0.5
    seed: int = 0
    standardize: bool = True
    kernels: Sequence[KernelFamily] = field(default_factory=paper_families)
    normalize: str = "trace"
    C: float = 100.0
    regularizer: Regularizer = field(default_factory=Simplex)
    solvers: Sequence[SolverChoice] = (SolverChoice("silp"), SolverChoice("level"), SolverChoice("spg"))
    gap: float | None = 1e-2
    max_iter: int | None = 500
    max_seconds: float | None = None

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
        if chosen.task != "binary":
            raise ProblemError(
                f"{chosen.title} is a {chosen.task} data set, and these solvers tell two classes apart:"
                " choose a data set with two classes."
            )
        train, test = chosen.split(train=self.train, seed=self.seed, standardize=self.standardize)
        if train.grams is not None:
            bank = KernelBank.from_grams(train.grams, train.kernel_names, normalize=self.normalize)
        else:
            names = list(train.feature_names)
            bank = KernelBank.build(train.X, self.kernels, self.normalize, feature_names=names, progress=progress)
        problem = Problem(bank, train.y, loss=Hinge(self.C), regularizer=self.regularizer)
        cross = bank.cross(test.X if test.grams is None else test.grams)
        return Prepared(train, test, problem, cross)

    def race(self, prepared: Prepared, pace: float = 0.0) -> Race:
        """Return the race over a prepared problem, not yet started."""
        solvers = [choice.make(self.seed) for choice in self.solvers]
        return Race(prepared.problem, solvers, standard_rules(self.gap, self.max_iter, self.max_seconds), pace)


@dataclass(frozen=True)
class Prepared:
    """A problem with the data it came from.

    Attributes
    ----------
    train, test : Dataset
    problem : Problem
    cross : CrossBank
        Kernels between the test and the training points.
    """

    train: Dataset
    test: Dataset
    problem: Problem
    cross: CrossBank

    def accuracy(self, iterate: Iterate) -> float:
        """Return the fraction of test points that the iterate classifies right."""
        values = self.problem.decision_values(iterate.weights, iterate.dual, self.cross)
        return float((np.where(values >= 0.0, 1.0, -1.0) == self.test.y).mean())
