"""The kernel bank: m kernels on n samples behind three questions, ``sum_k d_k K_k``, ``v'K_k v`` and ``K_k v``.

Kernels of low rank are kept by their factors and the rest as packed triangles; callers need not know which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklviz._html import fact_table
from mklviz.errors import BankTooLarge, KernelError
from mklviz.problem._factored import FactoredBlock, pivoted_cholesky
from mklviz.problem._normalize import check_normalization, sample_scales
from mklviz.problem._packed import PackedBlock, packed_length
from mklviz.problem._streamed import StreamedGaussians
from mklviz.problem.cross import CrossBank, KernelPart, numbers
from mklviz.problem.kernels import Gaussian, KernelFamily, Polynomial

__all__ = ["KernelBank", "KernelSpec", "paper_bank", "paper_families"]

Array = NDArray[np.float64]
Progress = Callable[[float], None]

MEMORY_LIMIT = 4 * 2**30  # bytes
MAX_RANK = 128  # a factor longer than this, or than n / 3, saves nothing over the packed triangle
TYPICAL_RANK = 16  # of a kernel on one feature; only estimates use it
DESCRIPTION = 400  # bytes that name and parameters of a kernel take, which is all that is kept of a streamed one


class _Block(Protocol):
    label: str

    @property
    def nbytes(self) -> int: ...
    def add_combined(self, weights: Array, out: Array) -> None: ...
    def quad(self, v: Array) -> Array: ...
    def products(self, which: NDArray[np.intp], v: Array) -> Array: ...
    def apply(self, weights: Array, v: Array) -> Array: ...


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """Where one kernel of a bank comes from.

    Attributes
    ----------
    name : str
        Its name on screen, such as "gauss 2⁻¹ on x3".
    family : KernelFamily or None
        None for a Gram matrix given by the user.
    value : float
        The family's parameter (width, degree); nan for a Gram matrix.
    columns : tuple of int
        The features it sees; empty for a Gram matrix.
    """

    name: str
    family: KernelFamily | None
    value: float
    columns: tuple[int, ...]


class KernelBank:
    """m symmetric positive semidefinite kernel matrices on the same n samples.

    Build one with `build`, `from_grams` or `paper_bank`.

    Attributes
    ----------
    kernels : tuple of KernelSpec
    names : list of str
    n_samples : int
    nbytes : int
        Memory the kernels take.
    backend : str
        How they are stored, for people: "429 factored, 13 packed".
    normalize : str
        "trace", "diagonal" or "none".
    convex : bool
        True: K_d is linear in d.
    """

    convex = True

    def __init__(
        self,
        blocks: Sequence[tuple[NDArray[np.intp], _Block]],
        kernels: Sequence[KernelSpec],
        n_samples: int,
        normalize: str,
        points: Array | None,
        scales: Sequence[Array],
    ) -> None:
        self.kernels = tuple(kernels)
        self.names = [kernel.name for kernel in kernels]
        self.n_samples = n_samples
        self.normalize = normalize
        self.points = points
        self._blocks = list(blocks)
        self._scales = list(scales)
        self.nbytes = sum(block.nbytes for _, block in self._blocks)
        self.backend = ", ".join(f"{len(index):,} {block.label}" for index, block in self._blocks)

    def __len__(self) -> int:
        return len(self.kernels)

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
        ]
        return fact_table(f"Kernel bank of {len(self):,} kernels", rows)

    @staticmethod
    def estimate(
        n: int, n_features: int, families: Sequence[KernelFamily], feature_names: Sequence[str] | None = None
    ) -> tuple[int, int]:
        """Return the number of kernels and the bytes a bank would take if all were kept, without building it."""
        sizes = _sizes(n, n_features, families, feature_names)
        return sum(m for m, _ in sizes), sum(size for _, size in sizes)

    @classmethod
    def check_size(
        cls,
        n: int,
        n_features: int,
        families: Sequence[KernelFamily],
        max_bytes: int = MEMORY_LIMIT,
        feature_names: Sequence[str] | None = None,
    ) -> tuple[int, int]:
        """Return the number of kernels and the bytes of the bank that `build` would make, or raise `BankTooLarge`."""
        m, size, _ = _plan(n, n_features, families, max_bytes, feature_names)
        refuse_if_too_large(m, n, size, max_bytes)
        return m, size

    @classmethod
    def build(
        cls,
        X: ArrayLike,
        families: Sequence[KernelFamily],
        normalize: str = "trace",
        feature_names: Sequence[str] | None = None,
        max_bytes: int = MEMORY_LIMIT,
        progress: Progress | None = None,
    ) -> KernelBank:
        """Build the kernels of `families` on the rows of `X`.

        They are kept where they fit into the memory allowed. Where they do not, Gaussian kernels whose widths form a
        geometric series are computed whenever they are needed.

        Parameters
        ----------
        X : (n, d) array
            Samples, standardized as a rule.
        families : sequence of KernelFamily
            Such as ``[Gaussian(on="all+each"), Polynomial(on="each")]``.
        normalize : "trace", "diagonal" or "none"
            Scaling of each kernel.
        feature_names : sequence of str, optional
            Names used in the kernels' names; x1, x2, ... by default.
        max_bytes : int
            Memory allowed; a bank that needs more even so is refused before it is built.
        progress : callable, optional
            Called with the fraction done; may raise to cancel.

        Raises
        ------
        BankTooLarge
            With a sentence that says what to reduce.
        KernelError
            If `X`, a family or a normalization cannot be used.
        """
        points = check_points(X)
        check_normalization(normalize)
        if not families:
            raise KernelError("No kernels were asked for: add at least one kernel family.")
        names = feature_labels(feature_names, points.shape[1])
        m, size, streamed = _plan(len(points), points.shape[1], families, max_bytes, names)
        refuse_if_too_large(m, len(points), size, max_bytes)
        return _Builder(points, families, streamed, normalize, names, max_bytes, m, progress).build()

    @classmethod
    def from_grams(
        cls, grams: ArrayLike | Sequence[ArrayLike], names: Sequence[str] | None = None, normalize: str = "none"
    ) -> KernelBank:
        """Take ready Gram matrices.

        Parameters
        ----------
        grams : (m, n, n) array or sequence of (n, n) arrays
            Symmetric positive semidefinite matrices.
        names : sequence of str, optional
            "kernel 1", "kernel 2", ... by default.
        normalize : "trace", "diagonal" or "none"
            Scaling of each kernel.

        Raises
        ------
        KernelError
            Naming the matrix and what is wrong with it: its shape, its symmetry, an entry or an eigenvalue.
        """
        check_normalization(normalize)
        matrices = [numbers(gram, "A Gram matrix") for gram in grams]  # type: ignore[union-attr]
        if not matrices or not matrices[0].size:
            raise KernelError("No Gram matrices were given.")
        n = matrices[0].shape[-1] if matrices[0].ndim else 1
        labels = list(names) if names is not None else [f"kernel {k + 1}" for k in range(len(matrices))]
        if len(labels) != len(matrices):
            raise KernelError(f"{len(matrices)} Gram matrices need as many names, but {len(labels)} were given.")
        refuse_if_too_large(len(matrices), n, 8 * len(matrices) * packed_length(n))
        scales = []
        for k, matrix in enumerate(matrices):
            check_gram(matrix, labels[k], n)
            scales.append(sample_scales(np.diag(matrix).copy(), normalize, labels[k]))
        scaled = [matrix * np.outer(c, c) for matrix, c in zip(matrices, scales, strict=True)]
        block = PackedBlock.from_matrices(scaled)
        specs = [KernelSpec(label, None, float("nan"), ()) for label in labels]
        return cls([(np.arange(len(matrices)), block)], specs, n, normalize, None, scales)

    def combine(self, weights: Array, out: Array | None = None) -> Array:
        """Return ``K_d = sum_k weights_k K_k``, (n, n) in C order, written into `out` if given."""
        combined = np.empty((self.n_samples, self.n_samples)) if out is None else out
        combined[:] = 0.0
        for index, block in self._blocks:
            block.add_combined(weights[index], combined)
        return combined

    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v`` for every kernel, (m,); summed over the columns where v is (n, c)."""
        out = np.empty(len(self))
        for index, block in self._blocks:
            out[index] = block.quad(v)
        return np.maximum(out, 0.0)  # rounding can leave -1e-20 where K_k v cancels, and roots are taken of these

    def slopes(self, weights: Array, signed: Array, kernel: Array | None = None) -> Array:
        """Return the gradient of J in d, ``-1/2 beta'K_k beta`` for every k, (m,): the same at all weights."""
        return -0.5 * self.quad(signed)

    def products(self, v: Array, which: NDArray[np.intp]) -> Array:
        """Return ``K_k v`` for the kernels k in `which`, (len(which), n)."""
        out = np.empty((len(which), self.n_samples))
        for index, block in self._blocks:
            rows = np.flatnonzero(np.isin(which, index))
            if len(rows):
                out[rows] = block.products(np.searchsorted(index, which[rows]), v)
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``K_d v``, like v (n,) or (n, c), without forming K_d."""
        if v.ndim == 2:
            return np.stack([self.apply(weights, column) for column in v.T], axis=1)
        return np.asarray(sum(block.apply(weights[index], v) for index, block in self._blocks))

    def part(self, which: NDArray[np.intp] | None = None, samples: NDArray[np.intp] | None = None) -> KernelPart:
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
        specs = [self.kernels[k] for k in which]
        shape = len(self), self.n_samples
        streams = []
        for index, block in self._blocks:
            if isinstance(block, StreamedGaussians):
                places = np.flatnonzero(np.isin(which, index))
                streams.append((places, np.searchsorted(index, which[places]), block))
        return KernelPart(tuple(specs), tuple(scales), points, self.normalize, which, samples, shape, tuple(streams))

    def cross(self, X_new: ArrayLike) -> CrossBank:
        """Return the kernels between new points and the bank's samples.

        Parameters
        ----------
        X_new : (n_new, d) array, or (m, n_new, n) array for a bank of Gram matrices
        """
        return self.part().cross(X_new)


class _Builder:
    """Builds the blocks of a bank kernel by kernel."""

    def __init__(
        self,
        points: Array,
        families: Sequence[KernelFamily],
        streamed: Sequence[bool],
        normalize: str,
        feature_names: list[str],
        max_bytes: int,
        m: int,
        progress: Progress | None,
    ) -> None:
        self.points, self.families, self.streamed, self.normalize = points, families, streamed, normalize
        self.feature_names, self.max_bytes, self.m, self.progress = feature_names, max_bytes, m, progress
        self.specs: list[KernelSpec] = []
        self.scales: list[Array] = []
        self.factored: tuple[list[int], list[Array]] = ([], [])
        self.packed: tuple[list[int], list[Array]] = ([], [])
        self.size = 0

    def build(self) -> KernelBank:
        n = len(self.points)
        blocks: list[tuple[NDArray[np.intp], _Block]] = []
        for family, streamed in zip(self.families, self.streamed, strict=True):
            subsets = family.subsets(self.points.shape[1], self.feature_names)
            if streamed:
                blocks.append(self._stream(family, subsets))
                continue
            for subset, columns in subsets:
                self._add(family, subset, columns)
        if self.factored[0]:
            blocks.append((np.array(self.factored[0]), FactoredBlock(self.factored[1])))
        if self.packed[0]:
            blocks.append((np.array(self.packed[0]), PackedBlock(self._packed_rows(), n)))
        return KernelBank(blocks, self.specs, n, self.normalize, self.points, self.scales)

    def _stream(
        self, family: KernelFamily, subsets: Sequence[tuple[str, tuple[int, ...]]]
    ) -> tuple[NDArray[np.intp], StreamedGaussians]:
        """Describe the kernels of a family, and return what computes them."""
        scale = sample_scales(np.ones(len(self.points)), self.normalize, family.label)  # a Gaussian's diagonal is one
        first, values = len(self.specs), family.values()
        described = [family.describe(value) for value in values]
        for subset, columns in subsets:
            for value, text in zip(values, described, strict=True):
                self.specs.append(KernelSpec(f"{text} on {subset}", family, value, columns))
            if self.progress is not None:
                self.progress(len(self.specs) / self.m)
        self.scales += [scale] * (len(self.specs) - first)
        block = StreamedGaussians(self.points, [columns for _, columns in subsets], values, float(scale[0] ** 2))
        return np.arange(first, len(self.specs)), block

    def _packed_rows(self) -> Array:
        triangles = self.packed[1]
        rows = np.empty((len(triangles), len(triangles[0])))
        for k in range(len(triangles) - 1, -1, -1):  # each is freed once copied: the bank never exists twice
            rows[k] = triangles.pop()
        return rows

    def _add(self, family: KernelFamily, subset: str, columns: tuple[int, ...]) -> None:
        points = self.points[:, list(columns)]
        base: Array | None = None  # formed only where a kernel turns out to have full rank
        for value in family.values():
            name = f"{family.describe(value)} on {subset}"
            diagonal = family.diagonal(points, value)
            scale = sample_scales(diagonal, self.normalize, name)
            factor = self._factor(family, value, points, diagonal) if len(columns) == 1 else None
            k = len(self.specs)
            if factor is not None:
                self.factored[0].append(k)
                self.factored[1].append(factor * scale)
                self.size += factor.nbytes
            else:
                base = family.base(points, points) if base is None else base
                triangle = np.empty(packed_length(len(points)))
                _pack_scaled(family.profile(base, value), scale, triangle)
                self.packed[0].append(k)
                self.packed[1].append(triangle)
                self.size += triangle.nbytes
            self.specs.append(KernelSpec(name, family, value, columns))
            self.scales.append(scale)
            refuse_if_too_large(self.m, len(points), self.size, self.max_bytes)
            if self.progress is not None:
                self.progress((k + 1) / self.m)

    def _factor(self, family: KernelFamily, value: float, points: Array, diagonal: Array) -> Array | None:
        def column(pivot: int) -> Array:
            return family.profile(family.base(points, points[pivot : pivot + 1]), value)[:, 0]

        return pivoted_cholesky(diagonal, column, max(min(len(points) // 3, MAX_RANK), 1))


def _sizes(
    n: int, n_features: int, families: Sequence[KernelFamily], feature_names: Sequence[str] | None
) -> list[tuple[int, int]]:
    """Return the number of kernels of each family, and the bytes they take where they are kept."""
    names = feature_labels(feature_names, n_features)
    low, full = 8 * min(TYPICAL_RANK * n, packed_length(n)), 8 * packed_length(n)
    sizes = []
    for family in families:
        subsets, values = family.subsets(n_features, names), len(family.values())
        alone = sum(len(columns) == 1 for _, columns in subsets)
        sizes.append((len(subsets) * values, (alone * low + (len(subsets) - alone) * full) * values))
    return sizes


def _plan(
    n: int, n_features: int, families: Sequence[KernelFamily], max_bytes: int, feature_names: Sequence[str] | None
) -> tuple[int, int, list[bool]]:
    """Return the kernels and the bytes of a bank, and which families are computed on the fly so that it fits."""
    sizes = _sizes(n, n_features, families, feature_names)
    streamed = [sum(size for _, size in sizes) > max_bytes and family.streams for family in families]
    size = sum(DESCRIPTION * m if on_the_fly else size for (m, size), on_the_fly in zip(sizes, streamed, strict=True))
    return sum(m for m, _ in sizes), size, streamed


def _pack_scaled(matrix: Array, scale: Array, out: Array) -> None:
    from mklviz.problem._packed import pack

    pack(np.ascontiguousarray(matrix * np.outer(scale, scale)), out)


def feature_labels(given: Sequence[str] | None, n_features: int) -> list[str]:
    names = [f"x{j + 1}" for j in range(n_features)] if given is None else [str(name) for name in given]
    if len(names) != n_features:
        raise KernelError(f"X has {n_features} features, but {len(names)} feature names were given.")
    return names


def check_points(X: ArrayLike) -> Array:
    points = numbers(X, "X").copy()
    if points.ndim != 2 or 0 in points.shape:
        raise KernelError(f"X must be a table of samples by features, but its shape is {points.shape}.")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise KernelError(f"X holds {points[row, column]} in row {row}, column {column}: every entry must be finite.")
    points.setflags(write=False)
    return points


def refuse_if_too_large(m: int, n: int, size: int, max_bytes: int = MEMORY_LIMIT) -> None:
    if size > max_bytes:
        raise BankTooLarge(
            f"{m:,} kernels on {n:,} samples need about {size / 2**30:.1f} GB, but {max_bytes / 2**30:.1f} GB are"
            " allowed: use fewer samples, fewer widths or degrees, or kernels on each feature only."
        )


def check_symmetric(matrix: Array, what: str, n: int) -> float:
    """Return the largest entry's size, or raise `KernelError` unless `matrix` is (n, n), finite and symmetric."""
    if matrix.shape != (n, n):
        raise KernelError(f"{what} must have shape ({n}, {n}), but has {matrix.shape}.")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise KernelError(f"{what} holds {matrix[i, j]} at ({i}, {j}): every entry must be finite.")
    size = float(np.abs(matrix).max())
    i, j = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
    if abs(matrix[i, j] - matrix[j, i]) > 1e-8 * size:
        raise KernelError(
            f"{what} is not symmetric: entry ({i}, {j}) is {matrix[i, j]:g}, but ({j}, {i}) is {matrix[j, i]:g}."
        )
    return size


def check_gram(matrix: Array, name: str, n: int) -> None:
    """Raise `KernelError` unless `matrix` is an (n, n) symmetric positive semidefinite matrix."""
    size = check_symmetric(matrix, f"The Gram matrix {name}", n)
    try:  # a Cholesky decomposition is ten times cheaper than the eigenvalues
        np.linalg.cholesky(matrix + 1e-8 * max(size, 1e-300) * n**0.5 * np.eye(n))
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise KernelError(
            f"The Gram matrix {name} is not positive semidefinite: its smallest eigenvalue is {smallest:.3g}."
        ) from None


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
    """
    return KernelBank.build(X, paper_families(), normalize="trace", feature_names=feature_names)
