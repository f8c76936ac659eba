"""Two kernels: for each run the objective over their share, and how its step came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import panel as pn

from mklviz.analysis.curves import best_of
from mklviz.analysis.landscape import Survey
from mklviz.analysis.steps import Cuts, cuts_known, keeps_cuts, step_of
from mklviz.analysis.weight_map import Slice, slice_through
from mklviz.engine import Race
from mklviz.record import Trace
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.form import Form
from mklviz.views.geometry.map_card import EVERY
from mklviz.views.geometry.map_chart import height_axis, objective_table, segment_chart, segment_tables
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme, swatch
from mklviz.views.sidebar.controls import note, say

HEIGHT = 330  # pixels of a figure
_WORDS = (
    "Dark: the objective. SILP and Level: cuts below it, thick their upper envelope. SILP goes to its lowest point;"
    " Level to the nearest point of the level set (broad), where no cut exceeds the level (dashed). Line searches:"
    " the threshold (dashed) that a trial must come below, crosses for trials that did not, rings for those that did."
)


class SegmentCard(cards.Rooted):
    """One figure for each run, all over the same objective, which the `survey` computes."""

    def __init__(self) -> None:
        super().__init__()
        self.survey = Survey()
        self.figures: dict[str, ChartFigure] = {}
        self._race: Race | None = None
        self._kernels: tuple[int, ...] = ()
        self._map: Slice | None = None
        self._cuts: Cuts | None = None
        self._drawn: object = None
        self._drawn_at = 0.0
        self._progress = note()
        self._grid = pn.Column(margin=0, sizing_mode="stretch_width")
        self._heading = cards.html(cards.heading("Two kernels", _WORDS, term="cut"))
        self.root = cards.card(self._heading, self._grid, Form(self._progress))

    def show(self, race: Race, styles: Mapping[str, RunStyle], theme: Theme, kernels: Sequence[int]) -> None:
        """Draw a race over the share of two `kernels`."""
        same = race is self._race and tuple(kernels) == self._kernels
        self._race, self._kernels = race, tuple(kernels)
        if not same:
            self.survey.clear()
            self._map = None
        names = [race.facts.names[k] for k in self._kernels]
        charts = {key: segment_chart(key, style, theme, names) for key, style in styles.items()}
        self.figures = {key: ChartFigure(chart, theme, HEIGHT) for key, chart in charts.items()}
        cells = [cards.cell(cards.html(_name(style)), self.figures[key].plot, 8) for key, style in styles.items()]
        self._drawn = None
        self._draw_objective()  # before the page has the figures, which take it along
        self._grid.objects = [cards.grid(*cells, columns="auto-fit, minmax(min(420px, 100%), 1fr)")]

    def clear(self) -> None:
        """Forget the race, and compute nothing for it any more."""
        self.survey.clear()
        self._race, self._map, self._drawn = None, None, None

    def update(self, now: float, cursor: int | None) -> None:
        """Draw what is new: steps, another cursor, a finer objective."""
        race = self._race
        if race is None or not all(len(trace) for trace in race.traces.values()):
            return
        if self._map is None:
            self._begin(race)
        resting = race.status in ("finished", "paused")
        fresh = self.survey.update(resting)
        if fresh:
            self._draw_objective()
        say(self._progress, self.survey.progress("Computing"))
        drawn = (cursor, *(len(trace) for trace in race.traces.values()))
        if fresh or (drawn != self._drawn and (now - self._drawn_at >= EVERY or resting)):
            self._drawn, self._drawn_at = drawn, now
            for key, trace in race.traces.items():
                self._draw_step(key, trace, cursor)

    def _begin(self, race: Race) -> None:
        """Choose the slice: all of the weight, or what the two kernels have at the best point so far."""
        self._map = slice_through(best_of(race.traces.values()).best.weights, self._kernels)
        self._cuts = Cuts(race.problem, self._map.corners) if cuts_known(race) else None
        self.survey.begin(race, self._map)

    def _draw_objective(self) -> None:
        if self.survey.sheet is None:
            return
        (x, _, z), _ = self.survey.sheet
        for figure in self.figures.values():
            figure.show({"objective": objective_table(x[0], z[0])})
            figure.set_axes(figure.chart.x, height_axis(float(z.min()), float(z.max())))

    def _draw_step(self, key: str, trace: Trace, cursor: int | None) -> None:
        if self._map is None or self._cuts is None or key not in self.figures:
            return
        last = len(trace) - 1 if cursor is None else max(trace.index_at(cursor), 0)
        cut = self._race is not None and cuts_known(self._race) and keeps_cuts(trace[:2])
        values = self._cuts.up_to(last, key, trace) if cut else []
        shown, figure = (step_of(trace[: last + 1], self._map, values, self._height), self.figures[key])
        figure.show(segment_tables(shown, trace.first_step))
        if self.survey.sheet is None:
            heights = [y for _, y in shown.points]
            figure.set_axes(figure.chart.x, height_axis(min(heights), max(heights)))

    def _height(self, share: float) -> float | None:
        """Return the objective at a share as far as it is known."""
        if self.survey.sheet is None:
            return None
        (x, _, z), _ = self.survey.sheet
        return float(np.interp(share, x[0], z[0]))


def _name(style: RunStyle) -> str:
    return f'<div class="head"><span class="name">{swatch(style)}<b>{escape(style.label)}</b></span></div>'
