"""A support vector machine on a sum of kernels whose weights are not learned with it: equal ones, one kernel's alone,
those of a method in two stages, MKLpy's, SMKL's.

Kernels have unit diagonals, as SVC's own and `MKLClassifier`'s.

References: Lauriola, Aiolli, MKLpy: a python-based framework for Multiple Kernel Learning (2020), for its `EasyMKL` and
`AverageMKL`; Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning, arXiv 2511.21890 (2025), for SMKL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mklviz.engine import solve
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem, Simplex, SimplexRidge
from mklviz.recipe.words import read_kernels
from mklviz.solvers.alignf import Alignf
from mklviz.solvers.easymkl import EasyMkl
from mklviz.typing import Array

__all__ = [
    *("FixedWeights", "best_kernel", "decisions_left_out"),
    *("equal_weights", "first_stage", "mklpy_weights", "smkl_weights", "unit"),
]

SMKL_C, SMKL_KERNELS, SMKL_STEPS = 10.0, 5, 30

Weights = Callable[[KernelBank, Array], Array]


def equal_weights(bank: KernelBank, signs: Array) -> Array:
    """Return 1/m for each kernel."""
    return np.full(len(bank), 1.0 / len(bank))


def best_kernel(cv: Any, C: float = 1.0) -> Weights:
    """Return what gives all weight to the kernel whose own SVC is right most often on samples it has not seen."""

    def weigh(bank: KernelBank, signs: Array) -> Array:
        right = (decisions_left_out(bank, signs, C, cv) * signs[:, None] > 0.0).sum(axis=0)
        return unit(bank, int(right.argmax()))

    return weigh


def unit(bank: KernelBank, k: int) -> Array:
    """Return weight one for kernel k and none for others."""
    return np.asarray(np.arange(len(bank)) == k, dtype=np.float64)


def decisions_left_out(bank: KernelBank, signs: Array, C: float, cv: Any) -> Array:
    """Return decisions (n, m) of an SVC for each kernel alone, on each sample by the one that has not seen its fold."""
    from sklearn.svm import SVC

    folds, machine = list(cv.split(signs, signs)), SVC(C=C, kernel="precomputed")
    decisions = np.empty((len(signs), len(bank)))
    for k in range(len(bank)):
        K = bank.combine(unit(bank, k))
        for train, test in folds:
            machine.fit(K[np.ix_(train, train)], signs[train])
            decisions[test, k] = machine.decision_function(K[np.ix_(test, train)])
    return decisions


def first_stage(method: Alignf | EasyMkl) -> Weights:
    """Return what gives the weights that a method in two stages chooses before its SVM."""

    def weigh(bank: KernelBank, signs: Array) -> Array:
        return method.weigh(Problem(bank, signs, Hinge(1.0), Simplex()))[0]

    return weigh


def mklpy_weights(name: str) -> Weights:
    """Return what gives the weights that MKLpy's class of this name finds; it takes whole Gram matrices."""

    def weigh(bank: KernelBank, signs: Array) -> Array:
        tensor, method = import_module("torch").as_tensor, getattr(import_module("MKLpy.algorithms"), name)
        grams = [tensor(bank.combine(unit)) for unit in np.eye(len(bank))]
        return np.asarray(method().combine_kernels(grams, tensor(signs)).weights, dtype=np.float64)

    return weigh


def smkl_weights(bank: KernelBank, signs: Array) -> Array:
    """Return the weights of the best of SMKL's first steps with so many kernels, at a price at which it settles."""
    plain = SvmOracle(Problem(bank, signs, Hinge(SMKL_C), Simplex()), 1e-4).begin(None)
    problem = Problem(bank, signs, Hinge(SMKL_C), SimplexRidge(float(plain.s.max())))
    return solve(problem, "smkl", gap=None, max_iter=SMKL_STEPS, k0=SMKL_KERNELS).best.weights


class FixedWeights:
    """SVC on the sum, its C chosen by cross-validation on the training part.

    `weigh`: what gives weights to the bank, from the labels -1 and +1.
    """

    def __init__(self, kernels: str, weigh: Weights, Cs: Sequence[float], cv: Any) -> None:
        self.kernels, self.weigh, self.Cs, self.cv = kernels, weigh, Cs, cv

    def fit(self, X: Array, y: Array) -> FixedWeights:
        """Learn from samples and two classes."""
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import SVC

        self.bank = KernelBank.build(X, read_kernels(self.kernels), "diagonal")
        self.weights = self.weigh(self.bank, np.where(y == y.max(), 1.0, -1.0))
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(self.Cs)}, cv=self.cv)
        self.machine = search.fit(self.bank.combine(self.weights), y)
        return self

    def predict(self, X: Array) -> Array:
        """Return the classes of new points."""
        return np.asarray(self.machine.predict(self.bank.cross(X).combine(self.weights)))
