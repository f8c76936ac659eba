"""What formats in text share: how their letters are read, and that they have no options of tables."""

from __future__ import annotations

from .._dataset import DataError
from .._table_options import TableOptions

__all__ = ["any_text", "refuse_options"]


def any_text(data: bytes, name: str) -> tuple[str, list[str]]:
    """Return a text in UTF-8, else as older programs on Windows write it, and a note where it is not."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), [f"{name} is not UTF-8 text: its letters are read as Windows-1252."]


def refuse_options(options: TableOptions, name: str) -> None:
    """Raise `DataError` where options of tables are given for a file without named columns."""
    if options != TableOptions():
        raise DataError(f"{name} has no columns with names: target, missing and header are for tables.")
