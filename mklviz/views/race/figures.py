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
    BasicTicker,
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    CustomJSTickFormatter,
    CustomJSTransform,
    DataRange1d,
    GlyphRenderer,
    Line,
    LogTicker,
    Scatter,
    Span,
    VSpan,
)
from bokeh.plotting import figure

from mklviz.views.chart.axes import PERCENT, SHORT, X_AXES, bare, style_axes
from mklviz.views.chart.columns import ANCHORED, WEIGHT_COLUMNS
from mklviz.views.chart.readout import add_readout
from mklviz.views.host.beside import beside
from mklviz.views.host.long_press import ignore_long_press
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.race.feed import RunFeed
from mklviz.views.race.marks import Marks
from mklviz.views.race.zooms import Zooms

__all__ = ["X_AXES", "Charts", "Extent", "Look", "add_weights", "build_charts"]

BIG, SMALL = 190, 160  # heights in pixels: with them the weights are above the fold of 1280 x 720
FEWEST = 130  # pixels of a figure that grows with the screen of a room
FAINT = 0.45  # opacity of the gap of each iterate, behind the gap of the run
_NUMBER = 'return tick.toLocaleString("en-US", {maximumSignificantDigits: 6})'
# found at run time by their common range: figures that name each other are walked through at every change of one
_RESET = beside(__file__, "reset.js")


@dataclass(frozen=True)
class Look:
    """What decides how the figures are built."""

    theme: Theme
    x: str = "iteration"
    log_x: bool = False
    log_y: bool = True
    above: bool = False  # whether objectives are drawn above the best bound
    gap_tolerance: float | None = 1e-2
    signed: bool = False  # whether the objective may fall below zero, where a log axis ends
    by_epoch: tuple[str, ...] = ()  # labels of the runs whose iterations are epochs

    @property
    def objective(self) -> str:
        """The column of objectives that is drawn."""
        return "above" if self.above else "objective"

    def x_label(self, x: str) -> str:
        """Return what stands below the column `x`."""
        return X_AXES[x] + (f" (epoch for {' and '.join(self.by_epoch)})" if x == "iteration" and self.by_epoch else "")


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
    look: Look
    zooms: Zooms
    marks: Marks
    weights: dict[str, figure] = field(default_factory=dict)
    by_run: dict[str, list[GlyphRenderer]] = field(default_factory=dict)
    by_slot: dict[int, list[GlyphRenderer]] = field(default_factory=dict)
    of_objective: list[GlyphRenderer] = field(default_factory=list)
    pinned: list[GlyphRenderer] = field(default_factory=list)
    stop_line: GlyphRenderer | None = None
    anchors: dict[str, GlyphRenderer] = field(default_factory=dict)
    end: float = math.inf  # of the horizontal axis, where it ends before the longest run does
    held: Mapping[str, Extent] = field(default_factory=dict)  # what ranges include, by column, whatever is drawn
    _ends: GlyphRenderer | None = None
    _resets: int = 0

    def begin(self, hidden: Collection[str]) -> None:
        """Expect a new set of traces."""
        self.hold({})
        for renderer in self.anchors.values():
            renderer.visible = True
        self.set_hidden(hidden)
        self.reset_zoom()

    @property
    def figures(self) -> list[figure]:
        return [*self.of_all, *self.weights.values()]

    @property
    def of_all(self) -> list[figure]:
        """Those that show all runs."""
        return [self.objective, self.gap, self.step, self.active, self.tolerance]

    def set_x(self, x: str) -> None:
        """Draw all lines over another column."""
        self.look = replace(self.look, x=x)
        for renderer in (r for renderers in (*self.by_run.values(), self.pinned) for r in renderers):
            renderer.glyph.x = x
        self.marks.set_x(x)
        for plot in self.figures:
            plot.xaxis.axis_label = self.look.x_label(x)
            _whole_ticks(plot, x)
        self.place_anchors()
        self.reset_zoom()

    @property
    def may_turn(self) -> bool:
        """Whether objectives may be drawn above the best bound by themselves: they fit, and nobody has zoomed."""
        return self.look.log_y and not self.look.signed and not self.zooms

    def set_above(self, above: bool) -> None:
        """Draw objectives above the best bound, as shares, or as they are."""
        if above != self.look.above:
            self.look = replace(self.look, above=above)
            for renderer in self.of_objective:
                renderer.glyph.y = self.look.objective
            self.objective.yaxis.formatter = CustomJSTickFormatter(code=PERCENT if above else _NUMBER)
            self.place_anchors()
            self.reset_zoom()

    def pin(self, source: ColumnDataSource, name: str, colour: str, dash: str) -> None:
        """Draw a run of an earlier race behind all others."""
        for column, plot in ((self.look.objective, self.objective), ("gap", self.gap)):
            width = 1.6 * self.look.theme.scale
            line = Line(x=self.look.x, y=column, line_color=colour, line_dash=dash, line_width=width)
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

    def hold(self, extents: Mapping[str, Extent]) -> None:
        """Let the ranges include the `extents`, by column, whatever is drawn; with none, they follow the data again."""
        if extents or self.held:
            self.held = extents
            self.place_anchors()

    def place_anchors(self) -> None:
        """Put the points that ranges include to where they are held, as far as the axes reach."""
        first, last = self.held.get(self.look.x, _BEGINNING)
        for column, anchor in self.anchors.items():
            y = self.held.get(self.look.objective if column == "objective" else column, _BEGINNING)
            anchor.data_source.data = {"x": [first, min(last, self.end)], "y": list(y)}

    def set_end(self, end: float) -> None:
        """Let the horizontal axis end there, or where the cursor stands beyond; at inf, with the longest run."""
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
        if self.stop_line is not None:
            self.stop_line.data_source.data = {"y": [gap or math.nan]}

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
    styles: Mapping[str, RunStyle], sources: Mapping[str, ColumnDataSource], look: Look, zooms: Zooms
) -> Charts:
    """Build the figures that show all runs, from their sources; where the user has zoomed, they stay zoomed."""
    x_range = _range(padding=0.015)
    log_y = "log" if look.log_y else "linear"
    charts = Charts(
        objective=_figure(
            "objective", look, x_range, "linear" if look.signed else log_y, BIG, PERCENT if look.above else _NUMBER
        ),
        gap=_figure("gap", look, x_range, log_y, BIG, PERCENT),
        step=_figure("step", look, x_range, log_y, BIG, SHORT),
        active=_figure("active", look, x_range, "linear", SMALL, _NUMBER, y_range=_range(start=0.0)),
        tolerance=_figure("tolerance", look, x_range, "log", SMALL, SHORT),
        look=look,
        zooms=zooms,
        marks=Marks(styles, look.x),
    )
    for key, style in styles.items():
        charts.by_run[key] = _draw_run(charts, style, sources[key], look)
    for plot in charts.of_all:
        charts.marks.draw(plot)
    charts.stop_line = _draw_stop_line(charts.gap, look)
    for plot, column in zip(charts.figures, ANCHORED, strict=False):
        charts.anchors[column] = _anchor(plot)
    zooms.keep({"x": x_range, **{plot.name: plot.y_range for plot in charts.figures}})
    charts.objective.js_on_change("tags", CustomJS(code=_RESET))
    _link(charts.figures, look.theme)
    return charts


def add_weights(charts: Charts, sources: Mapping[str, ColumnDataSource]) -> None:
    """Build one figure of kernel weights for each run, beside figures that the browser may have drawn already."""
    look, weight_range = charts.look, _range(start=0.0)
    for key, source in sources.items():
        shape = {"height": FEWEST if look.theme.projected else SMALL, "y_range": weight_range, "left": 40}
        plot = _figure(f"weights-{key}", look, charts.objective.x_range, "linear", formatter=SHORT, **shape)
        _draw_weights(charts, key, plot, source)
        charts.marks.draw(plot, key)
        charts.weights[key] = plot
    charts.anchors["top"] = _anchor(next(iter(charts.weights.values())))
    weight_range.renderers.append(charts.anchors["top"])
    charts.place_anchors()
    charts.zooms.keep({"weights": weight_range})
    _link(list(charts.weights.values()), look.theme)


def _draw_run(charts: Charts, style: RunStyle, source: ColumnDataSource, look: Look) -> list[GlyphRenderer]:
    """Draw one run; as bare glyphs, for which ``plot.line`` would build three more, for selections nobody makes."""
    scale = look.theme.scale
    own = Line(x=look.x, y="own_gap", line_color=style.colour, line_alpha=FAINT, line_width=1.2 * scale)
    renderers = [charts.gap.add_glyph(source, own, name=style.label)]  # first, behind the run's own line
    for column, plot in zip((look.objective, *ANCHORED[1:]), charts.of_all, strict=False):
        line = Line(x=look.x, y=column, line_color=style.colour, line_dash=style.dash, line_width=2 * scale)
        marks = Scatter(x=look.x, y=column, size=_times("mark", scale), marker=style.marker)
        marks.line_color = marks.fill_color = style.colour
        renderers += [plot.add_glyph(source, glyph, name=style.label) for glyph in (line, marks)]
    charts.of_objective += renderers[1:3]
    return renderers


def _times(column: str, scale: float) -> dict[str, Any]:
    """Return a column that is drawn so many times as large."""
    larger = CustomJSTransform(args={"scale": scale}, v_func="return Array.from(xs, (x) => scale * x)")
    return {"field": column, **({"transform": larger} if scale != 1.0 else {})}


def _draw_weights(charts: Charts, key: str, plot: figure, source: ColumnDataSource) -> None:
    look = charts.look
    for slot, column in enumerate(WEIGHT_COLUMNS):
        colour, width = look.theme.kernels[slot], 1.6 * look.theme.scale
        line = plot.add_glyph(source, Line(x=look.x, y=column, line_color=colour, line_width=width))
        charts.by_slot.setdefault(slot, []).append(line)
        charts.by_run[key].append(line)
    # an unpainted line at the largest weight there ever was carries the range, which no jump leaves and nothing shrinks
    top = plot.add_glyph(source, Line(x=look.x, y="top", line_color=None))
    plot.y_range.renderers.append(top)
    charts.by_run[key].append(top)


def _anchor(plot: figure) -> GlyphRenderer:
    """Give the range of a figure without data something to begin with."""
    point = ColumnDataSource({"x": list(_BEGINNING), "y": list(_BEGINNING)})
    return plot.add_glyph(point, Scatter(x="x", y="y", size=0, line_color=None, fill_color=None))


def _figure(
    name: str,
    look: Look,
    x_range: DataRange1d,
    y_kind: str,
    height: int,
    formatter: str,
    y_range: DataRange1d | None = None,
    left: int = 54,
) -> figure:
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type="log" if look.log_x else "linear",
        y_axis_type=y_kind,
        x_range=x_range,
        y_range=y_range or _range(),
        x_axis_label=look.x_label(look.x),
        min_border_left=round(left * look.theme.scale),
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_drag="box_zoom",
        active_scroll=None,
        output_backend="canvas",
        syncable=False,
    )
    plot.yaxis.formatter = CustomJSTickFormatter(code=formatter)
    plot.xaxis.formatter = CustomJSTickFormatter(code=SHORT)
    if y_kind == "log":
        plot.yaxis.ticker = LogTicker(desired_num_ticks=4, num_minor_ticks=0)
    else:
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=4, num_minor_ticks=0)
    if name == "active":
        plot.yaxis.ticker.min_interval = 1
    few = LogTicker(desired_num_ticks=3, num_minor_ticks=0)
    plot.xaxis.ticker = few if look.log_x else BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
    _whole_ticks(plot, look.x)
    _style(plot, look.theme)
    return plot


def _whole_ticks(plot: figure, x: str) -> None:
    """Steps and solves are counted: no ticks between whole numbers."""
    ticker = plot.xaxis.ticker
    if isinstance(ticker, BasicTicker):
        ticker.min_interval = 0 if x == "seconds" else 1


def _range(start: float | None = None, padding: float = 0.08) -> DataRange1d:
    fixed = {} if start is None else {"start": start}
    return DataRange1d(syncable=False, only_visible=True, range_padding=padding, **fixed)


def _style(plot: figure, theme: Theme) -> None:
    style_axes(plot, theme)
    bare(plot)
    plot.add_layout(Span(location=0, location_units="screen", dimension="width", line_color=theme.axis))
    plot.min_border_right, plot.min_border_top = 14, 10
    plot.toolbar_location, plot.toolbar_inner = "above", True
    plot.toolbar.stylesheets = [":host(.bk-inner) { background: var(--mk-card); opacity: 0.9; }"]
    plot.axis.axis_label_standoff = 6
    plot.axis.major_tick_out = 2


def _draw_stop_line(plot: figure, look: Look) -> GlyphRenderer:
    """Draw the gap at which runs stop as a dashed line that the range includes."""
    source = ColumnDataSource({"y": [look.gap_tolerance or math.nan]})
    width = 1.5 * look.theme.scale
    return plot.hspan("y", source=source, line_color=look.theme.muted, line_dash="dashed", line_width=width)


def _link(plots: Sequence[figure], theme: Theme) -> None:
    """Give the figures one crosshair and a readout, and let a double click on one reset all of the race."""
    hair = Span(dimension="height", line_color=theme.muted, line_width=1, line_dash=[3, 3])
    reset = CustomJS(code=_RESET)
    for plot in plots:
        plot.add_tools(CrosshairTool(dimensions="height", overlay=hair))
        plot.js_on_event("doubletap", reset)
        ignore_long_press(plot)
    add_readout(plots, theme)
