"""Unpack foreign archives no further than they declare, so that a check of the declared sizes is enough.

Python's own reader unpacks all that a member is compressed from, 2 GB at a time, before it cuts off what is more than
the archive says; and more without bounds where the method is not the usual one.
"""

from __future__ import annotations

import math
import zipfile
from types import TracebackType
from typing import Any

from numpy.lib import format as npy
from numpy.typing import NDArray

__all__ = ["ArchiveMember", "read_array"]


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

    def declared(self) -> tuple[tuple[int, ...], bool, Any]:
        """Return shape, order (whether Fortran's) and type of the array in the member, from its first bytes."""
        version = npy.read_magic(self)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(self)
        return shape, fortran, dtype

    def __enter__(self) -> ArchiveMember:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo | str) -> NDArray[Any]:
    """Return the array in a member; one that declares more than the member holds is refused before it is allocated."""
    with ArchiveMember(archive, info) as member:
        shape, _, dtype = member.declared()
        if math.prod(shape) * dtype.itemsize > member.left:
            raise ValueError(f"an array of shape {shape} is cut off")
    with ArchiveMember(archive, info) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        member.read()  # to its end, where the checksum is compared
        return array
