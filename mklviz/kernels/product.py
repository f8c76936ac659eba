"""A product of kernels, one distance each: K_d = exp(-sum_k d_k D_k), d >= 0.

    dJ/dd_k = 1/2 beta'(D_k o K_d) beta,       J(d) = max_beta  D_loss(beta) - 1/2 beta'K_d beta

With D_k the squared distances along feature k, d_k is what the width of a Gaussian kernel is to that feature: learning
d weighs the features. K_d is not linear in d, so the problem is not convex: minima may differ, and none is certified.

References: Varma, Babu, More generality in efficient multiple kernel learning (ICML 2009), section 3; Jain,
Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import spending
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import (
    MEMORY_LIMIT,
    check_symmetric,
    feature_labels,
    own_points,
    refuse_if_too_large,
)
from mklviz.kernels.evaluation.distances import (
    Distances,
    FeatureDistances,
    FeaturePart,
    GivenDistances,
    GivenPart,
    group_names,
    kernel_of,
    membership,
)
from mklviz.kernels.interface import Access, Bank, Kind, column_names, numbers, of_table
from mklviz.kernels.storage.packed import PackedBlock
from mklviz.kernels.storage.rows import CACHE_MB, SumRows, by_rows, check_cache, refuse_matrix
from mklviz.kernels.storage.triangles import packed_length
from mklviz.quoting import fact_table
from mklviz.typing import Array, Indices

_WORKSPACE = 2  # matrices of n by n that one use of a product takes


class ProductBank(Bank):
    """m distances D_k between the same n samples, and the kernel ``exp(-sum_k d_k D_k)``.

    Build one with `build` or `from_distances`.

    Attributes
    ----------
    names : list of str
    n_samples : int
    nbytes : int
        Memory the distances take.
    backend : str
        How they are stored, for people.
    convex : bool
        False: K_d is not linear in d.
    kind : str
        "product".
    access : str
        "rows" where matrices on so many samples are too large: K_d is never formed; "matrix" elsewhere.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> mv.ProductBank.build(train.X)
    ProductBank(13 kernels, 135 samples: from distances along features)
    """

    convex = False
    kind: Kind = "product"

    def __init__(self, distances: Distances, names: Sequence[str], n_samples: int, cache_mb: int = CACHE_MB) -> None:
        self._distances = distances
        self.access: Access = "rows" if isinstance(distances, FeatureDistances) and by_rows(n_samples) else "matrix"
        self._cache_bytes = check_cache(cache_mb) * 2**20
        self.names = list(names)
        self.n_samples = n_samples
        self.nbytes = distances.nbytes
        by_row = ", computed on the fly, row by row" if self.access == "rows" else ""
        self.backend = f"product of {len(self.names)} kernels from {distances.label}{by_row}"

    def __repr__(self) -> str:
        return f"ProductBank({len(self)} kernels, {self.n_samples} samples: from {self._distances.label})"

    def _repr_html_(self) -> str:
        rows = [
            ("kernel", "exp(−Σ dₖ Dₖ)"),
            ("samples", f"{self.n_samples:,}"),
            ("kept as", f"{self._distances.label}; {self.nbytes / 2**20:.1f} MB"),
            ("first", ", ".join(self.names[:3])),
        ]
        return fact_table(f"Product of {len(self):,} kernels", rows)

    @staticmethod
    def estimate(n: int, n_features: int) -> tuple[int, int]:
        """Return the number of kernels, one per feature, and the bytes that using them takes."""
        return n_features, 8 * n * (2 * n_features + (2 * n_features if by_rows(n) else _WORKSPACE * n))

    @classmethod
    def check_size(cls, n: int, n_features: int, max_bytes: int = MEMORY_LIMIT) -> tuple[int, int]:
        """Return what `estimate` returns, or raise `BankTooLarge` if `build` would refuse."""
        m, size = cls.estimate(n, n_features)
        refuse_if_too_large(m, n, size, max_bytes)
        return m, size

    @classmethod
    def build(
        cls,
        X: ArrayLike,
        groups: Sequence[Sequence[int]] | None = None,
        feature_names: Sequence[str] | None = None,
        max_bytes: int = MEMORY_LIMIT,
        cache_mb: int = CACHE_MB,
    ) -> ProductBank:
        """Take squared Euclidean distances along features, or along groups of them.

        Parameters
        ----------
        X : (n, d) array
            Samples, standardized as a rule: the weight of a feature depends on its unit.
        groups : sequence of sequences of int, optional
            The columns that share one weight; every column has its own by default.
        feature_names : sequence of str, optional
            x1, x2, ... by default.
        max_bytes : int
            Memory allowed.
        cache_mb : int
            Memory for rows used lately, of each solver, where n is so large that K_d is computed row by row.

        Raises
        ------
        KernelError, BankTooLarge
            With a sentence that says what is wrong and what to do.
        """
        points = own_points(X)
        n, width = points.shape
        labels = feature_labels(feature_names, width, X)
        cls.check_size(n, width, max_bytes)
        distances = FeatureDistances(points, membership(groups, width))
        bank = cls(distances, group_names(groups, labels), n, cache_mb)
        return of_table(bank, feature_names, column_names(X))

    @classmethod
    def from_distances(
        cls, distances: ArrayLike | Sequence[ArrayLike], names: Sequence[str] | None = None
    ) -> ProductBank:
        """Take ready distances.

        Parameters
        ----------
        distances : (m, n, n) array or sequence of (n, n) arrays
            Symmetric, not negative, zero on the diagonal, and conditionally negative definite as squared Euclidean
            distances are: only for such a D is exp(-d D) a kernel for every d >= 0 (Schoenberg 1938).
        names : sequence of str, optional
            "distance 1", "distance 2", ... by default.

        Raises
        ------
        KernelError
            Naming the matrix and what is wrong with it.
        """
        sequence = cast(Sequence[ArrayLike], distances)
        matrices = [numbers(matrix, "A matrix of distances") for matrix in sequence]
        if not matrices or not matrices[0].size:
            raise KernelError("No matrices of distances were given.")
        labels = list(names) if names is not None else [f"distance {k + 1}" for k in range(len(matrices))]
        if len(labels) != len(matrices):
            raise KernelError(f"{len(matrices)} matrices of distances need as many names, but got {len(labels)}.")
        n = matrices[0].shape[-1] if matrices[0].ndim else 1
        refuse_if_too_large(len(matrices), n, 8 * len(matrices) * packed_length(n))
        for matrix, label in zip(matrices, labels, strict=True):
            _check_distances(matrix, label, n)
        return cls(GivenDistances(PackedBlock.from_matrices(matrices)), labels, n)

    @spending("combine")
    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``exp(-sum_k weights_k D_k)``, (n, n) in C order, written into `out` if given."""
        if self.access != "matrix":
            refuse_matrix(self.n_samples)
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        self._distances.combine(weights, combined)
        return kernel_of(combined)

    @spending("combine")
    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``."""
        if isinstance(self._distances, FeatureDistances):
            return self.kernel(weights).apply(v)
        return np.asarray(self.combine(weights) @ v)

    def kernel(self, weights: Array) -> SumRows:
        """Return K_d by rows, one Gaussian of scaled features; see `RowKernel`."""
        assert isinstance(self._distances, FeatureDistances)
        return SumRows([self._distances.gaussian(weights)], self.n_samples, self._cache_bytes)

    @spending("gradient")
    def slopes(self, weights: Array, signed: Array, kernel: Array | None = None) -> Array:
        """Return ``1/2 beta'(D_k o K_d) beta`` for every k, (m,), summed over columns: see `Bank.slopes`."""
        beta = signed.reshape(self.n_samples, -1)
        if isinstance(self._distances, FeatureDistances) and kernel is None:
            return 0.5 * self._distances.charged_forms(weights, beta)
        charged = self.combine(weights) if kernel is None else kernel.copy()
        charged *= beta @ beta.T
        np.fill_diagonal(charged, 0.0)  # it meets distances of zero, and only rounding would come of it
        return 0.5 * self._distances.forms(charged)

    def part(self, which: Indices | None = None, samples: Indices | None = None) -> FeaturePart | GivenPart:
        """Return the kernels `which` between any point and `samples`, without the other samples; all by default."""
        which = np.arange(len(self)) if which is None else which
        samples = np.arange(self.n_samples) if samples is None else samples
        return self._distances.part(which, samples)

    def miniatures(self, X: Array) -> list[ProductBank]:
        """Return a bank on the points X (n, d) that needs the same compiled functions."""
        bank = ProductBank.build(X)
        bank.access = self.access
        return [bank]


def _check_distances(matrix: Array, name: str, n: int) -> None:
    what = f"The matrix of distances {name}"
    size = check_symmetric(matrix, what, n)
    if np.abs(np.diag(matrix)).max() > 1e-8 * size:
        k = int(np.abs(np.diag(matrix)).argmax())
        raise KernelError(f"{what} must be zero on the diagonal, but entry ({k}, {k}) is {matrix[k, k]:g}.")
    if matrix.min() < -1e-8 * size:
        i, j = np.unravel_index(matrix.argmin(), matrix.shape)
        raise KernelError(f"{what} must not be negative, but entry ({i}, {j}) is {matrix[i, j]:g}.")
    means = matrix.mean(0)
    doubly_centred = -0.5 * (matrix - means[:, None] - means[None, :] + means.mean())
    smallest = float(np.linalg.eigvalsh(doubly_centred)[0])
    if smallest < -1e-8 * size * n**0.5:
        raise KernelError(
            f"{what} gives no kernel: exp(-d D) is one for every d >= 0 only if D is conditionally negative definite,"
            f" as squared Euclidean distances are, but -1/2 D, centred, has the eigenvalue {smallest:.3g}."
        )
