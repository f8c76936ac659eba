"""Packed files: one file in a gzip, bzip2, xz or zip archive, unpacked no further than what is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import PurePath
from typing import IO

from ._bounds import UNPACKED, reading
from ._dataset import DataError

__all__ = ["members", "unpacked"]

_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_MOST = 1000  # files in an archive


def unpacked(data: bytes, filename: str) -> tuple[bytes, str]:
    """Return the file in a packed one, and its name; a file that is not packed as it is."""
    for signature, unpack in _PACKED:
        if data.startswith(signature):
            with reading(f"{filename} is a damaged archive"), unpack(io.BytesIO(data)) as file:
                return _bounded(file, filename), str(PurePath(filename).with_suffix(""))
    inside = members(data, filename)
    if len(inside) == 1:
        ((name, content),) = inside
        return content, name
    return data, filename


def members(data: bytes, filename: str) -> list[tuple[str, bytes]]:
    """Return the files in a zip archive by their names, but for archives that are a format of their own."""
    if not data.startswith(b"PK\x03\x04") or not zipfile.is_zipfile(io.BytesIO(data)):
        return []
    with reading(f"{filename} is a damaged archive"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir() and not _hidden(info.filename)]
        names = {info.filename for info in infos}
        formats = any(name.endswith(".npy") for name in names) or {"[Content_Types].xml", "mimetype"} & names
        if formats or len(infos) > _MOST:
            return []
        if sum(info.file_size for info in infos) > UNPACKED:
            raise DataError(f"{filename} unpacks to more than {UNPACKED / 1e6:,.0f} MB, which is too much.")
        return [(PurePath(info.filename).name, _member(archive, info, filename)) for info in infos]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, filename: str) -> bytes:
    with archive.open(info) as file:
        return _bounded(file, filename)


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePath(name).parts)


def _bounded(file: IO[bytes], filename: str) -> bytes:
    content = file.read(UNPACKED + 1)
    if len(content) > UNPACKED:
        raise DataError(f"{filename} unpacks to more than {UNPACKED / 1e6:,.0f} MB, which is too much.")
    return content
