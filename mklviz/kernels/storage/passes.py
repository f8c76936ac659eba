"""One reading of the factors Z (n, R), a row per sample, of K_d = Z diag(w) Z': sums over samples, and over columns.

Half a million samples with a thousand columns are two gigabytes, so a pass over them costs what the memory costs:
columns whose kernels have no weight are skipped, entries may be float32, and sums are formed in float64.

Samples are read in chunks, which the numbers of rows and columns decide: what a chunk gives is computed where it
stands, and added, with what rounding took from the sums, in the order of the samples. So the bits are the same wherever
chunks are: here, on disk, let go of one by one, or on the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.kernels.storage.disk import release
from mklviz.typing import Array, Integers

Factors = NDArray[Any]  # float32 or float64; on a cluster the `ClusterFactors` that stand for it
T = TypeVar("T")

# every fast-math licence but those that deny nan and infinity
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}
PIECE = 60_000_000  # entries of a chunk of Z, between two checkpoints, or twice as many: two tenths of a second at most
CHUNKS = 12  # with more of them, all of them are larger: what a cluster is asked of each takes time


@njit(cache=True, nogil=True, fastmath=FAST)
def _project(Z: Factors, v: Array, runs: Integers, u: Array) -> None:
    """u += sum over i of v_i Z_i, in the columns of `runs`."""
    for i in range(Z.shape[0]):
        x = v[i]
        if x != 0.0:
            for run in range(runs.shape[0]):
                z, to = Z[i, runs[run, 0] : runs[run, 1]], u[runs[run, 0] : runs[run, 1]]
                for r in range(z.shape[0]):
                    to[r] += x * z[r]


@njit(cache=True, nogil=True, fastmath=FAST)
def _decide(Z: Factors, g: Array, runs: Integers, f: Array) -> None:
    """f_i = Z_i'g over the columns of `runs`."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], g[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += z[r] * part[r]
        f[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _diagonal(Z: Factors, w: Array, runs: Integers, q: Array) -> None:
    """q_i = sum over r of w_r Z_ir^2, the diagonal of K."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], w[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += part[r] * z[r] * z[r]
        q[i] = total


def projections(Z: Factors, v: Array, runs: Integers | None = None) -> Array:
    """Return ``Z'v`` (R,), zero outside the columns of `runs`; samples with v_i = 0 are not read."""
    return added(each(Z, partial(_projected, _everything(Z) if runs is None else runs), v), Z.shape[1])


def _projected(runs: Integers, rows: Factors, v: Array) -> Array:
    u = np.zeros(rows.shape[1])
    _project(rows, v, runs, u)
    return u


def decisions(Z: Factors, g: Array, runs: Integers | None = None) -> Array:
    """Return ``Z g`` (n,), reading only the columns of `runs`."""
    return joined(Z, each(Z, partial(_decided, g, _everything(Z) if runs is None else runs)))


def separate_decisions(Z: Factors, g: Array, ranges: Integers) -> Array:
    """Return ``Z g`` in the columns of each of the ranges (q, 2), (q, n), from one pass."""
    out, start = np.empty((len(ranges), len(Z))), 0
    for part in each(Z, partial(_separately_decided, g, ranges)):
        out[:, start : start + part.shape[1]] = part
        start += part.shape[1]
    return out


def _separately_decided(g: Array, ranges: Integers, rows: Factors) -> Array:
    return np.array([_decided(g, one[None], rows) for one in ranges])


def _decided(g: Array, runs: Integers, rows: Factors) -> Array:
    f = np.empty(len(rows))
    _decide(rows, g, runs, f)
    return f


def diagonal_of(w: Array, runs: Integers, rows: Factors) -> Array:
    """Return the diagonal of ``Z diag(w) Z'`` of a chunk."""
    q = np.empty(len(rows))
    _diagonal(rows, w, runs, q)
    return q


def each(Z: Factors, work: Callable[..., T], *along: Array) -> Iterator[T]:
    """Yield ``work(rows, *parts)`` for every chunk of the factors, in order; `parts`: the chunk's entries of `along`.

    On a cluster `work` and what it takes and returns are sent: it must write into nothing that it takes.
    """
    length = chunk_length(Z.shape)
    starts = range(0, len(Z), length)
    return in_turn(Z, work, ((start, [array[start : start + length] for array in along]) for start in starts))


def in_turn(Z: Factors, work: Callable[..., T], calls: Iterable[tuple[int, Sequence[Any]]]) -> Iterator[T]:
    """Yield ``work(rows, *arguments)`` for each of `calls`, (first sample of a chunk, arguments), in their order."""
    if isinstance(Z, np.ndarray):
        return (asked(Z, start, work, *arguments) for start, arguments in calls)
    return cast(Iterator[T], Z.in_turn(work, calls))


def asked(Z: Factors, start: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what stands for ``work(rows, *arguments)`` of the chunk that begins with the sample `start`.

    Arguments may stand for answers themselves. Here all is done at once. On a cluster nothing is done before `begun` is
    given it; answers stay beside their chunks, from which others take them, and are made again if a worker is lost.
    """
    if not isinstance(Z, np.ndarray):
        return Z.asked(start, work, *arguments)
    checkpoint()
    stop = start + chunk_length(Z.shape)
    answer = work(Z[start:stop], *arguments)
    release(Z[:stop])  # reading a page brings back those around it
    return answer


def begun(Z: Factors, answers: list[Any]) -> list[Any]:
    """Begin with what `asked` returned, and all that it takes; return what stands for the answers from then on."""
    return answers if isinstance(Z, np.ndarray) else Z.begun(answers)


def answer_of(Z: Factors, answer: Any) -> Any:
    """Return what one of those that were begun stands for."""
    return answer if isinstance(Z, np.ndarray) else Z.answer_of(answer)


def joined(Z: Factors, parts: Iterable[Array]) -> Array:
    """Return numbers of all samples (n,) from those of each chunk."""
    out, start = np.empty(len(Z)), 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def added(parts: Iterable[Array], size: int = 1) -> Array:
    """Return the sum of arrays with what rounding took from it on the way (Ogita, Rump and Oishi, 2005).

    `size`: of the zeros where there are none.
    """
    total = lost = np.zeros(size)
    for part in parts:
        with np.errstate(invalid="ignore"):  # infinities
            following = total + part
            grown = following - total
            lost = lost + ((total - (following - grown)) + (part - grown))
        total = following
    return total + lost


def runs_of(weights: Array) -> Integers:
    """Return the (count, 2) stretches, first and one past the last, where the weights of columns are not zero."""
    held = np.concatenate([[False], weights != 0.0, [False]])
    return np.flatnonzero(held[1:] != held[:-1]).reshape(-1, 2).astype(np.int64)


def _everything(Z: Factors) -> Integers:
    return np.array([[0, Z.shape[1]]], dtype=np.int64)


def chunk_length(shape: tuple[int, ...]) -> int:
    """Return how many samples make a chunk of factors of this shape."""
    n, columns = shape
    fewest, most = (max(entries // max(columns, 1), 1) for entries in (PIECE, 2 * PIECE))
    return min(max(-(-n // CHUNKS), fewest), most)


def pieces(Z: Factors, length: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield ranges of samples, chunks by default, asking before each whether the work is still wanted."""
    length = chunk_length(Z.shape) if length is None else length
    for start in range(0, len(Z), length):
        checkpoint()
        stop = min(start + length, len(Z))
        yield start, stop
        if isinstance(Z, np.ndarray):
            release(Z[:stop])  # reading a page brings back those around it
