"""Gram matrices that people give, as arrays or in files: checked, normalized, and kept in memory or left on disk.

Symmetry is tested by rows with one vector v of random numbers: K v and K'v, found in one pass over K, differ in row i
as soon as K_ij and K_ji do. Every principal submatrix of a positive semidefinite matrix is positive semidefinite, so
that of many samples only some, drawn at random, are tested where all would take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context import checkpoint, slices
from mklviz.context.blas import one_blas_thread
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import checked_weights, refuse_if_too_large, sample_scales
from mklviz.kernels.evaluation.specs import MOST_REPAIRED, ROUNDING, Mended, Repair, check_repair, indefinite
from mklviz.kernels.interface import numbers, refuse_masked
from mklviz.kernels.storage.cluster import OnWorkers, begun
from mklviz.kernels.storage.packed import PackedBlock, check_single, pack_scaled
from mklviz.kernels.storage.shards import SHARD, ShardedBlock
from mklviz.kernels.storage.triangles import (
    TOGETHER,
    Entries,
    add_rows,
    forms,
    forms_of_triangle,
    packed_length,
    product,
    products,
)
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices

# Gram matrices that stay in their files, mapped into memory: read from disk as they are needed, never held as a whole.
#
# Each is a whole (n, n) matrix of which the lower half is read, a band of rows at a time; the operating system keeps in
# memory what there is room for. With c the scales of the normalization, K_ij = c_i c_j G_ij,
#
#     v'K v = (c o v)'G (c o v),        K v = c o G (c o v).

BAND = 2**16  # entries of the sum that stay in the second-level cache while several matrices are added to it
PIECE = 2**22  # entries read between two checkpoints: some tenths of a second from a slow disk


class MappedBlock:
    """Kernels c_i c_j G_ij, G in files. `matrices`: G, all of double or all of single precision, each in C order."""

    def __init__(self, matrices: Sequence[Entries], scales: Sequence[Array]) -> None:
        self.n = len(matrices[0])
        self._entries = [np.asarray(matrix).reshape(-1) for matrix in matrices]
        self._scales = list(scales)
        single = matrices[0].dtype == np.float32
        self.label = "memory-mapped from disk" + (" in single precision" if single else "")

    @property
    def nbytes(self) -> int:
        """Memory taken: the scales alone."""
        return sum(scale.nbytes for scale in self._scales)

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`, touching only kernels with weight."""
        if fresh:
            out[:] = 0.0
        active = np.flatnonzero(weights).tolist()
        groups = [active[a : a + TOGETHER] for a in range(0, len(active), TOGETHER)]
        for first, last in self._rows(BAND):
            for group in groups:
                checkpoint()
                four = group + group[-1:] * (TOGETHER - len(group))  # the last again, without weight
                padded = np.zeros(TOGETHER)
                padded[: len(group)] = weights[group]
                entries, scales = tuple(self._entries[k] for k in four), tuple(self._scales[k] for k in four)
                add_rows(entries, scales, padded, first, last, out)

    def quad(self, v: Array) -> Array:
        out = np.zeros(len(self._entries))
        columns = np.ascontiguousarray(np.atleast_2d(v.T))
        for k, (entries, scale) in enumerate(zip(self._entries, self._scales, strict=True)):
            scaled = columns * scale
            for first, last in self._rows(PIECE):
                forms(entries[None, :], self.n, scaled, first, last, out[k : k + 1])
        return out

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        pairs = zip(self._entries, self._scales, strict=True)
        return np.array([float((entries[:: self.n + 1] * scale**2).max()) for entries, scale in pairs])

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        out, (scaled, rest) = np.zeros(3), products(self._scales[k], v)
        for first, last in self._rows(PIECE // 8):
            forms_of_triangle(self._entries[k], self.n, first, last, scaled, rest, out)
        return float(out[0] + out[1]), float(out[2])

    def products(self, which: Indices, v: Array) -> Array:
        out = np.zeros((len(which), self.n))
        for row, k in zip(out, which, strict=True):
            scaled = v * self._scales[k]
            for first, last in self._rows(PIECE):
                product(self._entries[k], self.n, scaled, first, last, row)
            row *= self._scales[k]
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        out = np.zeros(self.n)
        for k in np.flatnonzero(weights):
            out += weights[k] * self.products(np.array([k]), v)[0]
        return out

    def only(self, keep: Indices) -> PackedBlock:
        """Return the kernels on the samples `keep`, in memory."""
        parts = [entries.reshape(self.n, self.n)[np.ix_(keep, keep)] for entries in self._entries]
        scales = [scale[keep] for scale in self._scales]
        return PackedBlock.from_matrices([c[:, None] * part * c for part, c in zip(parts, scales, strict=True)])

    def _rows(self, entries: int) -> Iterator[tuple[int, int]]:
        """Yield bands of rows whose lower triangle has about so many entries each, if they are still wanted."""
        first = 0
        while first < self.n:
            checkpoint()
            last = max(first + 1, min(self.n, int((first * first + 2.0 * entries) ** 0.5)))
            yield first, last
            first = last


Precision = Literal["auto", "double", "single"]

PRECISIONS = ("auto", "double", "single")
FULL = 3000  # samples up to which the whole matrix is tested for negative eigenvalues, in a second at most
DRAWN = 1000  # samples that are tested of more
SLACK = {8: 1e-8, 4: 1e-5}  # relative errors that rounding, in both precisions, may leave in a Gram matrix
SUSPECTS = 8  # rows looked at entry by entry


@dataclass(frozen=True)
class Grams:
    """What became of the matrices: blocks with the places of their kernels, each kernel's scales, and remarks."""

    blocks: Sequence[tuple[Indices, PackedBlock | MappedBlock | ShardedBlock]]
    scales: list[Array]
    names: list[str]
    n: int
    remarks: Sequence[str]
    mended: Mended
    repairs: tuple[Repair | None, ...] = ()

    @property
    def notes(self) -> list[str]:
        """The remarks, and what was done to the matrices."""
        return [*dict.fromkeys(self.remarks), *self.mended.notes()]


def check_precision(precision: str) -> None:
    """Raise `KernelError` unless `precision` is known."""
    if precision not in PRECISIONS:
        raise KernelError(f'precision="{precision}" is not known: use "auto", "double" or "single".')


def open_files(paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> tuple[list[Any], list[str]]:
    """Return the matrices in .npy files, mapped and not read, and a name for each from its file's.

    `paths`: files with one matrix (n, n) or several (m, n, n), or a folder of such files, taken in the order of their
    names.
    """
    sources = [Path(paths)] if isinstance(paths, (str, PathLike)) else [Path(path) for path in paths]
    files = [file for path in sources for file in (_inside(path) if path.is_dir() else [path])]
    if not files:
        raise KernelError("No files of Gram matrices were given.")
    matrices, names = [], []
    for file in files:
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            reason = getattr(error, "strerror", None) or "it is no .npy file of numbers, as numpy.save writes them"
            raise KernelError(f"The Gram matrices in {file} cannot be read: {reason}.") from None
        if not isinstance(array, np.memmap):
            raise KernelError(f"{file} is an archive: unpack it, or save each Gram matrix with numpy.save.")
        several = list(array) if array.ndim == 3 else [array]
        matrices += several
        names += [file.stem] if len(several) == 1 else [f"{file.stem} {k + 1}" for k in range(len(several))]
    return matrices, names


def _inside(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.npy"))
    if not files:
        raise KernelError(f"The folder {folder} holds no .npy files; save each Gram matrix with numpy.save.")
    return files


def take_grams(
    grams: Sequence[ArrayLike],
    names: Sequence[str] | None,
    normalize: str,
    max_bytes: int,
    precision: str,
    progress: Callable[[float], None] | None = None,
    sample_weight: ArrayLike | None = None,
    repair: str | None = None,
) -> Grams:
    """Check and keep Gram matrices, see `KernelBank.from_grams`."""
    check_precision(precision)
    check_repair(repair)
    labels = _labels(grams, names)
    shape = np.shape(grams[0])
    m, n = len(grams), shape[-1] if shape else 1
    dtype = _kept_as(grams, n, max_bytes, precision)
    packed = np.empty((m if dtype else 0, packed_length(n)), dtype=dtype)
    counts = checked_weights(sample_weight, n)
    scales, mapped, notes, repairs, mended = [], [], [], [], Mended(m, repair)
    for k, (gram, label) in enumerate(zip(grams, labels, strict=True)):
        matrix = _entries(gram) if dtype else _on_disk(gram, label)
        matrix, changed, note = _checked(matrix, label, n, mended if dtype else None)
        diagonal = np.diag(matrix).astype(np.float64)
        scales.append(sample_scales(diagonal, normalize, label, counts))
        repairs.append(changed)
        notes += [note] if note else []
        if dtype:
            if dtype == np.float32:
                check_single(diagonal * scales[k] ** 2, label)
            pack_scaled(matrix, scales[k], packed[k])
        else:
            mapped.append(matrix)
        if progress is not None:
            progress((k + 1) / m)
    if dtype:
        return Grams([(np.arange(m), PackedBlock(packed, n))], scales, labels, n, notes, mended, tuple(repairs))
    size = sum(matrix.nbytes for matrix in mapped)
    stays = f"The Gram matrices stay on disk, {size / 2**30:.3g} GB: their files must not change while they are in use."
    return Grams(_mapped_blocks(mapped, scales), scales, labels, n, [stays, *notes], mended)


def take_there(client: Any, stack: Any, names: Sequence[str] | None, *options: Any) -> Grams:
    """Check and keep the Gram matrices in a Dask array (m, n, n) on the workers of its cluster; see `take_grams`."""
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise KernelError(f"Gram matrices in a Dask array have the shape (m, n, n), but it is {stack.shape}.")
    m, n = stack.shape[:2]
    labels, length = _labels(range(m), names), max(SHARD // n**2, 1)
    parts = stack.rechunk({0: length, 1: -1, 2: -1}).to_delayed()[:, 0, 0]
    asked = ((part, labels[k * length : (k + 1) * length], *options) for k, part in enumerate(parts))
    shards = OnWorkers(client, begun(client, _taken, asked))
    facts = [*shards.answers(shards.of_all(_facts))]
    block = ShardedBlock(client, shards.begun(shards.of_all(_block)), m, n, length)
    scales, remarks, repairs = (
        [one for part in facts for one in getattr(part, name)] for name in ("scales", "remarks", "repairs")
    )
    mended = sum((part.mended for part in facts[1:]), facts[0].mended)
    return Grams([(np.arange(m), block)], scales, labels, n, remarks, mended, tuple(repairs))


def _taken(matrices: Any, names: Sequence[str], *options: Any) -> Grams:
    with one_blas_thread():
        return take_grams([*matrices], names, *options)


def _facts(grams: Grams) -> Grams:
    return replace(grams, blocks=[])


def _block(grams: Grams) -> Any:
    return grams.blocks[0][1]


def _labels(grams: Sequence[ArrayLike], names: Sequence[str] | None) -> list[str]:
    if not len(grams) or not np.size(grams[0]):
        raise KernelError("No Gram matrices were given.")
    labels = list(names) if names is not None else [f"kernel {k + 1}" for k in range(len(grams))]
    if len(labels) != len(grams):
        raise KernelError(f"{len(grams)} Gram matrices need as many names, but {len(labels)} were given.")
    return labels


def _kept_as(grams: Sequence[ArrayLike], n: int, max_bytes: int, precision: str) -> type | None:
    """Return the type of entries kept in memory, or None where the matrices stay on disk."""
    m, entries = len(grams), len(grams) * packed_length(n)
    lossless = all(getattr(gram, "dtype", None) == np.float32 for gram in grams)
    dtype = np.float32 if precision == "single" or (precision == "auto" and lossless) else np.float64
    if np.dtype(dtype).itemsize * entries <= max_bytes:
        return dtype
    if all(isinstance(gram, np.memmap) for gram in grams):
        return None
    if precision == "auto" and 4 * entries <= max_bytes:
        return np.float32
    refuse_if_too_large(
        m,
        n,
        (4 if precision == "single" else 8) * entries,
        max_bytes,
        "save them with numpy.save and give their files to KernelBank.from_files, which leaves them on disk",
    )
    return dtype


def _entries(gram: ArrayLike) -> Entries:
    """Return a matrix as it is where its entries are of single or double precision, else of double."""
    refuse_masked(gram, "A Gram matrix")
    gram = gram.toarray() if hasattr(gram, "toarray") else gram  # a sparse one of SciPy
    if isinstance(gram, np.ndarray) and gram.dtype in (np.float32, np.float64):
        return _read_only(np.ascontiguousarray(gram))
    return _read_only(numbers(gram, "A Gram matrix"))


def _read_only(matrix: Entries) -> Entries:
    view = np.asarray(matrix)[...]
    view.setflags(write=False)  # one compiled version serves arrays that may be written and others
    return view


def _on_disk(gram: Any, label: str) -> Entries:
    """Return a mapped matrix in C order, or say why it cannot be read in place."""
    if gram.dtype not in (np.float32, np.float64):
        raise KernelError(
            f"The Gram matrix {label} holds {gram.dtype} and is too large to be converted in memory: save it as float32"
            " or float64."
        )
    matrix = gram.T if gram.flags.f_contiguous else gram  # where it is symmetric, the same
    if not matrix.flags.c_contiguous:
        raise KernelError(f"The Gram matrix {label} must stand row by row in its file, without gaps.")
    return _read_only(matrix)


def _mapped_blocks(matrices: list[Entries], scales: list[Array]) -> list[tuple[Indices, PackedBlock | MappedBlock]]:
    """Return one block for each of the two precisions."""
    blocks: list[tuple[Indices, PackedBlock | MappedBlock]] = []
    for size in (8, 4):
        indices = [k for k, matrix in enumerate(matrices) if matrix.dtype.itemsize == size]
        if indices:
            block = MappedBlock([matrices[k] for k in indices], [scales[k] for k in indices])
            blocks.append((np.array(indices), block))
    return blocks


def _checked(matrix: Entries, label: str, n: int, mended: Mended | None) -> tuple[Entries, Repair | None, str]:
    """Return a matrix that is a kernel, what was done to its eigenvalues, and a remark, or raise `KernelError`.

    Without `mended`, as where it stays on disk, nothing may be done to it.
    """
    what, slack = f"The Gram matrix {label}", SLACK[matrix.dtype.itemsize]
    if matrix.shape != (n, n):
        raise KernelError(f"{what} must have shape ({n}, {n}), but has {matrix.shape}.")
    size, apart = _surveyed(matrix, what)
    for i in np.argsort(apart)[: -SUSPECTS - 1 : -1]:
        if apart[i] > slack * size and (difference := _difference(matrix, int(i), slack * size)):
            whole = None if mended is None else mended.symmetric(matrix)
            if whole is None:
                raise KernelError(f"{what} is not symmetric: {difference}.")
            matrix = _read_only(whole)
            break
    negative, among = _negative(matrix, slack * size)
    if negative >= 0.0:
        return matrix, None, among and f"Negative eigenvalues were looked for{among}, drawn at random."
    clear = among and negative < -ROUNDING * abs(float(np.trace(matrix)))
    if mended is None or (clear and mended.repair is None) or n > MOST_REPAIRED:
        raise KernelError(indefinite(what, negative, 0.0, matrix[:FULL, :FULL], among))
    checkpoint()
    whole, changed = mended.semidefinite(matrix, what)
    return _read_only(whole), changed, ""


def _surveyed(matrix: Entries, what: str) -> tuple[float, Array]:
    """Return the size of the largest entry, and how far K v and K'v are apart, (n,), for a random v."""
    n = len(matrix)
    rng = np.random.default_rng(n)
    v = rng.uniform(1.0, 2.0, n) * rng.choice([-1.0, 1.0], n)  # an entry of nearly zero would hide what it meets
    forward, backward, size = np.zeros(n), np.zeros(n), 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # entries that are not finite
        for some in slices(n, max(BAND // n, 1)):
            band = matrix[some]
            forward[some] = band @ v
            backward += v[some] @ band
            size = max(size, float(band.max()), -float(band.min()))
    if not np.isfinite(forward).all():
        _name_infinite(matrix, what, int(np.flatnonzero(~np.isfinite(forward))[0]))
    return size, np.abs(forward - backward)


def _name_infinite(matrix: Entries, what: str, i: int) -> None:
    wrong = np.flatnonzero(~np.isfinite(matrix[i]))
    if not len(wrong):
        raise KernelError(f"{what} has entries too large to be added up, in row {i}: scale it down.")
    raise KernelError(f"{what} holds {matrix[i, wrong[0]]} at ({i}, {wrong[0]}): every entry must be finite.")


def _difference(matrix: Entries, row: int, allowed: float) -> str:
    """Say where a row differs from the column of its number, or return ""."""
    difference = np.abs(matrix[row].astype(np.float64) - matrix[:, row])
    if difference.max() <= allowed:
        return ""
    i, j = sorted((row, int(difference.argmax())))
    return f"entry ({i}, {j}) is {matrix[i, j]:g}, but ({j}, {i}) is {matrix[j, i]:g}"


@one_blas_thread()  # which of many small ones are done with soonest
def _negative(matrix: Entries, slack: float) -> tuple[float, str]:
    """Return the smallest eigenvalue, 0 where none is negative beyond `slack`, and among which samples not all were."""
    n = len(matrix)
    drawn = np.arange(n) if n <= FULL else np.sort(np.random.default_rng(n).choice(n, DRAWN, replace=False))
    part = np.array([matrix[i][drawn] for i in drawn], dtype=np.float64) if n > FULL else matrix.astype(np.float64)
    among = "" if n <= FULL else f" among {DRAWN:,} of the {n:,} samples"
    try:  # a Cholesky decomposition is ten times cheaper than the eigenvalues
        np.linalg.cholesky(part + max(slack, 1e-300) * len(part) ** 0.5 * np.eye(len(part)))
    except np.linalg.LinAlgError:
        return float(np.linalg.eigvalsh(part)[0]), among
    return 0.0, among
