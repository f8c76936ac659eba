"""A trace as a compressed NumPy archive, for ``numpy.load`` too. Weights are written and read row by row."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mklviz.contract import Array
from mklviz.unpacking import ArchiveMember, read_array


def write_archive(
    file: IO[bytes], header: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], name: str, rows: Iterable[Array]
) -> None:
    """Write a header, columns and, as the array `name`, as many rows as the columns are long."""
    length = len(next(iter(columns.values())))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, values in {"header": _as_text(header), **columns}.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(values), allow_pickle=False)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            shape: tuple[int, ...] = (0,)
            for t, row in enumerate(rows):
                if t == 0:
                    shape = (length, len(row))
                    npy.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": shape})
                member.write(np.ascontiguousarray(row, dtype="<f8").data)
            if shape == (0,):
                npy.write_array(member, np.empty(0), allow_pickle=False)


def archive_in_memory(header: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a header and columns as such a file, not compressed, in a fifth of the time that Python's writer takes."""
    parts, directory, offset = [], [], 0
    arrays = {"header": _as_text(header), **columns}
    for key, values in arrays.items():
        member = f"{key}.npy".encode()
        content = _npy(values)
        sizes = struct.pack("<LLLHH", zlib.crc32(content), len(content), len(content), len(member), 0)
        common = struct.pack("<HHHHH", 20, 0, zipfile.ZIP_STORED, 0, 0x21) + sizes  # the day is the first of 1980
        parts += [b"PK\x03\x04", common, member, content]
        directory += [b"PK\x01\x02", struct.pack("<H", 20), common, struct.pack("<HHHLL", 0, 0, 0, 0, offset), member]
        offset += 4 + len(common) + len(member) + len(content)
    listed = b"".join(directory)
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(arrays), len(arrays), len(listed), offset, 0)
    return b"".join((*parts, listed, end))


def _npy(values: NDArray[Any]) -> bytes:
    """Return an array as NumPy's format has it."""
    head = f"{{'descr': {values.dtype.str!r}, 'fortran_order': False, 'shape': {values.shape}, }}"
    length = -(len(head) + 11) % 64 + len(head) + 1  # the content begins at a multiple of 64
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + head.encode().ljust(length - 1) + b"\n" + values.tobytes()


def _as_text(header: Mapping[str, Any]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(header).encode(), np.uint8)  # an array of letters would take four times the memory


class Arrays:
    """The arrays of an archive, by name, each read when it is asked for."""

    def __init__(self, file: str | Path | IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file)

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._zip.namelist()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return read_array(self._zip, f"{name}.npy")

    def open(self, name: str) -> ArchiveMember:
        """Open the array of that name, as it stands in the archive."""
        return ArchiveMember(self._zip, f"{name}.npy")

    def rows(self, name: str) -> Iterator[Array]:
        """Yield the rows of one array."""
        with self.open(name) as member:
            shape, fortran, dtype = member.declared()
            if fortran or len(shape) != 2 or dtype.kind != "f":
                raise ValueError(f"the array {name} is not made of rows")
            for _ in range(shape[0]):
                yield np.frombuffer(member.read(shape[1] * dtype.itemsize), dtype, shape[1]).astype(np.float64)

    def sizes(self) -> dict[str, int]:
        """Return how many bytes each array takes, by name, at eight bytes per number, as its header declares."""
        sizes: dict[str, int] = {}
        for info in self._zip.infolist():
            with ArchiveMember(self._zip, info) as member:
                numbers = abs(math.prod(member.declared()[0]))
            name = info.filename.removesuffix(".npy")
            sizes[name] = sizes.get(name, 0) + max(8 * numbers, info.file_size)
        return sizes

    def close(self) -> None:
        """Read no more."""
        self._zip.close()


def read_header(archive: Arrays) -> dict[str, Any]:
    """Return the header of an open archive, whichever way it was written."""
    text = archive["header"]
    header: dict[str, Any] = json.loads(text.tobytes().decode() if text.dtype == np.uint8 else str(text))
    return header


# -- files are replaced whole or not at all: a full disk leaves what was there before
#
# A new file is written beside the old one, brought to the disk, and only then given its name.


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that becomes `path` when the block ends; an error leaves `path` as it was."""
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not target.is_file():  # a pipe or a device has nothing to lose, and cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    beside = target.with_name(f".{secrets.token_hex(8)}.part")  # an own name may be too long with more added to it
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
