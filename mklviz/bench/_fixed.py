"""A support vector machine on a sum of kernels whose weights are found before: equal, EasyMKL's, MKLpy's, SMKL's.

    EasyMKL    gamma = argmin gamma'Y ((1 - lam) K + lam I) Y gamma,    d_k in proportion to gamma'Y K_k Y gamma

with K the mean of the kernels, over distributions gamma of weight one on either class: the least distance between the
classes' hulls, which LIBSVM finds. Kernels have unit diagonals, as SVC's own and `MKLClassifier`'s.

References: Lauriola, Aiolli, MKLpy: a python-based framework for Multiple Kernel Learning (2020), for its `EasyMKL` and
`AverageMKL`; Aiolli, Donini, EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing 169 (2015);
Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning, arXiv 2511.21890 (2025), for SMKL.
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
from mklviz.typing import Array

__all__ = ["FixedWeights", "easy_weights", "equal_weights", "mklpy_weights", "smkl_weights"]

LAM = 0.1
SMKL_C, SMKL_KERNELS, SMKL_STEPS = 10.0, 5, 30
HARD = 1e7  # C beyond which a margin is hard, for LIBSVM as for MKLpy

Weights = Callable[[KernelBank, Array], Array]


def equal_weights(bank: KernelBank, signs: Array) -> Array:
    """Return 1/m for each kernel."""
    return np.full(len(bank), 1.0 / len(bank))


def easy_weights(bank: KernelBank, signs: Array) -> Array:
    """Return EasyMKL's weights, which sum to one."""
    from sklearn.svm import SVC

    n = len(signs)
    K = bank.combine(equal_weights(bank, signs))
    machine = SVC(C=HARD, kernel="precomputed").fit((1.0 - LAM) * K + LAM * np.eye(n), signs)
    margins = np.zeros(n)
    margins[machine.support_] = machine.dual_coef_[0]
    pulls = np.maximum(bank.quad(margins), 0.0)
    return np.asarray(pulls / pulls.sum())


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
