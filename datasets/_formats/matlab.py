"""MATLAB's files (.mat): arrays under any names, also in structs and cells; version 7.3 is HDF5, which h5py reads."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.limits import LIMITS

from .._dataset import DataError, Dataset
from .._file_kind import check_shape, check_size, check_unpacked, reading
from .._table_options import OF_ARRAYS, Progress, TableOptions
from ._arrays import dense, read_arrays

SUFFIXES = (".mat",)
OPTIONS = OF_ARRAYS

_HDF5 = b"\x89HDF\r\n\x1a\n"
_COMPRESSED = 15  # the kind of a part
_DEEPEST = 4  # structs and cells in each other
_NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}  # kinds of parts, all others of which end the process in scipy
_MATRIX = 14
_SPARSE, _OPAQUE, _IS_COMPLEX = 5, 17, 0x800
_HOLDERS = {1, 2, 3, 16, 17}  # cells, structs and objects, of whose parts some are matrices


def looks(data: bytes) -> bool:
    """Whether a file begins as MATLAB's do."""
    return data.startswith((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", _HDF5))


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read samples and labels, or kernels and labels."""
    return read_arrays(arrays_in(data, name, gram_cells), name, options, progress, "a MATLAB array")


def arrays_in(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]]:
    """Return the arrays in a file by their names, those in structs and cells by longer ones."""
    if _HDF5 in data[:1024]:
        return _hdf5(data, name, gram_cells)
    from scipy.io import loadmat, whosmat

    with reading(f"{name} cannot be read as MATLAB's"):
        file: Any = io.BytesIO(data)  # the stubs know paths only
        for key, shape, _ in whosmat(file):
            check_shape(f"{key} of {name}", sorted(shape, reverse=True), gram_cells)
        _check_parts(data, name, gram_cells)
        variables = loadmat(file, squeeze_me=False)
    arrays, size = dict[str, NDArray[Any]](), 0
    for variable, value in variables.items():
        for key, array in _inside(variable, value, name) if not variable.startswith("__") else ():
            arrays[key], size = array, size + array.nbytes
            check_unpacked(name, size, 8 * max(LIMITS.cells, gram_cells))
    return arrays


def _check_parts(data: bytes, name: str, gram_cells: int) -> None:
    """Refuse what ends the process in scipy, and compressed parts that hold more than their headers tell."""
    order, size, most = "<" if data[126:128] == b"IM" else ">", 0, 8 * max(LIMITS.cells, gram_cells)
    for kind, part in _parts(memoryview(data)[128:], order) if data.startswith(b"MATLAB 5") else ():
        if kind != _COMPRESSED:
            _check_matrix(kind, part, order)
            continue
        content = zlib.decompressobj().decompress(part, most - size + 1)
        size += len(content)
        check_unpacked(name, size, most)
        for inner in _parts(memoryview(content), order):
            _check_matrix(*inner, order)


def _parts(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the kind and the content of each part; small ones stand within eight bytes, others begin at one of them."""
    place = 0
    while place + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, place)
        small = kind >> 16
        if small > 4:
            raise ValueError(f"a part is of the unknown kind {kind & 0xFFFF}")
        start, size = (place + 4, small) if small else (place + 8, size)
        yield kind & 0xFFFF, content[start : start + size]
        place = start + (4 if small else size + (kind != _COMPRESSED) * (-size % 8))
    if place < len(content):
        raise ValueError("a part is cut off")


def _check_matrix(kind: int, content: memoryview, order: str, depth: int = 0) -> None:
    """Raise `ValueError` where a matrix has a part of an unknown kind, or fewer parts than it says."""
    if kind != _MATRIX or depth > 100:
        raise ValueError(f"a part is of the unknown kind {kind}")
    if depth and not content:  # an empty cell or field, as MATLAB writes it
        return
    flags = count = 0
    for count, (inner, part) in enumerate(_parts(content, order), 1):
        if count == 1 and len(part) >= 4:
            (flags,) = struct.unpack_from(f"{order}I", part)
        if count == 2 and len(part) < 8 and flags & 0xFF != _OPAQUE:
            raise ValueError("an array has no shape")
        if inner == _MATRIX and flags & 0xFF in _HOLDERS and count > 2:
            _check_matrix(inner, part, order, depth + 1)
        elif inner not in _NUMBERS:
            raise ValueError(f"a part is of the unknown kind {inner}")
    wanted = (6 if flags & 0xFF == _SPARSE else 4) + bool(flags & _IS_COMPLEX)
    if flags & 0xFF not in _HOLDERS and count != wanted:
        raise ValueError("a part is lacking")  # in whose place scipy reads the next


def _inside(key: str, value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays in a variable: itself, or those in its cells and fields."""
    if hasattr(value, "toarray"):
        check_size(name, max(value.shape), min(value.shape))
        if value.dtype.kind not in "biuf":
            raise DataError(f"{key} of {name} must hold real numbers, not {value.dtype}.")
        with reading(f"{name} holds a damaged sparse matrix"):
            # of version 4, whose places were checked, or compressed
            value = value.toarray() if value.format == "coo" else dense(value)
    array = np.asarray(value)
    if depth > _DEEPEST:
        return
    if array.dtype.names:
        for k, each in enumerate(array.reshape(-1)):
            place = f"{key}({k + 1})" if array.size > 1 else key
            for field in array.dtype.names:
                yield from _inside(f"{place}.{field}", each[field], name, depth + 1)
    elif array.dtype == object:
        cells = [np.asarray(cell) for cell in array.reshape(-1)]
        if cells and all(cell.dtype.kind == "U" and cell.size == 1 for cell in cells):
            yield key, np.array([str(cell.item()) for cell in cells])
        else:
            for k, cell in enumerate(cells):
                yield from _inside(f"{key}{{{k + 1}}}", cell, name, depth + 1)
    else:
        yield key, array


def _hdf5(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]]:
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise DataError(
            f"{name} is HDF5, as MATLAB's version 7.3 writes it: install h5py, or save it with save(..., '-v7')."
        ) from None
    arrays, size = dict[str, NDArray[Any]](), 0
    with reading(f"{name} cannot be read as HDF5"), h5py.File(io.BytesIO(data), "r") as file:
        for key, value in file.items():
            if isinstance(value, h5py.Dataset) and value.dtype.kind in "biuf":
                check_shape(f"{key} of {name}", sorted(value.shape, reverse=True), gram_cells)
                size += value.nbytes
                check_unpacked(name, size, 8 * max(LIMITS.cells, gram_cells))
                arrays[key] = np.array(value).T if data.startswith(b"MATLAB") else np.array(value)  # by columns
    return arrays
