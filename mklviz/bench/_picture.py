"""Benchmark rows as a picture: bars of ratios on a log axis with whiskers and goals, times against sizes as curves.

Plain SVG with a style sheet of its own: it opens in any browser, needs no network, and follows the light or dark theme
of whoever looks. As .html it comes with a title and what the numbers depend on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from mklviz.bench._report import figure, machine, time_words
from mklviz.bench._slopes import curves
from mklviz.bench._suite import Found, Row, Slope, Suite
from mklviz.views.look.palette import DARK, LIGHT, Theme

__all__ = ["picture", "write_picture"]

WIDTH, LEFT, RIGHT = 1080, 330, 150  # of the drawing, of its names, and room for a bar's number
BAR, GAP = 13, 12  # height of a bar, room between groups
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def write_picture(path: Path, suites: Mapping[str, tuple[Suite, Sequence[Found]]]) -> None:
    """Write a picture of everything measured, as .svg or as .html."""
    drawing = picture(suites)
    path.write_text(drawing if path.suffix == ".svg" else _page(drawing), encoding="utf-8")


def picture(suites: Mapping[str, tuple[Suite, Sequence[Found]]]) -> str:
    """Return the drawing as SVG."""
    parts: list[str] = []
    y = 10.0
    for name, (suite, results) in suites.items():
        rows = [one for one in results if isinstance(one, Row)]
        slopes = [one for one in results if isinstance(one, Slope)]
        y += 30
        parts.append(f'<text class="title" x="0" y="{y:.0f}">{escape(suite.title)}</text>')
        parts.append(f'<text class="muted" x="0" y="{y + 20:.0f}">{escape(suite.about)}</text>')
        y += 34
        if rows:
            drawn, y = _ratios(rows, y)
            parts += drawn
        if slopes:
            drawn, y = curves(slopes, y + 16, WIDTH)
            parts += drawn
        if not results:
            parts.append(f'<text class="muted" x="0" y="{y + 14:.0f}">Nothing was measured ({escape(name)}).</text>')
            y += 24
        y += 14
    size = f'viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}"'
    body = "\n".join(parts)
    label = "Benchmark of mklviz: ratios and growth of times"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}" font-family="{FONT}">\n'
        f'<style>{_style()}</style>\n<rect class="ground" width="{WIDTH}" height="{y:.0f}"/>\n{body}\n</svg>\n'
    )


def _ratios(rows: Sequence[Row], top: float) -> tuple[list[str], float]:
    """Draw the bars of one suite below `top`; return them and where they end."""
    series = list(dict.fromkeys(_series(row) for row in rows))
    parts, y = _legend(series, top)
    scale = _Scale([row for row in rows if not math.isnan(row.ratio)])
    first = y = y + 26
    bars: list[str] = []
    before = ""
    for row in rows:
        if row.name != before:
            y += GAP if before else 0
            bars.append(f'<text class="name" x="0" y="{y + BAR - 3:.0f}">{escape(_shown(row))}</text>')
            before = row.name
        bars += _bar(row, series.index(_series(row)), scale, y)
        y += BAR + 2
    return [*parts, *scale.axis(first - 4, y + 2), *bars], y + 22


def _series(row: Row) -> str:
    return f"{row.ours} / {row.other}"


def _shown(row: Row) -> str:
    sizes = [f"{letter} = {value:,}" for letter, value in (("n", row.n), ("m", row.m)) if value]
    text = row.name + (f" ({', '.join(sizes)})" if sizes and "n = " not in row.name else "")
    return text if len(text) < 52 else row.name


def _legend(series: Sequence[str], top: float) -> tuple[list[str], float]:
    parts, x, y = [], 0.0, top + 10
    for k, label in enumerate(series):
        width = 34 + 6.6 * len(label)
        if x + width > WIDTH:
            x, y = 0.0, y + 20
        parts.append(f'<rect class="c{k % 6}" x="{x:.0f}" y="{y - 9:.0f}" width="12" height="10" rx="2"/>')
        parts.append(f'<text class="small" x="{x + 17:.0f}" y="{y:.0f}">{escape(label)}</text>')
        x += width
    return parts, y


class _Scale:
    """A log axis of ratios that holds 1, every whisker and every goal."""

    def __init__(self, rows: Sequence[Row]) -> None:
        values = [1.0, *(v for row in rows for v in (row.least, row.most, row.goal or 1.0))]
        self.low = math.floor(math.log10(min(values)) - 1e-9) if min(values) < 1.0 else 0
        self.high = max(math.ceil(math.log10(max(values)) - 1e-9), self.low + 1)

    def __call__(self, ratio: float) -> float:
        share = (math.log10(ratio) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def axis(self, top: float, bottom: float) -> Iterator[str]:
        for power in range(self.low, self.high + 1):
            x = self(10.0**power)
            kind = "one" if power == 0 else "grid"
            yield f'<line class="{kind}" x1="{x:.1f}" y1="{top:.0f}" x2="{x:.1f}" y2="{bottom:.0f}"/>'
            label = f"{10**power:,}×" if power >= 0 else f"{10.0**power:g}×"
            yield f'<text class="tick" x="{x:.1f}" y="{top - 5:.0f}">{label}</text>'
        yield (
            f'<text class="tick" x="{WIDTH}" y="{top - 5:.0f}" style="text-anchor:end">times faster (log scale)</text>'
        )


def _bar(row: Row, k: int, scale: _Scale, y: float) -> Iterator[str]:
    middle = y + BAR / 2
    if math.isnan(row.ratio):
        yield f'<text class="muted" x="{scale(1.0) + 5:.1f}" y="{y + BAR - 3:.0f}">{escape(row.note)}</text>'
        return
    x0, x1 = sorted((scale(1.0), scale(row.ratio)))
    said = f"{row.ours} {time_words(row.ours_ms)}, {row.other} {time_words(row.other_ms)}. {row.note}"
    yield (
        f'<rect class="c{k % 6}" x="{x0:.1f}" y="{y + 1:.1f}" width="{max(x1 - x0, 1):.1f}" height="{BAR - 2}" rx="2">'
        f"<title>{escape(said)}</title></rect>"
    )
    least, most = scale(row.least), scale(row.most)
    ends = f"M{least:.1f} {middle - 3:.1f}v6M{most:.1f} {middle - 3:.1f}v6"
    yield f'<path class="whisker" d="M{least:.1f} {middle:.1f}H{most:.1f}{ends}"/>'
    end = max(x1, most)
    text = f"{figure(row.ratio)}×"
    if row.goal is not None:
        x = scale(row.goal)
        if row.goal != 1.0:  # there the axis is
            yield f'<path class="halo" d="M{x:.1f} {y + 1:.1f}v{BAR - 2}"/>'
            yield f'<path class="goal" d="M{x:.1f} {y - 1:.1f}v{BAR + 2}"/>'
        if not row.met:
            text += f" (goal {row.goal:g}×)"
            end = max(end, x)
    kind = "value missed" if row.met is False else "value"
    yield f'<text class="{kind}" x="{end + 6:.1f}" y="{y + BAR - 3:.0f}">{text}</text>'


def _style() -> str:
    return f"{_rules(LIGHT)} @media (prefers-color-scheme: dark) {{ {_rules(DARK)} }}"


def _rules(theme: Theme) -> str:
    colours = " ".join(f".c{k} {{ fill: {c} }} .l{k} {{ stroke: {c} }}" for k, c in enumerate(theme.kernels))
    return (
        f".ground {{ fill: {theme.card} }} text {{ fill: {theme.text}; font-size: 12px }}"
        f" .title {{ font-size: 17px; font-weight: 700 }} .muted, .tick {{ fill: {theme.muted} }}"
        " .tick { font-size: 11px; text-anchor: middle } .value { font-size: 11px; font-weight: 600 }"
        f" .missed {{ fill: {theme.bad[1]} }}"
        f" .grid {{ stroke: {theme.grid} }} .one {{ stroke: {theme.axis}; stroke-width: 1.5 }}"
        f" .whisker {{ stroke: {theme.text}; stroke-width: 1; fill: none }}"
        f" .halo {{ stroke: {theme.card}; stroke-width: 5; fill: none }}"
        f" .goal {{ stroke: {theme.bad[1]}; stroke-width: 2.5; fill: none }}"
        f" .curve {{ fill: none; stroke-width: 2 }}"
        f" .guide {{ stroke: {theme.muted}; stroke-dasharray: 4 4; fill: none }} {colours}"
    )


def _page(drawing: str) -> str:
    known = machine()
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items() if version)
    foot = f"Python {known['python']}, {known['machine']}, {known['cpus']} processors; {versions}."
    style = (
        f"body {{ margin: 24px auto; max-width: {WIDTH}px; padding: 0 16px; background: {LIGHT.card};"
        f" color: {LIGHT.muted}; font: 13px {FONT} }} h1 {{ font-size: 22px; color: {LIGHT.text}; margin: 0 }}"
        " svg { max-width: 100%; height: auto } @media (prefers-color-scheme: dark)"
        f" {{ body {{ background: {DARK.card}; color: {DARK.muted} }} h1 {{ color: {DARK.text} }} }}"
    )
    how = (
        "Each bar is the time of the other divided by the time of ours, the median over rounds run in alternation;"
        " whiskers reach from the least to the most, upright marks are goals. Curves are CPU times against sizes."
        " CPU time, BLAS on one thread."
    )
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Benchmark of mklviz</title>\n'
        f"<style>{style}</style>\n<h1>Benchmark of mklviz</h1>\n<p>{how}</p>\n{drawing}<p>{escape(foot)}</p>\n</html>\n"
    )
