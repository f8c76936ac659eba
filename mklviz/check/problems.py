"""Small problems of every kind on which plug-ins are checked, and how a check says what is wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mklviz.errors import ContractError, ProblemError
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import (
    BlockL1,
    BlockPower,
    ElasticNet,
    Entropy,
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
    OneClass,
    PowerPenalty,
    Problem,
    Regularizer,
    Simplex,
    SimplexRidge,
    Squared,
)
from mklviz.typing import Array


def require(holds: Any, sentence: str) -> None:
    """Raise `ContractError` with the sentence unless `holds` is true."""
    if not holds:
        raise ContractError(sentence)


def refuses(check: Callable[..., object], *values: object) -> bool:
    """Return whether a call raises `ProblemError`."""
    try:
        check(*values)
    except ProblemError:
        return True
    return False


def near(one: float, other: float, relative: float, absolute: float = 0.0) -> bool:
    """Return whether two numbers are the same up to rounding, which the tolerances allow for."""
    return one == other or math.isclose(one, other, rel_tol=relative, abs_tol=absolute)


def require_named(kind: type, needed: Sequence[str]) -> None:
    """Require words for the attributes `needed`, a docstring of its own and defaults for all fields."""
    for name in needed:
        text = getattr(kind, name, "")
        require(isinstance(text, str) and text, f"{kind.__name__} says nothing in its {name}, a short text.")
    require("__doc__" in vars(kind) and kind.__doc__, f"{kind.__name__} has no docstring, whose first line is shown.")
    if dataclasses.is_dataclass(kind):
        missing = [
            field.name
            for field in dataclasses.fields(kind)
            if field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        require(not missing, f"{kind.__name__} has no default for {', '.join(missing)}: menus make it without any.")


# -- the problems


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


LOSSES: tuple[Loss, ...] = (
    Hinge(2.0),
    Logistic(3.0),
    Squared(0.5),
    EpsilonInsensitive(1.0, 0.3),
    Hinge(2.0, bias=False),
    Logistic(3.0, bias=False),
    Squared(0.5, bias=False),
    EpsilonInsensitive(1.0, 0.3, bias=False),
    MulticlassHinge(2.0),
    OneAgainstAllHinge(1.0),
    OneAgainstAllHinge(1.0, bias=False),
)
"""Every loss, with and without bias."""

REGULARIZERS: tuple[Regularizer, ...] = (
    Simplex(),
    LpBall(1.5),
    LpBall(4.0),
    L1Penalty(0.3),
    LpPenalty(1.0, 2.0),
    LpPenalty(1.5, 0.5),
    PowerPenalty(2.0, 0.5),
    ElasticNet(0.4, 0.3),
    BlockL1(0.7),
    BlockPower(0.6, 1.5),
    Entropy(0.5),
    SimplexRidge(3.0),
    GroupSquaredPlusL1(0.3, 0.2, 1.5),
    GroupSquaredPlusL1(0.3, 0.2),
    GroupSquaredPlusL1(0.3, 0.0, 1.5),
)
"""Every regularizer that makes a convex problem, with the parameters that change its formulae."""

FORMULATIONS: dict[str, tuple[Callable[[float], Loss], Regularizer]] = {
    "hinge, simplex": (Hinge, Simplex()),
    "hinge, squared norm": (Hinge, LpPenalty(2.0, 1.0)),
    "hinge, block 1-norm": (Hinge, BlockL1(0.7)),
    "hinge, elastic net": (Hinge, ElasticNet(0.4, 0.3)),
    "hinge, linear penalty": (Hinge, L1Penalty(1.0)),
    "hinge, simplex with ridge": (Hinge, SimplexRidge(1e3)),
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
    "one class, simplex": (lambda C: OneClass(C, 0.3), Simplex()),
}
"""Kinds of problem, the usual one first: a solver of any kind should find one that it takes."""


def formulate(kind: str, bank: KernelBank, labels: Array, C: float) -> Problem:
    """Return a problem of one of the `FORMULATIONS`, its labels made numbers that waver or three classes as need be."""
    loss, regularizer = FORMULATIONS[kind][0](C), FORMULATIONS[kind][1]
    if loss.multiclass:
        _, codes = np.unique(np.where(np.arange(len(labels)) % 3 == 2, 0.0, labels), return_inverse=True)
        return Problem(bank, codes.astype(np.float64), loss, regularizer)
    y = labels + 0.3 * np.sin(np.arange(len(labels))) if loss.regression else labels
    return Problem(bank, y, loss, regularizer)


def hard_inputs() -> Iterator[tuple[str, KernelBank, Array, float]]:
    """Yield inputs on which methods stumble: a name, kernels, labels and C."""
    X, y = blobs(16, 0.2, seed=20)
    bank = small_bank(X)
    yield "C = 1e-6", bank, y, 1e-6
    yield "C = 1e6", bank, y, 1e6
    yield "one kernel", KernelBank.build(X, [Gaussian(widths=(1.0,))]), y, 10.0
    yield "identical kernels", KernelBank.build(X, [Gaussian(widths=(1.0,) * 5)]), y, 100.0
    yield "one positive label", bank, np.where(np.arange(16) == 3, 1.0, -1.0), 10.0
    yield "two samples", KernelBank.build(X[:2], [Gaussian(on="all+each")]), y[:2], 1e3
    yield "one point ten times", KernelBank.build(np.ones((10, 2)), [Gaussian(on="all+each")]), y[:10], 10.0
    grams = random_grams(3, 16)
    mixed = KernelBank.from_grams([1e-8 * grams[0], grams[1], 1e6 * grams[2], np.zeros((16, 16))])
    yield "kernels of all sizes and a zero one", mixed, y, 1.0
    clash = KernelBank.build(np.vstack([X, X]), [Gaussian(), Gaussian(on="each")])
    yield "every label contradicted", clash, np.concatenate([y, -y]), 1e3
