"""The kernel bank: m kernels on n samples behind three questions, ``sum_k d_k K_k``, ``v'K_k v`` and ``K_k v``.

Kernels of low rank are kept by their factors and the rest as packed triangles; callers need not know which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import spending
from mklviz.context.blas import one_blas_thread
from mklviz.datasets import GramFiles
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.builder import Block, Builder, Progress, family_sizes, plan
from mklviz.kernels.evaluation.checks import (
    MEMORY_LIMIT,
    check_memory,
    check_normalization,
    checked_weights,
    feature_labels,
    own_points,
    read_families,
    refuse_if_too_large,
    size_remark,
    zero_kernels,
)
from mklviz.kernels.evaluation.grams import Grams, check_precision, open_files, take_grams, take_there
from mklviz.kernels.evaluation.specs import Given, KernelSpec, Made, name_of, of_distances, picked
from mklviz.kernels.families import Gaussian, KernelFamily, Polynomial
from mklviz.kernels.interface import Bank, Kind, column_names, of_table
from mklviz.kernels.part import KernelPart
from mklviz.kernels.storage.cluster import client_for
from mklviz.kernels.storage.disk import dask_array, is_dask
from mklviz.kernels.storage.factored import FactoredBlock
from mklviz.kernels.storage.packed import PACKED_SINGLE, ROUNDED
from mklviz.kernels.storage.repeated import RepeatedBlock
from mklviz.kernels.storage.rows import (
    CACHE_MB,
    ComputedBlock,
    FactorRows,
    SumRows,
    Term,
    by_rows,
    check_cache,
    refuse_matrix,
)
from mklviz.kernels.storage.streamed import StreamedGaussians
from mklviz.kernels.storage.triangles import compensated_forms, error_of_forms, mirror
from mklviz.lazy import cached_property
from mklviz.quoting import fact_table
from mklviz.typing import Array, Flags, Indices

NO_MATRIX = "K_d is never formed: a solver takes its rows as it needs them, and keeps those used lately."
MANY = 10_000  # kernels that are described one by one, on request
ROUNDED_SAMPLES, ROUNDED_ROWS = 500, 1000  # from which multiplying factors in single precision pays
ROWS_PER_DENSE = 80  # rows of factors there must be for each dense kernel, which certificates read once more


class KernelBank(Bank):
    """m symmetric positive semidefinite kernel matrices on the same n samples.

    Build one with `build`, `from_grams` or `paper_bank`.

    Attributes
    ----------
    kernels : sequence of KernelSpec
    names : sequence of str
        A tuple and a list, but for kernels computed on the fly, which may be a million, made when asked for.
    n_samples : int
    nbytes : int
        Memory the kernels take.
    backend : str
        How they are stored, for people: "429 factored, 13 packed".
    normalize : str
        "trace", "mean-diagonal", "diagonal" or "none".
    notes : tuple of str
        What else is to be known of them, a sentence each.
    convex : bool
        True: K_d is linear in d.
    kind : str
        "sum".
    access : str
        "rows" where K_d is never formed, as matrices on so many samples are too large or as `build` was asked;
        "matrix" elsewhere.

    Examples
    --------
    >>> bank = mv.KernelBank.build(np.eye(3), "gauss:1 linear")
    >>> bank.names, bank.n_samples
    (['gauss 2⁰ on all', 'linear on all'], 3)
    """

    convex = True
    kind: Kind = "sum"

    def __init__(
        self,
        blocks: Sequence[tuple[Indices, Block | ComputedBlock]],
        kernels: Sequence[KernelSpec],
        n_samples: int,
        normalize: str,
        points: Array | None,
        scales: Sequence[Array],
        notes: Sequence[str] = (),
        cache_mb: int = CACHE_MB,
        rows: bool = False,
        given: Given | None = None,
    ) -> None:
        many = isinstance(kernels, Made)
        self.kernels: Sequence[KernelSpec] = kernels if many else tuple(kernels)
        names = Made(len(kernels), partial(name_of, kernels))
        self.names = names if many else list(names)
        self.n_samples = n_samples
        self.normalize = normalize
        self.points = points
        self._given = given
        self.notes = (*notes, *zero_kernels(scales, self.names))
        self._blocks = list(blocks)
        self._scales = list(scales)
        self.nbytes = sum(block.nbytes for _, block in self._blocks)
        labels: Counter[str] = Counter()
        for index, block in self._blocks:
            labels[block.label] += len(index)
        self.backend = ", ".join(f"{count:,} {label}" for label, count in labels.items())
        if PACKED_SINGLE in labels:
            self.notes += (ROUNDED,)
        # K_d is then given by rows even if every kernel of the sum has factors
        self.access = "rows" if rows else "matrix"
        if rows:
            self.notes += (NO_MATRIX,)
        self._cache_bytes = check_cache(cache_mb) * 2**20

    def __repr__(self) -> str:
        megabytes = self.nbytes / 2**20
        return f"KernelBank({len(self)} kernels, {self.n_samples} samples, {megabytes:.1f} MB: {self.backend})"

    def _repr_html_(self) -> str:
        kinds = Counter(spec.family.label if spec.family else "Gram matrix" for spec in self.kernels)
        rows = [
            ("kernels", ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())),
            ("samples", f"{self.n_samples:,}"),
            ("normalization", self.normalize),
            ("stored", f"{self.backend}; {self.nbytes / 2**20:.1f} MB"),
            ("first", ", ".join(self.names[:3])),
            *(("note", note) for note in (*self.notes, size_remark(self)) if note),
        ]
        return fact_table(f"Kernel bank of {len(self):,} kernels", rows)

    @staticmethod
    def estimate(
        n: int, n_features: int, families: Sequence[KernelFamily], feature_names: Sequence[str] | None = None
    ) -> tuple[int, int]:
        """Return the number of kernels and the bytes a bank would take if all were kept, without building it."""
        sizes = family_sizes(n, n_features, families, feature_names, by_rows(n))
        return sum(m for m, *_ in sizes), sum(factors + rest for _, factors, rest, _ in sizes)

    @classmethod
    def check_size(
        cls,
        n: int,
        n_features: int,
        families: Sequence[KernelFamily],
        max_bytes: int = MEMORY_LIMIT,
        feature_names: Sequence[str] | None = None,
        precision: str = "auto",
        rows: bool = False,
    ) -> tuple[int, int]:
        """Return the number of kernels and the bytes of the bank that `build` would make, or raise `BankTooLarge`."""
        planned = plan(n, n_features, families, max_bytes, feature_names, precision, rows)
        refuse_if_too_large(planned.m, n, planned.size, max_bytes)
        return planned.m, planned.size

    @classmethod
    @one_blas_thread()  # whatever else runs meanwhile: kernels are the same bit for bit
    def build(
        cls,
        X: ArrayLike,
        families: Sequence[KernelFamily],
        normalize: str = "trace",
        feature_names: Sequence[str] | None = None,
        max_bytes: int = MEMORY_LIMIT,
        progress: Progress | None = None,
        precision: str = "auto",
        cache_mb: int = CACHE_MB,
        rows: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> KernelBank:
        """Build the kernels of `families` on the rows of `X`.

        They are kept where they fit into the memory allowed. Where they do not, Gaussian kernels whose widths form a
        geometric series are computed whenever they are needed; where that is not enough, the matrices of the others
        are kept in single precision. Where a single matrix would take more than half a gigabyte, on more than 8,192
        samples, none is formed: kernels without factors are computed row by row.

        Parameters
        ----------
        X : (n, d) array
            Samples, standardized as a rule.
        families : sequence of KernelFamily
            Such as ``[Gaussian(on="all+each"), Polynomial(on="each")]``, or in words, "gauss@all+each poly@each".
        normalize : "trace", "mean-diagonal", "diagonal" or "none"
            Scaling of each kernel.
        feature_names : sequence of str, optional
            Names used in the kernels' names; by default those of a DataFrame's columns, or x1, x2, ...
        max_bytes : int
            Memory allowed; a bank that needs more even so is refused before it is built.
        progress : callable, optional
            Called with the fraction done; may raise to cancel.
        precision : "auto", "double" or "single"
            Of kernel matrices kept as a whole. Single precision takes half the memory and the time to read it, and
            rounds every entry, by up to 6e-8 of its size; sums are of double precision always. By default it is used
            where only so the bank fits. `backend` tells.
        cache_mb : int
            Memory for rows used lately, of each solver, where kernels are computed row by row.
        rows : bool
            Form no kernel matrix on fewer samples either: with the papers' kernels on ten features and 1,000 samples
            a third of the memory and four times the time.
        sample_weight : (n,) array or float, optional
            How often each sample counts for the trace and the mean diagonal; once by default.

        Raises
        ------
        BankTooLarge
            With a sentence that says what to reduce.
        KernelError
            If `X`, a family or a normalization cannot be used.
        ProblemError
            If the weights of the samples cannot be used.
        """
        points = own_points(X)
        check_normalization(normalize)
        check_precision(precision)
        families = read_families(families)
        check_memory(max_bytes)
        check_cache(cache_mb)
        names = feature_labels(feature_names, points.shape[1], X)
        planned = plan(len(points), points.shape[1], families, max_bytes, names, precision, rows)
        refuse_if_too_large(planned.m, len(points), planned.size, max_bytes)
        counts = checked_weights(sample_weight, len(points))
        builder = Builder(points, families, planned, normalize, names, max_bytes, progress, counts)
        blocks = builder.build()
        parts = blocks, builder.specs, len(points), normalize, points, builder.scales
        bank = cls(*parts, cache_mb=cache_mb, rows=planned.by_rows)
        return of_table(bank, feature_names, column_names(X))

    @classmethod
    def from_grams(
        cls,
        grams: ArrayLike | Sequence[ArrayLike],
        names: Sequence[str] | None = None,
        normalize: str = "none",
        max_bytes: int = MEMORY_LIMIT,
        precision: str = "auto",
        sample_weight: ArrayLike | None = None,
        repair: str | None = None,
    ) -> KernelBank:
        """Take ready Gram matrices.

        Parameters
        ----------
        grams : (m, n, n) array or sequence of (n, n) arrays, also sparse ones of SciPy
            Symmetric positive semidefinite matrices; one triangle of each is enough.
            Those that NumPy has mapped from files, as ``np.load`` does with ``mmap_mode="r"``, stay on disk where they
            do not fit into the memory allowed. With a ``distributed.Client``, those in a Dask array (m, n, n) stand in
            the memory of the cluster's workers, some kernels on each.
        names : sequence of str, optional
            "kernel 1", "kernel 2", ... by default.
        normalize : "trace", "mean-diagonal", "diagonal" or "none"
            Scaling of each kernel.
        max_bytes : int
            Memory allowed.
        precision : "auto", "double" or "single"
            See `build`; matrices given in single precision are kept so as well.
        sample_weight : (n,) array or float, optional
            How often each sample counts for the trace and the mean diagonal; once by default.
        repair : "clip", "flip" or "shift", optional
            What is done to negative eigenvalues: they are set to zero, lose their sign, or the least of them is
            subtracted from all (Chen et al. 2009); kernel values of new points are changed likewise. What rounding
            leaves, to 1e-4 of the largest eigenvalue, is set to zero always.

        Raises
        ------
        KernelError
            Naming the matrix and what is wrong with it: its shape, its symmetry, an entry or an eigenvalue.
        ProblemError
            If the weights of the samples cannot be used.
        BankTooLarge
            If they do not fit into the memory allowed and are not mapped from files.
        """
        check_normalization(normalize)
        check_memory(max_bytes)
        grams = dask_array(grams, "The stack of Gram matrices") if is_dask(grams) else grams
        client = client_for(grams) if is_dask(grams) else None
        if client is not None:
            options = normalize, max_bytes, precision, None, sample_weight, repair
            return cls._of(take_there(client, grams, names, *options), normalize)
        if not isinstance(grams, Iterable) or isinstance(grams, str):
            raise KernelError(f"Gram matrices come as an (m, n, n) array or as a list, but {grams!r:.80} was given.")
        listed: Any = grams if isinstance(grams, GramFiles) else list(grams)
        every: Sequence[Any] = [grams] if hasattr(grams, "toarray") else listed
        taken = take_grams(every, names, normalize, max_bytes, precision, None, sample_weight, repair)
        return cls._of(taken, normalize)

    @classmethod
    def from_distances(
        cls,
        distances: ArrayLike | Sequence[ArrayLike],
        families: Sequence[KernelFamily],
        names: Sequence[str] | None = None,
        normalize: str = "trace",
        max_bytes: int = MEMORY_LIMIT,
        repair: str | None = None,
    ) -> KernelBank:
        """Make kernels of ready distance matrices.

        Parameters
        ----------
        distances : (m, n, n) array or sequence of (n, n) arrays
            Symmetric, nothing negative, zeros on the diagonal.
        families : sequence of KernelFamily
            Functions of a distance D: ``Gaussian(widths)`` makes exp(-D²/(2w²)), ``Laplacian(widths)`` exp(-D/w).
        names : sequence of str, optional
            Of the distances; "distance 1", "distance 2", ... by default.
        normalize, max_bytes, repair
            See `from_grams`. Distances other than those between points of a space may need a repair.

        Raises
        ------
        KernelError
            Naming the matrix and what is wrong with it.
        """
        check_normalization(normalize)
        check_memory(max_bytes)
        families = read_families(families)
        given_ones: list[Any] = list(distances)  # type: ignore[arg-type]
        matrices, sources, specs = of_distances(given_ones, families, names)
        taken = take_grams(matrices, [spec.name for spec in specs], normalize, max_bytes, "auto", None, None, repair)
        given = Given((max(sources) + 1, taken.n), sources, specs, taken.repairs)
        return cls(taken.blocks, specs, taken.n, normalize, None, taken.scales, taken.notes, given=given)

    @classmethod
    def from_files(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        names: Sequence[str] | None = None,
        normalize: str = "none",
        max_bytes: int = MEMORY_LIMIT,
        precision: str = "auto",
        progress: Progress | None = None,
    ) -> KernelBank:
        """Take ready Gram matrices from files, which stay on disk where they do not fit into the memory allowed.

        Parameters
        ----------
        paths : path or sequence of paths
            Files that ``numpy.save`` wrote, of one matrix (n, n) or several (m, n, n) each, or a folder of them, which
            is read in the order of the files' names.
        names : sequence of str, optional
            The files' names without their suffix by default.
        progress : callable, optional
            Called with the fraction of matrices checked; may raise to cancel.
        normalize, max_bytes, precision
            See `from_grams`.

        Raises
        ------
        KernelError
            Naming the file or the matrix and what is wrong with it.
        """
        check_normalization(normalize)
        matrices, stems = open_files(paths)
        grams = take_grams(matrices, names or stems, normalize, max_bytes, precision, progress)
        return cls._of(grams, normalize)

    @classmethod
    def _of(cls, grams: Grams, normalize: str) -> KernelBank:
        specs = [KernelSpec(name, None, float("nan"), ()) for name in grams.names]
        m, given = len(specs), None
        if any(repair is not None for repair in grams.repairs):
            given = Given((m, grams.n), tuple(range(m)), specs, grams.repairs)
        return cls(grams.blocks, specs, grams.n, normalize, None, grams.scales, grams.notes, given=given)

    @spending("combine")
    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d = sum_k weights_k K_k``, (n, n) in C order, written into `out` if given."""
        return self._combined(weights, out, rounded=False)

    @property
    def rounding_pays(self) -> bool:
        """Whether `combine_rounded` and `apply` take less than `combine`: large factors are most of the work."""
        if self.access != "matrix" or self.n_samples < ROUNDED_SAMPLES:
            return False
        rows, dense = 0, 0
        for index, block in self._blocks:
            if isinstance(block, StreamedGaussians):  # to apply them is to form them
                return False
            if isinstance(block, FactoredBlock):
                rows += len(block.stacked)
            elif not isinstance(block, RepeatedBlock):
                dense += len(index)
        return rows >= max(ROUNDED_ROWS, ROWS_PER_DENSE * dense)

    @spending("combine")
    def combine_rounded(self, weights: Array, out: Array | None = None) -> Array:
        """Return what `combine` does, its factors multiplied in single precision: entries are right to about 1e-6."""
        return self._combined(weights, out, rounded=True)

    def _combined(self, weights: Array, out: Array | None, rounded: bool) -> Array:
        if self.access != "matrix":
            refuse_matrix(self.n_samples)
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        weights = np.asarray(weights, dtype=np.float64)
        for number, (index, block) in enumerate(self._blocks):
            assert not isinstance(block, ComputedBlock)  # which only stands where matrices are refused
            add = block.add_combined_rounded if rounded and isinstance(block, FactoredBlock) else block.add_combined
            add(weights[index], combined, fresh=number == 0)
        mirror(combined)
        return combined

    def kernel(self, weights: Array) -> SumRows:
        """Return K_d by rows; see `RowKernel`."""
        parts: list[Term | FactorRows] = []
        for index, block in self._blocks:
            if isinstance(block, ComputedBlock):
                parts += block.weighted(weights[index])
            elif isinstance(block, (FactoredBlock, RepeatedBlock)):
                parts.append(FactorRows(block.factor(weights[index])))
        return SumRows(parts, self.n_samples, self._cache_bytes)

    @spending("gradient")
    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v`` for every kernel, (m,); summed over the columns where v is (n, c)."""
        out, v = np.empty(len(self)), np.asarray(v, dtype=np.float64)
        for index, block in self._blocks:
            out[index] = block.quad(v)
        return np.maximum(out, 0.0)  # rounding can leave -1e-20 where K_k v cancels, and roots are taken of these

    def quad_error(self, v: Array, quad: Array) -> Array:
        """Return how far `quad` (m,) may be from ``v'K_k v`` by rounding, at most."""
        return error_of_forms(self._largest, self._from_factors, v, quad)

    @spending("gradient")
    def quad_compensated(self, v: Array, which: Indices) -> tuple[Array, Array]:
        """Return ``v'K_k v`` as if computed with twice the digits, and ``|v|'|K_k||v|``, for the kernels in `which`.

        The latter is 0 for kernels given by factors, whose forms are sums of squares.
        """
        kernels: list[tuple[Block | ComputedBlock, int]] = []
        for k in which:
            positions = [(index, block, int(np.searchsorted(index, k))) for index, block in self._blocks]
            kernels += [(block, at) for index, block, at in positions if at < len(index) and index[at] == k]
        return compensated_forms(kernels, v)

    @cached_property
    def _largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        out = np.empty(len(self))
        for index, block in self._blocks:
            out[index] = block.largest
        return out

    @cached_property
    def _from_factors(self) -> Flags:
        """Which kernels are given by factors, (m,)."""
        out = np.zeros(len(self), dtype=bool)
        for index, block in self._blocks:
            out[index] = isinstance(block, (FactoredBlock, RepeatedBlock))
        return out

    @spending("gradient")
    def products(self, v: Array, which: Indices) -> Array:
        """Return ``K_k v`` for the kernels k in `which`, (len(which), n)."""
        out = np.empty((len(which), self.n_samples))
        for index, block in self._blocks:
            positions = np.searchsorted(index, which)
            rows = np.flatnonzero(index[np.minimum(positions, len(index) - 1)] == which)
            if len(rows):
                out[rows] = block.products(positions[rows], v)
        return out

    @spending("combine")
    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``, like v (n,) or (n, c), without forming K_d."""
        weights, v = np.asarray(weights, dtype=np.float64), np.asarray(v, dtype=np.float64)
        if v.ndim == 2:
            return np.stack([self.apply(weights, column) for column in v.T], axis=1)
        return np.asarray(sum(block.apply(weights[index], v) for index, block in self._blocks))

    def part(self, which: Indices | None = None, samples: Indices | None = None) -> KernelPart:
        """Return the kernels `which` between any point and `samples`, without the Gram matrices; all by default."""
        which = np.arange(len(self)) if which is None else which
        everywhere = samples is None
        samples = np.arange(self.n_samples) if samples is None else samples
        sliced: dict[int, Array] = {}  # kernels computed on the fly have one scale among them
        for k in which:
            scale = self._scales[k]
            sliced.setdefault(id(scale), scale if everywhere else scale[samples])
        scales = [sliced[id(self._scales[k])] for k in which]
        points = self.points if everywhere or self.points is None else self.points[samples]
        specs: Sequence[KernelSpec] = Made(len(which), partial(picked, self.kernels, which))
        specs = specs if len(which) > MANY else tuple(specs)
        shape = len(self), self.n_samples
        streams = []
        for index, block in self._blocks:
            if isinstance(block, StreamedGaussians):
                positions = np.flatnonzero(np.isin(which, index))
                streams.append((positions, np.searchsorted(index, which[positions]), block))
        return KernelPart(
            specs, tuple(scales), points, self.normalize, which, samples, shape, tuple(streams), self._given
        )

    def only(self, keep: Indices) -> KernelBank:
        """Return the bank on the samples `keep`, ascending, its kernels scaled as they are here."""
        sliced = {id(scale): scale[keep] for scale in self._scales}  # kernels computed on the fly share one
        blocks = [(index, block.only(keep)) for index, block in self._blocks]
        points = None if self.points is None else self.points[keep]
        scales = [sliced[id(scale)] for scale in self._scales]
        parts = blocks, self.kernels, len(keep), self.normalize, points, scales
        given = self._given  # of all samples: kernels between new points and some of them are taken from the whole bank
        bank = KernelBank(*parts, cache_mb=self._cache_bytes // 2**20, rows=self.access == "rows", given=given)
        return of_table(bank, *getattr(self, "table_columns", ()))

    def miniatures(self, X: Array) -> list[KernelBank]:
        """Return a bank on the points X (n, d) that needs the same compiled functions."""
        bank = paper_bank(X)
        if "on the fly" in self.backend:
            families = [Gaussian(on="all+each")]
            bank = KernelBank.build(X, families, max_bytes=KernelBank.estimate(len(X), X.shape[1], families)[1] // 2)
        bank.access = self.access
        return [bank]


def paper_families() -> list[KernelFamily]:
    """Return the families of the papers: Gaussians 2⁻³ … 2⁶ and polynomials 1 … 3 on all and on each feature."""
    return [Gaussian(on="all+each"), Polynomial(on="all+each")]


def paper_bank(X: ArrayLike, feature_names: Sequence[str] | None = None) -> KernelBank:
    """Build the papers' kernel bank, 13 (d + 1) kernels of unit trace (Level method paper, section 4).

    Parameters
    ----------
    X : (n, d) array
        Standardized samples.
    feature_names : sequence of str, optional

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> mv.paper_bank(train.X)
    KernelBank(182 kernels, 135 samples, 1.5 MB: 165 factored, 17 packed)
    """
    return KernelBank.build(X, paper_families(), normalize="trace", feature_names=feature_names)
