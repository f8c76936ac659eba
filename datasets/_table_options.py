"""How a table is read, what it was made into, and the rows it has in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["FILL", "LEAVE_OUT", "MISSING_CHOICES", "Progress", "TableOptions", "TableRows", "TableSummary", "reported"]

LEAVE_OUT, FILL = "leave-out", "fill"
MISSING_CHOICES = (LEAVE_OUT, FILL)

Progress = Callable[[float], object]  # called with the fraction read; what it raises ends the reading
EVERY = 1000  # rows between two calls

T = TypeVar("T")


@dataclass(frozen=True)
class TableOptions:
    """How a table is read; what is None is decided by what the table holds.

    `target`: the column to predict; `missing`: "leave-out" leaves out the rows in which a value is missing, "fill" puts
    the median of the column there, or its most frequent word; `header`: whether the first row holds column names.
    """

    target: str | None = None
    missing: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class TableSummary:
    """What was made of a table.

    `options`: how it was read, whoever decided it; `missing` is None where no value is. `targets`: columns that can be
    predicted, the best guess first; `gaps`: rows with a target in which another value is missing; `rows`: all rows;
    `named`: whether the format itself names the columns; `done`: what was done, a sentence each.
    """

    options: TableOptions
    targets: tuple[str, ...]
    gaps: int
    rows: int
    named: bool
    done: tuple[str, ...]


@dataclass(frozen=True)
class TableRows:
    """The rows of a table that are not blank, as texts, however the file keeps them.

    `numbers`: where each stands in the file, from 1; `named`: whether the format says that the first are names;
    `notes`: what is worth knowing of how they were read.
    """

    cells: Sequence[list[str]]
    numbers: Sequence[int]
    named: bool = False
    notes: tuple[str, ...] = field(default=())


def reported(rows: Iterable[tuple[T, int]], total: int, progress: Progress) -> Iterator[tuple[T, int]]:
    """Yield rows with their numbers, and report now and then how many of `total` there were."""
    for k, (row, number) in enumerate(rows):
        if k % EVERY == 0:
            progress(min(number / max(total, 1), 1.0))
        yield row, number
