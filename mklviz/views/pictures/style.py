"""How every HoloViews picture looks, and which runs it is asked for: quiet axes, sizes that stand side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # registers the backend without a word to a notebook
from bokeh.document import Document
from bokeh.models import BasicTicker, ColorBar, CustomJSTickFormatter, FactorRange, HoverTool, Legend, Title

from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.chart.axes import SHORT, bare, keep_size, style_axes, style_legend
from mklviz.views.chart.bokeh_figure import tip_html
from mklviz.views.geometry.landscape import no_heights
from mklviz.views.look.palette import DARK, FONT, LIGHT, Theme

__all__ = ["HEIGHT", "WIDTH", "check_ground", "dressed", "in_card", "legend_above", "rendered", "theme_of", "traces_of"]

WIDTH, HEIGHT = 460, 340  # pixels
LEGEND = 24  # pixels for each line of a legend above a picture

if set(hv.Store.renderers) == {"bokeh"}:  # another extension that is already loaded stays in use
    hv.Store.set_current_backend("bokeh")


def rendered(picture: Any) -> Any:
    """Return a picture as a Bokeh figure or grid of figures; nothing keeps a reference to it."""
    # in another mode HoloViews takes the document that some session holds just then, and changes its theme
    plot = hv.renderer("bokeh").instance(mode="server").get_plot(picture, doc=Document())
    figure = plot.state
    plot.cleanup()  # else the document of the process would keep every picture ever drawn
    return figure


def in_card(picture: Any) -> Any:
    """Return a picture as a Bokeh figure that takes the width there is, and lets its card shine through."""
    plot = rendered(picture)
    plot.sizing_mode, plot.width, plot.min_width = "stretch_width", None, 200
    plot.title.visible = False  # it stands above the figure, where it has room
    bare(plot)
    return plot


def legend_above(entries: int, columns: int, height: int = HEIGHT) -> dict[str, Any]:
    """Return the options of a picture with a legend above it, which needs its own room."""
    lines = -(-entries // columns)
    return {"legend_position": "top", "legend_cols": columns, "height": height + LEGEND * lines}


def theme_of(dark: bool) -> Theme:
    """Return the colours for dark or light pages."""
    return DARK if dark else LIGHT


def dressed(
    picture: Any, theme: Theme, formats: Mapping[str, str] | None = None, grid: bool = True, **options: Any
) -> Any:
    """Return a picture in the colours of `theme`; `formats` are scripts for the ticks of "x" and "y"."""
    options = {"width": WIDTH, "height": HEIGHT, "active_tools": ["box_zoom"], "toolbar": "right", **options}
    hook = partial(_dress, theme, dict(formats or {}), grid)
    return picture.opts(hooks=[hook], backend="bokeh", **options)


def _dress(theme: Theme, formats: Mapping[str, str], grid: bool, drawn: Any, _: Any) -> None:
    """Dress the Bokeh figure that HoloViews has drawn."""
    plot = drawn.state
    style_axes(plot, theme)
    plot.grid.visible = grid
    plot.toolbar.active_scroll = None  # the wheel is for the page
    plot.min_border_right = plot.min_border_top = 14
    if isinstance(plot.y_range, FactorRange) and grid:  # horizontal bars: the other axis has the values
        plot.xgrid.grid_line_color, plot.ygrid.grid_line_color = theme.grid, None
    for name, script in formats.items():
        axis = getattr(plot, f"{name}axis")
        axis.formatter = CustomJSTickFormatter(code=script)
    for axis in plot.axis:
        if isinstance(axis.ticker, BasicTicker):
            axis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
            if not any(axis in getattr(plot, f"{name}axis") for name in formats):
                axis.formatter = CustomJSTickFormatter(code=SHORT)
    if isinstance(plot.title, Title):
        plot.title.text_font, plot.title.text_font_size, plot.title.text_color = FONT, "13px", theme.text
    for tool in plot.select({"type": HoverTool}):
        tool.update(tooltips=tip_html(tool.tooltips, theme), show_arrow=False, limit=1)
    for legend in plot.select({"type": Legend}):
        style_legend(legend, theme)
        if legend in plot.above:  # HoloViews gives it a place that Bokeh makes no room for
            legend.location, legend.orientation, legend.margin = "top_left", "horizontal", 0
            legend.spacing = 14 if legend.ncols == "auto" else 2
    for bar in plot.select({"type": ColorBar}):
        bar.background_fill_color, bar.border_line_color, bar.bar_line_color = theme.card, None, None
        bar.title, bar.major_label_text_color, bar.major_label_text_font = None, theme.muted, FONT
        bar.major_label_text_font_size = size = f"{12 * theme.scale:g}px"
        keep_size(bar, size, theme)
        bar.major_tick_line_color, bar.width, bar.padding = None, 10, 6
        bar.formatter = CustomJSTickFormatter(code=SHORT)


# -- the arguments of a picture: runs, one by one, in lists or in mappings


def traces_of(*arguments: Any) -> dict[str, Trace]:
    """Return the runs by their keys in a mapping, or else by their solvers, with a number where two runs share one.

    Raises `ProblemError` for anything else, or a run without steps.
    """
    runs: dict[str, Trace] = {}
    for one in arguments:
        if isinstance(one, Trace):
            runs[_free(one.solver, one.label, runs)] = one
        elif isinstance(one, Mapping):
            for key, trace in one.items():
                for inner in traces_of(trace).values():
                    runs[_free(str(key), str(key), runs)] = inner
        elif isinstance(one, Iterable) and not isinstance(one, (str, bytes)):
            for inner in one:
                for key, trace in traces_of(inner).items():
                    runs[_free(key, trace.label, runs)] = trace
        else:
            raise ProblemError(f"Give traces, as mv.solve returns them or race.traces holds them, not {one!r:.60}.")
    if not runs or not all(len(trace) for trace in runs.values()):
        raise ProblemError("Give at least one trace, and only such as have taken a step.")
    return runs


def _free(key: str, label: str, taken: Mapping[str, Trace]) -> str:
    """Return the key, or where it is taken the label with the next number."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{label} {number}"
    return free


def check_ground(problem: Problem, traces: Iterable[Trace], kernels: int) -> None:
    """Raise `ProblemError` unless the objective can be drawn over so many kernels, with these runs upon it."""
    if problem.m != kernels or not problem.regularizer.on_simplex:
        raise ProblemError(
            f"The objective is drawn over {kernels} kernels whose weights sum to one; this problem has {problem.m:,}"
            f" and {problem.regularizer}. Pose it with {kernels} kernels and mv.Simplex()."
        )
    if reason := no_heights(problem):
        raise ProblemError(reason)
    for trace in traces:
        if list(trace.kernel_names) != list(problem.bank.names):
            raise ProblemError("This run is another problem's: give the problem that was solved.")
