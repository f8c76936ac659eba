"""Rows of measurements as a plain table on the terminal and as JSON in a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

__all__ = ["print_rows", "write_json"]

_WIDTH = 9  # least width of a column


def print_rows(rows: Iterable[Any]) -> list[Any]:
    """Print dataclass instances of one type as they come, one line each; return them."""
    printed: list[Any] = []
    for row in rows:
        names = [field.name for field in fields(row)]
        widths = [max(_WIDTH, len(name)) if name != "method" else 2 * _WIDTH for name in names]
        if not printed:
            heads = (name.replace("_", " ") for name in names)
            print("  ".join(f"{head:<{width}}" for head, width in zip(heads, widths, strict=True)))
        values = (_text(getattr(row, name)) for name in names)
        print("  ".join(f"{value:<{width}}" for value, width in zip(values, widths, strict=True)), flush=True)
        printed.append(row)
    return printed


def _text(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def write_json(path: Path, tables: Mapping[str, Sequence[Any]]) -> None:
    """Write the rows of every table; null stands for nan and infinity."""
    plain = {name: [_plain(row) for row in rows] for name, rows in tables.items()}
    path.write_text(json.dumps(plain, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _plain(row: Any) -> dict[str, object]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(row).items()}
