"""Benchmark rows as a picture: ratios with whiskers and goals on a log axis.

As .svg it is light; as .html it follows the reader's theme, and says what the numbers depend on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from mklviz.bench._suite import Row, Suite, figure, goal_words, machine
from mklviz.views.chart import svg
from mklviz.views.chart.axes import axis_span
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark, Table, TextMark
from mklviz.views.look.palette import DARK, FONT, LIGHT, Theme

ROW = 24  # pixels of height
_ALT = "Benchmark of mklviz: ratios of times"
_HOW = (
    "A dot is the time of the other divided by the time of ours, the median over rounds run in alternation; lines reach"
    " from the least to the most, diamonds are goals.  CPU time, BLAS on one thread."
)


def write_picture(path: Path, suites: Mapping[str, tuple[Suite, Sequence[Row]]]) -> None:
    """Write a picture of everything measured, as .svg or as .html."""
    path.write_text(picture(suites, LIGHT) if path.suffix == ".svg" else _page(suites), encoding="utf-8")


def picture(suites: Mapping[str, tuple[Suite, Sequence[Row]]], theme: Theme) -> str:
    """Return the drawing as SVG."""
    parts: list[svg.Row | svg.Legend] = []
    tables: dict[str, Table] = {}
    for name, (suite, results) in suites.items():
        parts.append(svg.Legend(suite.title, [] if results else [("Nothing was measured.", theme.card, "")]))
        if results:
            parts.append(([_ratios(name, suite.about, results, tables, theme)], 80 + ROW * len(results)))
    return svg.drawing(parts, tables, _ALT, theme, width=1080)


def _ratios(name: str, about: str, rows: Sequence[Row], tables: dict[str, Table], theme: Theme) -> Chart:
    """Describe the ratios of a suite, the first one at the top; what was not measured says why."""
    up = list(range(len(rows)))[::-1]
    measured = [(k, row) for k, row in zip(up, rows, strict=True) if not math.isnan(row.ratio)]
    goals = [(k, row.goal) for k, row in zip(up, rows, strict=True) if row.goal is not None]
    tables[f"{name}/dots"] = {"x": [row.ratio for _, row in measured], "y": [k for k, _ in measured]}
    tables[f"{name}/spans"] = {"x": [[row.least, row.most] for _, row in measured], "y": [[k, k] for k, _ in measured]}
    tables[f"{name}/goals"] = {"x": [goal for _, goal in goals], "y": [k for k, _ in goals]}
    tables[f"{name}/even"] = {"x": [1.0, 1.0], "y": [-0.6, len(rows) - 0.4]}
    tables[f"{name}/words"] = {
        "x": [1.0 if math.isnan(row.ratio) else max(row.ratio, row.most, row.goal or 0.0) for row in rows],
        "y": up,
        "text": [_words(row) for row in rows],
        "colour": [theme.bad[1] if row.met is False else theme.text for row in rows],
    }
    marks = [
        LineMark(f"{name}/even", colour=theme.muted, dash="dashed", width=1.2),
        LineMark(f"{name}/spans", colour=theme.accent, many=True),
        PointMark(f"{name}/goals", colour=theme.text, marker="diamond", size=11.0),
        PointMark(f"{name}/dots", colour=theme.accent, fill=theme.accent, size=8.0),
        TextMark(f"{name}/words", colour=Column("colour"), right=10.0, up=-6.0),
    ]
    titles = [f"{row.name}: {row.ours} / {row.other}" for row in reversed(rows)]
    ends = [1.0, *(end for _, row in measured for end in (row.least, row.most)), *(goal for _, goal in goals)]
    start, end = axis_span(ends, Axis(scale="log"), 0.06)
    along = Axis("times faster (log scale)", "log", start, 3.0 * end)  # with room for the words
    return Chart(name, beside=about, x=along, y=Axis(start=-0.6, end=len(rows) - 0.4, names=titles), marks=marks)


def _words(row: Row) -> str:
    return row.note if math.isnan(row.ratio) else f"{figure(row.ratio)}× {'' if row.met else goal_words(row)}".strip()


def _page(suites: Mapping[str, tuple[Suite, Sequence[Row]]]) -> str:
    known = machine()
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items() if version)
    foot = f"Python {known['python']}, {known['machine']}, {known['cpus']} processors; {versions}."
    style = (
        f"body {{ margin: 24px auto; max-width: 1080px; padding: 0 16px; background: {LIGHT.card};"
        f" color: {LIGHT.muted}; font: 13px {FONT} }} img {{ max-width: 100%; height: auto }}"
        f" @media (prefers-color-scheme: dark) {{ body {{ background: {DARK.card}; color: {DARK.muted} }} }}"
    )
    light, dark = (svg.svg_address(picture(suites, theme)) for theme in (LIGHT, DARK))
    drawn = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}"><img src="{light}" alt="{_ALT}">'
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Benchmark of mklviz</title>\n'
        f"<style>{style}</style>\n<h1>Benchmark of mklviz</h1>\n<p>{_HOW}</p>\n<picture>{drawn}</picture>"
        f"<p>{escape(foot)}</p>\n</html>\n"
    )
