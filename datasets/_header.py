"""Which rows of a table hold the names of its columns, what stands above them, and what is no column or row of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mode
from typing import TYPE_CHECKING

from ._cells import NO_NUMBER, in_quotes, is_measured, is_missing, is_number, mostly_measured, number
from ._dataset import DataError
from ._frame import check_columns, unique_names
from ._table_options import MOST_ABOVE, FileFacts, TableOptions

if TYPE_CHECKING:
    import pandas as pd

SAMPLE = 1001  # rows by which it is decided
Row = Sequence[str]
YEAR = re.compile("1[89]\\d\\d|20\\d\\d")
_KINDS = {"", "c", "continuous", "d", "discrete", "s", "string", "t", "time"}  # of columns, as Orange calls them
_FLAGS = {"c": "target", "class": "target", "m": "aside", "meta": "aside", "i": "aside", "ignore": "aside"}
_SUMS = ("total", "totals", "grand total", "sum", "mean", "average", "std", "sd", "summe", "gesamt", "итого")
_FLAGGED = re.compile(r"(?!#)([cmi]?)([CDST]?)#(.+)")  # Orange's names in one row, such as mS#name


@dataclass(frozen=True)
class NameRows:
    """The names of columns, "" for none, where the rows of values begin (from 0), notes, and the roles of columns."""

    names: tuple[str, ...]
    begin: int
    header: bool | int | tuple[int, ...]
    notes: tuple[str, ...]
    roles: tuple[str, ...] = ()


def heading(rows: Sequence[Row], lines: Sequence[int], asked: bool | int | tuple[int, ...] | None) -> NameRows:
    """Return what the first rows of a table, all as long, hold above its values; `lines` are their numbers."""
    width = len(rows[0])
    if asked is not None and not isinstance(asked, bool):
        wanted = asked if isinstance(asked, tuple) else (asked,)
        missing = [row for row in wanted if row not in lines]
        if missing:
            raise DataError(f"Row {missing[0]} holds no names of columns: it is blank, or there is none.")
        places = [list(lines).index(row) for row in wanted]
        return NameRows(_joined([rows[k] for k in places]), max(places) + 1, asked, ())
    start = _below_titles(rows)
    notes = tuple(
        f"Row {lines[k]}, above the table, is left out: {in_quotes(' '.join(filter(None, rows[k])))}."
        for k in range(start)
    )
    left = rows[start:]
    columns = list(zip(*left, strict=True))
    orange = None if asked is False else _of_orange(left)
    if orange is not None:
        count, names, roles = orange
        notes = *notes, "The names are Orange's, and say what columns are."
        return NameRows(names, start + count, True, notes, roles)
    header = header_is_first(columns) if asked is None else asked
    if asked is None:
        first = "names of columns" if header else "values, as the others do"
        notes += (f"{f'Row {lines[start]}' if start else 'The first row'} is taken to hold {first}.",)
    if not header:
        return NameRows(("",) * width, start, False, notes)
    count = 2 if len(left) > 3 and _also_names(left[1], left[2:]) else 1
    third = [*filter(None, left[2])] if count == 2 else []
    of_index = count == 2 and len(third) <= 1  # pandas writes the name of the index there
    if count == 2:
        notes = (*notes[:-1], f"Rows {lines[start]} and {lines[start + 1]} are taken to hold names of columns.")
        count += of_index or all(cell.startswith('{"ImportId"') for cell in third)  # of Qualtrics
    names = _joined(left[: min(count, 2)])
    front, last = columns[0][count:], columns[-1][count:]
    counting = any(all(cell == f"{k}" for k, cell in enumerate(front, start)) for start in (0, 1))
    if of_index or (count == 2 and counting):  # pandas writes there what the rows of names are called
        names = (left[2][0] if of_index else "", *names[1:])
    if (width > 2 or counting) and names[0] and not names[-1] and 2 * sum(map(bool, last)) > len(last) == len({*front}):
        names = ("", *names[:-1])
        notes += ("The names stand one column too far to the left, as R writes them beside names of rows: moved.",)
    return NameRows(names, start + count, True, notes)


def _of_orange(rows: Sequence[Row]) -> tuple[int, tuple[str, ...], tuple[str, ...]] | None:
    """Return how many rows tell columns as Orange does, the names, and what they say; None for other tables."""
    names, kinds, flags = rows[:3] if len(rows) > 3 else (rows[0], (), ())
    matches = [_FLAGGED.fullmatch(name) for name in names]
    flagged = [match for match in matches if match and match[1] and match[2]]  # C#4 and D#4 may be names
    if len(flagged) > 1 or any(match[1] == "c" for match in flagged):
        count, names = 1, [match[3] if match else name for match, name in zip(matches, names, strict=True)]
        kinds, flags = ([match[k].lower() if match else "" for match in matches] for k in (2, 1))
    elif not kinds or not all(kind in _KINDS or " " in kind for kind in kinds):
        return None
    elif any(flags) and all(flag in _FLAGS or "=" in flag for flag in filter(None, flags)):
        count = 3
    elif all(kind in _KINDS for kind in kinds):
        count, flags = 2, [""] * len(kinds)  # the row of flags may be blank
    else:
        return None
    of_numbers = [j for j, kind in enumerate(kinds) if kind in ("c", "continuous")]
    known = of_numbers or count == 1 or any(len(word) > 1 for word in (*kinds, *flags))  # no table of letters
    if not known or not all(_by_kind("c", [row[j] for row in rows[count:]]) for j in of_numbers):
        return None
    words = ["words" * (kind[:1] == "d" or " " in kind) for kind in kinds]
    roles = [f"{_FLAGS.get(flag, '')} {word}" for flag, word in zip(flags, words, strict=True)]
    first = next((j for j, role in enumerate(roles) if "target" in role), len(roles))
    return count, tuple(names), tuple("aside" if "target" in w and j > first else w for j, w in enumerate(roles))


def _below_titles(rows: Sequence[Row]) -> int:
    """Return how many rows above a table hold a title or a remark: a cell or two where the others hold many."""
    filled = [sum(map(bool, row)) for row in rows]
    usual, start = mode(filled), 0
    while start < min(len(rows) - 2, MOST_ABOVE) and _is_title(filled[start], usual, rows[start + 1]):
        start += 1
    full = next((k for k in range(start, min(len(rows) - 2, MOST_ABOVE)) if filled[k] >= usual), start)
    above = all(all(row[:count]) for row, count in zip(rows[start:full], filled[start:full], strict=True))
    if full > start and above and len({*rows[full]}) == len(rows[full]) and _also_names(rows[full], rows[full + 1 :]):
        return full  # below what is said of the table, such as "Date", "2024-01-02"
    return start


def _is_title(filled: int, usual: int, following: Row) -> bool:
    if usual <= 2:
        return filled < usual and not any(map(is_measured, filter(None, following)))
    names = [*filter(None, following)]
    over = filled > 1 and len({*names}) < len(names) and not any(map(is_measured, names))  # groups of names alike
    return filled == 1 or (2 * filled < usual and not over)


def _also_names(row: Row, below: Sequence[Row]) -> bool:
    """Whether a row below others holds names: words alone, several of them above numbers."""
    return not any(map(is_measured, row)) and sum(map(_by_kind, row, zip(*below, strict=True))) > 1


def _joined(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the names in one row, or in two: the lower one's where they are enough."""
    if len(rows) == 1:
        return tuple(rows[0])
    over, under = rows[0], rows[-1]
    if all(over) and len({*over}) == len(over):
        return tuple(f"{top} {low}".strip() for top, low in zip(over, under, strict=True))
    if all(under) and len({*under}) == len(under):
        return tuple(under)
    last, names = "", []
    for top, low in zip(over, under, strict=True):
        last = top or last
        grouped = under.count(low) > 1 or not low  # its group tells it from others
        names.append(f"{last if grouped and (low or top) else ''} {low}".strip())
    return tuple(names)


def named(
    cells: pd.DataFrame, rows: NameRows, options: TableOptions, name: str, facts: FileFacts
) -> tuple[pd.DataFrame, FileFacts]:
    """Return the values of a table under the names of its columns; rows and columns that are none are left out."""
    frame, notes = cells.iloc[rows.begin :], [*rows.notes]
    idle = [j for j, text in enumerate(rows.names) if not text and not (frame.iloc[:, j] != "").any()]
    if idle and len(idle) < len(rows.names):
        notes.append(f"{len(idle)} column{'s' * (len(idle) > 1)} without a name or a value: left out.")
    kept = [j for j in range(len(rows.names)) if j not in {*idle}]
    frame = frame.iloc[:, kept]
    names, twice = unique_names([rows.names[j] for j in kept], name)
    frame.columns = names
    again = frame.iloc[:, 0].eq(rows.names[kept[0]]) if rows.header and kept else None
    if again is not None and again.any():
        again &= frame[again].eq([rows.names[j] for j in kept]).all(axis=1).reindex(frame.index, fill_value=False)
        notes += [f"Row {row} holds the names again: such rows are left out." for row in frame.index[again][:1]]
        frame = frame[~again]
    while len(frame) > 2 and len(names) > 2 and _is_footer(frame):
        notes.append(f"Row {frame.index[-1]}, below the table, is left out: {in_quotes(str(frame.iloc[-1, 0]))}.")
        frame = frame.iloc[:-1]
    check_columns(options, names, name)
    return frame, replace(
        facts,
        header=rows.header,
        named=False,
        unnamed=bool(rows.header) and not rows.names[kept[0]] if kept else False,
        assumed=(*facts.assumed, *notes, *twice),
        roles={name: rows.roles[j] for name, j in zip(names, kept, strict=True) if rows.roles},
    )


def _is_footer(frame: pd.DataFrame) -> bool:
    row = frame.iloc[-1].tolist()
    return [*filter(None, row)] == [row[0]] or (row[0].lower() in _SUMS and _sums_up(frame))


def _sums_up(frame: pd.DataFrame) -> bool:
    """Whether most numbers of the last row are sums, means or spreads of those above it, but for rounding."""
    numbers = frame.iloc[:, 1:].map(lambda cell: number(cell, ""))
    above, last = numbers[~frame.iloc[:, 0].str.lower().isin(_SUMS)], numbers.iloc[-1]
    spread = above.std().mask(above.std() == 0)
    far = [(last - each).abs() / spread for each in (above.sum(), above.mean(), spread)]
    return 2 * sum(min(column) < 0.02 for column in zip(*far, strict=True)) > last.notna().sum()


def header_is_first(columns: Sequence[Row]) -> bool:
    """Whether the first row looks as if it held names: words above numbers, or words that do not come again below.

    Numbers above numbers say that it does not, unless they count the columns, beside one whose name is a word or
    unlike what stands below.
    """
    if numbers_columns(columns):
        return True
    first, below = [cells[0] for cells in columns], [cells[1:] for cells in columns]
    counts = _counts_columns(first, below[0]) or _are_years(first, below)
    asked = [(cell, others) for cell, others in zip(first, below, strict=True) if not (counts and is_number(cell))]
    votes = [_by_kind(cell, others) for cell, others in asked]
    if not any(votes):
        votes = [_by_word(cell, others) for cell, others in asked]
    return sum(votes) >= 0 and not all(map(is_number, first))


def _counts_columns(first: list[str], front: Row) -> bool:
    """Whether the numbers of a row go 0, 1, 2 or 1, 2, 3 and so on, as pandas names columns that have no names.

    Two or one do where a blank stands above the names or numbers of rows.
    """
    numbers = [cell for cell in first if is_number(cell)]
    index = not first[0] and len({*front}) == len(front) and all(cell and "." not in cell for cell in front)
    enough = len(numbers) > 2 or (index and numbers[:1] == ["0"])
    return enough and any(numbers == [f"{start + k}" for k in range(len(numbers))] for start in (0, 1))


def numbers_columns(columns: Sequence[Row]) -> bool:
    """Whether the first row numbers the columns from 0, as pandas does, and looks unlike the values below it.

    It stands above decimals, or apart from the whole numbers there.
    """
    if [cells[0] for cells in columns] != [f"{k}" for k in range(len(columns))]:
        return False
    return 2 * sum(_apart(cells[0], cells[1:]) for cells in columns) >= len(columns)


def _apart(cell: str, below: Row) -> bool:
    """Whether a whole number stands above none, or outside of those below it, which do not ascend."""
    whole = [int(other) for other in below if other.lstrip("+-").isdecimal()]
    return not whole or (not min(whole) <= int(cell) <= max(whole) and whole != sorted(whole))


def _are_years(first: list[str], below: Sequence[Row]) -> bool:
    """Whether the numbers of a row are years that follow each other, and those below them are none."""
    years = [cell for cell in first if is_number(cell)]
    under = [other for cell, cells in zip(first, below, strict=True) if is_number(cell) for other in cells]
    return all(map(YEAR.fullmatch, years)) and years == sorted({*years}) and not any(map(YEAR.fullmatch, under))


def _by_kind(cell: str, below: Row) -> int:
    """Return 1 for a word above numbers or dates, -1 for one of these above more of them, 0 above words."""
    if is_missing(cell) or cell.lower() in NO_NUMBER or not mostly_measured(below):
        return 0
    return -1 if is_measured(cell) else 1


def _by_word(cell: str, below: Row) -> int:
    """Return 1 for a word above others that are few, -1 for one of these few."""
    words = set(below)
    return 0 if 2 * len(words) > len(below) else -1 if cell in words else 1
