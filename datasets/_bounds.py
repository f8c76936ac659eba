"""What a table in a file may hold, checked on the size it declares before any room is made for it; damaged files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TypeVar

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, one_line

from ._dataset import DataError

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
