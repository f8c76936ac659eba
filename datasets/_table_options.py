"""How a table is read, what it was made into, and the rows it has in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["BLOCK", "FILL", "LEAVE_OUT", "MISSING_CHOICES", "Progress", "TableOptions", "TableRows", "TableSummary"]

LEAVE_OUT, FILL = "leave-out", "fill"
MISSING_CHOICES = (LEAVE_OUT, FILL)

Progress = Callable[[float], object]  # called with the fraction read; what it raises ends the reading
BLOCK = 1001  # rows that are read at a time: the first, and those that tell whether it holds names


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

    `options`: how it was read, chosen or guessed; `missing` is None where no value is. `targets`: columns that can be
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
    """The rows of a table that are not blank, as texts, however the file keeps them: read as they are asked for.

    `blocks`: the columns of some rows at a time, at least the first `BLOCK` of them; `numbers`: where each row read so
    far stands in the file, from 1; `names`: of the columns, where the format has them; `clean`: what becomes of each
    different text; `notes`: what is worth knowing of how they were read, once they are.
    """

    blocks: Iterator[Sequence[Sequence[str]]]
    numbers: Sequence[int]
    names: Sequence[str] | None = None
    clean: Callable[[str], str] = str.strip
    notes: list[str] = field(default_factory=list)
