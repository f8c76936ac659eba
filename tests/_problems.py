"""Small problems that several test files share, each made once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pytest
from _waits import PATIENCE

from mklviz.check.problems import FORMULATIONS, blobs, formulate, random_grams, small_bank
from mklviz.context import interruptible
from mklviz.contract import Iterate, Solver
from mklviz.datasets import load_dataset
from mklviz.errors import Interrupted
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import Hinge, L1Penalty, Loss, Problem, Regularizer, Simplex
from mklviz.recipe.words import read_loss, read_regularizer
from mklviz.record import Trace
from mklviz.typing import Array

__all__ = ["FORMULATIONS", "Array", "blobs", "formulate", "random_grams", "small_bank"]  # of others

R = TypeVar("R")

_SOLE = ("hinge:C=2", "logistic:C=3", "squared:C=0.5", "epsilon-insensitive:C=1,epsilon=0.3")
_LOSSES = (
    *(*_SOLE, *(f"{loss},bias=no" for loss in _SOLE), "multiclass-hinge:C=2"),
    *("one-against-all:C=1", "one-against-all:C=1,bias=no"),
)
LOSSES: tuple[Loss, ...] = tuple(map(read_loss, _LOSSES))
"""Every loss, with and without bias."""

_REGULARIZERS = (
    *("simplex", "lp-ball:p=1.5", "lp-ball:p=4", "l1-penalty:sigma=0.3", "lp-penalty:p=1,sigma=2"),
    *("lp-penalty:p=1.5,sigma=0.5", "power-penalty:p=2,sigma=0.5", "elastic-net:l1=0.4,l2=0.3", "block-l1:lam=0.7"),
    *("block-power:lam=0.6,q=1.5", "entropy:lam=0.5", "simplex-ridge:lam=3", "group-squared:lam=0.3,alpha=0.2,p=1.5"),
    *("group-squared:lam=0.3,alpha=0.2", "group-squared:lam=0.3,alpha=0,p=1.5"),
)
REGULARIZERS: tuple[Regularizer, ...] = tuple(map(read_regularizer, _REGULARIZERS))
"""Every regularizer that makes a convex problem, with the parameters that change its formulae."""


class PlainSolver(Solver):
    """A solver that takes every problem and has nothing to say of its steps."""

    def supports(self, problem: Problem) -> str:
        return ""

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        return ""


def ran(run: R) -> R:
    """Start a run, a race or a sweep, wait until it has ended, and return it."""
    begun: Any = run
    begun.start()
    assert begun.wait(PATIENCE)
    return run


def recorded(*iterates: Iterate, **about: Any) -> Trace:
    """Return a trace of these steps, one a second."""
    trace = Trace(**about)
    for second, iterate in enumerate(iterates):
        trace.append(iterate, float(second))
    return trace


@contextmanager
def left_at(question: int) -> Iterator[None]:
    """Expect what is computed to ask whether it is still wanted, and to be left the `question`-th time, for good."""
    asked: list[int] = []

    def stop() -> None:
        asked.append(1)
        if len(asked) >= question:
            raise Interrupted("no longer wanted")

    with interruptible(stop), pytest.raises(Interrupted):
        yield
    assert len(asked) == question


def real_subset(name: str, n: int, columns: int, seed: int = 0) -> tuple[Array, Array]:
    """Return n standardized samples and the first `columns` features of a data set, labels -1 and +1."""
    data = load_dataset(name)
    rng = np.random.default_rng(seed)
    labels = np.where(data.y == data.y.min(), -1.0, 1.0)
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == sign), n // 2, replace=False) for sign in (-1, 1)])
    X = data.X[rows][:, :columns]
    spread = X.std(0)
    return (X - X.mean(0)) / np.where(spread > 0, spread, 1.0), labels[rows]


def random_problem(seed: int, regularizer: Regularizer, m: int = 8, n: int = 24) -> Problem:
    """Return a problem of random Gram matrices."""
    _, y = blobs(n, 0.2, seed=seed)
    return Problem(KernelBank.from_grams(random_grams(m, n, seed=seed)), y, Hinge(50.0), regularizer)


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


@cache
def problem(name: str) -> Problem:
    """Return the problem of that name from `MAKERS`."""
    return MAKERS[name]()


def dense(bank: KernelBank) -> Array:
    """Return every kernel matrix of a bank, (m, n, n), one unit weight at a time."""
    return np.array([bank.combine(unit) for unit in np.eye(len(bank))])


def check_against(K: Array, bank: KernelBank, relative: float) -> None:
    """Compare everything a bank answers with what the matrices K say, to a share of their largest entry or trace."""
    m, n = len(K), bank.n_samples
    rng = np.random.default_rng(n)
    size = relative * np.maximum(np.abs(K).max(axis=(1, 2)), np.trace(K, axis1=1, axis2=2))
    v = rng.normal(size=(n, 4)) * (rng.random((n, 1)) < 0.7) * [1, 1, 1, 0]
    length = max(float(np.abs(v).sum()), 1.0)
    assert (np.abs(dense(bank) - K).max(axis=(1, 2)) <= size).all()
    assert (np.abs(bank.quad(v[:, 0]) - np.einsum("i,kij,j->k", v[:, 0], K, v[:, 0])) <= size * length**2).all()
    assert (np.abs(bank.quad(v) - np.einsum("ic,kij,jc->k", v, K, v)) <= size * length**2).all()
    which = rng.permutation(m)[: (m + 1) // 2]
    products = np.abs(bank.products(v[:, 1], which) - K[which] @ v[:, 1]).max(axis=1)
    assert (products <= size[which] * length).all()
    for weights in (rng.exponential(size=m), rng.exponential(size=m) * (rng.random(m) < 0.3), np.zeros(m)):
        combined = np.tensordot(weights, K, 1)
        found = bank.combine(weights)
        assert np.abs(found - combined).max() <= weights @ size
        np.testing.assert_array_equal(found, found.T)
        for columns in (v[:, 0], v):
            assert np.abs(bank.apply(weights, columns) - combined @ columns).max() <= weights @ size * length
