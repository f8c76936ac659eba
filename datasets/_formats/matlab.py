"""MATLAB's files (.mat): arrays under any names, also in structs and cells; version 7.3 is HDF5, which h5py reads."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.limits import LIMITS

from .._bounds import LONGEST, check_size, check_unpacked, reading
from .._dataset import DataError, Dataset
from .._table_options import Progress, TableOptions
from ._arrays import dataset_of, dense

SUFFIXES = (".mat",)
OPTIONS = ()

_HDF5 = b"\x89HDF\r\n\x1a\n"
_COMPRESSED = 15  # the kind of a part
_DEEPEST = 4  # structs and cells in each other


def looks(data: bytes) -> bool:
    """Whether a file begins as MATLAB's do."""
    return data.startswith((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"))


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read samples and labels, or kernels and labels."""
    return dataset_of(arrays_in(data, name, gram_cells), name)


def arrays_in(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]]:
    """Return the arrays in a file by their names, those in structs and cells by longer ones."""
    if _HDF5 in data[:1024]:
        return _hdf5(data, name, gram_cells)
    from scipy.io import loadmat, whosmat

    with reading(f"{name} cannot be read as MATLAB's"):
        file: Any = io.BytesIO(data)  # the stubs know paths only
        for key, shape, _ in whosmat(file):
            _check(key, shape, name, gram_cells)
        _check_parts(data, name, gram_cells)
        variables = loadmat(file, squeeze_me=False)
    arrays, size = dict[str, NDArray[Any]](), 0
    for variable, value in variables.items():
        for key, array in _inside(variable, value, name) if not variable.startswith("__") else ():
            arrays[key], size = array, size + array.nbytes
            check_unpacked(name, size, 8 * max(LIMITS.cells, gram_cells))
    return arrays


def _check_parts(data: bytes, name: str, gram_cells: int) -> None:
    """Refuse a file whose compressed parts hold more than their headers tell, in cells and structs."""
    order, place, size = "<" if data[126:128] == b"IM" else ">", 128, 0
    _check_tags(io.BytesIO(data), order)
    while data.startswith(b"MATLAB 5") and place + 8 <= len(data):
        kind, length = struct.unpack(f"{order}II", data[place : place + 8])
        part, place = data[place + 8 : place + 8 + length], place + 8 + length
        packed = zlib.decompressobj() if kind == _COMPRESSED else None
        while packed is not None and part:
            size += len(packed.decompress(part, LONGEST))
            part = packed.unconsumed_tail
            check_unpacked(name, size, 8 * max(LIMITS.cells, gram_cells))


_NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}  # kinds of parts, all others of which end the process in scipy
_MATRIX = 14
_SPARSE, _IS_COMPLEX = 5, 0x800
_HOLDERS = {1, 2, 3, 16, 17}  # cells, structs and objects, of whose parts some are matrices


class _Unpacked:
    """A compressed part, read as a file is."""

    def __init__(self, packed: bytes) -> None:
        self._object, self._rest, self._have = zlib.decompressobj(), packed, b""

    def read(self, size: int) -> bytes:
        """Return the next bytes, as many as there are."""
        while len(self._have) < size and self._rest:
            self._have += self._object.decompress(self._rest, LONGEST)
            self._rest = self._object.unconsumed_tail
        taken, self._have = self._have[:size], self._have[size:]
        return taken


def _skip(file: Any, size: int) -> None:
    """Read past so many bytes."""
    while size > 0 and (got := len(file.read(min(size, LONGEST)))):
        size -= got


def _check_tags(file: Any, order: str) -> None:
    """Refuse parts of an unknown kind at their places, which scipy looks up beyond the end of a table."""
    if not file.read(128).startswith(b"MATLAB 5"):
        return
    while len(tag := file.read(8)) == 8:
        kind, length = struct.unpack(f"{order}II", tag)
        if kind == _COMPRESSED:
            packed = _Unpacked(file.read(length))
            kind, length = struct.unpack(f"{order}II", packed.read(8).ljust(8, b"\0"))
            _check_matrix(packed, order, kind, length)
        else:
            _check_matrix(file, order, kind, length)


def _check_matrix(file: Any, order: str, kind: int, length: int, depth: int = 0) -> None:
    """Raise `ValueError` where a matrix has a part of an unknown kind, or fewer parts than it says."""
    if kind != _MATRIX or depth > 100:
        raise ValueError(f"a part is of the unknown kind {kind}")
    first, k = 0, 0
    while length >= 8:
        tag = file.read(8)
        if len(tag) < 8:
            return
        length -= 8
        one, size = struct.unpack(f"{order}II", tag)
        small = one >> 16
        inner, size = (one & 0xFFFF, small) if small else (one, size)
        if inner == _MATRIX and first & 0xFF in _HOLDERS and k > 1 and not small:
            _check_matrix(file, order, inner, size, depth + 1)
            length -= size
        elif inner not in _NUMBERS or (small and size > 4):
            raise ValueError(f"a part is of the unknown kind {inner}")
        elif not small:
            padded = size + -size % 8
            if k == 0:
                start = file.read(min(padded, 8))
                first = struct.unpack(f"{order}I", start[:4].ljust(4, b"\0"))[0]
                _skip(file, padded - 8)
            else:
                _skip(file, padded)
            length -= padded
        k += 1
    wanted = 6 if first & 0xFF == _SPARSE else 4
    if length or (first & 0xFF not in _HOLDERS and k != wanted + bool(first & _IS_COMPLEX)):
        raise ValueError("a part is lacking")  # in whose place scipy reads the next


def _check(key: str, shape: tuple[int, ...], name: str, gram_cells: int) -> None:
    if len(shape) > 2 or len(set(shape)) < len(shape):
        if math.prod(shape) > gram_cells:
            raise DataError(f"{key} of {name} holds {math.prod(shape):,} numbers; mklviz reads at most {gram_cells:,}.")
    elif shape:
        check_size(name, max(shape), min(shape))


def _inside(key: str, value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays in a variable: itself, or those in its cells and fields."""
    if hasattr(value, "toarray"):
        check_size(name, max(value.shape), min(value.shape))
        if value.dtype.kind not in "biuf":
            raise DataError(f"{key} of {name} must hold real numbers, not {value.dtype}.")
        with reading(f"{name} holds a damaged sparse matrix"):  # with which toarray would end the process
            coo = value.format == "coo"  # of version 4, whose places were checked
            value = value.toarray() if coo else dense(value.shape, value.indptr, value.indices, value.data, False, name)
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
            f"{name} is of MATLAB's version 7.3, which is HDF5: install h5py, or save it with save(..., '-v7')."
        ) from None
    arrays, size = dict[str, NDArray[Any]](), 0
    with reading(f"{name} cannot be read as HDF5"), h5py.File(io.BytesIO(data), "r") as file:
        for key, value in file.items():
            if isinstance(value, h5py.Dataset) and value.dtype.kind in "biuf":
                _check(key, value.shape, name, gram_cells)
                size += value.nbytes
                check_unpacked(name, size, 8 * max(LIMITS.cells, gram_cells))
                arrays[key] = np.array(value).T  # MATLAB counts columns first
    return arrays
