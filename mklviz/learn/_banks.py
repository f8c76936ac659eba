"""Build the bank of an estimator from words, families, or Gram matrices side by side.

Gram matrices come as one array whose first axis is the samples, as scikit-learn slices it: (n_new, n, m), the kernel
last, or (n_new, m n), as `KernelTransformer` makes it, n columns for each kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels import Bank, KernelBank, KernelFamily, Nystrom, NystromBank
from mklviz.kernels.evaluation.builder import Progress
from mklviz.kernels.evaluation.checks import read_families
from mklviz.kernels.evaluation.specs import check_repair
from mklviz.kernels.interface import column_names
from mklviz.kernels.storage.disk import is_dask
from mklviz.typing import Array

AUTO, PRECOMPUTED = "auto", "precomputed"
POINT = ", point "  # between the kernel and the training point in the name of a column
MOST_EXACT = 20_000  # samples up to which "auto" leaves kernels exact, row by row


def normalization(kernels: Any, classes: bool, width: int) -> str:
    """Return how kernels are scaled by default, always so that C counts as for a kernel with a diagonal of one.

    Unit diagonals are best for classes. Functions that are to grow with x lose by them; a kernel that is zero at the
    origin, such as a linear one, would be left with directions alone; and given matrices say nothing of new points.
    `width`: number of features.
    """
    if not classes or (isinstance(kernels, str) and kernels == PRECOMPUTED):
        return "mean-diagonal"
    vanish = (
        (family.diagonal(np.zeros((1, width if family.on == "all" else 1)), value) <= 0.0).any()
        for family in read_families(kernels)
        for value in family.values()
    )
    return "mean-diagonal" if any(vanish) else "diagonal"


def refuse_list(X: Any) -> None:
    """Raise `KernelError` for precomputed kernels that come one after the other, rather than samples first."""
    shape = np.shape(X)
    if len(shape) == 3 and shape[0] != shape[1] == shape[2]:
        raise KernelError(
            f"Precomputed kernels have the samples first, (points, training points, kernels), as scikit-learn slices"
            f" them, but {shape[0]} matrices were given: numpy.stack(matrices, axis=-1) of a list, or"
            " numpy.moveaxis(array, 0, -1)."
        )


def refuse_other_kernels(X: Any, n: int, m: int, side_by_side: bool) -> None:
    """Raise `KernelError` for kernel values of new points that do not fit m kernels on n training points."""
    shape = np.shape(X)
    if shape[1:] in ((n, m), (n * m,) if side_by_side else ()):
        return
    expected = f"(new points, {n * m})" if side_by_side else f"(new points, {n}, {m})"
    turned = " numpy.moveaxis(array, 0, -1) puts the kernels last." if shape[::2] == (m, n) else ""
    if len(shape) > 1 and shape[0] == shape[1] != n:
        turned = " Values among the new points themselves say nothing: those with the training points are needed."
    raise KernelError(
        f"The model was fitted to {m} precomputed kernel{'s' * (m > 1)} on {n} training points, so new points come as"
        f" kernel values of shape {expected}, but an array of shape {shape} was given.{turned}"
    )


def _kernels_of(columns: Sequence[str] | None, n: int) -> list[str] | None:
    """Return the kernels' names from those of the columns that `KernelTransformer` made, n for each."""
    firsts = [] if columns is None else list(columns[::n])
    if not firsts or not all(name.endswith(f"{POINT}0") for name in firsts):
        return None
    return [name.removesuffix(f"{POINT}0") for name in firsts]


def kernel_values(X: Array, n: int) -> Array:
    """Return kernel values between new points and n samples, (m, n_new, n), from an array as scikit-learn slices it."""
    if X.ndim == 3 and X.shape[1] == n:
        return np.ascontiguousarray(X.transpose(2, 0, 1))
    if X.ndim == 2 and X.shape[1] % n == 0:
        return np.ascontiguousarray(X.reshape(len(X), -1, n).transpose(1, 0, 2))
    raise KernelError(
        f"Precomputed kernels come as an array of shape (new points, {n} training points, kernels), or as a table with"
        f" {n} columns for each kernel, but an array of shape {X.shape} was given. Precomputed kernels of a list of"
        " matrices: numpy.stack(matrices, axis=-1)."
    )


def with_names(X: Any) -> Any:
    """Return a table of polars, Arrow or Dask as one of pandas: scikit-learn before 1.9 knows names of no others."""
    if hasattr(X, "collect"):
        raise KernelError("X is a lazy table, which holds no values yet: collect() it first.")
    X = X.compute() if is_dask(X) else X
    names = column_names(X)
    if names is None or hasattr(X, "iloc"):
        return X
    from pandas import DataFrame

    return DataFrame(np.asarray(X), columns=list(names))


def build_bank(
    kernels: Any,
    X: Array,
    names: Sequence[str] | None,
    normalize: str,
    approximation: Nystrom | str | None,
    seed: int,
    progress: Progress | None = None,
    weights: Array | None = None,
    repair: str | None = None,
) -> tuple[Bank, tuple[str, ...]]:
    """Return the bank on the samples `X`, or of the Gram matrices `X`, and what is to be known of it, in sentences.

    `X` (n, d): samples; for precomputed kernels see `kernel_values`; `names`: of the columns of `X`; `approximation`:
    exact kernels for None; "auto" leaves them exact on up to 20,000 samples if they fit into memory; `seed`: of the
    choice of landmarks; `progress`: called with the fraction done; `weights` (n,): how often each sample counts for the
    trace and the mean diagonal; once by default; `repair`: of precomputed kernels. Raises `KernelError`, `UnknownName`
    with a sentence, if there can be no such bank.
    """
    if isinstance(kernels, str) and kernels == PRECOMPUTED:
        if isinstance(approximation, Nystrom):
            raise KernelError("Precomputed kernels are used as they are: approximate kernels of features instead.")
        grams, called = kernel_values(X, len(X)), _kernels_of(names, len(X))
        bank = KernelBank.from_grams(grams, called, normalize, sample_weight=weights, repair=repair)
        return bank, bank.notes
    check_repair(repair)
    families = read_families(kernels)
    chosen, why = _approximation(approximation, X, families, names)
    if chosen is None:
        bank = KernelBank.build(X, families, normalize, names, progress=progress, sample_weight=weights)
        return bank, bank.notes
    arguments = X, families, chosen.landmarks, chosen.choice, normalize, names, seed
    near = NystromBank.build(*arguments, progress=progress, sample_weight=weights)
    return near, tuple(filter(None, (why, near.words())))


def _approximation(
    asked: Nystrom | str | None, X: Array, families: Sequence[KernelFamily], names: Sequence[str] | None
) -> tuple[Nystrom | None, str]:
    """Return how kernels are approximated, None for exact ones, and the reason if that was not asked for."""
    if asked is None or isinstance(asked, Nystrom):
        return asked, ""
    if asked != "auto":
        raise KernelError(f'approximation is "auto", None or Nystrom(landmarks), but {asked!r:.80} was given.')
    how = " approximation=None leaves them exact, Nystrom(landmarks) says how many landmarks to take."
    if len(X) > MOST_EXACT:
        return Nystrom(), f"On {len(X):,} samples, more than {MOST_EXACT:,}, kernels are approximated;{how}"
    try:
        KernelBank.check_size(len(X), X.shape[1], families, feature_names=names)
    except BankTooLarge as error:
        return Nystrom(), f"{error} So they are approximated;{how}"
    return None, ""
