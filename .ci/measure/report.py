"""Measurements as a plain table on the terminal, and as JSON in a file."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]  # the columns of a table, in order; all rows of a table have the same ones

COMMA = ",\n"
NUMBER_WIDTH, TEXT_WIDTH = 9, 18  # of columns, at least


def parser(name: str, about: str) -> argparse.ArgumentParser:
    """Return the parser of a module's arguments, with its text as help."""
    return argparse.ArgumentParser(
        prog=f"python .ci/measure {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def print_rows(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come, one line each, below the names of the columns; return them."""
    printed: list[Row] = []
    widths: list[int] = []
    for row in rows:
        texts = [_text(value) for value in row.values()]
        if not printed:
            heads = [name.replace("_", " ") for name in row]
            widths = [
                max(TEXT_WIDTH if isinstance(value, str) else NUMBER_WIDTH, len(head))
                for head, value in zip(heads, row.values(), strict=True)
            ]
            _print_line(heads, widths)
        _print_line(texts, widths)
        printed.append(row)
    return printed


def _print_line(texts: Sequence[str], widths: Sequence[int]) -> None:
    print("  ".join(f"{text:<{width}}" for text, width in zip(texts, widths, strict=True)), flush=True)


def _text(value: object) -> str:
    if isinstance(value, float):
        return "-" if not math.isfinite(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def write_json(path: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write the rows of every table, a line each; null stands for nan and infinity."""
    plain = {name: [json.dumps(_plain(row), allow_nan=False) for row in rows] for name, rows in tables.items()}
    text = COMMA.join(f"{json.dumps(name)}: [\n{COMMA.join(rows)}\n]" for name, rows in plain.items())
    path.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def _plain(row: Row) -> Row:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def measure_splits(name: str, about: str, measure: Callable[..., Iterable[Row]], arguments: Sequence[str]) -> None:
    """Print what a module measures on some splits of every table, and write it to a file where one is named."""
    known = parser(name, about)
    known.add_argument("--splits", type=int, default=3, help="splits of every table (default: 3)")
    known.add_argument("--json", type=Path, help="file to write the rows to")
    asked = known.parse_args(arguments)
    rows = print_rows(measure(splits=asked.splits))
    if asked.json:
        write_json(asked.json, {"rows": rows})
