"""What learn is measured beside: fixed weights of kernels, and LP-beta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from mklviz.engine import solve
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem, Simplex, SimplexRidge
from mklviz.recipe.words import read_kernels
from mklviz.solvers.alignf import Alignf
from mklviz.solvers.easymkl import EasyMkl
from mklviz.typing import Array

SMKL_C, SMKL_KERNELS, SMKL_STEPS = 10.0, 5, 30

Weights = Callable[[KernelBank, Array], Array]


def equal_weights(bank: KernelBank, signs: Array) -> Array:
    """Return 1/m for each kernel."""
    return np.full(len(bank), 1.0 / len(bank))


def best_kernel(cv: Any, C: float = 1.0) -> Weights:
    """Return what gives all weight to the kernel whose own SVC is right most often on samples it has not seen."""

    def weigh(bank: KernelBank, signs: Array) -> Array:
        right = (decisions_left_out(bank, signs, C, cv) * signs[:, None] > 0.0).sum(axis=0)
        return np.asarray(np.eye(len(bank))[right.argmax()])

    return weigh


def decisions_left_out(bank: KernelBank, signs: Array, C: float, cv: Any) -> Array:
    """Return decisions (n, m) of an SVC for each kernel alone, on each sample by the one that has not seen its fold."""
    from sklearn.model_selection import cross_val_predict
    from sklearn.svm import SVC

    machine = SVC(C=C, kernel="precomputed")
    grams = map(bank.combine, np.eye(len(bank)))
    alone = [cross_val_predict(machine, gram, signs, cv=cv, method="decision_function") for gram in grams]
    return np.column_stack(alone)


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
    """SVC on the sum by weights that `weigh` makes of a bank and labels -1 and +1, its C chosen by cross-validation."""

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


# LP-beta: one support vector machine for each kernel, then a linear program that weighs their decisions.
#
#     min over beta, xi, rho   -rho + 1/(nu n) sum_i xi_i
#     such that                y_i sum_k beta_k o_ik + xi_i >= rho,   xi >= 0,   beta >= 0,   sum_k beta_k = 1
#
# o_ik is the decision on sample i of a machine with kernel k that has not seen it, and nu, between 0 and 1, bounds the
# share of samples below the margin rho. A new point's class is the sign of sum_k beta_k f_k(x), with machines f_k that
# have seen all samples. Here all machines have the C that suits the mean of the kernels best; the paper chooses one for
# each.
#
# Reference: Gehler, Nowozin, On feature combination for multiclass object classification, ICCV 2009, section 3.


def largest_margin(decisions: Array, signs: Array, nu: float) -> Array:
    """Return the weights (m,) of decisions (n, m) that solve the linear program, for labels -1 and +1."""
    n, m = decisions.shape
    price = np.concatenate([np.zeros(m), np.full(n, 1.0 / (nu * n)), [-1.0]])
    below = hstack([csr_array(-signs[:, None] * decisions), -identity(n), np.ones((n, 1))], format="csr")
    total = np.concatenate([np.ones(m), np.zeros(n + 1)])[None, :]
    bounds = [(0.0, None)] * (m + n) + [(None, None)]
    solution = linprog(price, below, np.zeros(n), total, [1.0], bounds, method="highs")
    return np.maximum(solution.x[:m], 0.0)


class LpBeta:
    """Machines of single kernels and their weights; C and `nus` are chosen by cross-validation on the training part."""

    def __init__(self, kernels: str, Cs: Sequence[float], nus: Sequence[float], cv: Any) -> None:
        self.kernels, self.Cs, self.nus, self.cv = kernels, Cs, nus, cv

    def fit(self, X: Array, y: Array) -> LpBeta:
        """Learn from samples and two classes."""
        from sklearn.svm import SVC

        mean = FixedWeights(self.kernels, equal_weights, self.Cs, self.cv).fit(X, y)
        self.bank, self.classes, C = mean.bank, np.unique(y), mean.machine.best_params_["C"]
        signs = np.where(y == self.classes[1], 1.0, -1.0)
        decisions = decisions_left_out(self.bank, signs, C, self.cv)
        self.beta = largest_margin(decisions, signs, self._best_nu(decisions, signs))
        alone = np.eye(len(self.bank))
        self.machines = {
            int(k): SVC(C=C, kernel="precomputed").fit(self.bank.combine(alone[k]), signs)
            for k in np.flatnonzero(self.beta)
        }
        return self

    def _best_nu(self, decisions: Array, signs: Array) -> float:
        """Return the nu whose weights, of some folds, are right most often in the fold left out."""
        folds = list(self.cv.split(decisions, signs))

        def right(nu: float) -> int:
            margins = (
                signs[test] * (decisions[test] @ largest_margin(decisions[train], signs[train], nu))
                for train, test in folds
            )
            return sum(int((margin > 0.0).sum()) for margin in margins)

        return max(self.nus, key=right)

    def predict(self, X: Array) -> Array:
        """Return the classes of new points."""
        cross, alone, total = self.bank.cross(X), np.eye(len(self.bank)), np.zeros(len(X))
        for k, machine in self.machines.items():
            total += self.beta[k] * machine.decision_function(cross.combine(alone[k]))
        return self.classes[(total > 0.0).astype(int)]
