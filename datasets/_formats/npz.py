"""NumPy's files: archives (.npz) of arrays under any names, and single arrays (.npy).

Nothing is unpickled: of arrays of Python objects, as pandas makes them of words, the texts and numbers are read.
"""

from __future__ import annotations

import io
import math
import pickletools
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mklviz.limits import LIMITS
from mklviz.unpacking import ArchiveMember, declared, read_array

from .._dataset import DataError, Dataset
from .._file_kind import check_shape, check_unpacked, reading
from .._table_options import OF_ARRAYS, Progress, TableOptions
from ._arrays import dense, read_arrays

SUFFIXES = (".npz", ".npy")
OPTIONS = OF_ARRAYS

ARRAY = b"\x93NUMPY"
_MOST_ARRAYS = 10_000
_RUN = {"header.npy", "objective.npy", "lower_bound.npy"}  # as `mklviz.record` keeps it


def looks(data: bytes) -> bool:
    """Whether a file is one array; archives are told by what they hold."""
    return data.startswith(ARRAY)


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read samples and labels, or kernels and labels; sizes are checked before anything is unpacked."""
    return read_arrays(arrays_in(data, name, gram_cells), name, options, progress, "a NumPy array")


def arrays_in(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]]:
    """Return the arrays in a file by their names; the file's own is that of a single one."""
    if data.startswith(ARRAY):
        with reading(f"{name} is a damaged array"):
            return {name: _single(data, name, gram_cells)}
    with reading(f"{name} is a damaged archive"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")][:_MOST_ARRAYS]
        if _RUN.issubset(info.filename for info in members):
            raise DataError(f"{name} is a run that mklviz saved, and no data: open it on the page Runs.")
        total = 0
        for info in members:
            key = info.filename.removesuffix(".npy")
            with reading(f"Array {key} of {name} cannot be read"), ArchiveMember(archive, info) as member:
                shape, _, dtype = declared(member)
            total += _checked(shape, max(math.prod(shape) * dtype.itemsize, info.file_size), key, name, gram_cells)
        check_unpacked(name, total, 8 * max(LIMITS.cells, gram_cells))
        arrays = {info.filename.removesuffix(".npy"): _member(archive, info, name) for info in members}
    return {name: _whole(arrays, name)} if {"data", "shape", "format"} <= arrays.keys() else arrays


def _whole(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return the sparse matrix that SciPy saved, with its zeros."""
    from scipy import sparse

    with reading(f"{name} is no sparse matrix that can be read"):
        kind, (rows, columns) = arrays["format"].item(), map(int, arrays["shape"])
        if arrays["data"].dtype.kind not in "biuf":
            raise DataError(f"{name} holds a sparse matrix of {arrays['data'].dtype}, not of real numbers.")
        check_shape(name, (rows, columns), LIMITS.gram_cells)
        numbers = arrays["data"].astype(np.float64)
        if kind == b"coo":
            return np.asarray(sparse.coo_matrix((numbers, (arrays["row"], arrays["col"])), (rows, columns)).toarray())
        made = sparse.csr_matrix if kind == b"csr" else sparse.csc_matrix
        return dense(made((numbers, arrays["indices"], arrays["indptr"]), (rows, columns)))


def _single(data: bytes, name: str, gram_cells: int) -> NDArray[Any]:
    file = io.BytesIO(data)
    shape, _, dtype = declared(file)
    _checked(shape, math.prod(shape) * dtype.itemsize, name, name, gram_cells)
    if dtype.hasobject:
        return _objects(data[file.tell() :], shape, name, name)
    if math.prod(shape) * dtype.itemsize > len(data) - file.tell():
        raise DataError(f"{name} is cut off: an array of shape {shape} needs more.")
    return np.asarray(npy.read_array(io.BytesIO(data), allow_pickle=False))


def _checked(shape: tuple[int, ...], size: int, key: str, name: str, gram_cells: int) -> int:
    """Refuse an array by the size that its header declares, else return its bytes."""
    check_shape(name, shape, gram_cells)
    if size > 8 * max(LIMITS.cells, gram_cells):
        raise DataError(f"Array {key} of {name} unpacks to {size / 1e9:.1f} GB, which is too much.")
    return size


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    key = info.filename.removesuffix(".npy")
    with reading(f"Array {key} of {name} cannot be read"):
        with ArchiveMember(archive, info) as member:
            shape, _, dtype = declared(member)
            if dtype.hasobject:
                return _objects(member.read(), shape, key, name)
        return read_array(archive, info)


# -- arrays of Python objects, whose pickles are looked at and never run

_MARK = object()


def _objects(data: bytes, shape: tuple[int, ...], key: str, name: str) -> NDArray[Any]:
    """Return the texts and numbers in a pickled array of objects."""
    values = _listed(data)
    if len(values) != math.prod(shape) or not all(isinstance(value, (str, int, float)) for value in values):
        raise DataError(
            f"Array {key} of {name} holds Python objects other than texts and numbers, which mklviz refuses: save it as"
            " numbers or text."
        )
    if len(shape) > 1 and not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=np.float64).reshape(shape)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def _listed(data: bytes) -> list[Any]:
    """Return the longest list that a pickle makes, without running it: what it would call is left out."""
    stack, memo, longest = list[Any](), dict[int, Any](), list[Any]()
    for code, argument, _ in pickletools.genops(data):
        kinds = [kind.name for kind in code.stack_after]
        if "PUT" in code.name or code.name == "MEMOIZE":
            memo[len(memo) if argument is None else argument] = stack[-1]
        elif "GET" in code.name:
            stack.append(memo[int(str(argument))])
        elif code.name in ("APPEND", "APPENDS"):
            items = _to_mark(stack) if code.name == "APPENDS" else [stack.pop()]
            stack[-1].extend(items)
            longest = max(longest, stack[-1], key=len)
        elif code.name in ("NONE", "NEWTRUE", "NEWFALSE"):
            stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[code.name])
        else:
            before = [kind.name for kind in code.stack_before]
            if "mark" in before:
                _to_mark(stack)
                before = before[: before.index("mark")]
            del stack[len(stack) - len(before) :]
            made = [] if code.name == "EMPTY_LIST" else _MARK if kinds == ["mark"] else argument
            stack += [made] * len(kinds)
    return longest


def _to_mark(stack: list[Any]) -> list[Any]:
    """Take what stands above the last mark, and the mark."""
    items: list[Any] = []
    while (item := stack.pop()) is not _MARK:
        items.append(item)
    return items[::-1]
