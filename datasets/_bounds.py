"""What a table in a file may hold, checked on the size it declares before any room is made for it."""

from __future__ import annotations

from mklviz.limits import LIMITS

from ._dataset import DataError

__all__ = ["LONGEST", "UNPACKED", "check_size"]

UNPACKED = 4 * LIMITS.cells  # bytes of what a file unpacks to
LONGEST = 2**20  # bytes of a text in it


def check_size(name: str, rows: int, columns: int) -> None:
    """Raise `DataError` where a table of so many rows and columns is more than is read."""
    what = f"{name} would fill {rows:,} rows of {columns:,} columns; mklviz reads at most"
    if rows * columns > LIMITS.cells:
        raise DataError(f"{what} {LIMITS.cells:,} numbers.")
    if columns > LIMITS.columns:
        raise DataError(f"{what} {LIMITS.columns:,} columns: leave some out.")
    if rows > LIMITS.rows:
        raise DataError(f"{what} {LIMITS.rows:,} rows: leave some out.")
