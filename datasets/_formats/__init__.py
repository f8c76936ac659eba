"""Formats that are no plain tables, one file each, found here: to add one, add a file.

Its module says `SUFFIXES`, the ends of names that mean it; `OPTIONS`, those of `TableOptions` that it heeds;
`looks(data)`, whether the first bytes mean it; and reads it,
``read(data, name, options, progress, gram_cells) -> Dataset``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._file_kind import table_format
from .._read_binary import read_excel, read_parquet
from .._read_text import read_text
from .._table_options import OF_KIND, FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd


@cache
def formats() -> tuple[ModuleType, ...]:
    """Return all formats."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return tuple(import_module(f"{__name__}.{name}") for name in names)


def format_of(data: bytes, filename: str) -> ModuleType | None:
    """Return the format of a file, by what it holds or else by its name; None where it may be a plain table.

    Raises `DataError` where it is none of the kinds that can be read.
    """
    known = next((each for each in formats() if each.looks(data)), None)
    kind = "" if known is not None else table_format(data, filename)
    if known is not None or kind in ("excel", "parquet"):
        return known
    called = PurePath(filename).suffix.lower()
    if called in (".npz", ".npy"):  # which its first bytes tell
        called = ""
    suffix = ".npz" if kind == "npz" else called
    return next((each for each in formats() if suffix in each.SUFFIXES), None)


def options_of(data: bytes, filename: str) -> tuple[str, ...]:
    """Return the options of tables that a file heeds."""
    form = format_of(data, filename)
    options: tuple[str, ...] = form.OPTIONS if form is not None else OF_KIND[table_format(data, filename)]
    return options


def options_heeded(files: Sequence[tuple[str, Any]]) -> set[str]:
    """Return the options that some files heed together; `files`: names and bytes, or kernels on disk."""
    several = {"missing_view", "test"} if len(files) > 1 else set[str]()
    return several.union(*(options_of(data, filename) for filename, data in files if isinstance(data, bytes)))


def table_in(
    data: bytes, name: str, options: TableOptions, progress: Progress, fewest: int = 2
) -> tuple[pd.DataFrame, FileFacts]:
    """Return the rows of a plain table, `fewest` columns of a text at least, and how they are written."""
    kind = table_format(data, name)
    if not kind:
        return read_text(data, name, options, progress, fewest)
    return (read_excel if kind == "excel" else read_parquet)(data, name, options, progress)


def suffixes() -> tuple[str, ...]:
    """Return the ends of names of all formats, such as ".arff"."""
    return tuple(suffix for each in formats() for suffix in each.SUFFIXES)
