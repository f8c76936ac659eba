"""Small problems of every kind on which plug-ins are checked, and how a check says what is wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mklviz.errors import ContractError, ProblemError
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.lazy import words
from mklviz.problem import Problem
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


FORMULATIONS = {
    "hinge, simplex": ("hinge", "simplex"),
    "hinge, squared norm": ("hinge", "lp-penalty:p=2,sigma=1"),
    "hinge, block 1-norm": ("hinge", "block-l1:lam=0.7"),
    "hinge, elastic net": ("hinge", "elastic-net:l1=0.4,l2=0.3"),
    "hinge, linear penalty": ("hinge", "l1-penalty:sigma=1"),
    "hinge, simplex with ridge": ("hinge", "simplex-ridge:lam=1e3"),
    "hinge without bias, simplex": ("hinge:bias=no", "simplex"),
    "hinge without bias, group norm": ("hinge:bias=no", "group-squared:lam=1,alpha=0"),
    "hinge without bias, group norm and 1-norm": ("hinge:bias=no", "group-squared:lam=1,alpha=0.3"),
    "logistic, simplex": ("logistic", "simplex"),
    "logistic, block 1-norm": ("logistic", "block-l1:lam=0.7"),
    "squared, lp ball": ("squared", "lp-ball:p=1.5"),
    "squared, elastic net": ("squared", "elastic-net:l1=0.4,l2=0.3"),
    "epsilon-insensitive, simplex": ("epsilon-insensitive:epsilon=0.2", "simplex"),
    "epsilon-insensitive, block 1-norm": ("epsilon-insensitive:epsilon=0.2", "block-l1:lam=0.7"),
    "multiclass hinge, simplex": ("multiclass-hinge", "simplex"),
    "multiclass hinge, group norm and 1-norm": ("multiclass-hinge", "group-squared:lam=1,alpha=0.3"),
    "one against all, squared norm": ("one-against-all", "lp-penalty:p=2,sigma=1"),
    "one class, simplex": ("one-class:nu=0.3", "simplex"),
}
"""Kinds of problem, the usual one first: a solver of any kind should find one that it takes."""


def formulate(kind: str, bank: KernelBank, labels: Array, C: float) -> Problem:
    """Return a problem of one of the `FORMULATIONS`, its labels made numbers that waver or three classes as need be."""
    loss, regularizer = words.read_loss(FORMULATIONS[kind][0], C=C), words.read_regularizer(FORMULATIONS[kind][1])
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
