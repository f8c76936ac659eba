"""The sections of a sweep's results, each a card: figures change in place where they can."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from mklviz.views.look import cards
from mklviz.views.model.model_card import adopt
from mklviz.views.sweeps.sweep_results import SweepResults, SweepSection

__all__ = ["ResultsView"]


class ResultsView(pn.viewable.Viewer):
    """The figures two in a row, and the tables below them over the whole width."""

    def __init__(self) -> None:
        super().__init__()
        self.results = SweepResults("")
        self._titles: dict[str, tuple[Any, Any]] = {}  # by the title of a section its heading and its figure or table
        self._figures = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self._tables = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = pn.Column(self._figures, self._tables, margin=0, sizing_mode="stretch_width")

    def show(self, results: SweepResults) -> bool:
        """Show other results; return whether figures came that were not there before."""
        before, self.results = {each.title: each for each in self.results.sections}, results
        sections = {each.title: each for each in results.sections}
        same = [title for title in sections if title in before and _renewed(before[title], sections[title])]
        if len(same) == len(sections) == len(before):
            for title, section in sections.items():
                heading, content = self._titles[title]
                heading.object = _heading(section)
                if section.figure is None:
                    content.object = section.table
            kept = {title: before[title].figure for title in sections}
            self._keep(kept)
            return False
        self._titles = {title: _parts(section) for title, section in sections.items()}
        boxes = {title: cards.card(*parts) for title, parts in self._titles.items()}
        self._figures.objects = [boxes[title] for title, each in sections.items() if each.figure is not None]
        self._tables.objects = [boxes[title] for title, each in sections.items() if each.figure is None]
        return True

    def _keep(self, figures: dict[str, Any]) -> None:
        """Remember that the figures on the page are still the ones before."""
        sections = tuple(
            SweepSection(each.title, each.why, figures[each.title], each.legend, each.table, each.refused)
            for each in self.results.sections
        )
        self.results = SweepResults(self.results.words, self.results.solvers, self.results.labels, sections)

    def __panel__(self) -> Any:
        return self.root


def _renewed(old: SweepSection, new: SweepSection) -> bool:
    """Whether what stands on the page can show the new section."""
    if old.figure is None or new.figure is None:
        return old.figure is new.figure
    return _worded(old.figure) == _worded(new.figure) and adopt(old.figure, new.figure)


def _worded(figure: Any) -> tuple[Any, ...]:
    """Return the words of a figure that are no data."""
    axes = [(axis.axis_label, str(axis.major_label_overrides)) for axis in figure.axis]
    return figure.background_fill_color, figure.x_scale.type, axes


def _parts(section: SweepSection) -> tuple[Any, Any]:
    heading = cards.html(_heading(section))
    if section.figure is None:
        return heading, cards.html(section.table)
    return heading, pn.pane.Bokeh(section.figure, sizing_mode="stretch_width", margin=0)


def _heading(section: SweepSection) -> str:
    if section.refused:
        return f'{cards.title(section.title)}<p class="why">{escape(section.refused)}</p>'
    told = section.figure.title.text if section.figure is not None else ""
    beside = f'<span class="why">{escape(told)}</span>'
    why = f'<p class="why detail">{escape(section.why)}</p>'
    return f"{cards.title(section.title, beside=beside)}{why}{section.legend}"
