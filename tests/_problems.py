"""Small problems that several test files share, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mklviz.datasets import load_dataset
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import (
    BlockL1,
    ElasticNet,
    EpsilonInsensitive,
    GroupSquaredPlusL1,
    Hinge,
    L1Penalty,
    Logistic,
    Loss,
    LpBall,
    LpPenalty,
    MulticlassHinge,
    OneAgainstAllHinge,
    Problem,
    Regularizer,
    Simplex,
    Squared,
)

Array = NDArray[np.float64]


def blobs(n: int, noise: float = 0.0, features: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Return two Gaussian clouds, a share `noise` of whose labels is wrong."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, features))
    X[:, 0] += 0.9 * y
    flipped = rng.random(n) < noise
    flipped[:2] = False  # both classes stay
    return X, np.where(flipped, -y, y)


def random_grams(m: int, n: int, seed: int = 0) -> list[Array]:
    """Return m positive semidefinite (n, n) matrices of unit trace and mixed rank."""
    rng = np.random.default_rng(seed)
    grams = []
    for k in range(m):
        factor = rng.normal(size=(n, max(2, (k * n) // m)))
        gram = factor @ factor.T
        grams.append(gram / np.trace(gram))
    return grams


def small_bank(X: Array) -> KernelBank:
    """Return three widths and two degrees on all and on each feature, unit trace."""
    return KernelBank.build(
        X, [Gaussian(widths=(0.5, 1.0, 4.0), on="all+each"), Polynomial(degrees=(1, 2), on="all+each")]
    )


def real_subset(name: str, n: int, columns: int, seed: int = 0) -> tuple[Array, Array]:
    """Return n standardized samples and the first `columns` features of a data set, labels -1 and +1."""
    data = load_dataset(name)
    rng = np.random.default_rng(seed)
    labels = np.where(data.y == data.y.min(), -1.0, 1.0)
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == sign), n // 2, replace=False) for sign in (-1, 1)])
    X = data.X[rows][:, :columns]
    spread = X.std(0)
    return (X - X.mean(0)) / np.where(spread > 0, spread, 1.0), labels[rows]


def _problem(bank: KernelBank, y: Array, C: float, regularizer: Regularizer | None = None) -> Problem:
    return Problem(bank, y, Hinge(C), regularizer or Simplex())


def _blob_problem(
    n: int, C: float, noise: float = 0.0, regularizer: Regularizer | None = None, seed: int = 0
) -> Problem:
    X, y = blobs(n, noise, seed=seed)
    return _problem(small_bank(X), y, C, regularizer)


def _duplicated(C: float) -> Problem:
    X, y = blobs(15, 0.2, seed=4)
    return _problem(small_bank(np.vstack([X, X])), np.concatenate([y, y]), C)


def _contradicting(C: float) -> Problem:
    """Every point stands twice, some with either label."""
    X, y = blobs(12, 0.0, seed=5)
    other = np.where(np.arange(12) < 4, -y, y)
    return _problem(small_bank(np.vstack([X, X])), np.concatenate([y, other]), C)


def _unbalanced(C: float) -> Problem:
    X, _ = blobs(30, seed=6)
    return _problem(small_bank(X), np.where(np.arange(30) < 3, 1.0, -1.0), C)


def _one_kernel(C: float, regularizer: Regularizer | None = None) -> Problem:
    X, y = blobs(20, 0.1, seed=7)
    return _problem(KernelBank.build(X, [Gaussian(widths=(1.0,))]), y, C, regularizer)


def _identical_kernels(C: float) -> Problem:
    X, y = blobs(20, 0.1, seed=8)
    return _problem(KernelBank.build(X, [Gaussian(widths=(1.0, 1.0, 1.0, 1.0))]), y, C)


def _grams(m: int, n: int, C: float, regularizer: Regularizer | None = None) -> Problem:
    _, y = blobs(n, 0.3, seed=m)
    return _problem(KernelBank.from_grams(random_grams(m, n, seed=m)), y, C, regularizer)


def _real(name: str, n: int, columns: int, C: float, regularizer: Regularizer | None = None) -> Problem:
    X, y = real_subset(name, n, columns)
    families = [Gaussian(on="all+each"), Polynomial(on="all+each")]
    return _problem(KernelBank.build(X, families), y, C, regularizer)


MAKERS: dict[str, Callable[[], Problem]] = {
    "blobs, C = 1": lambda: _blob_problem(40, 1.0, 0.1),
    "blobs, C = 100": lambda: _blob_problem(40, 100.0, 0.1),
    "separable blobs, C = 1000": lambda: _blob_problem(30, 1000.0, 0.0, seed=1),
    "noisy blobs, C = 10": lambda: _blob_problem(60, 10.0, 0.4, seed=2),
    "noisy blobs, C = 0.1": lambda: _blob_problem(40, 0.1, 0.4, seed=3),
    "every point twice": lambda: _duplicated(50.0),
    "every point twice, some with either label": lambda: _contradicting(50.0),
    "three of thirty positive": lambda: _unbalanced(20.0),
    "one kernel": lambda: _one_kernel(10.0),
    "four identical kernels": lambda: _identical_kernels(10.0),
    "random Gram matrices": lambda: _grams(12, 30, 100.0),
    "many random Gram matrices": lambda: _grams(40, 24, 1000.0),
    "three random Gram matrices": lambda: _grams(3, 50, 30.0),
    "iris": lambda: _real("iris", 40, 2, 100.0),
    "pima": lambda: _real("pima", 50, 2, 100.0),
    "sonar": lambda: _real("sonar", 40, 2, 1000.0),
    "linear penalty, blobs": lambda: _blob_problem(40, 10.0, 0.2, L1Penalty(5.0), seed=9),
    "linear penalty, separable blobs": lambda: _blob_problem(30, 1000.0, 0.0, L1Penalty(100.0), seed=10),
    "linear penalty too high for any kernel": lambda: _blob_problem(30, 0.1, 0.2, L1Penalty(1000.0), seed=11),
    "linear penalty, one kernel": lambda: _one_kernel(10.0, L1Penalty(3.0)),
    "linear penalty, random Gram matrices": lambda: _grams(10, 30, 100.0, L1Penalty(200.0)),
    "linear penalty, sonar": lambda: _real("sonar", 40, 2, 100.0, L1Penalty(50.0)),
}


FORMULATIONS: dict[str, tuple[Callable[[float], Loss], Regularizer]] = {
    "hinge, simplex": (Hinge, Simplex()),
    "hinge, squared norm": (Hinge, LpPenalty(2.0, 1.0)),
    "hinge, block 1-norm": (Hinge, BlockL1(0.7)),
    "hinge, elastic net": (Hinge, ElasticNet(0.4, 0.3)),
    "hinge, linear penalty": (Hinge, L1Penalty(1.0)),
    "hinge without bias, simplex": (lambda C: Hinge(C, bias=False), Simplex()),
    "hinge without bias, group norm": (lambda C: Hinge(C, bias=False), GroupSquaredPlusL1(1.0, 0.0)),
    "hinge without bias, group norm and 1-norm": (lambda C: Hinge(C, bias=False), GroupSquaredPlusL1(1.0, 0.3)),
    "logistic, simplex": (Logistic, Simplex()),
    "logistic, block 1-norm": (Logistic, BlockL1(0.7)),
    "squared, lp ball": (Squared, LpBall(1.5)),
    "squared, elastic net": (Squared, ElasticNet(0.4, 0.3)),
    "epsilon-insensitive, simplex": (lambda C: EpsilonInsensitive(C, 0.2), Simplex()),
    "epsilon-insensitive, block 1-norm": (lambda C: EpsilonInsensitive(C, 0.2), BlockL1(0.7)),
    "multiclass hinge, simplex": (MulticlassHinge, Simplex()),
    "multiclass hinge, group norm and 1-norm": (MulticlassHinge, GroupSquaredPlusL1(1.0, 0.3)),
    "one against all, squared norm": (OneAgainstAllHinge, LpPenalty(2.0, 1.0)),
}
"""Kinds of problem, the usual one first: a solver of any kind should find one that it takes."""


def formulate(kind: str, bank: KernelBank, labels: Array, C: float) -> Problem:
    """Return a problem of one of the `FORMULATIONS`.

    Losses for regression get labels that waver; for those with several classes every third sample forms one.
    """
    loss, regularizer = FORMULATIONS[kind][0](C), FORMULATIONS[kind][1]
    if loss.multiclass:
        _, y = np.unique(np.where(np.arange(len(labels)) % 3 == 2, 0.0, labels), return_inverse=True)
        return Problem(bank, y, loss, regularizer)
    y = labels + 0.3 * np.sin(np.arange(len(labels))) if loss.regression else labels
    return Problem(bank, y, loss, regularizer)


@cache
def problem(name: str) -> Problem:
    """Return the problem of that name from `MAKERS`."""
    return MAKERS[name]()


def dense(bank: KernelBank) -> Array:
    """Return every kernel matrix of a bank, (m, n, n), one unit weight at a time."""
    return np.array([bank.combine(unit) for unit in np.eye(len(bank))])
