"""The sections of a sweep's results, each a card: figures change in place where they can."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import panel as pn
from bokeh.models import LogScale

from mklviz.views.look import cards
from mklviz.views.model.model_card import adopt
from mklviz.views.pictures.style import WIDTH
from mklviz.views.sweeps.sweep_results import SweepResults, SweepSection

__all__ = ["ResultsView"]

NEAR = 12.0  # pixels, where a figure is as wide as usual


class ResultsView(pn.viewable.Viewer):
    """The figures two in a row, and the tables below them over the whole width; `results` are those shown.

    `pick` is called with the place of a case, one of whose runs was clicked.
    """

    def __init__(self, pick: Callable[[int], None]) -> None:
        super().__init__()
        self._pick = pick
        self.results = SweepResults("")
        self._cards: dict[str, _SectionCard] = {}  # by the title
        self._figures = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self._tables = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = pn.Column(self._figures, self._tables, margin=0, sizing_mode="stretch_width")

    def show(self, results: SweepResults) -> None:
        """Show other results."""
        self.results = results
        self._cards = {each.title: self._renewed(each) for each in results.sections}
        for box, drawn in ((self._figures, True), (self._tables, False)):
            objects = [each.root for each in self._cards.values() if (each.figure is not None) == drawn]
            if objects != list(box.objects):
                box.objects = objects

    def _renewed(self, section: SweepSection) -> _SectionCard:
        """Return the card that shows a section: the one on the page, if that can."""
        old = self._cards.get(section.title)
        card = _renewed(old, section)
        if card is not old and section.points:
            card.figure.on_event("tap", partial(self._tapped, section.title))
        return card

    def _tapped(self, title: str, event: Any) -> None:
        section = next(each for each in self.results.sections if each.title == title)
        case = _nearest(section.points, self._cards[title].figure, event.x, event.y)
        if case is not None:
            self._pick(case)

    def __panel__(self) -> Any:
        return self.root


@dataclass(frozen=True)
class _SectionCard:
    """The card of a section, with the parts of it that change."""

    heading: Any
    table: Any
    figure: Any
    root: Any


def _renewed(card: _SectionCard | None, section: SweepSection) -> _SectionCard:
    """Return the card that shows a section: the one on the page, if that can."""
    if card is None or not _fits(card.figure, section.figure):
        heading, table = cards.html(), cards.html()
        pane = pn.pane.Bokeh(section.figure, sizing_mode="stretch_width", margin=0)
        root = cards.card(heading, table if section.figure is None else pane)
        card = _SectionCard(heading, table, section.figure, root)
    card.heading.object, card.table.object = _heading(section), section.table
    return card


def _fits(old: Any, new: Any) -> bool:
    """Make the figure on the page show a new one; return whether it can."""
    if old is None or new is None:
        return old is new
    return _words(old) == _words(new) and adopt(old, new)


def _nearest(points: Sequence[tuple[float, float, int]], figure: Any, x: float, y: float) -> int | None:
    """Return the case of the run that was clicked; None where none is near."""

    def across(value: float) -> float:
        return math.log(value) if isinstance(figure.x_scale, LogScale) else value

    wide, high = across(figure.x_range.end) - across(figure.x_range.start), figure.y_range.end - figure.y_range.start
    distances = [
        (math.hypot((across(one) - across(x)) / wide * WIDTH, (other - y) / high * figure.height), case)
        for one, other, case in points
    ]
    distance, case = min(distances, default=(math.inf, 0))
    return case if distance <= NEAR else None


def _words(figure: Any) -> tuple[Any, ...]:
    """Return what a figure has beside its data: scales, words and colours of axes."""
    axes = [(axis.axis_label, str(axis.major_label_overrides), str(axis.axis_label_text_color)) for axis in figure.axis]
    return type(figure.x_scale), type(figure.y_scale), axes


def _heading(section: SweepSection) -> str:
    if section.refused:
        return f'{cards.title(section.title)}<p class="why">{escape(section.refused)}</p>'
    title = section.figure.title.text if section.figure is not None else ""
    beside = f'<span class="why">{escape(title)}</span>'
    why = f'<p class="why detail">{escape(section.why)}</p>'
    return f"{cards.title(section.title, beside=beside)}{why}{section.legend}"
