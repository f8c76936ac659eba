"""How much memory a race takes, before anything of it is built: kernels and data, and what each solver works with."""

from __future__ import annotations

from dataclasses import dataclass

from mklviz.datasets import Dataset
from mklviz.kernels import Bank, KernelBank, NystromBank, ParametricBank, ProductBank
from mklviz.kernels.storage.rows import by_rows
from mklviz.kernels.storage.triangles import packed_length
from mklviz.recipe.choices import KernelChoice
from mklviz.recipe.prepared import Built
from mklviz.recipe.recipe import Recipe

__all__ = ["RaceSize", "built_bytes", "data_bytes", "solver_bytes"]


@dataclass(frozen=True)
class RaceSize:
    """Bytes that a race takes."""

    shared: int  # kernels and data, which all races on them share
    own: int  # what its solvers work with

    @classmethod
    def of(cls, recipe: Recipe, data: Dataset) -> RaceSize:
        """Return what a recipe on these data takes, or raise `BankTooLarge` where the kernels alone are too large."""
        n = int(recipe.split.train * data.n_samples)
        kernels, access = _kernels(recipe.kernels, data, n), _access(recipe.kernels, data, n)
        return cls(kernels + data_bytes(data), len(recipe.solvers) * solver_bytes(access, n, recipe.kernels.cache_mb))


def _kernels(kernels: KernelChoice, data: Dataset, n: int) -> int:
    if data.grams is not None:
        return len(data.grams) * 8 * packed_length(n)
    width, names = data.n_features, list(data.feature_names)
    if kernels.combination == "polynomial":
        return ParametricBank.check_size(n, width)
    if kernels.combination == "product":
        return ProductBank.check_size(n, width)[1]
    if kernels.approximation is not None:
        return NystromBank.check_size(n, width, kernels.families, kernels.approximation, feature_names=names)[1]
    return KernelBank.check_size(n, width, kernels.families, feature_names=names, rows=kernels.by_rows)[1]


def _access(kernels: KernelChoice, data: Dataset, n: int) -> str:
    """Return how solvers would reach the kernels, see `Bank.access`."""
    if kernels.approximation is not None:
        return "factors"
    formed = data.grams is not None or kernels.combination == "polynomial"
    return "rows" if kernels.by_rows or (not formed and by_rows(n)) else "matrix"


def solver_bytes(access: str, n: int, cache_mb: int) -> int:
    """Return what one solver works with: K_d, rows of it, or vectors."""
    return {"matrix": 8 * n * n, "rows": cache_mb * 2**20, "factors": 64 * 8 * n}[access]


def built_bytes(built: Built) -> int:
    """Return the bytes of kernels and data that have been built."""
    bank: Bank = built.bank
    return bank.nbytes + data_bytes(built.train) + data_bytes(built.test)


def data_bytes(data: Dataset) -> int:
    """Return the bytes of a data set."""
    return int(data.X.nbytes + data.y.nbytes + (0 if data.grams is None else data.grams.nbytes))
