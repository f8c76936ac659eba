"""Points, names and matrices that people give, checked before anything is built from them, and scales of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import BankTooLarge, KernelError, ProblemError
from mklviz.kernels.families import FunctionKernel, KernelFamily
from mklviz.kernels.interface import Bank, column_names, numbers, refuse_masked
from mklviz.lazy import words
from mklviz.limits import LIMITS
from mklviz.numbers import is_number
from mklviz.quoting import listed
from mklviz.typing import Array

MEMORY_LIMIT = LIMITS.bank_bytes
MOST = 1e150  # of a feature: the squares of differences between larger ones overflow


def feature_labels(labels: Sequence[str] | None, n_features: int, X: object = None) -> list[str]:
    """Return the features' names: of the columns of `X`, a table, or x1, x2, ... where none are given."""
    labels = column_names(X) if labels is None else labels
    if labels is not None and not isinstance(labels, Iterable):
        raise KernelError(f"Feature names are given as a list, but {labels!r:.80} was given.")
    names = [f"x{j + 1}" for j in range(n_features)] if labels is None else [str(name) for name in labels]
    if len(names) != n_features:
        raise KernelError(f"X has {n_features} features, but {len(names)} feature names were given.")
    return names


def check_points(X: ArrayLike) -> Array:
    """Return `X` as a table of samples by features, not copied where it is one, or say what is wrong with it."""
    points = numbers(X, "X")
    if points.ndim != 2 or 0 in points.shape:
        raise KernelError(f"X must be a table of samples by features, but its shape is {points.shape}.")
    largest = max(-points.min(), points.max())  # no array as large as the points is made
    if not np.isfinite(largest):
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise KernelError(f"X holds {points[row, column]} in row {row}, column {column}: every entry must be finite.")
    if largest > MOST:
        raise KernelError(f"X reaches {largest:.2g}, whose squares are no numbers: standardize the features.")
    return points


def own_points(X: ArrayLike) -> Array:
    """Return a copy of `X`, checked and read-only."""
    points = check_points(X).copy()
    points.setflags(write=False)
    return points


def read_families(kernels: Any) -> tuple[KernelFamily, ...]:
    """Return the families that words, families, functions of two tables of points, or a list of them stand for."""
    listed = kernels if isinstance(kernels, Iterable) and not isinstance(kernels, str) else (kernels,)
    families = tuple(family for entry in listed for family in _read(entry))
    if not all(isinstance(family, KernelFamily) for family in families):
        raise KernelError(
            'Kernels are given in words, "gauss:1 linear", as families, such as Gaussian(), as functions k(X, Z), or in'
            f" a list of these, not as {kernels!r:.80}."
        )
    if not families:
        raise KernelError("No kernels were asked for: add at least one kernel family.")
    return families


def _read(entry: Any) -> tuple[Any, ...]:
    if isinstance(entry, str):
        return tuple(words.read_kernels(entry))
    if hasattr(entry, "__array__") or hasattr(entry, "toarray"):
        raise KernelError(
            'Matrices are data, not kernels: choose kernels="precomputed" and give numpy.stack([K1, K2], axis=-1) as X,'
            " or take KernelBank.from_grams; kernels are words, families such as Gaussian(), or functions k(X, Z), also"
            " in a list."
        )
    if callable(entry) and not isinstance(entry, type):
        return (FunctionKernel(function=entry),)
    return (entry,)


def check_memory(max_bytes: int) -> None:
    """Raise `KernelError` unless `max_bytes` is a number of bytes."""
    if not (is_number(max_bytes) and max_bytes >= 0):
        raise KernelError(f"max_bytes must be a number of bytes, but {max_bytes!r:.80} was given.")


FEWER = "use fewer samples, fewer widths or degrees, or kernels on each feature only"


def refuse_if_too_large(m: int, n: int, size: int, max_bytes: int = MEMORY_LIMIT, advice: str = FEWER) -> None:
    """Raise `BankTooLarge` if m kernels on n samples take more than is allowed."""
    if size > max_bytes:
        raise BankTooLarge(
            f"{m:,} kernels on {n:,} samples need about {size / 2**30:.1f} GB, but {max_bytes / 2**30:.1f} GB are"
            f" allowed: {advice}."
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


# Kernels of very different size: v'K_k v over random signs v is trace(K_k) in the mean (Hutchinson 1990).
#
# Where traces differ by ten powers of ten, so do the weights that make kernels comparable, and what is added to the
# largest of them loses that many of its sixteen digits: no method is exact then, whatever the problem.

_RANGE = 1e6  # of traces: beyond it, six digits are gone before a gap of 1e-2 is asked for
_PROBES = 8  # a kernel of rank one has a mean square of 1 +- 0.5: a factor, which no power of ten depends on


def size_remark(bank: Bank) -> str:
    """Return a sentence on how much the sizes of the kernels differ, where they do so by far, or ""."""
    if not bank.convex or getattr(bank, "normalize", "none") != "none":
        return ""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (bank.n_samples, _PROBES))
    sizes = bank.quad(signs)
    sizes = sizes[sizes > 0.0]
    ratio = float(sizes.max() / sizes.min()) if len(sizes) else 1.0
    if not ratio > _RANGE:
        return ""
    return (
        f"The largest kernel is about {ratio:.0e} times as large as the smallest, too much for the digits of numbers:"
        ' normalize the kernels (normalize="trace"), and standardize the features.'
    )


# Scaling kernels so that their weights can be compared: unit trace, a mean diagonal of one, unit diagonal, or none.
#
# Unit trace divides by trace(K), so that s_k and the objective stay of one size whatever the kernel; a mean diagonal of
# one, by trace(K) / n, so that C means the same however many samples there are; unit diagonal divides K_ij by
# sqrt(K_ii K_jj), so that every point has length one in feature space. A sample of weight w counts w times, as
# repeated.

NORMALIZATIONS = ("trace", "mean-diagonal", "diagonal", "none")


def check_normalization(normalize: str) -> None:
    """Raise `KernelError` unless `normalize` is known."""
    if not isinstance(normalize, str) or normalize not in NORMALIZATIONS:
        known = ", ".join(f'"{name}"' for name in NORMALIZATIONS[:-1])
        raise KernelError(f'normalize="{normalize}" is not known: use {known} or "none".')


def checked_weights(given: Any, n: int) -> Array | None:
    """Return the weights of n samples, (n,), None if all are 1; one number is for all; or raise `ProblemError`."""
    if given is None:
        return None
    refuse_masked(given, "sample_weight")
    try:
        weights = np.array(numbers(given, "sample_weight"))
        weights = np.full(n, weights) if weights.ndim == 0 else weights
    except ProblemError:
        raise ProblemError(
            "sample_weight must be numbers, one for each sample or one for all; it holds something else."
        ) from None
    if weights.shape != (n,):
        raise ProblemError(
            f"sample_weight must hold one number for each of the {n} samples, but an array of shape {weights.shape}"
            " was given."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise ProblemError(
            f"Weights of samples must be finite numbers not below zero, but that of sample {wrong[0]} is"
            f" {weights[wrong[0]]:g}."
        )
    if not weights.any():
        raise ProblemError("All samples have weight zero, so there is nothing to learn from: give some of them weight.")
    weights.setflags(write=False)
    return None if (weights == 1.0).all() else weights


def sample_scales(diagonal: Array, normalize: str, name: str, counts: Array | None = None, first: int = 0) -> Array:
    """Return the (n,) factors c for which ``c_i c_j K_ij`` is normalised.

    Sample i counts `counts[i]` times, once by default; the first entry is sample number `first`. The factors of a
    kernel that is zero on every sample are zero.

    Raises `KernelError` if the diagonal of the kernel called `name` is zero or negative where it must not be.
    """
    if not np.isfinite(diagonal).all():
        raise KernelError(
            f"The kernel {name} overflows: standardize the features, or lower its degree or raise its width."
        )
    if normalize == "none":
        return np.ones_like(diagonal)
    if normalize != "diagonal":
        counted = diagonal if counts is None else counts * diagonal
        trace = float(counted.sum())
        if not counted.any():
            return np.zeros_like(diagonal)  # as of a column that is constant in one fold; see `zero_kernels`
        if trace <= 0.0:
            raise KernelError(f"The kernel {name} has no positive trace, so it cannot be scaled: leave it out.")
        total = 1.0 if normalize == "trace" else float(len(diagonal) if counts is None else counts.sum())
        return np.full_like(diagonal, np.sqrt(total) / np.sqrt(trace))
    if (diagonal <= 0.0).any():
        sample = first + int(np.flatnonzero(diagonal <= 0.0)[0])
        raise KernelError(
            f"The kernel {name} is zero on sample {sample} and cannot have unit diagonal:"
            ' leave it out, or take normalize="mean-diagonal".'
        )
    return np.asarray(1.0 / np.sqrt(diagonal))


def zero_kernels(scales: Iterable[Array], names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on the kernels whose `sample_scales` are zero, if any; refuse them if all are."""
    zero = [k for k, scale in enumerate(scales) if len(scale) and scale[0] == 0.0]
    if zero and len(zero) == len(names):
        raise KernelError("Every kernel is zero on every sample that counts, as of constant columns: choose others.")
    return (
        (f"Zero on every sample that counts, and without effect: {listed([names[k] for k in zero])}.",) if zero else ()
    )
