"""The Bokeh figures of a race: objective, gap, step size, kernels in use, SVM tolerance, and weights per solver.

All figures share one x range and one crosshair; each run has one source behind all its lines. Ranges belong to the
browser: they follow the data until the user zooms and are never touched from here (``syncable=False`` keeps the browser
from reporting every repaint). Bokeh cannot change the kind of a scale in place, so a change of scale builds anew; the
browser keeps the zoom for the figures to come.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bokeh.models import (
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    CustomJSTransform,
    DataRange1d,
    Glyph,
    GlyphRenderer,
    Line,
    Scatter,
    Span,
    VSpan,
)
from bokeh.plotting import figure

from mklviz.views.chart.axes import bare, style_axes, style_ticks
from mklviz.views.chart.bokeh_figure import glyph_of
from mklviz.views.chart.columns import ANCHORED
from mklviz.views.chart.description import Chart, Column, LineMark, Mark, PointMark
from mklviz.views.chart.race_charts import STOP, ChartOptions, race_charts, run_table, stop_table, weights_chart, x_axis
from mklviz.views.chart.readout import add_readout
from mklviz.views.host.beside import beside
from mklviz.views.host.dragging import ignore_long_press
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.race.feed import RunFeed
from mklviz.views.race.marks import Marks

__all__ = ["Charts", "Extent", "Zooms", "add_weights", "build_charts"]

BIG, SMALL = 190, 160  # heights in pixels: with them the weights are above the fold of 1280 x 720
HEIGHTS = {"active": SMALL, "tolerance": SMALL}
Y_TICKS, NARROW_TICKS = 4, 3
FEWEST = 160  # pixels of a figure that grows with the screen of a room: two rows of them end at 720
# found at run time by their common range: figures that name each other are walked through at every change of one
_RESET = beside(__file__, "reset.js")
# a range tells where the user has put it, and begins there when its figure is built anew; only the first number that it
# is given decides, as all later ones without a user are those of a reset
_KEEP = beside(__file__, "keep_zoom.js")


class Zooms:
    """Where the user has zoomed to in a race, which the browser keeps over figures that are built anew.

    It tells the server whether there is anything: what figures draw stays while the visitor looks at a part.
    """

    def __init__(self) -> None:
        self._places = ColumnDataSource(name="zooms", syncable=False)
        self._told = ColumnDataSource(name="zoomed")

    def __bool__(self) -> bool:
        """Whether the user has zoomed, by the browser's last message."""
        return bool(self._told.tags)

    def keep(self, axes: Mapping[str, DataRange1d]) -> None:
        """Let the browser remember where the user puts a range, by its name."""
        for name, axis in axes.items():
            keep = CustomJS(args={"zooms": self._places, "told": self._told, "name": name}, code=_KEEP)
            axis.js_on_change("start", keep)
            axis.js_on_change("end", keep)


Extent = tuple[float, float]
_BEGINNING: Extent = (1.0, 1.0)  # of a range without data


@dataclass
class Charts:
    """The figures of one race and the renderers that change later."""

    objective: figure
    gap: figure
    step: figure
    active: figure
    tolerance: figure
    styles: Mapping[str, RunStyle]
    sources: Mapping[str, ColumnDataSource]  # by the names of tables
    options: ChartOptions
    zooms: Zooms
    marks: Marks
    weights: dict[str, figure] = field(default_factory=dict)
    by_table: dict[str, list[GlyphRenderer]] = field(default_factory=dict)
    by_slot: dict[int, list[GlyphRenderer]] = field(default_factory=dict)
    of_objective: list[GlyphRenderer] = field(default_factory=list)
    pinned: list[GlyphRenderer] = field(default_factory=list)
    anchors: dict[str, GlyphRenderer] = field(default_factory=dict)  # of what shows all runs, by column
    weight_anchors: dict[str, GlyphRenderer] = field(default_factory=dict)  # by the keys of the runs
    end: float = math.inf  # of the horizontal axis, where it ends before the longest run does
    held: Mapping[str, Extent] = field(default_factory=dict)  # values that ranges always include, by column
    _ends: GlyphRenderer | None = None
    _resets: int = 0

    def begin(self, hidden: Collection[str]) -> None:
        """Expect a new set of traces."""
        self.hold({})
        for renderer in (*self.anchors.values(), *self.weight_anchors.values()):
            renderer.visible = True
        self.set_hidden(hidden)
        self.reset_zoom()

    @property
    def described(self) -> dict[str, Chart]:
        """The charts of the figures that show all runs, by their names."""
        return race_charts(self.styles, self.options)

    @property
    def by_run(self) -> dict[str, list[GlyphRenderer]]:
        """What draws each run."""
        return {key: self.by_table[run_table(key)] for key in self.styles}

    @property
    def figures(self) -> list[figure]:
        return [*self.of_all, *self.weights.values()]

    @property
    def of_all(self) -> list[figure]:
        """Those that show all runs."""
        return [self.objective, self.gap, self.step, self.active, self.tolerance]

    def set_x(self, x: str) -> None:
        """Draw all lines over another column."""
        self.options = replace(self.options, x=x)
        for renderer in (r for renderers in (*self.by_run.values(), self.pinned) for r in renderers):
            renderer.glyph.x = x
        self.marks.set_x(x)
        for plot in self.figures:
            _style_x(plot, self.options)
        self.place_anchors()
        self.reset_zoom()

    @property
    def may_turn(self) -> bool:
        """Whether objectives may be drawn above the best bound by themselves: they fit, and the chart is not zoomed."""
        return self.options.log_y and not self.options.signed and not self.zooms

    def set_above(self, above: bool) -> None:
        """Draw objectives above the best bound, as shares, or as they are."""
        if above != self.options.above:
            self.options = replace(self.options, above=above)
            for renderer in self.of_objective:
                renderer.glyph.y = self.options.objective
            style_ticks(self.objective.yaxis, self.described["objective"].y, Y_TICKS)
            self.place_anchors()
            self.reset_zoom()

    def pin(self, source: ColumnDataSource, name: str, colour: str, dash: str) -> None:
        """Draw a run of an earlier race behind all others."""
        for column, plot in ((self.options.objective, self.objective), ("gap", self.gap)):
            width = 1.6 * self.options.theme.scale
            line = Line(x=self.options.x, y=column, line_color=colour, line_dash=dash, line_width=width)
            self.pinned.append(plot.add_glyph(source, line, name=name, level="underlay"))
        self.of_objective.append(self.pinned[-2])

    def set_hidden(self, hidden: Collection[str]) -> None:
        """Draw the runs that are not hidden; the ranges follow them."""
        for key, renderers in self.by_run.items():
            for renderer in renderers:
                renderer.visible = key not in hidden

    def settle(self, feeds: Mapping[str, RunFeed]) -> None:
        """Let the ranges depend on data alone once there are some, and nothing is held."""
        for name, anchor in self.anchors.items():
            if not self.held and anchor.visible and any(name in feed.filled for feed in feeds.values()):
                anchor.visible = False
        for key, anchor in self.weight_anchors.items():
            if anchor.visible and "top" in feeds[key].filled:
                anchor.visible = False

    def hold(self, extents: Mapping[str, Extent]) -> None:
        """Let the ranges include the `extents`, by column, whatever is drawn; with none, they follow the data again."""
        if extents or self.held:
            self.held = extents
            self.place_anchors()

    def place_anchors(self) -> None:
        """Move the points that ranges include to their fixed values, as far as the axes reach."""
        first, last = self.held.get(self.options.x, _BEGINNING)
        for column, anchor in self.anchors.items():
            y = self.held.get(self.options.objective if column == "objective" else column, _BEGINNING)
            anchor.data_source.data = {"x": [first, min(last, self.end)], "y": list(y)}

    def set_end(self, end: float) -> None:
        """End the horizontal axis there, or at the cursor if it is beyond; with inf, at the longest run."""
        if end == self.end:
            return
        self.end = end
        if self._ends is None:  # unpainted lines that carry the range
            line = VSpan(x="x", line_color=None)
            self._ends = self.objective.add_glyph(ColumnDataSource({"x": []}), line)
        cut = math.isfinite(end)
        self.objective.x_range.renderers = [self._ends, self.marks.renderers[0]] if cut else []
        self._ends.data_source.data = {"x": [0.0, end] if cut else []}

    def set_tolerance(self, gap: float | None) -> None:
        """Move the line at which runs stop."""
        self.options = replace(self.options, gap_tolerance=gap)
        self.sources[STOP].data = dict(stop_table(gap))

    def name_kernels(self, names: Sequence[str]) -> None:
        """Give the lines of the weights their kernels' names, slot by slot."""
        for slot, renderers in self.by_slot.items():
            for renderer in renderers:
                renderer.name = names[slot] if slot < len(names) else ""

    def reset_zoom(self) -> None:
        """Let every figure follow its data again; a change of the first one's tags resets them all."""
        self._resets += 1
        self.objective.tags = [self._resets]


def build_charts(
    styles: Mapping[str, RunStyle], sources: Mapping[str, ColumnDataSource], options: ChartOptions, zooms: Zooms
) -> Charts:
    """Build the figures that show all runs, from their sources; where the user has zoomed, they stay zoomed."""
    x_range = _range(padding=0.015)
    described = race_charts(styles, options)
    plots = {name: _figure(chart, options, x_range, HEIGHTS.get(name, BIG)) for name, chart in described.items()}
    stop = ColumnDataSource(dict(stop_table(options.gap_tolerance)))
    tables = {run_table(key): source for key, source in sources.items()} | {STOP: stop}
    marks = Marks(styles, options.x)
    charts = Charts(**plots, styles=styles, sources=tables, options=options, zooms=zooms, marks=marks)
    for name, chart in described.items():
        _draw(charts, plots[name], chart)
    charts.of_objective = list(charts.objective.renderers)
    for plot in charts.of_all:
        charts.marks.draw(plot)
    for plot, column in zip(charts.figures, ANCHORED, strict=False):
        charts.anchors[column] = _anchor(plot)
    zooms.keep({"x": x_range, **{plot.name: plot.y_range for plot in charts.figures}})
    charts.objective.js_on_change("tags", CustomJS(code=_RESET))
    _link(charts.figures, options.theme)
    return charts


def add_weights(charts: Charts) -> None:
    """Build one figure of kernel weights for each run, beside figures that the browser may have drawn already.

    Each has a scale of its own: beside a run that jumps to 1, one that walks to 0.1 would be a line at the bottom.
    """
    options = charts.options
    height = FEWEST if options.theme.projected else SMALL
    for key, style in charts.styles.items():
        chart = weights_chart(key, style, options)
        plot = _figure(chart, options, charts.objective.x_range, height, left=46)
        plot.xaxis.ticker.desired_num_ticks = NARROW_TICKS
        _draw(charts, plot, chart)
        *lines, top = plot.renderers
        for slot, line in enumerate(lines):
            charts.by_slot.setdefault(slot, []).append(line)
        charts.marks.draw(plot, key)
        charts.weights[key], charts.weight_anchors[key] = plot, _anchor(plot)
        # a run that has ended sends nothing more, after which the browser would look for a smaller range
        charts.weight_anchors[key].visible = max(charts.sources[run_table(key)].data["iteration"], default=0) == 0
        # the largest weight there ever was: no jump leaves it, nothing shrinks it
        plot.y_range.renderers = [top, charts.weight_anchors[key]]
    charts.zooms.keep({plot.name: plot.y_range for plot in charts.weights.values()})
    _link(list(charts.weights.values()), options.theme)


def _draw(charts: Charts, plot: figure, chart: Chart) -> None:
    """Draw the marks of a chart as bare glyphs: ``plot.line`` builds three more for selections, which are not used."""
    for mark in chart.marks:
        renderers, name = charts.by_table.setdefault(mark.table, []), getattr(mark, "label", "") or None
        for glyph in _glyphs(mark, charts.options.theme.scale):
            renderers.append(plot.add_glyph(charts.sources[mark.table], glyph, name=name))


def _glyphs(mark: Any, scale: float) -> list[Glyph]:
    """Return the glyphs of a line with its markers, or of a rule, scaled by a factor."""
    drawn: list[Mark] = [replace(mark, width=_times(mark.width, scale))]
    if isinstance(mark, LineMark) and mark.marker:
        size = _times(Column("mark"), scale)
        drawn.append(PointMark(mark.table, mark.x, mark.y, mark.colour, mark.colour, mark.marker, size))
    return [glyph_of(each) for each in drawn]


def _times(value: float | Column, scale: float) -> Any:
    """Return a number, or a column of numbers, scaled by a factor."""
    if not isinstance(value, Column):
        return value * scale
    larger = CustomJSTransform(args={"scale": scale}, v_func="return Array.from(xs, (x) => scale * x)")
    return {"field": value.name, **({"transform": larger} if scale != 1.0 else {})}


def _anchor(plot: figure) -> GlyphRenderer:
    """Give the range of a figure without data initial ends."""
    point = ColumnDataSource({"x": list(_BEGINNING), "y": list(_BEGINNING)})
    return plot.add_glyph(point, Scatter(x="x", y="y", size=0, line_color=None, fill_color=None))


def _figure(chart: Chart, options: ChartOptions, x_range: DataRange1d, height: int, left: int = 54) -> figure:
    plot = figure(
        name=chart.name,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type=chart.x.scale,
        y_axis_type=chart.y.scale,
        x_range=x_range,
        y_range=_range(start=None if math.isnan(chart.y.start) else chart.y.start),
        min_border_left=round(left * options.theme.scale),
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_drag="box_zoom",
        active_scroll=None,
        output_backend="canvas",
        syncable=False,
    )
    style_ticks(plot.yaxis, chart.y, Y_TICKS)
    _style_x(plot, options)
    _style(plot, options.theme)
    return plot


def _style_x(plot: figure, options: ChartOptions) -> None:
    axis = x_axis(options)
    # where type is large, only the objective beside the weights has room for it
    plot.xaxis.axis_label = "" if options.theme.projected and plot.name != "objective" else axis.label
    style_ticks(plot.xaxis, axis, 3 if axis.log else 5)


def _range(start: float | None = None, padding: float = 0.08) -> DataRange1d:
    fixed = {} if start is None else {"start": start}
    return DataRange1d(syncable=False, only_visible=True, range_padding=padding, **fixed)


def _style(plot: figure, theme: Theme) -> None:
    style_axes(plot, theme)
    bare(plot)
    plot.add_layout(Span(location=0, location_units="screen", dimension="width", line_color=theme.axis))
    plot.min_border_top = 10
    plot.axis.axis_label_standoff = 6
    plot.axis.major_tick_out = 2


def _link(plots: Sequence[figure], theme: Theme) -> None:
    """Give the figures one crosshair and a readout, and let a double click on one reset all of the race."""
    hair = Span(dimension="height", line_color=theme.muted, line_width=1, line_dash=[3, 3])
    reset = CustomJS(code=_RESET)
    for plot in plots:
        plot.add_tools(CrosshairTool(dimensions="height", overlay=hair))
        plot.js_on_event("doubletap", reset)
        ignore_long_press(plot)
    add_readout(plots, theme)
