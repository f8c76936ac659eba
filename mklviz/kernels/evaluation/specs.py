"""Where the kernels of a bank come from. Descriptions of a million kernels are made when one is asked for: kept, they
would take 300 MB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import eq
from typing import TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import KernelError
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.interface import numbers
from mklviz.kernels.storage.triangles import Entries
from mklviz.typing import Array, Indices

__all__ = ["REPAIRS", "Given", "Mended", "Repair", "check_repair", "of_distances", "seem_distances"]

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """Where one kernel of a bank comes from."""

    name: str  # its name on screen, such as "gauss 2⁻¹ on x3"
    family: KernelFamily | None  # none for a Gram matrix given by the user
    value: float  # the family's parameter (width, degree); nan for a Gram matrix
    columns: tuple[int, ...]  # the features it sees; empty for a Gram matrix


class Made(Sequence[T]):
    """A sequence whose elements are made by `make` when they are asked for; equal to any sequence of equal elements."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._places, self._make = range(length), make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._make(k) for k in self._places[index]]
        return self._make(self._places[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


def specs_of(family: KernelFamily, subsets: Sequence[tuple[str, tuple[int, ...]]]) -> Made[KernelSpec]:
    """Return the kernels of one family: every value on every subset."""
    described = [(value, family.describe(value)) for value in family.values()]
    return Made(len(subsets) * len(described), partial(_of_family, family, subsets, described))


def _of_family(
    family: KernelFamily,
    subsets: Sequence[tuple[str, tuple[int, ...]]],
    described: Sequence[tuple[float, str]],
    k: int,
) -> KernelSpec:
    (name, columns), (value, text) = subsets[k // len(described)], described[k % len(described)]
    return KernelSpec(f"{text} on {name}", family, value, columns)


def one_after_another(parts: Sequence[Sequence[KernelSpec]]) -> Sequence[KernelSpec]:
    """Return the kernels of all parts, as a tuple where all of them exist already."""
    if not any(isinstance(part, Made) for part in parts):
        return tuple(chain.from_iterable(parts))
    starts = np.cumsum([0, *map(len, parts)])
    return Made(int(starts[-1]), partial(_of_parts, parts, starts))


def _of_parts(parts: Sequence[Sequence[KernelSpec]], starts: Indices, k: int) -> KernelSpec:
    part = int(np.searchsorted(starts, k, side="right")) - 1
    return parts[part][k - int(starts[part])]


def picked(specs: Sequence[KernelSpec], which: Indices, k: int) -> KernelSpec:
    """Return one of some of the kernels of a bank."""
    return specs[int(which[k])]


def name_of(specs: Sequence[KernelSpec], k: int) -> str:
    """Return the name of one of the kernels."""
    return specs[k].name


# Matrices that people give, made into kernels, and what is given for new points made into kernel values likewise.
#
# With the negative eigenvalues l of K and their vectors V, ``K - c V l V'`` is K clipped (c = 1) or flipped (c = 2),
# and
# rows r of new points become ``r - c (r V) V'``; a shift adds ``-min l`` to the diagonal, which new points never meet
# (Chen, Garcia, Gupta, Rahimi, Cazzanti 2009). Kernels of distances D are those that a family makes of its own
# distance:
# exp(-D²/(2w²)) for Gaussian, exp(-D/w) for Laplacian kernels.


REPAIRS = ("clip", "flip", "shift")
ROUNDING = 1e-4  # of the largest eigenvalue: what four decimals, or half precision, leave
UNEQUAL = 1e-3  # of the largest entry: how far entries may be apart that should be equal
MOST_REPAIRED = 10_000  # samples: the eigenvalues of a larger matrix take many minutes


def check_repair(repair: str | None) -> None:
    """Raise `KernelError` unless `repair` is known."""
    if repair is not None and repair not in REPAIRS:
        raise KernelError(f'repair is "clip", "flip", "shift" or None, but {repair!r:.80} was given.')


@dataclass(frozen=True)
class Repair:
    """What a repair does to the rows of new points, ``r - factor (r V) V'``; `vectors`: V (n, r)."""

    vectors: Array
    factor: float

    def rows(self, values: Array) -> Array:
        """Return rows of given values (n_new, n), repaired."""
        return np.asarray(values - self.factor * ((values @ self.vectors) @ self.vectors.T))


@dataclass(frozen=True)
class Given:
    """From the values given for new points to those of a bank's kernels.

    `shape`: of what is given, matrices and samples; `sources`: the matrix that each kernel is made of.
    """

    shape: tuple[int, int]
    sources: tuple[int, ...]
    kernels: Sequence[KernelSpec]
    repairs: tuple[Repair | None, ...]

    def values(self, new: Array, k: int) -> Array:
        """Return kernel k (n_new, n) of what is given (m_given, n_new, n)."""
        rows, spec, repair = new[self.sources[k]], self.kernels[k], self.repairs[k]
        if spec.family is not None:
            rows = spec.family.profile(spec.family.from_distances(rows), spec.value)
        return rows if repair is None else repair.rows(rows)


@dataclass
class Mended:
    """What was done to matrices: in one triangle, not quite symmetric, or with negative eigenvalues; for notes."""

    m: int
    repair: str | None = None
    triangles: int = 0
    averaged: int = 0
    rounded: list[float] = field(default_factory=list)  # their least eigenvalues over the largest
    repaired: list[float] = field(default_factory=list)

    def symmetric(self, matrix: Entries) -> Array | None:
        """Return a matrix that is not symmetric made so, or None: it then is no kernel, even with rounding."""
        whole = np.array(matrix, dtype=np.float64)
        if not np.tril(whole, -1).any() or not np.triu(whole, 1).any():
            self.triangles += 1
            return np.asarray(whole + whole.T - np.diag(np.diag(whole)))
        if self.repair is None and np.abs(whole - whole.T).max() > UNEQUAL * np.abs(whole).max():
            return None
        self.averaged += 1
        return np.asarray((whole + whole.T) / 2.0)

    def semidefinite(self, matrix: Entries, what: str) -> tuple[Array, Repair | None]:
        """Return a symmetric matrix without its negative eigenvalues, or raise `KernelError` where that is a choice."""
        values, vectors = np.linalg.eigh(np.asarray(matrix, dtype=np.float64))
        least, most = float(values[0]), float(np.abs(values).max())
        repair, rounding = self.repair, least > -ROUNDING * most
        if repair is None and not rounding:
            raise KernelError(indefinite(what, least, most, matrix))
        (self.rounded if repair is None else self.repaired).append(least / most)
        if repair == "shift":
            return np.asarray(matrix - least * np.eye(len(matrix))), None
        below, factor = vectors[:, values < 0.0], 2.0 if repair == "flip" else 1.0
        whole = matrix - factor * ((below * values[values < 0.0]) @ below.T)
        return np.asarray((whole + whole.T) / 2.0), Repair(below, factor)

    def __add__(self, other: Mended) -> Mended:
        """Return what was done to the matrices of both."""
        counts = self.triangles + other.triangles, self.averaged + other.averaged
        least = self.rounded + other.rounded, self.repaired + other.repaired
        return Mended(self.m + other.m, self.repair, *counts, *least)

    def notes(self) -> list[str]:
        """Return what was done, a sentence each."""
        below = "Negative eigenvalues, down to {:.1e} of the largest,"
        done = [
            (self.triangles, "Mirrored, as one triangle was given"),
            (self.averaged, "Averaged with their transposes, not being quite symmetric"),
            (len(self.rounded), f"{below.format(min(self.rounded, default=0.0))} as rounding leaves, set to zero"),
            (len(self.repaired), f'{below.format(min(self.repaired, default=0.0))} repaired by "{self.repair}"'),
        ]
        return [
            f"{what}: {count:,} of {self.m:,} Gram {'matrix' if self.m == 1 else 'matrices'}."
            for count, what in done
            if count
        ]


NOT_SEMIDEFINITE = "is not positive semidefinite"


def indefinite(what: str, least: float, most: float, matrix: Entries, among: str = "") -> str:
    """Return why a matrix is no kernel, and how to go on."""
    share = f", {abs(least) / most:.1%} of the largest" if most else ""
    size = f"its smallest eigenvalue{among} is {least:.3g}{share}"
    advice = (
        "It looks like distances (zeros on the diagonal): make kernels exp(-D/w) or exp(-D²/(2w²)) of it, by"
        " KernelBank.from_distances, or keep it apart from Gram matrices in a file."
        if seem_distances(matrix)
        else 'To go on, choose a repair: "clip" sets negative eigenvalues to zero, "flip" drops their sign, "shift"'
        " adds to the diagonal."
    )
    return f"{what} {NOT_SEMIDEFINITE}: {size}. {advice}"


# -- distances


def seem_distances(matrix: ArrayLike) -> bool:
    """Whether a matrix has zeros on its diagonal and nothing negative, but more than zeros beside it."""
    entries = np.asarray(matrix)
    tiny = 1e-6 * float(entries.max(initial=0.0))
    return bool(tiny > 0.0 and entries.min() >= -tiny and np.abs(np.diag(entries)).max() <= tiny)


def _kernel_of(distances: Sequence[Array], sources: Sequence[int], specs: Sequence[KernelSpec], k: int) -> Array:
    """Return one of the kernels of distances."""
    spec = specs[k]
    assert spec.family is not None
    return spec.family.profile(spec.family.from_distances(distances[sources[k]]), spec.value)


def of_distances(
    given: Sequence[ArrayLike], families: Sequence[KernelFamily], names: Sequence[str] | None
) -> tuple[Sequence[Array], tuple[int, ...], list[KernelSpec]]:
    """Return the kernels that families make of distance matrices, the matrix of each, and where they come from."""
    matrices = [numbers(matrix, "A distance matrix") for matrix in given]
    called = list(names) if names is not None else [f"distance {k + 1}" for k in range(len(matrices))]
    if len(called) != len(matrices):
        raise KernelError(f"{len(matrices)} distance matrices need as many names, but {len(called)} were given.")
    for name, matrix in zip(called, matrices, strict=True):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not seem_distances(matrix):
            raise KernelError(
                f"The distance matrix {name} must be square with zeros on its diagonal and nothing negative;"
                f" its shape is {matrix.shape}."
            )
    each = [(k, family, value) for k in range(len(matrices)) for family in families for value in family.values()]
    specs = [KernelSpec(f"{f.describe(value)} of {called[k]}", f, value, ()) for k, f, value in each]
    sources = tuple(k for k, _, _ in each)
    return Made(len(specs), partial(_kernel_of, matrices, sources, specs)), sources, specs
