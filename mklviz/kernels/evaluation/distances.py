"""Distances D_k behind two questions: ``sum_k d_k D_k``, also to new points, and ``sum_ij P_ij D_k(i, j)``.

The latter is asked for a symmetric P with zero diagonal.

Squared distances along features are never formed, as sums of them are matrix products; with M (m, features) the
features that share the weight d_k, w = d'M and z = sqrt(w) x,

    sum_k d_k D_k(i, j) = |z_i - z_j|^2,        sum_ij P_ij D_k(i, j) = sum_f M_kf (2 (P1)'x_f^2 - 2 x_f'P x_f).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.families import Gaussian
from mklviz.kernels.families._family import squared_distances
from mklviz.kernels.interface import Cross, Part, check_columns, check_values
from mklviz.kernels.storage.packed import PackedBlock, pack_scaled
from mklviz.kernels.storage.rows import Term, tiles
from mklviz.kernels.storage.triangles import mirror
from mklviz.typing import Array, Indices

Groups = Sequence[Sequence[int]]

_NAMED = 3  # features of a group that its name lists


class ProductCross(Cross):
    """The product of kernels between new points (n_new, d), or their distances (m, n_new, n), and samples of a bank.

    These are distances of the whole bank, or of the part alone.
    """

    part: FeaturePart | GivenPart

    def _check(self) -> None:
        self.part.check(self.new)

    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``exp(-sum_k weights_k D_k(new, samples))`` for the new points from `start` to `stop`."""
        return kernel_of(self.part.combine(self.new, weights, start, len(self) if stop is None else stop))


def kernel_of(distances: Array) -> Array:
    """Return ``exp(-D)`` in the place of D."""
    np.negative(distances, out=distances)
    return np.asarray(np.exp(distances, out=distances))


@dataclass(frozen=True)
class FeaturePart(Part):
    """Squared distances along features, to points (n_part, d), in groups of features M (m_part, d)."""

    crosses = ProductCross
    points: Array
    membership: Array
    which: Indices
    bank_shape: tuple[int, int]

    def check(self, new: Array) -> None:
        """Raise `KernelError` unless `new` is an (n_new, d) array."""
        check_columns(new, self.points.shape[1])

    def combine(self, new: Array, weights: Array, start: int, stop: int) -> Array:
        """Return ``sum_k weights_k D_k(new, points)``."""
        used, roots = _scaling(weights @ self.membership)
        return squared_distances(new[start:stop, used], self.points[:, used], roots)


class FeatureDistances:
    """Squared distances along the features of points (n, d), in groups of features M (m, d)."""

    label = "distances along features"

    def __init__(self, points: Array, membership: Array) -> None:
        self._points, self._membership = points, membership
        self._x = points - points.mean(0)  # distances do not change, and differences of squares lose less

    @property
    def nbytes(self) -> int:
        return self._points.nbytes + self._x.nbytes

    def combine(self, weights: Array, out: Array) -> None:
        """Write ``sum_k weights_k D_k`` into `out` (n, n)."""
        used, roots = _scaling(weights @ self._membership)
        z = self._x[:, used] * roots
        np.matmul(z, z.T, out=out)
        out *= -2.0
        sizes = (z**2).sum(1)
        out += sizes[:, None]
        out += sizes
        np.maximum(out, 0.0, out=out)
        np.fill_diagonal(out, 0.0)

    def forms(self, matrix: Array) -> Array:
        """Return ``sum_ij P_ij D_k(i, j)`` for every k, (m,)."""
        x = self._x
        per_feature = 2.0 * (matrix.sum(1) @ x**2 - (x * (matrix @ x)).sum(0))
        return np.asarray(self._membership @ per_feature)

    def gaussian(self, weights: Array) -> Term:
        """Return ``exp(-sum_k weights_k D_k)`` as one Gaussian kernel of scaled features."""
        used, roots = _scaling(weights @ self._membership)
        width = 0.5**0.5
        scaled = np.ascontiguousarray(self._x[:, used] * roots)
        return Term(Gaussian(widths=(width,)), scaled, (width,), (np.ones(len(scaled)),), (1.0,))

    def charged_forms(self, weights: Array, beta: Array) -> Array:
        """Return ``sum_ij P_ij D_k(i, j)`` for every k, (m,), with ``P = (beta beta') o exp(-sum_k weights_k D_k)``.

        beta is (n, c); only pairs of samples with beta_i, beta_j != 0 are visited, tile by tile.
        """
        support = np.flatnonzero(beta.any(axis=1))
        term, charges, x = self.gaussian(weights), beta[support], self._x[support]
        columns, squares = term.columns(support), x**2
        total = np.zeros(x.shape[1])
        for some in tiles(len(support), len(support)):
            base = term.base(term.points[support[some]], columns[:, : some.stop])
            tile = np.exp(-base, out=base)
            tile *= charges[some] @ charges[: some.stop].T
            tile[:, : some.start] *= 2.0  # which stands for the pairs right of the diagonal tile as well
            total += tile.sum(1) @ squares[some] + tile.sum(0) @ squares[: some.stop]
            total -= 2.0 * (x[some] * (tile @ x[: some.stop])).sum(0)
        return np.asarray(self._membership @ total)

    def part(self, which: Indices, samples: Indices) -> FeaturePart:
        shape = len(self._membership), len(self._points)
        return FeaturePart(self._points[samples], self._membership[which], which, shape)


@dataclass(frozen=True)
class GivenPart(Part):
    """Distances `which` to `samples` of a bank of ready ones; new points bring theirs, for all of the bank or these."""

    crosses = ProductCross
    which: Indices
    samples: Indices
    bank_shape: tuple[int, int]

    def check(self, new: Array) -> bool:
        """Return whether `new` (m, n_new, n) is for the whole bank and not for this part, or raise `KernelError`."""
        part = len(self.which), len(self.samples)
        return check_values(new, "This product was given distances", self.bank_shape, part)

    def combine(self, new: Array, weights: Array, start: int, stop: int) -> Array:
        """Return ``sum_k weights_k D_k``, only over those with weight."""
        out = np.zeros((stop - start, len(self.samples)))
        whole = self.check(new)
        for k in np.flatnonzero(weights):
            rows = new[self.which[k], start:stop][:, self.samples] if whole else new[k, start:stop]
            out += weights[k] * rows
        return out


class GivenDistances:
    """Ready matrices, kept as packed triangles."""

    label = "distances as given"

    def __init__(self, block: PackedBlock) -> None:
        self._block = block

    @property
    def nbytes(self) -> int:
        return self._block.nbytes

    def combine(self, weights: Array, out: Array) -> None:
        self._block.add_combined(weights, out, fresh=True)
        mirror(out)

    def forms(self, matrix: Array) -> Array:
        triangle = np.empty(self._block.packed.shape[1])
        pack_scaled(matrix, np.ones(len(matrix)), triangle)
        return np.asarray(2.0 * (self._block.packed @ triangle))

    def part(self, which: Indices, samples: Indices) -> GivenPart:
        return GivenPart(which, samples, (len(self._block.packed), self._block.n))


Distances = FeatureDistances | GivenDistances


def membership(groups: Groups | None, width: int) -> Array:
    """Return which of `width` features share a weight, (groups, width) of zeros and ones; each its own by default."""
    if groups is None:
        return np.eye(width)
    if not groups:
        raise KernelError("No groups of features were given: give at least one, or none at all for one per feature.")
    membership = np.zeros((len(groups), width))
    for k, group in enumerate(groups):
        if not group or not all(0 <= j < width for j in group):
            raise KernelError(f"Group {k + 1} must list columns from 0 to {width - 1}, but is {list(group)}.")
        membership[k, list(group)] = 1.0
    return membership


def group_names(groups: Groups | None, labels: Sequence[str]) -> list[str]:
    """Return what to call the distance in each group, by the names of its first features."""
    chosen = [[j] for j in range(len(labels))] if groups is None else groups
    shown = [", ".join(labels[j] for j in group[:_NAMED]) + (", …" if len(group) > _NAMED else "") for group in chosen]
    return [f"distance in {names}" for names in shown]


def _scaling(weights: Array) -> tuple[Indices, Array]:
    """Return the features with weight, and the roots of their weights."""
    used = np.flatnonzero(weights > 0.0)
    return used, np.sqrt(weights[used])
