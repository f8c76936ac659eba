"""K_d where n is so large that n^2 numbers are too many: by rows, in single precision; sums over pairs in double.

    (K_d)_ij = sum over terms t, parameters p of  w_tp profile_t(base_t(x_i, x_j); p)

A term is a kernel family on one subset of features; all its parameters share one base. Rows serve for finding dual
variables, where an error of 1e-7 in a kernel value does no harm; products ``K_d v`` and forms ``v'K_k v`` are what
values and bounds are made of, so they are computed in double precision, tile by tile, over the samples with v_i != 0.

Reference: Joachims, Making large-scale SVM learning practical (1999), section 4, which computes rows when needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.context import slices, spending
from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.storage.triangles import Entries, dots, inner, products
from mklviz.lazy import cached_property
from mklviz.numbers import is_number
from mklviz.typing import Array, Indices, Single

LARGEST_MATRIX = 2**29  # bytes; kernels whose double precision matrix is larger are computed row by row
CACHE_MB = 1024  # memory for rows that a solver used lately
TILE = 2**18  # entries of a kernel computed at a time, 2 MB in double precision


def by_rows(n: int) -> bool:
    """Return whether kernels on n samples are computed row by row, as their matrices are too large."""
    return 8 * n * n > LARGEST_MATRIX


def refuse_matrix(n: int) -> NoReturn:
    """Raise `BankTooLarge`."""
    raise BankTooLarge(
        f"The kernel matrix on {n:,} samples, {8 * n * n / 2**20:,.0f} MB, is never formed: ask for kernel(weights),"
        " which gives rows, or for apply(weights, v)."
    )


def check_cache(megabytes: int) -> int:
    """Return `megabytes` or raise `KernelError` unless it is a positive number."""
    if not (is_number(megabytes) and megabytes > 0):
        raise KernelError(f"The memory for rows is {megabytes!r} MB, but it must be positive.")
    return megabytes


@njit(cache=True, nogil=True)
def _squared_distances(left: Entries, right: Entries, out: Entries) -> None:
    """out[i, j] = sum over f of (left[i, f] - right[f, j])^2, in the type of the arrays; differences do not cancel."""
    for start in range(0, out.shape[1], 1024):  # columns that stay in the cache
        stop = min(start + 1024, out.shape[1])
        for i in range(left.shape[0]):
            row = out[i, start:stop]
            row[:] = 0.0
            f = 0
            while f + 4 <= left.shape[1]:
                p, q, r, s = (
                    right[f, start:stop],
                    right[f + 1, start:stop],
                    right[f + 2, start:stop],
                    right[f + 3, start:stop],
                )
                a, b, c, d = left[i, f], left[i, f + 1], left[i, f + 2], left[i, f + 3]
                for j in range(row.shape[0]):
                    u, v, w, x = p[j] - a, q[j] - b, r[j] - c, s[j] - d
                    row[j] += (u * u + v * v) + (w * w + x * x)
                f += 4
            while f < left.shape[1]:
                p, a = right[f, start:stop], left[i, f]
                for j in range(row.shape[0]):
                    u = p[j] - a
                    row[j] += u * u
                f += 1


def tiles(count: int, width: int, entries: int = TILE) -> Iterator[slice]:
    """Yield ranges of `count` rows so short that so many rows of `width` columns are one tile."""
    return slices(count, max(entries // max(width, 1), 1))


@dataclass(frozen=True)
class Term:
    """Kernels of one family on one subset of features."""

    family: KernelFamily
    points: Array  # (n, d): the subset's features
    values: tuple[float, ...]  # the family's parameter, one per kernel
    scales: tuple[Array, ...]  # each kernel's normalization c: its entries are ``c_i c_j profile(base_ij)``
    weights: tuple[float, ...]  # one per kernel

    @cached_property
    def _single(self) -> Single:
        # far from the origin single precision would lose the differences
        centre = self.points.mean(0) if self.family.of_differences and len(self.points) else 0.0
        return np.asarray(self.points - centre, dtype=np.float32)

    @cached_property
    def _single_columns(self) -> Single:
        return np.ascontiguousarray(self._single.T)

    def columns(self, which: Indices) -> Array:
        """Return the points `which` as columns (d, len(which)), the second argument of `base`."""
        return np.ascontiguousarray(self.points[which].T)

    def base(self, left: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
        """Return the base between points (r, d) and columns (d, c) of one precision, (r, c)."""
        if not self.family.of_distances:
            return self.family.base(left, columns.T)
        out = np.empty((len(left), columns.shape[1]), left.dtype)
        _squared_distances(np.ascontiguousarray(left), columns, out)
        return out

    def add_rows(self, which: Indices, out: Single) -> None:
        """Add the weighted rows `which` to `out` (len(which), n)."""
        for some in tiles(len(which), out.shape[1]):
            base = self.base(self._single[which[some]], self._single_columns)
            for value, scale, weight in zip(self.values, self.scales, self.weights, strict=True):
                left, right = _sides(scale, which[some], slice(None))
                tile = self.family.profile(base, value)
                tile *= np.asarray(weight * left, dtype=np.float32)
                if right is not None:
                    tile *= right.astype(np.float32)
                out[some] += tile

    def forms(self, v: Array, support: Indices) -> Array:
        """Return ``v'K_k v`` of every kernel, unweighted; v (len(support), c), summed over its columns."""
        total = np.zeros(len(self.values))
        columns = self.columns(support)
        for some in tiles(len(support), len(support)):
            charges = v[: some.stop].copy()
            charges[: some.start] *= 2.0  # pairs left of the diagonal tile stand for those right of it
            base = self.base(self.points[support[some]], columns[:, : some.stop])
            for k, (value, scale) in enumerate(zip(self.values, self.scales, strict=True)):
                c = scale[support[: some.stop], None]
                image = self.family.profile(base, value) @ (c * charges)
                total[k] += float((c[some] * v[some] * image).sum())
        return total

    @property
    def largest(self) -> list[float]:
        """The largest entry of each kernel's diagonal."""
        pairs = zip(self.values, self.scales, strict=True)
        return [float((scale**2 * self.family.diagonal(self.points, value)).max()) for value, scale in pairs]

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        support = np.flatnonzero(v)
        scaled, rest = products(self.scales[k][support], v[support])
        columns = self.columns(support)
        image, beside, size = (np.zeros(len(support)) for _ in range(3))
        for some in tiles(len(support), len(support)):
            tile = self.family.profile(self.base(self.points[support[some]], columns), self.values[k])
            dots(tile, scaled, rest, image[some], beside[some], size[some])
        return inner(image, beside, scaled, rest), float(np.abs(scaled) @ size)

    def product(self, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``, (n, c) as v."""
        support = np.flatnonzero(v.any(axis=1))
        columns, out = self.columns(support), np.zeros_like(v)
        for some in tiles(len(v), len(support)):
            base = self.base(self.points[some], columns)
            for value, scale, weight in zip(self.values, self.scales, self.weights, strict=True):
                image = self.family.profile(base, value) @ (scale[support, None] * v[support])
                out[some] += weight * scale[some, None] * image
        return out

    def weighted(self, weights: Array) -> Term:
        """Return the kernels with weight, at these weights."""
        used = np.flatnonzero(weights)
        return replace(
            self,
            values=tuple(self.values[k] for k in used),
            scales=tuple(self.scales[k] for k in used),
            weights=tuple(float(weights[k]) for k in used),
        )

    def only(self, keep: Indices) -> Term:
        """Return the kernels on the samples `keep`."""
        return replace(self, points=self.points[keep], scales=tuple(scale[keep] for scale in self.scales))


def _sides(scale: Array, rows: Indices, columns: slice) -> tuple[Any, Array | None]:
    """Return what rows and columns are multiplied by; one number where all samples share it, which is cheaper."""
    if scale[0] == scale.min() == scale.max():
        return float(scale[0]) ** 2, None
    return scale[rows, None], scale[columns]


class FactorRows:
    """``Z'Z`` by rows, Z (R, n)."""

    def __init__(self, factor: Array) -> None:
        self._factor = factor

    @cached_property
    def _single(self) -> Single:
        return self._factor.astype(np.float32)

    def add_rows(self, which: Indices, out: Single) -> None:
        left = np.ascontiguousarray(self._single[:, which].T)
        for some in tiles(len(which), out.shape[1]):
            out[some] += left[some] @ self._single

    def product(self, v: Array) -> Array:
        support = np.flatnonzero(v.any(axis=1))
        return self._factor.T @ (self._factor[:, support] @ v[support])

    def only(self, keep: Indices) -> FactorRows:
        return FactorRows(self._factor[:, keep])


class SumRows:
    """A kernel as the sum of parts that are known by rows; see `RowKernel`."""

    def __init__(self, parts: Sequence[Term | FactorRows], n: int, cache_bytes: int) -> None:
        self._parts, self._n, self.cache_bytes = list(parts), n, cache_bytes

    @spending("combine")
    def rows(self, which: Indices) -> Single:
        out = np.zeros((len(which), self._n), np.float32)
        for part in self._parts:
            part.add_rows(which, out)
        return out

    @spending("combine")
    def apply(self, v: Array) -> Array:
        out = np.zeros((self._n, v.size // self._n))
        for part in self._parts:
            out += part.product(v.reshape(self._n, -1))
        return out.reshape(v.shape)

    @spending("combine")
    def only(self, keep: Indices) -> SumRows:
        return SumRows([part.only(keep) for part in self._parts], len(keep), self.cache_bytes)


class ComputedBlock:
    """Kernels of a bank that keeps only its points: one after the other, in the order of the terms."""

    label = "computed on the fly, row by row"

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = list(terms)
        self._ends = np.cumsum([len(term.values) for term in terms])

    @property
    def nbytes(self) -> int:
        """Memory taken: the points in either precision, for every subset of features."""
        return sum(3 * term.points.nbytes // 2 for term in self._terms)

    def weighted(self, weights: Array) -> list[Term]:
        """Return the terms whose sum is ``sum_k weights_k K_k``."""
        shares = np.split(weights, self._ends[:-1])
        return [term.weighted(share) for term, share in zip(self._terms, shares, strict=True) if share.any()]

    def only(self, keep: Indices) -> ComputedBlock:
        """Return the kernels on the samples `keep`."""
        return ComputedBlock([term.only(keep) for term in self._terms])

    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v``, (m,), summed over the columns of v where it has several."""
        columns = v.reshape(len(v), -1)
        support = np.flatnonzero(columns.any(axis=1))
        return np.concatenate([term.forms(columns[support], support) for term in self._terms])

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        return np.array([entry for term in self._terms for entry in term.largest])

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        which = int(np.searchsorted(self._ends, k, side="right"))
        return self._terms[which].compensated(k - (int(self._ends[which - 1]) if which else 0), v)

    def products(self, which: Indices, v: Array) -> Array:
        """Return ``K_k v`` for the kernels in `which`, (len(which), n)."""
        units = np.zeros((len(which), int(self._ends[-1])))
        units[np.arange(len(which)), which] = 1.0
        return np.array([self.apply(unit, v) for unit in units])

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        products = (term.product(v[:, None])[:, 0] for term in self.weighted(weights))
        return np.asarray(sum(products, np.zeros(len(v))))
