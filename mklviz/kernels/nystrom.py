"""A bank of approximate kernels for very many samples: K_k ~ Z_k Z_k' from a few hundred landmarks, by Nyström.

Nothing of size n by n is formed: s_k = |Z_k'v|^2 and K_d v = Z diag(w) Z'v read Z (n, R) once, where w repeats each
kernel's weight for its columns. Where Z does not fit into memory it stands on disk in single precision and is read
piece by piece, in the same order and to the same sums. Everything that is computed from it, the certified gap as well,
is exact for the approximate kernels; how far those are from the kernels asked for is measured when the bank is built,
and kept.

References: Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000; Zhang, Tsang, Kwok,
Improved Nyström low-rank approximation and error analysis, ICML 2008, for landmarks by k-means.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import slices, spending
from mklviz.context.blas import one_blas_thread
from mklviz.context.memory import in_words
from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels.evaluation.builder import Progress
from mklviz.kernels.evaluation.checks import (
    check_memory,
    check_normalization,
    check_points,
    checked_weights,
    feature_labels,
    read_families,
    refuse_if_too_large,
    zero_kernels,
)
from mklviz.kernels.evaluation.nystrom import CHOICES, Accuracy, FeatureMaps, Nystrom, NystromBuilder
from mklviz.kernels.families import Gaussian, KernelFamily
from mklviz.kernels.interface import Access, Bank, Cross, Kind, Part, check_columns, column_names, of_table
from mklviz.kernels.storage.cluster import ClusterFactors, blocks_of, client_for
from mklviz.kernels.storage.disk import Folder, check_room, dask_table, is_dask, mapped_points, on_disk
from mklviz.kernels.storage.passes import (
    Factors,
    added,
    chunk_length,
    decisions,
    diagonal_of,
    each,
    pieces,
    projections,
    runs_of,
    separate_decisions,
)
from mklviz.kernels.storage.triangles import compensated_forms, dots, error_of_forms
from mklviz.lazy import cached_property
from mklviz.limits import LIMITS
from mklviz.numbers import is_whole, share_text
from mklviz.quoting import fact_table
from mklviz.typing import Array, Indices

MEMORY_LIMIT = LIMITS.nystrom_bytes
LARGEST_MATRIX = 2**29  # bytes of a K_d that is formed when asked for
BLOCK = 8192  # new points mapped together


class NystromBank(Bank):
    """m approximate kernels on the same n samples; build one with `build`.

    Attributes
    ----------
    kernels : tuple of KernelSpec
    names : list of str
    n_samples : int
    nbytes : int
        Memory the factors take; of factors on disk, that of the piece which is read.
    backend : str
        How the kernels are stored, for people.
    approximation : Nystrom
        How they were approximated.
    trace_errors : (m,) array
        ``trace(K_k - Z_k Z_k') / trace(K_k)``, exact.
    frobenius_errors : (m,) array
        ``|K_k - Z_k Z_k'|_F / |K_k|_F`` on a sample of the points.
    convex : bool
        True: K_d is linear in d.
    kind : str
        "sum".
    access : str
        "factors": K_d is never formed.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> mv.NystromBank.build(train.X, [mv.Gaussian(widths=[1.0, 4.0])], landmarks=20)
    NystromBank(2 kernels, 135 samples, 0.0 MB)
    """

    convex = True
    kind: Kind = "sum"
    access: Access = "factors"

    def __init__(self, maps: FeatureMaps, factors: Factors, accuracy: Accuracy, approximation: Nystrom) -> None:
        self.maps, self.approximation = maps, approximation
        self.trace_errors, self.frobenius_errors = accuracy.trace_errors, accuracy.frobenius_errors
        self._traces = accuracy.traces
        self.kernels = tuple(root.spec for subset in maps.subsets for root in subset.roots)
        self.names = [spec.name for spec in self.kernels]
        self._remarks = zero_kernels(maps.sizes[:, None], self.names)
        self.n_samples, self.normalize = len(factors), maps.normalize
        there = isinstance(factors, ClusterFactors)
        away = there or on_disk(factors)
        read = chunk_length(factors.shape) if away else len(factors)
        self.nbytes = maps.nbytes + factors.itemsize * min(read, len(factors)) * maps.width
        self._rows, self._columns = factors, factors.T
        self._ranks = np.diff(maps.starts)
        self._last: tuple[Array, Array] | None = None
        few, many = int(self._ranks.min()), int(self._ranks.max())
        ranks = f"{many:,}" if few == many else f"{few:,} to {many:,}"
        where = f", {in_words(factors.nbytes)} on {'a Dask cluster' if there else 'disk'}" if away else ""
        self.backend = f"{len(self):,} approximated by Nyström with {ranks} columns each{where}"

    def __repr__(self) -> str:
        return f"NystromBank({len(self)} kernels, {self.n_samples} samples, {self.nbytes / 2**20:.1f} MB)"

    def _repr_html_(self) -> str:
        chosen = f"at most {self.approximation.landmarks:,}, by {CHOICES[self.approximation.choice]}"
        rows = [
            ("samples", f"{self.n_samples:,}"),
            ("normalization", self.normalize),
            ("landmarks", chosen),
            ("stored", f"{self.backend}; {self.nbytes / 2**20:.1f} MB"),
            ("largest error of a trace", _percent(self.trace_errors.max())),
            ("first", ", ".join(self.names[:3])),
        ]
        return fact_table(f"Approximate kernel bank of {len(self):,} kernels", rows)

    @classmethod
    def check_size(
        cls,
        n: int,
        n_features: int,
        families: Sequence[KernelFamily],
        approximation: Nystrom,
        max_bytes: int = MEMORY_LIMIT,
        feature_names: Sequence[str] | None = None,
    ) -> tuple[int, int]:
        """Return the number of kernels and at most how many bytes they take, or raise `BankTooLarge`."""
        m, size, what = cls._size(n, n_features, families, approximation, max_bytes, feature_names)
        if size > max_bytes:
            raise BankTooLarge(
                f"{what} need about {size / 2**30:.1f} GB, but {max_bytes / 2**30:.1f} GB are allowed: use fewer"
                " landmarks, kernels or samples."
            )
        return m, size

    @staticmethod
    def _size(
        n: int,
        n_features: int,
        families: Sequence[KernelFamily],
        approximation: Nystrom,
        max_bytes: int,
        feature_names: Sequence[str] | None,
    ) -> tuple[int, int, str]:
        """Return the number of kernels, at most how many bytes they take, and what they are in words."""
        labels = feature_labels(feature_names, n_features)
        m = sum(len(family.subsets(n_features, labels)) * len(family.values()) for family in families)
        columns = m * min(approximation.landmarks, n)
        what = f"{m:,} kernels of {n:,} samples by {approximation.landmarks:,} landmarks each"
        return m, columns * n * NystromBuilder.item_bytes(n, columns, max_bytes), what

    @classmethod
    @one_blas_thread()  # whatever else runs meanwhile: kernels are the same bit for bit
    def build(
        cls,
        X: ArrayLike | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        families: Sequence[KernelFamily],
        landmarks: int = 200,
        choice: str = "kmeans++",
        normalize: str = "trace",
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
        max_bytes: int = MEMORY_LIMIT,
        progress: Progress | None = None,
        sample_weight: ArrayLike | None = None,
        folder: Folder = None,
    ) -> NystromBank:
        """Approximate the kernels of `families` on the rows of `X`, which is neither copied nor kept.

        Parameters
        ----------
        X : (n, d) array, path, or list of paths
            Samples, standardized as a rule. They may be more than memory holds: a memory-mapped array, a Dask array,
            or the paths of .npy or Parquet files, one below the other. With a Dask array and a
            ``distributed.Client``, the factors stand in the memory of the cluster's workers, in single precision,
            whatever their size.
        families : sequence of KernelFamily
        landmarks : int
            At most so many per family and subset of features; all kernels of a family on one subset share them.
        choice : "kmeans++" or "leverage"
            How they are chosen.
        normalize : "trace", "mean-diagonal", "diagonal" or "none"
            Scaling of each kernel, by the exact one's diagonal.
        feature_names : sequence of str, optional
            Of a Parquet file, the columns to read.
        seed : int
            Of the choice of landmarks.
        max_bytes : int
            Memory allowed; factors that are large, or too large for it, are kept in single precision, and on disk
            or on a Dask cluster where even that is too much.
        progress : callable, optional
            Called with the fraction done; may raise to cancel.
        sample_weight : (n,) array or float, optional
            How often each sample counts for the trace and the mean diagonal; once by default.
        folder : path, optional
            Where the file of factors on disk stands, which has no name and is gone with the bank.

        Raises
        ------
        BankTooLarge
            If the disk has no room, with a sentence that says what to reduce.
        KernelError
            If `X`, a family, a normalization or the landmarks cannot be used.
        ProblemError
            If the weights of the samples cannot be used.
        """
        approximation = Nystrom(landmarks, choice)
        check_normalization(normalize)
        families = read_families(families)
        check_memory(max_bytes)
        if not (is_whole(seed) and seed >= 0):
            raise KernelError(f"seed must be a whole number, 0 or more, but {seed!r} was given.")
        named, X = X, dask_table(X) if is_dask(X) else X
        client = client_for(X)
        blocks = None if client is None or not is_dask(X) else blocks_of(client, X)
        given, feature_names = mapped_points(X, folder, feature_names, blocks)
        points = check_points(given)
        labels = feature_labels(feature_names, points.shape[1], named)
        _, size, what = cls._size(len(points), points.shape[1], families, approximation, max_bytes, labels)
        away = size > max_bytes or client is not None
        if away and client is None:
            check_room(size, what, folder)
        scaling = normalize, checked_weights(sample_weight, len(points))
        builder = NystromBuilder(points, families, labels, *scaling, approximation, seed, max_bytes, progress)
        there = X if is_dask(X) else points
        built = builder.build(away, folder) if client is None else builder.build_there(client, there)
        return of_table(cls(builder.maps, *built, approximation), feature_names, column_names(named))

    def narrowed(self) -> NystromBank:
        """Return the same bank with factors in single precision, as large ones are kept."""
        accuracy = Accuracy(self._traces, self.trace_errors, self.frobenius_errors)
        near = NystromBank(self.maps, self._rows.astype(np.float32, copy=False), accuracy, self.approximation)
        return of_table(near, *getattr(self, "table_columns", ()))

    def miniatures(self, X: Array) -> list[NystromBank]:
        """Return banks on the points X (n, d), in both precisions, that need the same compiled functions."""
        few = NystromBank.build(X, [Gaussian(on="all+each")], 10)
        return [few, few.narrowed()]

    def error(self, weights: Array) -> tuple[float, float]:
        """Return the relative trace error of the worst kernel with weight, and that of K_d itself."""
        held = weights > 0.0
        if not held.any():
            return 0.0, 0.0
        size = weights * self._traces
        return float(self.trace_errors[held].max()), float(size @ self.trace_errors / (size.sum() or 1.0))

    def words(self, weights: Array | None = None, whose: str = "") -> str:
        """Say what is exact, what is approximate and how exact, also for a solver's weights (m,) if given."""
        trace, frobenius = _percent(self.trace_errors.max()), _percent(self.frobenius_errors.max())
        average = "" if weights is None else f", {_percent(self.error(weights)[1])} averaged by the weights of {whose}"
        landmarks = max(len(subset.landmarks) for subset in self.maps.subsets)
        return (
            f"Kernels are approximated by {landmarks:,} landmarks; objective and gap are exact for"
            f" the approximate kernels. Those lack up to {trace} of the exact kernels' traces{average}, and differ from"
            f" them by up to {frobenius} in Frobenius norm, among sampled points. {' '.join(self._remarks)}"
        ).rstrip()

    def factors(self, weights: Array) -> tuple[Factors, Array]:
        """Return Z' (R, n) and w (R,) with ``K_d = Z diag(w) Z'``; w is zero for kernels without weight."""
        return self._columns, np.repeat(np.asarray(weights, dtype=np.float64), self._ranks)

    @spending("combine")
    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d`` (n, n), written into `out` if given, or raise `BankTooLarge` where n is large."""
        n = self.n_samples
        refuse_if_too_large(len(self), n, 8 * n * n, LARGEST_MATRIX)
        wide = self._rows[np.arange(n)].astype(np.float64, copy=False)
        return np.matmul(wide * np.repeat(weights, self._ranks), wide.T, out=out)

    @spending("gradient")
    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v`` for every kernel, (m,); summed over the columns where v is (n, c)."""
        squares = sum(self._projected(column) ** 2 for column in v.reshape(len(v), -1).T)
        return np.asarray(np.add.reduceat(squares, self.maps.starts[:-1]))

    def quad_error(self, v: Array, quad: Array) -> Array:
        """Return how far `quad` (m,) may be from ``v'K_k v`` by rounding, at most."""
        return error_of_forms(self._largest, np.ones(len(self), dtype=bool), v, quad)

    @spending("gradient")
    def quad_compensated(self, v: Array, which: Indices) -> tuple[Array, Array]:
        """Return ``v'K_k v`` as if computed with twice the digits, for the kernels in `which`, and zeros."""
        return compensated_forms([(self, k) for k in which.tolist()], v)

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``|Z_k'v|^2``, and 0: as a sum of squares it needs no kernel known better than its factors are."""
        parts = each(self._rows, partial(_compensated, slice(*self.maps.starts[k : k + 2].tolist())), v)
        return float(np.square(added(chain.from_iterable(parts))).sum()), 0.0

    @cached_property
    def _largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,), from one pass."""
        return np.max([*each(self._rows, partial(_largest_of, self.maps.starts))], axis=0)

    @spending("gradient")
    def products(self, v: Array, which: Indices) -> Array:
        """Return ``K_k v`` for the kernels k in `which`, (len(which), n)."""
        starts = self.maps.starts.astype(np.int64)
        return separate_decisions(self._rows, self._projected(v), np.stack([starts[which], starts[which + 1]], axis=1))

    @spending("combine")
    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``, like v (n,) or (n, c)."""
        if v.ndim == 2:
            return np.stack([self.apply(weights, column) for column in v.T], axis=1)
        w = np.repeat(np.asarray(weights, dtype=np.float64), self._ranks)
        return decisions(self._rows, w * self._projected(v), runs_of(w))

    def _projected(self, v: Array) -> Array:
        """Return ``Z'v`` (R,); asked for the same v again, as solvers do for s and objective, it is at hand."""
        last = self._last
        if last is None or not np.array_equal(last[0], v):
            last = self._last = (v.copy(), projections(self._rows, np.ascontiguousarray(v, dtype=np.float64)))
        return last[1]

    def remember(self, v: Array, projected: Array) -> None:
        """Take note of ``Z'v`` (R,), from which the next call of `quad` may take its answer."""
        self._last = v.copy(), projected

    def part(self, which: Indices | None = None, samples: Indices | None = None) -> NystromPart:
        """Return the kernels `which` between any point and `samples`; all by default."""
        which = np.arange(len(self)) if which is None else which
        return NystromPart(self.maps, self._rows, which, samples, (len(self), self.n_samples))


class NystromCross(Cross):
    """Approximate kernels between new points and samples of a bank."""

    part: NystromPart

    def _check(self) -> None:
        check_columns(self.new, self.part.maps.n_features)

    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``sum_k weights_k K_k(new, samples)`` for the new points from `start` to `stop`, all by default."""
        part, stop = self.part, len(self) if stop is None else stop
        rows = part.rows if part.samples is None else part.rows[part.samples]
        weighted = self._coordinates(part.spread(weights), start, stop)
        return np.asarray(weighted @ rows.astype(np.float64).T)

    def apply(self, weights: Array, signed: Array) -> Array:
        """Return ``K_d(new, samples) signed``, (n_new,) or (n_new, c)."""
        part, every = self.part, self.part.spread(weights)
        u = np.stack([part.project(column) for column in signed.reshape(len(signed), -1).T], axis=1)
        out = np.empty((len(self), u.shape[1]))
        for some in slices(len(self), BLOCK):
            out[some] = self._coordinates(every, some.start, some.stop) @ u
        return out.reshape(len(self), *signed.shape[1:])

    def features(self, weights: Array) -> Array:
        """Return coordinates of the new points whose inner products are K_d, (n_new, r), of kernels with weight."""
        roots = np.sqrt(self.part.spread(weights))
        used = np.repeat(roots > 0.0, np.diff(self.part.maps.starts))
        return self._coordinates(roots, 0, len(self))[:, used]

    def _coordinates(self, weights: Array, start: int, stop: int) -> Array:
        """Return ``z(x) diag(w)`` for the new points from `start` to `stop`."""
        maps = self.part.maps
        out = np.empty((stop - start, maps.width))
        maps.write(self.new[start:stop], out, weights, first=start)
        out *= np.repeat(weights, np.diff(maps.starts))
        return out


@dataclass(frozen=True)
class NystromPart(Part):
    """Some approximate kernels between any point and some samples, which are known by their coordinates alone."""

    crosses = NystromCross
    maps: FeatureMaps
    rows: Factors  # (n, R): coordinates of samples; the part uses those in `samples`, or all where that is None
    which: Indices  # the kernels' places in the bank
    samples: Indices | None
    bank_shape: tuple[int, int]  # number of kernels and of samples of the bank

    def at(self, points: Array | None) -> NystromPart:
        """Return these kernels between any point and others than the bank's samples."""
        new = np.empty((0, self.maps.n_features)) if points is None else points
        check_columns(new, self.maps.n_features)
        rows = np.empty((len(new), self.maps.width))
        self.maps.write(new, rows, np.ones(self.bank_shape[0]))
        return NystromPart(self.maps, rows, self.which, None, self.bank_shape)

    def project(self, signed: Array) -> Array:
        """Return ``Z'signed`` for the part's samples, (R,)."""
        v = np.ascontiguousarray(signed, dtype=np.float64)
        if self.samples is not None:
            v = np.zeros(len(self.rows))
            v[self.samples] = signed
        return projections(self.rows, v)

    def merged(self, signed: Array) -> tuple[NystromPart, Array]:
        """Return a part of one sample per column of `signed`, and its dual variables, that make the same function.

        ``sum_i beta_i K_d(x, x_i) = z(x)'diag(w) Z'beta``: one point with the coordinates Z'beta stands for all.
        """
        columns = signed.reshape(len(signed), -1)
        rows = np.stack([self.project(column) for column in columns.T])
        duals = np.ones(1) if signed.ndim == 1 else np.eye(len(rows))
        return NystromPart(self.maps, rows, self.which, None, self.bank_shape), duals


def _compensated(columns: slice, rows: Factors, v: Array) -> tuple[Array, Array]:
    """Return Z'v in some columns of a chunk, with what rounding took from it."""
    out, beside, sizes = (np.zeros(columns.stop - columns.start) for _ in range(3))
    for start, stop in pieces(rows, BLOCK):
        part = v[start:stop]
        dots(np.ascontiguousarray(rows[start:stop, columns].T), part, np.zeros(len(part)), out, beside, sizes)
    return out, beside


def _largest_of(starts: Indices, rows: Factors) -> list[float]:
    """Return the largest diagonal entry of each kernel in a chunk, whose columns begin at `starts` (m + 1,)."""
    ones, runs = np.ones(rows.shape[1]), np.stack([starts[:-1], starts[1:]], axis=1)
    return [float(diagonal_of(ones, runs[k : k + 1], rows).max()) for k in range(len(runs))]


def _percent(share: float) -> str:
    return share_text(share) if share >= 1e-5 else "less than 0.001 %"
