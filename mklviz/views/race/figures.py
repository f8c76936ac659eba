"""The Bokeh figures of a race: objective, gap, step size, kernels in use, SVM tolerance, and weights per solver.

The figures of all runs share one x range and one crosshair, weights have a range for each run, which may be far
shorter than others; each run has one source behind all its lines. Ranges belong to the browser: they follow the data
until the user zooms and are never touched from here (``syncable=False`` keeps the browser from reporting every
repaint). Figures change size, axes and scales in place: those built anew would leave the page blank meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bokeh import models
from bokeh.plotting import figure

from mklviz.views.chart.axes import style_ticks
from mklviz.views.chart.bokeh_figure import Marks, add_readout, chart_plot, data_range, glyph_of, unpainted
from mklviz.views.chart.columns import ANCHORED, KernelSlots
from mklviz.views.chart.description import Axis, Chart, LineMark, PointMark
from mklviz.views.chart.race_charts import STOP, ChartOptions, race_charts, run_table, stop_table, weights_chart, x_axis
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.race.readings import Extent, RunFeed

LARGE, SMALL, WEIGHTS = 230, 130, 160  # heights in pixels: of the chart chosen, of the other quantities, and of weights
X_TICKS, Y_TICKS, NARROW_TICKS = 5, 4, 3
FEWEST = 160  # pixels of a figure that grows with the screen of a room: two rows of them end at 720
# found at run time by the name of their ranges: figures that name each other are walked through at every change of one
_RESET = """const {x_range, document} = cb_obj.origin ?? cb_obj
for (const plot of document.all_models) if (plot.x_range?.tags[0] === x_range.tags[0]) plot.reset.emit()"""
# Bokeh tells a range that its scale is logarithmic and never that it is so no more, and does not look at the data again
_RESCALE = """const {x_range, document} = cb_obj
for (const plot of document.all_models) if (plot.x_range?.tags[0] === x_range.tags[0]) {
  for (const [range, scale] of [[plot.x_range, plot.x_scale], [plot.y_range, plot.y_scale]]) {
    range.scale_hint = scale.type === "LogScale" ? "log" : "auto"
    if (range.scale_hint === "log" && range.start <= 0) range.have_updated_interactively = false
  }
  const view = Bokeh.index.find_one(plot)
  if (view) view.invalidate_dataranges = true
  view?.request_repaint()
}"""
# a range tells where the user has put it, and begins there when its figure is built anew; only the first number that it
# is given decides, as all later ones without a user are those of a reset
_KEEP = """const {start, end} = cb_obj
if (!isFinite(start + end)) return
const {[name]: kept, ...others} = zooms.tags[0] ?? {}
if (cb_obj.have_updated_interactively) zooms.tags = [{...others, [name]: [start, end]}]
else if (kept && !cb_obj.begun && (kept[0] > 0 || cb_obj.scale_hint !== "log")) {
  cb_obj.have_updated_interactively = true
  cb_obj.setv({start: kept[0], end: kept[1]})
} else if (kept) zooms.tags = [others]
cb_obj.begun = true
const zoomed = Object.keys(zooms.tags[0] ?? {}).length > 0
if (zoomed !== state.tags.length > 0) state.tags = zoomed ? ["zoomed"] : []"""


class Zooms:
    """Where the user has zoomed to, which the browser keeps over figures that are built anew; true if anywhere."""

    def __init__(self) -> None:
        self._places = models.ColumnDataSource(name="zooms", syncable=False)
        self._zoom_state = models.ColumnDataSource(name="zoomed")

    def __bool__(self) -> bool:
        """Whether the user has zoomed, by the browser's last message."""
        return bool(self._zoom_state.tags)

    def keep(self, axes: Mapping[str, models.DataRange1d]) -> None:
        """Let the browser remember where the user puts a range, by its name."""
        for name, axis in axes.items():
            keep = models.CustomJS(args={"zooms": self._places, "state": self._zoom_state, "name": name}, code=_KEEP)
            axis.js_on_change("start", keep)
            axis.js_on_change("end", keep)


_BEGINNING: Extent = (1.0, 1.0)  # of a range without data
_FIRST = {"x": list(_BEGINNING), "y": list(_BEGINNING)}


@dataclass
class Charts:
    """The figures of one race and the renderers that change later."""

    objective: figure
    gap: figure
    step: figure
    active: figure
    tolerance: figure
    styles: Mapping[str, RunStyle]
    sources: Mapping[str, models.ColumnDataSource]  # by the names of tables
    options: ChartOptions
    zooms: Zooms
    marks: Marks
    weights: dict[str, figure] = field(default_factory=dict)
    by_table: dict[str, list[models.GlyphRenderer]] = field(default_factory=dict)
    by_slot: dict[int, list[models.GlyphRenderer]] = field(default_factory=dict)
    of_objective: list[models.GlyphRenderer] = field(default_factory=list)
    pinned: list[models.GlyphRenderer] = field(default_factory=list)
    anchors: dict[str, models.GlyphRenderer] = field(default_factory=dict)  # of what shows all runs, by column
    weight_anchors: dict[str, models.GlyphRenderer] = field(default_factory=dict)  # by the keys of the runs
    end: float = math.inf  # of the horizontal axis, where it ends before the longest run does
    held: Mapping[str, Extent] = field(default_factory=dict)  # values that ranges always include, by column
    _ends: models.GlyphRenderer | None = None
    _resets: int = 0

    def begin(self, hidden: Collection[str]) -> None:
        """Expect a new set of traces."""
        self.hold({})
        for renderer in (*self.anchors.values(), *self.weight_anchors.values()):
            renderer.visible = True
        self.set_hidden(hidden)
        self.reset_zoom()

    @property
    def by_run(self) -> dict[str, list[models.GlyphRenderer]]:
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
        self.options = replace(self.options, x=x)
        for renderer in (r for renderers in (*self.by_run.values(), self.pinned) for r in renderers):
            renderer.glyph.x = x
        self.marks.set_x(x)
        for plot in self.figures:
            _style_x(plot, self.options)
        self.place_anchors()
        self.reset_zoom()

    def set_above(self, above: bool) -> None:
        """Draw objectives above the best bound, as shares, or as they are."""
        if above != self.options.above:
            self.options = replace(self.options, above=above)
            for renderer in self.of_objective:
                renderer.glyph.y = self.options.objective
            style_ticks(self.objective.yaxis, race_charts(self.styles, self.options)["objective"].y, Y_TICKS)
            self.place_anchors()
            self.reset_zoom()

    def set_scales(self, log_x: bool, log_y: bool) -> None:
        """Draw on logarithmic axes, or on linear ones."""
        if log_x:
            self.set_end(math.inf)  # an axis that begins at zero has no logarithm, and this one has room for all
        self.options = replace(self.options, log_x=log_x, log_y=log_y)
        described = race_charts(self.styles, self.options)
        for plot in self.figures:
            _rescale(plot, "x", x_axis(self.options))
            _style_x(plot, self.options)
            if plot.name in described:
                _rescale(plot, "y", described[plot.name].y)
                style_ticks(plot.yaxis, described[plot.name].y, Y_TICKS)
        self.gap.tags = [log_x, log_y]

    def enlarge(self, name: str) -> None:
        """Draw one of the figures of all runs larger than the others."""
        for plot in self.of_all:
            plot.height = LARGE if plot.name == name else SMALL
            plot.xaxis.axis_label_align = "center" if plot.name == name else "end"  # beside a mark in the left corner
            _style_x(plot, self.options)

    def pin(self, source: models.ColumnDataSource, name: str, colour: str, dash: str) -> None:
        """Draw a run of an earlier race behind all others."""
        for column, plot in ((self.options.objective, self.objective), ("gap", self.gap)):
            width = 1.6 * self.options.theme.scale
            line = models.Line(x=self.options.x, y=column, line_color=colour, line_dash=dash, line_width=width)
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
            line = models.VSpan(x="x", line_color=None)
            self._ends = self.objective.add_glyph(models.ColumnDataSource({"x": []}), line)
        cut = math.isfinite(end)
        self.objective.x_range.renderers = [self._ends, self.marks.renderers[0]] if cut else []
        self._ends.data_source.data = {"x": [0.0, end] if cut else []}

    def set_tolerance(self, gap: float | None) -> None:
        """Move the line at which runs stop."""
        self.options = replace(self.options, gap_tolerance=gap)
        self.sources[STOP].data = dict(stop_table(gap))

    def name_kernels(self, slots: KernelSlots) -> None:
        """Give the lines of the weights the names of their kernels, and their colours or grey."""
        names, colours = slots.shown, replace(self.options, coloured=slots.coloured).kernels
        for slot, renderers in self.by_slot.items():
            for renderer in renderers:
                renderer.name = names[slot] if slot < len(names) else ""
                renderer.glyph.line_color = colours[slot]

    def reset_zoom(self) -> None:
        """Let every figure follow its data again; a change of the first one's tags resets them all."""
        self._resets += 1
        self.objective.tags = [self._resets]


def build_charts(
    styles: Mapping[str, RunStyle], sources: Mapping[str, models.ColumnDataSource], options: ChartOptions, zooms: Zooms
) -> Charts:
    """Build the figures that show all runs, from their sources; where the user has zoomed, they stay zoomed."""
    x_range = data_range(x_axis(options), 0.015)
    x_range.tags = [x_range.id]
    described = race_charts(styles, options)
    plots = {name: _figure(chart, options, x_range, SMALL) for name, chart in described.items()}
    stop = models.ColumnDataSource(dict(stop_table(options.gap_tolerance)))
    tables = {run_table(key): source for key, source in sources.items()} | {STOP: stop}
    marks = Marks(styles, options.x)
    charts = Charts(**plots, styles=styles, sources=tables, options=options, zooms=zooms, marks=marks)
    for name, chart in described.items():
        _draw(charts, plots[name], chart)
    charts.of_objective = list(charts.objective.renderers)
    for plot in charts.of_all:
        charts.marks.draw(plot)
    for plot, column in zip(charts.figures, ANCHORED, strict=False):
        charts.anchors[column] = unpainted(plot, _FIRST)
    zooms.keep({"x": x_range, **{plot.name: plot.y_range for plot in charts.figures}})
    charts.objective.js_on_change("tags", models.CustomJS(code=_RESET))
    charts.gap.js_on_change("tags", models.CustomJS(code=_RESCALE))
    _link(charts.figures, options.theme)
    return charts


def add_weights(charts: Charts) -> None:
    """Build one figure of kernel weights for each run, with axes of its own, beside figures that are drawn already."""
    options = charts.options
    height = FEWEST if options.theme.projected else WEIGHTS
    for key, style in charts.styles.items():
        chart = weights_chart(key, style, options)
        plot = _figure(chart, options, data_range(x_axis(options), 0.015), height, left=46)
        plot.x_range.tags = list(charts.objective.x_range.tags)
        _draw(charts, plot, chart)
        *lines, top = plot.renderers
        for slot, line in enumerate(lines):
            charts.by_slot.setdefault(slot, []).append(line)
        charts.marks.draw(plot, key)
        charts.weights[key], charts.weight_anchors[key] = plot, unpainted(plot, _FIRST)
        # a run that has ended sends nothing more, after which the browser would look for a smaller range
        charts.weight_anchors[key].visible = max(charts.sources[run_table(key)].data["iteration"], default=0) == 0
        # the largest weight there ever was: no jump leaves it, nothing shrinks it
        plot.y_range.renderers = [top, charts.weight_anchors[key]]
        charts.zooms.keep({plot.name: plot.y_range, f"{plot.name}-x": plot.x_range})
    _link(list(charts.weights.values()), options.theme)


def _draw(charts: Charts, plot: figure, chart: Chart) -> None:
    """Draw the marks of a chart as bare glyphs: ``plot.line`` builds three more for selections, which are not used."""
    for mark in chart.marks:
        renderers, name = charts.by_table.setdefault(mark.table, []), getattr(mark, "label", "") or None
        for glyph in _glyphs(mark, charts.options.theme.scale):
            renderers.append(plot.add_glyph(charts.sources[mark.table], glyph, name=name))


def _glyphs(mark: Any, scale: float) -> list[models.Glyph]:
    """Return the glyphs of a line with its markers, or of a rule, scaled by a factor."""
    drawn = [glyph_of(replace(mark, width=scale * mark.width))]
    if isinstance(mark, LineMark) and mark.marker:
        size: Any = {"field": "mark"}
        if scale != 1.0:
            larger = "return Array.from(xs, (x) => scale * x)"
            size["transform"] = models.CustomJSTransform(args={"scale": scale}, v_func=larger)
        points = PointMark(mark.table, mark.x, mark.y, mark.colour, mark.colour, mark.marker, size)
        drawn.append(glyph_of(points))
    return drawn


def _figure(chart: Chart, options: ChartOptions, x_range: models.DataRange1d, height: int, left: int = 54) -> figure:
    theme = options.theme
    plot = chart_plot(chart, theme, height, x_range=x_range)
    plot.update(min_border_left=round(left * theme.scale), min_border_right=None, min_border_top=10)
    plot.add_layout(models.Span(location=0, location_units="screen", dimension="width", line_color=theme.axis))
    plot.axis.axis_label_standoff, plot.axis.major_tick_out = 6, 2
    style_ticks(plot.yaxis, chart.y, Y_TICKS)
    _style_x(plot, options)
    return plot


def _rescale(plot: figure, side: str, axis: Axis) -> None:
    """Give a side of a figure the scale of an axis, where it has another."""
    scale, ticker = (models.LogScale, models.LogTicker) if axis.log else (models.LinearScale, models.BasicTicker)
    if not isinstance(getattr(plot, f"{side}_scale"), scale):
        setattr(plot, f"{side}_scale", scale())
        getattr(plot, f"{side}axis").ticker = ticker()


def _style_x(plot: figure, options: ChartOptions) -> None:
    axis = x_axis(options)
    label = axis.label if plot.height == LARGE else axis.label.partition(" (")[0]  # what its steps are called is long
    # where type is large, only the objective beside the weights has room for it
    plot.xaxis.axis_label = "" if options.theme.projected and plot.name != "objective" else label
    style_ticks(plot.xaxis, axis, NARROW_TICKS if axis.log or plot.height != LARGE else X_TICKS)


def _link(plots: Sequence[figure], theme: Theme) -> None:
    """Give the figures one crosshair and a readout, and let a double click on one reset all of the race."""
    hair = models.Span(dimension="height", line_color=theme.muted, line_width=1, line_dash=[3, 3])
    reset = models.CustomJS(code=_RESET)
    for plot in plots:
        plot.add_tools(models.CrosshairTool(dimensions="height", overlay=hair))
        plot.js_on_event("doubletap", reset)
    add_readout(plots, theme)
