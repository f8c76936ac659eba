"""NumPy archives: ``X`` (n, d) and ``y`` (n,), or ``grams`` (m, n, n) and ``y``; objects and pickles are refused."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.limits import LIMITS
from mklviz.unpacking import ArchiveMember, read_array

from ._bounds import check_size, reading, reason_of
from ._dataset import Array, DataError, Dataset
from ._labels import code_labels

NAME_ARRAYS = ("feature_names", "kernel_names")


def read_npz(data: bytes, name: str, gram_cells: int = LIMITS.cells) -> Dataset:
    """Read an archive of arrays: ``y`` and ``X`` or ``grams`` (or both), optionally names.

    ``feature_names`` and ``kernel_names`` are arrays of text. A single matrix (n, n) in ``grams`` is one kernel; at
    most `gram_cells` numbers in it are read. Sizes are checked before anything is unpacked.
    """
    arrays = _arrays(data, name, gram_cells)
    if "y" not in arrays or not ("X" in arrays or "grams" in arrays):
        held = ", ".join(sorted(arrays)) or "nothing"
        raise DataError(f"{name} must hold the arrays y and X, or y and grams; it holds {held}.")
    y = arrays["y"]
    if y.ndim != 1 or not len(y):
        raise DataError(f"Array y of {name} must have shape (n,); its shape is {y.shape}.")
    if y.dtype.kind not in "biufU":
        raise DataError(f"Array y of {name} must hold numbers or text, not {y.dtype}.")
    different, inverse = np.unique(y, return_inverse=True)
    labels = code_labels([_text(value, name) for value in different], "array y", inverse)
    X = _numbers(arrays["X"], "X", 2) if "X" in arrays else np.zeros((len(y), 0))
    grams = _grams(arrays["grams"], len(y)) if "grams" in arrays else None
    names = {key: _names(arrays, key) for key in NAME_ARRAYS}
    return labels.dataset(name, X, grams=grams, **names)


def _arrays(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]]:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise DataError(f"{name} is not an npz archive; write one with numpy.savez(file, X=X, y=y).")
    with reading(f"{name} is a damaged archive"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wanted = [key for key in ("X", "y", "grams", *NAME_ARRAYS) if key in members]
        for key in wanted:
            _check_declared(archive, members[key], key, name, gram_cells)
        return {key: _member(archive, members[key], key, name) for key in wanted}


def _check_declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str, name: str, gram_cells: int) -> None:
    """Refuse an array by the size that its header declares."""
    shape, size = _declared(archive, info, key, name)
    if key == "grams":
        if math.prod(shape) > gram_cells:
            raise DataError(
                f"{name} holds Gram matrices of {math.prod(shape):,} numbers; mklviz reads at most {gram_cells:,}."
            )
    else:
        check_size(name, shape[0] if shape else 1, math.prod(shape[1:]))
    size = max(size, info.file_size)
    if size > 8 * max(LIMITS.cells, gram_cells):
        raise DataError(f"Array {key} of {name} unpacks to {size / 1e9:.1f} GB, which is too much.")


def _declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str, name: str) -> tuple[tuple[int, ...], int]:
    """Return the shape in the header of an array, and the bytes it takes."""
    with reading(f"Array {key} of {name} cannot be read"), ArchiveMember(archive, info) as member:
        shape, _, dtype = member.declared()
    return shape, math.prod(shape) * dtype.itemsize


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str, name: str) -> NDArray[Any]:
    try:
        return read_array(archive, info)
    except Exception as error:
        reason = reason_of(error)
        if "pickle" in reason or "Object" in reason:
            reason = "it holds Python objects, which mklviz refuses"
        raise DataError(f"Array {key} of {name} cannot be read: {reason}.") from None


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
