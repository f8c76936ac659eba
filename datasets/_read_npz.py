"""NumPy archives: ``X`` (n, d) and ``y`` (n,), or ``grams`` (m, n, n) and ``y``; objects and pickles are refused."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dataset import Array, DataError, Dataset
from ._labels import code_labels

MOST_BYTES = 4 * 1024**3  # unpacked
BROKEN = (
    *(ValueError, TypeError, AttributeError, OSError, EOFError, KeyError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
NAME_ARRAYS = ("feature_names", "kernel_names")


def read_npz(data: bytes, name: str) -> Dataset:
    """Read an archive of arrays: ``y`` and ``X`` or ``grams`` (or both), optionally names.

    ``feature_names`` and ``kernel_names`` are arrays of text. A single matrix (n, n) in ``grams`` is one kernel.
    """
    arrays = _arrays(data, name)
    if "y" not in arrays or not ("X" in arrays or "grams" in arrays):
        found = ", ".join(sorted(arrays)) or "nothing"
        raise DataError(f"{name} must hold the arrays y and X, or y and grams; it holds {found}.")
    y = arrays["y"]
    if y.ndim != 1 or not len(y):
        raise DataError(f"Array y of {name} must have shape (n,); its shape is {y.shape}.")
    if y.dtype.kind not in "biufU":
        raise DataError(f"Array y of {name} must hold numbers or text, not {y.dtype}.")
    labels = code_labels([_text(value, name) for value in y], "array y")
    X = _numbers(arrays["X"], "X", 2) if "X" in arrays else np.zeros((len(y), 0))
    grams = _grams(arrays["grams"], len(y)) if "grams" in arrays else None
    return labels.dataset(name, X, _names(arrays, "feature_names"), grams, _names(arrays, "kernel_names"))


def _arrays(data: bytes, name: str) -> dict[str, NDArray[Any]]:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise DataError(f"{name} is not an npz archive; write one with numpy.savez(file, X=X, y=y).")
    try:
        archive = np.load(io.BytesIO(data), allow_pickle=False)
        size = sum(member.file_size for member in archive.zip.infolist())
    except BROKEN as error:
        said = " ".join(str(error).split())
        raise DataError(f"{name} is a damaged archive: {said}.") from None
    if size > MOST_BYTES:
        raise DataError(f"{name} unpacks to {size / 1e9:.1f} GB; mklviz reads at most {MOST_BYTES / 1e9:.1f} GB.")
    wanted = {"X", "y", "grams", *NAME_ARRAYS}
    return {key: _member(archive, key, name) for key in archive.files if key in wanted}


def _member(archive: Any, key: str, name: str) -> NDArray[Any]:
    try:
        array = archive[key]
    except BROKEN as error:
        said = " ".join(str(error).split())
        reason = "it holds Python objects, which mklviz refuses" if "pickle" in said else said
        raise DataError(f"Array {key} of {name} cannot be read: {reason}.") from None
    if not isinstance(array, np.ndarray):
        raise DataError(f"{key} of {name} is not a NumPy array.")
    return array


def _text(value: Any, name: str) -> str:
    """Label as text: whole numbers without a point, so that 1.0 and 1 are one label."""
    if isinstance(value, str):
        return value
    number = float(value)
    if not np.isfinite(number):
        raise DataError(f"Array y of {name} holds {number}; every label must be a finite number or a text.")
    return str(int(number)) if number.is_integer() else repr(number)


def _numbers(array: NDArray[Any], key: str, ndim: int) -> Array:
    if array.dtype.kind not in "biuf":
        raise DataError(f"Array {key} must hold real numbers, not {array.dtype}.")
    if array.ndim != ndim:
        raise DataError(f"Array {key} must have {ndim} dimensions; its shape is {array.shape}.")
    return array.astype(np.float64)


def _grams(array: NDArray[Any], n: int) -> Array:
    grams = _numbers(array[None] if array.ndim == 2 else array, "grams", 3)
    if grams.shape[1:] != (n, n) or not len(grams):
        raise DataError(f"Array grams has shape {array.shape}; expected (m, {n}, {n}), since y has {n} labels.")
    for k, gram in enumerate(grams):
        if np.abs(gram - gram.T).max() > 1e-8 * np.abs(gram).max():
            raise DataError(f"Gram matrix {k} of array grams is not symmetric; a kernel matrix must be.")
    return grams


def _names(arrays: dict[str, NDArray[Any]], key: str) -> tuple[str, ...]:
    array = arrays.get(key)
    if array is None:
        return ()
    if array.ndim != 1 or array.dtype.kind != "U":
        raise DataError(f"Array {key} must be a one-dimensional array of text; it is {array.dtype}, {array.shape}.")
    return tuple(str(value) for value in array)
