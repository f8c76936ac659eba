"""Unpack foreign archives no further than they declare, so that a check of the declared sizes is enough.

Python's own reader unpacks all that a member is compressed from, 2 GB at a time, before it cuts off what is more than
the archive says; and more without bounds where the method is not the usual one.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from numpy.lib import format as npy
from numpy.typing import NDArray

__all__ = ["ArchiveMember", "declared", "parquet_pages", "read_array"]


class ArchiveMember:
    """One member of an open archive, to be read as a file is.

    Raises `ValueError` if it is compressed in an unusual way.
    """

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo | str) -> None:
        member = archive.getinfo(info) if isinstance(info, str) else info
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("it is compressed in a way that is not read here: save it anew")
        self.left = member.file_size
        self._file = archive.open(member)

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes, or all that are left."""
        part = self._file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(part)
        return part

    def __enter__(self) -> ArchiveMember:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def declared(file: Any) -> tuple[tuple[int, ...], bool, Any]:
    """Return shape, order (whether Fortran's) and type of the array in a file or a member, from its first bytes."""
    version = npy.read_magic(file)
    shape, fortran, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    return shape, fortran, dtype


def read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo | str) -> NDArray[Any]:
    """Return the array in a member; one that declares more than the member holds is refused before it is allocated."""
    with ArchiveMember(archive, info) as member:
        shape, _, dtype = declared(member)
        if math.prod(shape) * dtype.itemsize > member.left:
            raise ValueError(f"an array of shape {shape} is cut off")
    with ArchiveMember(archive, info) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        member.read()  # to its end, where the checksum is compared
        return array


def parquet_pages(data: bytes, chunk: Any) -> Iterator[tuple[int, int, int]]:
    """Yield, for each page of a column in a Parquet file, the bytes it unpacks to, its encoding and its values.

    The pages say it themselves, in Thrift's compact protocol: what the footer says of them need not be so. `chunk`:
    what pyarrow knows of the column in a group of rows. Raises `ValueError` where a page is damaged.
    """
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    file = io.BytesIO(data)
    file.seek(start)
    while chunk.num_values and file.tell() < min(start + chunk.total_compressed_size, len(data)):
        page = _struct(file)
        inner: Any = next((page[kind] for kind in (5, 7, 8) if kind in page), {})  # data, dictionary, data of version 2
        packed, size = page.get(3), page.get(2)
        if not (isinstance(packed, int) and isinstance(size, int) and packed >= 0 <= size and isinstance(inner, dict)):
            raise ValueError("a page does not say how large it is")
        yield size, inner.get(4 if 8 in page else 2, 0), inner.get(1, 0)
        file.seek(packed, io.SEEK_CUR)


def _struct(file: io.BytesIO, depth: int = 0) -> dict[int, Any]:
    """Return the fields of a struct: whole numbers and structs by their numbers; others are skipped."""
    fields: dict[int, Any] = {}
    number = 0
    while kind := _byte(file):
        number = number + (kind >> 4) if kind >> 4 else _whole(file)
        fields[number] = _value(file, kind & 15, depth)
    return fields


def _value(file: io.BytesIO, kind: int, depth: int) -> Any:
    if kind in (4, 5, 6):
        return _whole(file)
    if kind == 12 and depth < 4:
        return _struct(file, depth + 1)
    if kind == 8:
        file.seek(_varint(file), io.SEEK_CUR)
    elif kind not in (1, 2):  # switches stand in the kind
        raise ValueError("a page is damaged")
    return None


def _byte(file: io.BytesIO) -> int:
    (byte,) = file.read(1) or (0,)
    return byte


def _varint(file: io.BytesIO) -> int:
    number = shift = 0
    while (byte := _byte(file)) & 128:
        if shift > 63:
            raise ValueError("a page is damaged")
        number, shift = number | (byte & 127) << shift, shift + 7
    return number | byte << shift


def _whole(file: io.BytesIO) -> int:
    number = _varint(file)
    return number >> 1 ^ -(number & 1)
