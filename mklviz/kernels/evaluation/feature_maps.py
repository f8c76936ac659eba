"""Coordinates of points in which a kernel is an inner product: z(x) = L^-1 K(landmarks, x), with L L' = K(landmarks).

Landmarks that add nothing to the others are left out by a pivoted Cholesky decomposition, so L is well conditioned and
a kernel of low rank gets few coordinates. K(x, x') - z(x)'z(x') is positive semidefinite, and zero on the landmarks.

Reference: Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from mklviz.context.cancelling import checkpoint
from mklviz.kernels.evaluation.builder import KernelSpec
from mklviz.kernels.evaluation.normalize import sample_scales
from mklviz.kernels.families import KernelFamily
from mklviz.typing import Array, Indices

__all__ = ["FeatureMaps", "Root", "Subset", "pivoted_root"]

PRECISION = 1e-10  # share of the largest diagonal entry below which a landmark adds nothing to the others
CHUNK = 4096  # points mapped together


@dataclass(frozen=True)
class Root:
    """One kernel: which landmarks it uses (r,), the lower triangle L (r, r) of their kernel, and its columns of Z."""

    spec: KernelSpec
    pivots: Indices
    lower: Array
    start: int

    @property
    def columns(self) -> slice:
        """The columns of its coordinates."""
        return slice(self.start, self.start + len(self.pivots))


@dataclass(frozen=True)
class Subset:
    """Landmarks (m, d_s) on some features, shared by all kernels of one family on them."""

    family: KernelFamily
    columns: tuple[int, ...]
    landmarks: Array
    roots: tuple[Root, ...]


@dataclass(frozen=True)
class FeatureMaps:
    """The maps of all kernels of a bank; each is scaled by its entry of `sizes` (m,), unless each diagonal entry is."""

    subsets: tuple[Subset, ...]
    normalize: str
    sizes: Array
    width: int
    n_features: int

    def __len__(self) -> int:
        return sum(len(subset.roots) for subset in self.subsets)

    @property
    def nbytes(self) -> int:
        """Memory the landmarks and triangles take."""
        roots = sum(root.lower.nbytes for subset in self.subsets for root in subset.roots)
        return roots + sum(subset.landmarks.nbytes for subset in self.subsets)

    @property
    def starts(self) -> Indices:
        """First column of every kernel, and one past the last of all, (m + 1,)."""
        return np.array([*(root.start for subset in self.subsets for root in subset.roots), self.width])

    def write(self, new: Array, out: NDArray[np.floating], weights: Array | None = None, first: int = 0) -> None:
        """Write the coordinates of points (n, d) into `out` (n, R); those of kernels without weight become zero.

        The first point is called number `first` where one cannot be scaled.
        """
        for start in range(0, len(new), CHUNK):
            checkpoint()
            stop = min(start + CHUNK, len(new))
            for root, values, scale in self._values(new[start:stop], weights, first + start):
                solved = solve_triangular(root.lower, values.T, lower=True, check_finite=False, overwrite_b=True)
                out[start:stop, root.columns] = solved.T * scale
            if weights is not None:
                for k in np.flatnonzero(weights == 0.0):
                    out[start:stop, self.starts[k] : self.starts[k + 1]] = 0.0

    def _values(self, new: Array, weights: Array | None, first: int) -> Iterator[tuple[Root, Array, float | Array]]:
        """Yield for each kernel its values between the points and its landmarks, and the scale of its coordinates."""
        k = 0
        for subset in self.subsets:
            points, base = new[:, list(subset.columns)], None
            for root in subset.roots:
                if weights is None or weights[k] != 0.0:
                    base = subset.family.base(points, subset.landmarks) if base is None else base
                    values = subset.family.profile(base, root.spec.value)[:, root.pivots]
                    yield root, values, self._scale(subset, root, points, k, first)
                k += 1

    def _scale(self, subset: Subset, root: Root, points: Array, k: int, first: int) -> float | Array:
        if self.normalize != "diagonal":
            return float(self.sizes[k])
        diagonal = subset.family.diagonal(points, root.spec.value)
        return sample_scales(diagonal, "diagonal", root.spec.name, first=first)[:, None]


def pivoted_root(kernel: Array) -> tuple[Indices, Array]:
    """Return pivots (r,) and L (r, r), lower, with ``L L'`` the kernel (m, m) on the pivots, r as small as it gets."""
    factor, pivots, rank, _ = lapack.dpstrf(kernel, tol=PRECISION * float(np.diag(kernel).max()), lower=1)
    rank = max(int(rank), 1)
    return np.asarray(pivots[:rank] - 1, dtype=np.intp), np.tril(factor[:rank, :rank])


def roots_on(family: KernelFamily, name: str, columns: Sequence[int], landmarks: Array, start: int) -> tuple[Root, ...]:
    """Return the roots of the family's kernels on these features, their coordinates beginning at column `start`."""
    base, roots = family.base(landmarks, landmarks), []
    for value in family.values():
        spec = KernelSpec(f"{family.describe(value)} on {name}", family, value, tuple(columns))
        roots.append(Root(spec, *pivoted_root(family.profile(base, value)), start))
        start += len(roots[-1].pivots)
    return tuple(roots)
