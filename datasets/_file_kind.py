"""What a file is, by its first bytes, so that the refusal of a wrong one names its kind; and how much of it is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, TypeVar

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, named, one_line
from mklviz.unpacking import ArchiveMember

from ._dataset import DataError

_HIDDEN = re.compile(r"(^|/)(__MACOSX/|\.|desktop\.ini$|thumbs\.db$)", re.IGNORECASE)
_REMARKS = re.compile(
    r"(^|/)((readme|licen[cs]e|copying|changelog|citation)[^/]*|index|notes?(\.txt)?)$"
    r"|\.(md|rst|names|pdf|html?|py|ipynb|r|m|sh|ya?ml)$",
    re.IGNORECASE,
)
_ZIP, _DAMAGED = "a zip archive", "a damaged archive"
_TABLES = re.compile(
    r"\.(csv|tsv|txt|data|dat|test|train|labels|tab|arff|svm|libsvm|mtx|xlsx|parquet|mat|npz|npy|gz|bz2|xz)$",
    re.IGNORECASE,
)
TABLES = ("excel", "parquet", "npz")
_PROGRAMS: tuple[tuple[str, tuple[bytes, ...]], ...] = (  # whose files can be saved as tables there
    ("an old Excel file (.xls)", ()),
    ("a Stata file", (b"<stata_dta>", *(bytes([k, order, 1, 0]) for k in range(0x68, 0x75) for order in (1, 2)))),
    ("an SPSS file", (b"$FL2@(#)", b"$FL3@(#)", b"ASCII SPSS PORT")),
    ("a SAS file", (b"\0" * 12 + b"\xc2\xea\x81\x60",)),
    ("an R workspace", (b"RDX",)),
    ("an R object (.rds)", (b"X\n\0\0\0",)),
    ("a Feather file", (b"ARROW1",)),
    ("an Avro file", (b"Obj\x01",)),
    ("an XML file", (b"<?xml",)),
    ("SQL", (b"INSERT INTO", b"CREATE TABLE", b"DROP TABLE", b"-- MySQL", b"-- phpMyAdmin", b"--\n-- Post")),
)
_SIGNATURES: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    *_PROGRAMS,
    ("a PDF", (b"%PDF",)),
    ("a pointer to a file that Git LFS keeps", (b"version https://git-lfs",)),
    ("a photo", (b"\xff\xd8\xff",)),
    ("a picture", (b"\x89PNG\r\n\x1a\n", b"GIF8", b"II*\x00", b"MM\x00*")),
    ("a 7z archive", (b"7z\xbc\xaf\x27\x1c",)),
    ("a RAR archive", (b"Rar!\x1a\x07",)),
    ("a Zstandard archive", (b"(\xb5/\xfd",)),
    ("an LZ4 archive", (b"\x04\x22M\x18",)),
    ("a gzip archive in another archive", (b"\x1f\x8b",)),
    ("an empty zip archive", (b"PK\x05\x06",)),
    ("a database", (b"SQLite format 3\x00",)),
    ("a piece of music", (b"ID3",)),
    ("a program", (b"\x7fELF",)),
    ("a text document", (b"{\\rtf",)),
)
_PACKED: dict[bytes, tuple[str, str, Any]] = {
    b"\x1f\x8b": ("a gzip archive", ".gz", gzip.open),
    b"BZh": ("a bzip2 archive", ".bz2", bz2.open),
    b"\xfd7zXZ\x00": ("an xz archive", ".xz", lzma.open),
}
_OFFICE = (("xl/", "an Excel file"), ("word/", "a Word document"), ("ppt/", "a presentation"))
_OLD_OFFICE = (("Workbook", "an old Excel file (.xls)"), ("WordDocument", "an old Word document"))
_PHOTOS = (b"heic", b"heix", b"mif1", b"msf1", b"avif")
_EXPORTED = {what for what, _ in _PROGRAMS}
_EXPECTED = "Choose a table (CSV, Excel or Parquet), LIBSVM text or NumPy arrays (.npz)"


def without_remarks(names: Sequence[str]) -> list[str]:
    """Return the names of files but for hidden ones, and for what people say of their data beside them."""
    seen = [name for name in names if not _HIDDEN.search(name)]
    return [name for name in seen if not _REMARKS.search(name)] or seen


def files_in(data: bytes, filename: str) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the tables in a packed file or a zip archive, or its only file, by their names; else the file itself.

    With them the names of files in the archive that are passed over, but for remarks.
    """
    name = named(filename)
    for signature, (what, suffix, opened) in _PACKED.items():
        if data.startswith(signature):
            with reading(f"{name} is {what}, and damaged"), opened(io.BytesIO(data)) as packed:
                content = packed.read(UNPACKED + 1)
            check_unpacked(name, len(content), UNPACKED)
            return [(filename.removesuffix(suffix), content)], []
    if not data.startswith(b"PK\x03\x04") or _zip_kind(data, filename) != _ZIP:
        return [(filename, data)], []
    with reading(f"{name} is a damaged zip archive"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        held = [info for info in archive.infolist() if not (info.is_dir() or _HIDDEN.search(info.filename))]
        kept = {*without_remarks([info.filename for info in held])}
        tables = [info for info in held if info.file_size and _TABLES.search(info.filename)]
        chosen = held if len(held) == 1 else tables or [info for info in held if info.file_size]
        chosen = [info for info in chosen if info.filename in kept]
        if not chosen:
            raise DataError(f"{name} is a zip archive with {len(held)} files: unpack it, and open one of them.")
        check_unpacked(name, sum(info.file_size for info in chosen), UNPACKED)
        files, size = list[tuple[str, bytes]](), 0
        for info in chosen:
            with ArchiveMember(archive, info) as member:
                packed, inner = member.read(), info.filename.rpartition("/")[2]
            files += [(inner, packed)] if packed.startswith(b"PK") else files_in(packed, inner)[0]
            size += len(files[-1][1])
            check_unpacked(name, size, UNPACKED)
        return files, [info.filename for info in held if info.filename in kept and info not in chosen]


def table_format(data: bytes, name: str) -> str:
    """Return "excel", "parquet" or "npz" for a file that is such a table, "" for what may be text.

    Raises `DataError`, which names what the file is, for everything else.
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    kind = _zip_kind(data, name) if data.startswith(b"PK\x03\x04") else _kind(data)
    if kind == _DAMAGED:
        what = "workbook" if name.lower().endswith(".xlsx") else "archive"
        raise DataError(f"{name} is a damaged or cut-off {what}: copy or download it anew.")
    if kind in TABLES:
        return kind
    if kind in _EXPORTED or (kind and name.lower().endswith(".xls")):
        raise DataError(f"{name} is {kind}. Save it as CSV, or as an Excel workbook (.xlsx), where it comes from.")
    if kind:
        raise DataError(f"{name} is {kind}, not a table. {_EXPECTED}.")
    return ""


def _kind(data: bytes) -> str:
    """Return what a file is that is no zip archive, "" where nothing tells."""
    for what, signatures in _SIGNATURES:
        if data.startswith(signatures):
            return what
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        kinds = (what for word, what in _OLD_OFFICE if word.encode("utf-16-le") in data)
        return next(kinds, "an old Office document")
    if data[:4] == b"RIFF":
        return "a picture" if data[8:12] == b"WEBP" else "a sound or a video"
    if data[4:8] == b"ftyp":
        return "a photo" if data[8:12] in _PHOTOS else "a video"
    if data[257:262] == b"ustar":
        return "a tar archive"
    if data[:1] == b"\x80" and b"\x02" <= data[1:2] <= b"\x05" and data.rstrip().endswith(b"."):
        return "a Python pickle, which mklviz never opens"
    start = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "a web page" if start.startswith((b"<!doctype html", b"<html", b"<table")) else ""


def _zip_kind(data: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except Exception:
        return _DAMAGED
    arrays = [member.endswith(".npy") and not _HIDDEN.search(member) for member in names]
    if any(arrays) and (all(arrays) or name.lower().endswith(".npz")):
        return "npz"
    for folder, what in _OFFICE:
        if "[Content_Types].xml" in names and any(name.startswith(folder) for name in names):
            return "excel" if folder == "xl/" else what
    return "an OpenDocument file (.ods, .odt)" if "content.xml" in names and "mimetype" in names else _ZIP


# -- what a file may hold, checked on the size it declares before any room is made for it; damaged files

UNPACKED = 4 * LIMITS.cells  # bytes of what a file unpacks to
LONGEST = 2**20  # bytes of a text in it

T = TypeVar("T")


def check_size(name: str, rows: int, columns: int) -> None:
    """Raise `DataError` where a table of so many rows and columns is more than is read."""
    what = f"{name} would fill {rows:,} rows of {columns:,} columns; mklviz reads at most"
    if rows * columns > LIMITS.cells:
        kernel = " A kernel may have more: save it by numpy.save, and its labels as a file of their own."
        raise DataError(f"{what} {LIMITS.cells:,} numbers.{kernel if abs(rows - columns) < 4 else ''}")
    if columns > LIMITS.columns:
        raise DataError(f"{what} {LIMITS.columns:,} columns: leave some out.")
    if rows > LIMITS.rows:
        raise DataError(f"{what} {LIMITS.rows:,} rows: leave some out.")


def check_shape(name: str, shape: Sequence[int], gram_cells: int) -> None:
    """Raise `DataError` where an array is larger than is read: kernels, of which two sides are as long, or a table."""
    if len({*shape}) == len(shape):
        check_size(name, shape[0] if shape else 1, prod(shape[1:]))
    elif prod(shape) > gram_cells:
        numbers = f"Gram matrices of {prod(shape):,} numbers"
        raise DataError(f"{name} holds {numbers}, which is too large: mklviz reads at most {gram_cells:,}.")


def check_unpacked(name: str, size: int, most: int) -> None:
    """Raise `DataError` where a file unpacks to more bytes than are read."""
    if size > most:
        raise DataError(f"{name} unpacks to more than {most / 1e6:,.0f} MB, which is too much.")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say that a file is damaged, whichever error of its own a library raises; `what` calls it so."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{what}: {reason_of(error)}.") from None


def whole(parts: Iterable[T], what: str) -> Iterator[T]:
    """Yield what a library reads, part by part, likewise."""
    with reading(what):
        yield from parts


def reason_of(error: Exception) -> str:
    """Return what an error says, cut to a line."""
    return one_line(str(error) or type(error).__name__, MOST_NAME).rstrip(".")
