"""Small tables for notebooks, as plain HTML: values escaped, colours left to the notebook's theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["fact_table", "table"]

_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'


def fact_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a titled table of names and values; empty values are left out."""
    lines = (
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(str(value))}</td></tr>"
        for name, value in rows
        if value != ""
    )
    return _table(title, "".join(lines))


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a titled table with a header row; the first column is text, the others are numbers."""

    def line(cells: Sequence[object], tag: str) -> str:
        styles = [_LEFT] + [_RIGHT] * (len(cells) - 1)
        return "".join(f"<{tag} {style}>{escape(str(c))}</{tag}>" for c, style in zip(cells, styles, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return _table(title, f"<thead><tr>{line(header, 'th')}</tr></thead><tbody>{body}</tbody>")


def _table(title: str, rows: str) -> str:
    return f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption>{rows}</table>'
