"""The picture of a lesson on a page: figures with their headings, drawn by Bokeh, whose tables grow with the race."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Chart, Tables
from mklviz.views.host.components import PlotPane
from mklviz.views.host.frames import FigureSync
from mklviz.views.lessons.picture import Picture
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme

__all__ = ["PictureView", "emptied"]

HEIGHT, LEAST, LEAST_PROJECTED = 430, 185, 230  # pixels of the whole picture with its headings, and of a chart
HEADING = 30  # pixels above each row of charts
# on a phone, where charts stand one below the other, the next one is to be seen, too
_LOWER = "@media (max-width: 700px) { :host { height: 290px !important; flex-basis: 290px !important; } }"
# in the first chart, where it lies over no heading
_OVER = {"position": "absolute", "inset": "20% 0 auto 0", "pointer-events": "none", "text-align": "center"}
_ACROSS = "auto-fit, minmax(min(260px * var(--mk-scale, 1), 100%), 1fr)"  # on a projector one below the other


class PictureView(pn.viewable.Viewer):
    """Charts in rows, and what their curves are; words stand over them where there is nothing to be drawn yet."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[ChartFigure] = []
        self._theme: Theme | None = None
        self._legend, self._cover = cards.html(visible=False), cards.html(styles=_OVER)
        self._rows, self.sync = pn.Column(sizing_mode="stretch_width", margin=0), FigureSync()
        parts = self._legend, self._rows, self._cover, self.sync.frames.heartbeat
        look = {"position": "relative", "height": "calc(100% - 12px)"}
        self.root = cards.card(*parts, css_classes=["picture"], styles=look)

    @property
    def charts(self) -> list[Chart]:
        """What is on the page."""
        return [figure.chart for figure in self.figures]

    def show(self, picture: Picture, theme: Theme, waiting: str = "") -> bool:
        """Draw a picture: new figures where its charts are others, else what their tables have become.

        Returns whether it was drawn: figures that the browser does not have yet wait with what is new.
        """
        if picture.charts != self.charts or theme is not self._theme:
            self._theme = theme
            self._build(picture, theme)
        elif not self.sync.ready([figure.plot for figure in self.figures]):
            return False
        else:
            with self.sync.frames.in_order():
                for figure in self.figures:
                    figure.show(_own(figure.chart, picture.tables))
        self._legend.param.update(object=cards.legend(picture.legend), visible=bool(picture.legend))
        self._cover.object = f'<p class="guess">{escape(waiting)}</p>' if waiting else ""
        return True

    def _build(self, picture: Picture, theme: Theme) -> None:
        least, rows = (LEAST_PROJECTED, picture.charts) if theme.projected else (LEAST, picture.rows)
        high = max((HEIGHT - (20 if picture.legend else 0)) // max(len(rows), 1) - HEADING, least)
        self.figures = [ChartFigure(chart, theme, high, tools="") for chart in picture.charts]
        for figure in self.figures:  # before they are on the page
            figure.show(_own(figure.chart, picture.tables))
            figure.plot.stylesheets = [_LOWER] if len(rows) == 1 else []
        drawn = iter(self.figures)
        rows = [[self._drawn(next(drawn), high) for _ in row] for row in picture.rows]
        self._rows.objects = [cards.grid(*row, columns=_ACROSS) for row in rows]

    def _drawn(self, figure: ChartFigure, high: int) -> pn.Column:
        chart = figure.chart
        pane = PlotPane(figure.plot, sizing_mode="stretch_width", margin=0, height=high)
        note = f'<span class="why">{escape(chart.note)}</span>' if chart.note else ""
        heading = cards.html(cards.title(chart.title, beside=note), visible=bool(chart.title))
        return pn.Column(heading, pane, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> Any:
        return self.root


def _own(chart: Chart, tables: Tables) -> Tables:
    """Return the tables of one chart."""
    return {mark.table: tables[mark.table] for mark in chart.marks}


def emptied(tables: Tables) -> Tables:
    """Return tables without rows."""
    return {name: {column: [] for column in table} for name, table in tables.items()}
