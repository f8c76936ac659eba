"""The claim of a paper that is open, ``?claim=level-table-2-silp``: its sentence, its result, its race, its chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import panel as pn

from mklviz.errors import UnknownName
from mklviz.quoting import one_line
from mklviz.reproduce import ClaimAnswer, ClaimRow, Estimate, PaperClaim
from mklviz.reproduce.answering import (
    COLUMNS,
    VERDICT_SIGNS,
    contrary_text,
    estimate_text,
    measured_text,
    race_text,
    row_texts,
    splits_text,
)
from mklviz.reproduce.claim import UNKNOWN
from mklviz.reproduce.claims import load_claim
from mklviz.reproduce.estimates import ALL_DATA
from mklviz.reproduce.recorded import recorded_answers
from mklviz.views.chart.axes import axis_span
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, LineMark, Mark, PointMark, Scale, Table, Tables
from mklviz.views.host.components import PlotPane
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.look.styles import MILESTONES, row_html, table_html, verdict_html
from mklviz.views.sidebar.scenario_panel import ScenarioPanel

_ACROSS = "auto-fit, minmax(min(400px * var(--mk-scale, 1), 100%), 1fr)"


class ClaimCard:
    """A card above the tabs, which is there as long as the controls are those of a claim."""

    def __init__(self, scenario: ScenarioPanel) -> None:
        self._scenario = scenario
        self._theme: Theme = LIGHT
        self.root: Any = cards.card(visible=False)
        scenario.param.watch(self._show, "claim")

    def open(self, name: str) -> str:
        """Show a claim; return a sentence where there is none of that name, else ""."""
        try:
            self._scenario.claim = load_claim(name)
        except UnknownName as error:
            return one_line(str(error))
        return ""

    def paint(self, theme: Theme) -> None:
        if theme is not self._theme:
            self._theme = theme
            self._show()

    def _show(self, *_: Any) -> None:
        claim: PaperClaim | None = self._scenario.claim
        self.root.visible = claim is not None
        if claim is None:
            return
        answer = recorded_answers().answers.get(claim.name, ClaimAnswer(claim, UNKNOWN))
        picture = pn.Column(*self._drawn(answer), sizing_mode="stretch_width", margin=0, visible=bool(answer.rows))
        both = cards.grid(picture, cards.html(why_html(answer) + numbers_html(answer)), columns=_ACROSS)
        place = f"Is it true? {claim.place} of {claim.authors}"
        heading = cards.title(place, beside=verdict_html(answer.verdict))
        self.root.objects = [cards.html(f"{heading}<p>{escape(claim.sentence)}</p>"), both]

    def _drawn(self, answer: ClaimAnswer) -> Iterator[Any]:
        """Yield the picture of an answer and what its signs are, where it has numbers."""
        if not answer.rows:
            return
        height = round(claim_height(answer) * self._theme.scale)
        chart = claim_chart(answer, self._theme)
        figure = ChartFigure(chart, self._theme, height, tools="")
        figure.show(claim_tables(answer))
        signs = "".join(
            f'<span><b style="color: var(--mk-{"text" if sign == "○" else "accent"})">{sign}</b> {escape(words)}</span>'
            for sign, words in claim_signs(answer)
        )
        yield cards.html(f'<b>{escape(chart.title)}</b><br><span class="legend">{signs}</span>')
        yield PlotPane(figure.plot, sizing_mode="stretch_width", margin=0, height=height)


def numbers_html(answer: ClaimAnswer) -> str:
    """Return the paper's values and ours as numbers, folded away."""
    if not answer.rows:
        return ""
    heads = [(escape(text), "") for text in COLUMNS]
    whole_first = sorted(answer.rows, key=lambda row: row.title != ALL_DATA)
    rows = (_row(row_texts(answer.claim, row)) for row in whole_first)
    return f"<details><summary>The numbers</summary>{table_html('The numbers', heads, rows, MILESTONES)}</details>"


def _row(texts: tuple[str, ...]) -> str:
    first, *middle, verdict = texts
    return row_html(escape(first), (*map(escape, middle), verdict_html(verdict)))


def why_html(answer: ClaimAnswer) -> str:
    """Return how a claim was measured, or why it cannot be."""
    claim = answer.claim
    if claim.untestable:
        return cards.lines(claim.untestable, claim.paper)
    measured = f"{measured_text(claim)}; {splits_text(answer)}, on {answer.machine}." if answer.rows else ""
    command = f"To measure it here: mklviz reproduce {claim.name} --quick"
    return cards.lines(measured, contrary_text(answer), claim.note, f"{race_text(claim)} {command}", claim.paper)


# -- the chart: the paper's values beside ours, for each data set a ring, and dots with intervals by either stop rule


_BESIDE = 0.2  # of a row lies what has no bound of its own above the middle, and the certified value below
_TIPS = (("", "@title"), ("", "@text"))


def claim_signs(answer: ClaimAnswer) -> tuple[tuple[str, str], ...]:
    """Return the markers that the chart of an answer draws, as text, and what they are."""
    ours = "ours, certified" if _certified_alone(answer.claim) else "ours, by the paper's stop rule"
    signs = {"paper": ("○", "the paper's value"), "ours": ("●", ours), "certified": ("◇", "ours, certified")}
    tables = claim_tables(answer)
    return tuple(sign for name, sign in signs.items() if tables[name]["x"])


def _certified_alone(claim: PaperClaim) -> bool:
    """Return whether one stop rule is both."""
    return claim.paper_rule in ("", claim.certified_rule)


def claim_height(answer: ClaimAnswer) -> int:
    """Return how high the chart of an answer is, pixels."""
    return 50 + 31 * max(len(answer.rows), 2)


def claim_chart(answer: ClaimAnswer, theme: Theme) -> Chart:
    """Describe what came of a claim that has rows."""
    size = theme.scale
    ring = PointMark("paper", colour=theme.text, size=14.0 * size, width=2.0 * size, tips=_TIPS)
    dot = PointMark("ours", colour=theme.accent, fill=theme.accent, size=8.0 * size, tips=_TIPS)
    diamond = PointMark(
        "certified", colour=theme.accent, fill=theme.card, marker="diamond", size=11.0 * size, width=2.0, tips=_TIPS
    )
    spans = [LineMark(f"{of}-spans", colour=theme.accent, width=2.0 * size, many=True) for of in ("ours", "certified")]
    even = LineMark("even", colour=theme.muted, dash="dashed", width=1.2)
    marks: list[Mark] = [even, *spans, dot, diamond, ring]
    up = Axis(start=-0.6, end=len(answer.rows) - 0.4, names=_names(_upwards(answer)))
    label = "" if answer.claim.quantity is None else answer.claim.quantity.label
    return Chart("claim", f"{label[:1].upper()}{label[1:]}", _along(answer), up, marks)


def _names(rows: Sequence[ClaimRow]) -> list[str]:
    """Return the titles of rows behind the signs of their verdicts; of one data set with settings these alone."""
    alone = len({row.title.partition(", ")[0] for row in rows}) == 1
    titles = [row.title.rpartition(", ")[2] if alone else row.title for row in rows]
    return [f"{VERDICT_SIGNS[row.verdict]} {title}" for row, title in zip(rows, titles, strict=True)]


def _along(answer: ClaimAnswer) -> Axis:
    """Return the axis of the values, with room for all of a marker at its ends."""
    quantity = answer.claim.quantity
    assert quantity is not None
    scale: Scale = "log" if quantity.even == 1.0 else "linear"
    axis = Axis(scale=scale)
    tables = claim_tables(answer)
    drawn = [*tables["even"]["x"], *(value for name in ("paper", "ours", "certified") for value in tables[name]["x"])]
    drawn += [end for name in ("ours-spans", "certified-spans") for ends in tables[name]["x"] for end in ends]
    start, end = axis_span([value for value in drawn if axis.shows(value)], axis, 0.1)
    return replace(axis, start=start, end=end)


def claim_tables(answer: ClaimAnswer) -> Tables:
    """Return what the chart of an answer draws; ours is certified already where the paper's rule is that."""
    claim, rows = answer.claim, _upwards(answer)
    published = [Estimate(row.published) for row in rows]
    ours, certified = [row.by_paper_rule for row in rows], [row.certified for row in rows]
    if _certified_alone(claim):
        certified = [Estimate() for _ in rows]
    even = math.nan if claim.quantity is None else claim.quantity.even
    return {
        "paper": _points(claim, rows, published, "the paper: ", _BESIDE),
        "ours": _points(claim, rows, ours, "ours: ", _BESIDE),
        "certified": _points(claim, rows, certified, "ours, certified: ", -_BESIDE),
        "ours-spans": _spans(ours, _BESIDE),
        "certified-spans": _spans(certified, -_BESIDE),
        "even": {"x": [even, even], "y": [-0.6, len(rows) - 0.4]},
    }


def _upwards(answer: ClaimAnswer) -> list[ClaimRow]:
    """Return the rows from the lowest to the highest: data sets as they are listed, and above them all together."""
    return [*answer.rows][::-1] if answer.rows[-1].title != ALL_DATA else [*answer.rows[-2::-1], answer.rows[-1]]


def _points(claim: PaperClaim, rows: Sequence[ClaimRow], values: Sequence[Estimate], who: str, up: float) -> Table:
    drawn = [(k, row, one) for k, (row, one) in enumerate(zip(rows, values, strict=True)) if math.isfinite(one.value)]
    return {
        "x": [one.value for _, _, one in drawn],
        "y": [k + up for k, _, _ in drawn],
        "title": [row.title for _, row, _ in drawn],
        "text": [who + estimate_text(claim, one) for _, _, one in drawn],
    }


def _spans(values: Sequence[Estimate], up: float) -> Table:
    ends = [(one.low, one.high) for one in values]
    kept = [(k, low, high) for k, (low, high) in enumerate(ends) if math.isfinite(low) and math.isfinite(high)]
    return {"x": [[low, high] for _, low, high in kept], "y": [[k + up, k + up] for k, _, _ in kept]}
