"""Tables in text files, by pandas."""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ._cells import in_quotes, is_number
from ._columns import ODD, unit_of
from ._dataset import DataError
from ._dialect import ONE_SIGN, SEPARATORS, decode, find_separator, read_separator, split
from ._file_kind import check_size, reading, reason_of
from ._frame import check_columns, unique_names
from ._header import SAMPLE, header_is_first, heading, named
from ._table_options import NOTHING, FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # by Excel, in the first line
_QUOTED = re.compile(r'\s*"([^"]|"")*"\s*')
_OF_GEO = ("^DATABASE", "^SERIES", "^SAMPLE", "^PLATFORM", "^DATASET", "!Series_", "!Sample_", "!dataset_")
WIDTHS = "widths"
MOST_BY_WIDTHS = 2 * 10**7  # letters
_MARKED, _IN_SINGLE = re.compile("[#%]"), re.compile("'[^']*'")
_OPEN = re.compile(r"EOF inside string starting at row (\d+)")
_TOO_LONG = re.compile(r"[Ll]ine (\d+): expected \d+ fields, saw (\d+)")


class _TextReader(io.StringIO):
    """A text that tells how much of it was read."""

    progress: Progress = staticmethod(lambda _fraction: None)
    letters = 1

    def read(self, size: int | None = -1) -> str:
        self.progress(min(self.tell() / self.letters, 1.0))
        return super().read(size)


def read_text(
    data: bytes, name: str, options: TableOptions, progress: Progress, fewest: int = 2
) -> tuple[pd.DataFrame, FileFacts]:
    """Return the table in a text of so many columns; how it is written is found out where the options say nothing."""
    text, called, notes = decode(data, name, options.encoding)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = _first_lines(text)
    if all(_QUOTED.fullmatch(line) for line in lines if line):  # each as one cell, by a spreadsheet
        plain = "\n".join(
            line.strip()[1:-1].replace('""', '"') if _QUOTED.fullmatch(line) else line for line in text.split("\n")
        )
        if find_separator(_first_lines(plain), name) != " ":  # else a column of words, such as names
            text, lines = plain, _first_lines(plain)
    if any(map(_is_rule, lines)):
        text = "\n".join("" if _is_rule(line) else line for line in text.split("\n"))
        lines = _first_lines(text)
    if next(filter(str.strip, lines), "").lstrip('"').startswith(_OF_GEO):
        raise DataError(
            f"{name} is a file of GEO, whose rows are genes and whose columns are samples: turn its table, so that each"
            " sample is a row, and add a column that says its class."
        )
    line = _SEPARATOR_LINE.fullmatch(lines[0])
    remarks = _remarks(lines, bool(line))
    table = lines[remarks:]
    fixed = options.sep == WIDTHS
    asked = options.sep and not fixed
    separator = read_separator(str(options.sep)) if asked else line[1] if line else find_separator(table, name)
    if separator == " " and not asked and _one_in_units(text.split("\n")[remarks:]):
        separator = ","  # one column, such as 1000 g
    with reading(f"{name} cannot be read as a table"):
        text, left_out = _rows_alone(text, separator, remarks)
    table = _first_lines(text)[remarks:]
    if fixed or (not options.sep and separator == " " and _ragged(split(table, separator))):
        columns = _by_widths(text)
        fixed = columns is not None
        text = columns or text
        separator = "\t" if columns else separator
        table = _first_lines(text)[remarks:]
    with reading(f"{name} cannot be read as a table"):
        rows = split(table, separator)
    if not any(map(any, rows)):
        raise DataError(f"{name} is empty; expected a row of column names, then rows of values.")
    above = [] if remarks == bool(line) else _names_in_remark(lines[remarks - 1], separator, rows)
    if above:
        remarks -= 1
        rows.insert(0, above)
    width, below = _width(rows), "\n".join(lines[:remarks])
    if width < fewest - (options.target == NOTHING):
        raise DataError(
            f"{name} has one column; expected at least one column to learn from and one to predict. Where another sign"
            " than commas, semicolons, tabs, bars or blanks separates them, say which: sep. Labels are read together"
            " with the file of their samples."
        )
    padded = {
        k: [*row[:width], *[""] * (width - len(row))] for k, row in enumerate(rows, remarks + 1) if any(row[:width])
    }
    heads = heading([*padded.values()], [*padded], options.header)
    check_columns(options, unique_names(heads.names, name)[0], name)
    rest = text[len(below) + bool(remarks) :]
    frame, skipped = _parsed(rest.lstrip("#% ") if above else rest, separator, width, name, remarks, progress)
    frame = frame[(frame.to_numpy() != "").any(axis=1)]
    between = "fixed widths" if fixed else SEPARATORS.get(separator, f"separated by {separator}")
    dialect, decimal = ", ".join([between, *([called] if called else [])]), "." if separator == "," else ","
    notes = (*notes, *left_out, *skipped)
    return named(frame, heads, options, name, FileFacts(assumed=notes, dialect=dialect, decimal=decimal))


def _rows_alone(text: str, separator: str, above: int) -> tuple[str, list[str]]:
    """Return a text without remarks between its rows, and a note on them; with double quotes where single ones stand.

    Remarks are marked by # or %, and no rows by their length, a blank behind the mark, or numbers but identifiers.
    """
    marks = "\n#" in text or "\n%" in text
    if not marks and "'" not in text:
        return text, []
    plain = [line for line in _first_lines(text)[above:] if line.strip() and not _MARKED.match(line)]
    rows = split(plain, separator) if plain else [[""]]
    if '"' not in text and 2 * sum(any(map(_IN_SINGLE.fullmatch, row)) for row in rows) > len(rows):
        sign = re.escape(separator)
        cell = rf"(?m)(^|{sign})( *)'([^'\n]*(?:''[^'\n]*)*)'(?= *(?:{sign}|$))"
        text = re.sub(cell, lambda match: match[1] + match[2] + '"' + match[3].replace("''", "'") + '"', text)
    if not marks:
        return text, []
    lines, lengths = text.split("\n"), sorted(map(len, rows))
    shortest, longest = lengths[len(rows) // 10], lengths[-1 - len(rows) // 10]  # but for exceptions
    usual = range(shortest - (shortest > 2), longest + 2)  # the last cell may lack, or be followed by a separator
    numbers = [row[0] for row in rows if row and is_number(row[0])]
    quotes = [0, *accumulate(line.count('"') for line in lines)]
    marked = [k for k, line in enumerate(lines) if k > above and _MARKED.match(line) and not quotes[k] % 2]
    cells = {k: row for k in marked for row in split([lines[k]], separator)}
    counted = {k for k, row in cells.items() if 2 * len(numbers) > len(rows) and is_number(row[0][1:])}
    sharp = {k for k in counted if lines[k][0] == "#"}
    named = [*numbers, *(cells[k][0][1:] for k in sharp)]
    if ODD * len(sharp) > len(lines) - above and all(map(str.isdecimal, named)) and len({*named}) == len(named):
        counted -= sharp  # identifiers, such as #1
    remarks = [k for k, row in cells.items() if len(row) not in usual or lines[k][1:2] in ("", " ") or k in counted]
    if not remarks or 2 * len(marked) > len(lines) - above:
        return text, []
    note = f"Remarks between the rows are left out ({len(remarks):,}): {in_quotes(lines[remarks[0]])}."
    for k in remarks:
        lines[k] = ""
    return "\n".join(lines), [note]


def _first_lines(text: str) -> list[str]:
    """Return the lines that tell how a text is written."""
    return text[:2_000_000].split("\n")[:SAMPLE]


def _one_in_units(lines: Sequence[str]) -> bool:
    """Whether lines hold one column, numbers with their unit, below a name of one word or none."""
    cells = [line.strip() for line in lines if line.strip()]
    named = len(cells[0].split()) == 1 if cells else False
    return bool(unit_of(cells[named : SAMPLE + named]) and unit_of(cells[named:]))


def _is_rule(line: str) -> bool:
    """Whether a line is drawn, as between names and rows in Markdown and by databases."""
    return ("---" in line or "===" in line) and not line.strip("-=+:| \t")


def _ragged(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are of so many lengths that blanks stand within cells, or in place of some."""
    widths = Counter(len(row) for row in rows if any(row))
    return len(widths) > 1 and 10 * max(widths.values()) < 9 * sum(widths.values())


def _by_widths(text: str) -> str | None:
    """Return a table whose columns stand below each other, with tabs between them; None where it is none."""
    import pandas as pd

    if len(text) > MOST_BY_WIDTHS or "\t" in text:
        return None
    options: dict[str, Any] = {"header": None, "dtype": object, "na_filter": False, "skip_blank_lines": False}
    first, _, rest = text.partition("\n")
    for names, body in ((first.split(), rest), ([], text)):  # names may not stand above their columns
        with reading("The table cannot be read by the widths of its columns"):
            frame = pd.read_fwf(io.StringIO(body), infer_nrows=SAMPLE, **options)
        if 1 < frame.shape[1] == (len(names) or frame.shape[1]):
            return "\n".join(map("\t".join, [*([names] if names else []), *frame.to_numpy()]))
    return None


def _remarks(lines: Sequence[str], start: bool) -> int:
    """Return how many lines stand above the table, marked as remarks."""
    place = int(start)
    if all(_MARKED.match(line) for line in lines[place:] if line.strip()):  # of identifiers, such as #1
        return place
    while place < len(lines) - 1 and (lines[place][:1] in ("#", "%") or not lines[place].strip()):
        place += 1
    return place


def _names_in_remark(line: str, separator: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns that the last remark holds, as NumPy and QIIME do; none where it is a remark."""
    (cells,) = split([line.lstrip("#% ")], separator) or [[]]
    fits = len(cells) > 1 and len(cells) == len(rows[0]) and not any(map(is_number, cells))
    names = separator == "\t" and line[1:2].strip() and not header_is_first([*zip(*filter(any, rows), strict=False)])
    return cells if fits and (names or all(map(is_number, rows[0][:-1]))) else []


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return how many cells a row has: as many as the longest that are no exceptions, or as the names."""
    widths = Counter(len(row) for row in rows if any(row))
    often = min(sum(widths.values()) / 10, max(widths.values()))  # a text has rows of all lengths
    usual = max(width for width, count in widths.items() if count >= often)
    return next(len(row) for row in rows if len(row) >= usual and any(row))  # what is shorter above is a title


def _parsed(
    text: str, separator: str, width: int, name: str, above: int, progress: Progress
) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a text below other lines, and notes on rows longer than the others, which are left out."""
    import pandas as pd

    check_size(name, text.count("\n"), width)
    if len(separator) > 1:
        text, separator = text.replace(separator, ONE_SIGN), ONE_SIGN
    reader = _TextReader(text)
    reader.progress, reader.letters = progress, len(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            frame = pd.read_csv(
                reader,
                sep=r"\s+" if separator == " " else separator,
                header=None,
                names=range(width),
                index_col=False,
                dtype=object,
                na_filter=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                on_bad_lines="warn",
                low_memory=False,
            )
        except ValueError as error:
            open_at = _OPEN.search(str(error))
            quote = f"a quote is opened below row {above + int(open_at[1])} and not closed" if open_at else ""
            raise DataError(f"{name} cannot be read as a table: {quote or reason_of(error)}.") from None
    too_long = [pair for each in caught for pair in _TOO_LONG.findall(str(each.message))]
    wrong = {above + int(row): cells for row, cells in too_long}
    if len(wrong) > max(1, len(frame) // 50):
        row, cells = next(iter(wrong.items()))
        what = "Mend it, or say what is between columns: sep, which is widths where they stand below each other"
        raise DataError(f"Row {row} of {name} has {cells} cells; the others have {width}. {what}.")
    if separator == ONE_SIGN:  # within quotes it was no separator
        frame = frame.map(lambda cell: cell.replace(ONE_SIGN, "::"))
    frame.index = [row for row in range(above + 1, above + 1 + len(frame) + len(wrong)) if row not in wrong]
    return frame, [
        f"Row {row} has {cells} cells, more than the {width} of the others: it is left out."
        for row, cells in wrong.items()
    ]
