"""What every family of kernels promises: symmetric, positive semidefinite, the same however it is computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mklviz.check._require import require, said_of_itself
from mklviz.check.problems import blobs
from mklviz.kernels import KernelBank, KernelFamily

__all__ = ["KERNEL_PROMISES"]


def says_what_it_is(kind: type[KernelFamily]) -> None:
    """The class says what it is, and its kernels have names that differ."""
    said_of_itself(kind, ("name_", "label"))
    values = kind().values()
    require(len(values) > 0, "values() is empty: there is one kernel for each value.")
    names = [kind().describe(value) for value in values]
    require(all(isinstance(name, str) and name for name in names), "describe does not return a name.")
    require(len(set(names)) == len(names), f"describe gives two kernels the same name: {', '.join(names)}.")


def matrices_are_kernels(kind: type[KernelFamily]) -> None:
    """Every matrix is finite, symmetric and positive semidefinite."""
    family, (X, _) = kind(), blobs(30)
    for value in family.values():
        K = family.profile(family.base(X, X), value)
        name = family.describe(value)
        require(K.shape == (30, 30), f"{name} has the shape {K.shape} on 30 points.")
        require(np.isfinite(K).all(), f"{name} is nan or infinite.")
        require(np.allclose(K, K.T, rtol=1e-9, atol=1e-12), f"{name} is not symmetric.")
        least = float(np.linalg.eigvalsh(0.5 * (K + K.T)).min())
        size = float(np.trace(K))
        require(least >= -1e-9 * max(size, 1e-300), f"{name} has an eigenvalue {least:g}, where its trace is {size:g}.")


def base_is_shared(kind: type[KernelFamily]) -> None:
    """All values share one base, into which profile does not write."""
    family, (X, _) = kind(), blobs(12)
    base = family.base(X, X)
    copy = base.copy()
    for value in family.values():
        family.profile(base, value)
        require(np.array_equal(base, copy), "profile writes into the base, which the other values need.")


def parts_agree(kind: type[KernelFamily]) -> None:
    """The diagonal and kernels with new points are those of the whole matrix."""
    family, (X, _) = kind(), blobs(12)
    for value in family.values():
        K = family.profile(family.base(X, X), value)
        part = family.profile(family.base(X[:5], X), value)
        name = family.describe(value)
        require(np.allclose(part, K[:5], rtol=1e-9, atol=1e-12), f"{name} between 5 and 12 points is not that of all.")
        fits = np.allclose(family.diagonal(X, value), np.diag(K), rtol=1e-9, atol=1e-9)
        require(fits, f"{name} has another diagonal than diagonal says.")


def banks_are_built(kind: type[KernelFamily]) -> None:
    """A bank on all and on each feature has the matrices that the formula says, at unit trace."""
    family, (X, _) = kind(on="all+each"), blobs(20)
    bank = KernelBank.build(X, [family])
    expected = [
        family.profile(family.base(X[:, columns], X[:, columns]), value)
        for columns in (range(3), [0], [1], [2])
        for value in family.values()
    ]
    require(len(bank) == len(expected), f"a bank on three features has {len(bank)} kernels, not {len(expected)}.")
    for unit, K, name in zip(np.eye(len(bank)), expected, bank.names, strict=True):
        close = np.allclose(bank.combine(unit), K / np.trace(K), rtol=1e-6, atol=1e-9)
        require(close, f"{name} in a bank is not what base and profile say: look at on_one_feature and streams.")


KERNEL_PROMISES: tuple[Callable[[type[KernelFamily]], None], ...] = (
    says_what_it_is,
    matrices_are_kernels,
    base_is_shared,
    parts_agree,
    banks_are_built,
)
