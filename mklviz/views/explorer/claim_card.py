"""The claim of a paper that is open, ``?claim=level-table-2-silp``: its sentence, its result, its race."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import panel as pn

from mklviz.errors import UnknownName
from mklviz.quoting import one_line
from mklviz.reproduce import ClaimAnswer, PaperClaim
from mklviz.reproduce.claims import load_claim
from mklviz.reproduce.estimates import ALL_DATA
from mklviz.reproduce.recorded import recorded_answers
from mklviz.reproduce.texts import COLUMNS, contrary_text, measured_text, race_text, row_texts, splits_text
from mklviz.reproduce.verdicts import UNKNOWN
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.claim_chart import claim_chart, claim_height, claim_signs, claim_tables
from mklviz.views.host.components import PlotPane
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.look.styles import MILESTONES, row_html, table_html, verdict_html
from mklviz.views.sidebar.scenario_panel import ScenarioPanel

__all__ = ["ClaimCard"]

_ACROSS = "auto-fit, minmax(min(400px * var(--mk-scale, 1), 100%), 1fr)"


class ClaimCard:
    """A card above the tabs, which is there as long as the controls are those of a claim."""

    def __init__(self, scenario: ScenarioPanel) -> None:
        self._scenario = scenario
        self._theme: Theme = LIGHT
        self._sentence, self._why = cards.html(), cards.html()
        self._picture = pn.Column(sizing_mode="stretch_width", margin=0)
        both = cards.grid(self._picture, self._why, columns=_ACROSS)
        self.root: Any = cards.card(self._sentence, both, visible=False)
        scenario.param.watch(self._show, "claim")

    @property
    def claim(self) -> PaperClaim | None:
        """The claim that is shown."""
        return self._scenario.claim

    def open(self, name: str) -> str:
        """Show a claim; return a sentence where there is none of that name, else ""."""
        try:
            self._scenario.claim = load_claim(name)
        except UnknownName as error:
            return one_line(str(error))
        return ""

    def paint(self, theme: Theme) -> None:
        """Use the colours of a theme."""
        if theme is not self._theme:
            self._theme = theme
            self._show()

    def _show(self, *_: Any) -> None:
        claim = self.claim
        self.root.visible = claim is not None
        if claim is None:
            return
        answer = recorded_answers().answers.get(claim.name, ClaimAnswer(claim, UNKNOWN))
        self._sentence.object = said_html(answer)
        self._why.object = why_html(answer, recorded_answers().machine) + numbers_html(answer)
        self._picture.param.update(objects=[*self._drawn(answer)], visible=bool(answer.rows))

    def _drawn(self, answer: ClaimAnswer) -> Iterator[Any]:
        """Yield the picture of an answer and what its signs are, where it has numbers."""
        if not answer.rows:
            return
        height = round(claim_height(answer) * self._theme.scale)
        chart = claim_chart(answer, self._theme)
        figure = ChartFigure(chart, self._theme, height, tools="")
        figure.show(claim_tables(answer))
        yield cards.html(f"<b>{escape(chart.title)}</b><br>{legend_html(answer)}")
        yield PlotPane(figure.plot, sizing_mode="stretch_width", margin=0, height=height)


def said_html(answer: ClaimAnswer) -> str:
    """Return what a claim says, and the verdict."""
    claim = answer.claim
    heading = cards.title(f"Is it true? {claim.place} of {claim.authors}", beside=verdict_html(answer.verdict))
    return f"{heading}<p>{escape(claim.sentence)}</p>"


def legend_html(answer: ClaimAnswer) -> str:
    """Return what the signs of the picture are."""
    entries = "".join(
        f'<span><b style="color: var(--mk-{"text" if sign == "○" else "accent"})">{sign}</b> {escape(words)}</span>'
        for sign, words in claim_signs(answer)
    )
    return f'<span class="legend">{entries}</span>'


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


def why_html(answer: ClaimAnswer, machine: str) -> str:
    """Return how a claim was measured, or why it cannot be."""
    claim = answer.claim
    if claim.untestable:
        return cards.said(claim.untestable, claim.paper)
    measured = f"{measured_text(claim)}; {splits_text(answer)}, on {machine}." if answer.rows else ""
    command = f"To measure it here: mklviz reproduce {claim.name} --quick"
    return cards.said(measured, contrary_text(answer), claim.note, f"{race_text(claim)} {command}", claim.paper)
