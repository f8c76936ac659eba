"""A map of kernel weights: contours of the objective, a numbered path for each solver, a star where it is least.

Low is as light as the card it is drawn on (as dark, on a dark one), so that paths are seen best near the optimum; each
has a seam in the colour of the card that keeps it apart from high ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, CustomJSTickFormatter, DataRange1d, HoverTool, Range1d, Scatter
from bokeh.plotting import figure
from bokeh.plotting.contour import contour_data

from mklviz.typing import Array
from mklviz.views.chart.axes import SHORT, bare, style_axes
from mklviz.views.host.long_press import ignore_long_press
from mklviz.views.look.palette import FONT, RunStyle, Theme

__all__ = ["MapFigure", "MapPath", "MapPoint"]

BANDS = 14  # of the objective
HEIGHT = 560  # pixels
GROUND = {False: ("#f4f8fd", "#86a6cc"), True: ("#171d27", "#47668f")}  # low and high, by whether the theme is dark
_TIP = """<div style="font: 12.5px/1.4 {font}; color: #1a2233; max-width: 340px"><b>@title</b><br>objective @objective
<br><span style="color: #5b6477">@weights</span></div>"""
Mesh = tuple[Array, Array, Array]


@dataclass(frozen=True)
class MapPoint:
    """One place of a map and what is said of it."""

    x: float
    y: float
    title: str
    objective: str
    weights: str


@dataclass(frozen=True)
class MapPath:
    """The way of one run: its points and which steps they are; `at` is the place of the step shown, or None."""

    points: Sequence[MapPoint]
    steps: Sequence[int]
    at: int | None


class MapFigure:
    """The figure, whose parts are replaced as the race grows.

    Parameters
    ----------
    styles : mapping of str to RunStyle
    theme : Theme
    corners : sequence of (x, y, name)
        Of a triangle, drawn to scale and without axes; empty for a plane.
    labels : (str, str)
        Of the axes of a plane.

    Attributes
    ----------
    plot : figure
    paths : dict of str to ColumnDataSource
    """

    def __init__(
        self,
        styles: Mapping[str, RunStyle],
        theme: Theme,
        corners: Sequence[tuple[float, float, str]] = (),
        labels: tuple[str, str] = ("", ""),
    ) -> None:
        self._theme, self._styles = theme, styles
        self.plot = _axes(theme, bool(corners), labels)
        self._contours = _contours(self.plot, theme)
        self._nodes = _source("x", "y", "title", "objective", "weights", name="map-nodes")
        self._level = ColumnDataSource({"xs": [], "ys": []}, name="map-level")
        self._edges = ColumnDataSource({"xs": [], "ys": []}, name="map-edges")
        self._accents = self._draw_model()
        self.paths = {key: _source("x", "y", "title", "objective", "weights", name=f"map-{key}") for key in styles}
        self._here = _source("x", "y", "colour", "marker", name="map-here")
        self._trials = _source("x", "y", "title", "objective", "weights", "colour", name="map-trials")
        self._numbers = _source("x", "y", "text", "colour", name="map-numbers")
        self._best = _source("x", "y", "title", "objective", "weights", name="map-best")
        self._draw_paths()
        if corners:
            self._draw_corners(corners)

    # -- what is on it

    def set_ground(self, mesh: Mesh | None, nodes: Sequence[MapPoint]) -> None:
        """Draw the contours, or none, and say at the nodes what is there."""
        self._contours.data = _NO_BANDS if mesh is None else _bands(mesh, self._theme)
        self._nodes.data = _columns(nodes)

    def set_window(self, low: Array, high: Array) -> None:
        """Show the part of a plane between two corners."""
        self.plot.x_range.update(start=float(low[0]), end=float(high[0]))
        self.plot.y_range.update(start=float(low[1]), end=float(high[1]))

    def set_paths(self, paths: Mapping[str, MapPath], best: MapPoint | None) -> None:
        """Draw each run's path, its numbers and where it stands, and the star."""
        for key, path in paths.items():
            self.paths[key].data = _columns(path.points)
        standing = [(path.points[path.at], self._styles[key]) for key, path in paths.items() if path.at is not None]
        self._here.data = {
            "x": [point.x for point, _ in standing],
            "y": [point.y for point, _ in standing],
            "colour": [style.colour for _, style in standing],
            "marker": [style.marker for _, style in standing],
        }
        self._numbers.data = self._numbered(paths)
        self._best.data = _columns([] if best is None else [best])

    def set_trials(self, trials: Mapping[str, Sequence[MapPoint]]) -> None:
        """Draw what the line searches of the step shown have tried, by run."""
        points = [point for tried in trials.values() for point in tried]
        colours = [self._styles[key].colour for key, tried in trials.items() for _ in tried]
        self._trials.data = {**_columns(points), "colour": colours}

    def set_model(self, level: Array, edges: Sequence[Array], colour: str) -> None:
        """Draw the level set, a polygon (p, 2), and the lines (2, 2) at which cuts end it, in a run's colour."""
        self._level.data = {"xs": [level[:, 0].tolist()], "ys": [level[:, 1].tolist()]} if len(level) else _NONE
        self._edges.data = {"xs": [e[:, 0].tolist() for e in edges], "ys": [e[:, 1].tolist() for e in edges]}
        for glyph in self._accents:
            glyph.line_color = colour
        self._accents[0].fill_color = colour

    # -- how it is drawn

    def _draw_model(self) -> list[Any]:
        patch = self.plot.patches(
            "xs", "ys", source=self._level, fill_alpha=0.13, line_width=2, line_color="black", fill_color="black"
        )
        edges = self.plot.multi_line("xs", "ys", source=self._edges, line_width=1, line_alpha=0.55)
        return [patch.glyph, edges.glyph]

    def _draw_paths(self) -> None:
        plot, theme = self.plot, self._theme
        hovered = [plot.scatter("x", "y", source=self._nodes, size=15, line_color=None, fill_alpha=0.0)]
        for key, style in self._styles.items():
            source = self.paths[key]
            plot.line("x", "y", source=source, line_color=theme.card, line_width=4, line_alpha=0.7)
            plot.line("x", "y", source=source, line_color=style.colour, line_width=1.8, line_dash=style.dash)
            look = {"fill_color": theme.card, "line_color": style.colour, "line_width": 1.5}
            hovered.append(plot.scatter("x", "y", source=source, size=6, marker=style.marker, **look))
        rings = {"size": 8, "fill_color": None, "line_color": "colour", "line_width": 1.2}
        hovered.append(plot.scatter("x", "y", source=self._trials, **rings))
        here = Scatter(x="x", y="y", size=15, marker="marker", fill_color="colour", line_color=theme.card, line_width=2)
        plot.add_glyph(self._here, here)
        font = {"text_font": {"value": FONT}, "text_font_size": "12px", "text_font_style": "bold"}
        plot.text("x", "y", "text", source=self._numbers, x_offset=6, y_offset=-4, text_color="colour", **font)
        star = {"size": 22, "fill_color": theme.text, "line_color": theme.card, "line_width": 1.5}
        hovered.append(plot.scatter("x", "y", source=self._best, marker="star", **star))
        tip = _TIP.format(font=FONT.replace('"', "'"))
        for renderers in ([hovered[0]], hovered[1:]):
            plot.add_tools(HoverTool(renderers=renderers, tooltips=tip, point_policy="snap_to_data", visible=False))

    def _draw_corners(self, corners: Sequence[tuple[float, float, str]]) -> None:
        x, y, names = zip(*corners, strict=True)
        around = ColumnDataSource({"x": [-0.22, 1.22], "y": [-0.1, 1.0]})
        frame = self.plot.scatter("x", "y", source=around, size=0, line_color=None, fill_color=None)
        self.plot.x_range.renderers = self.plot.y_range.renderers = [frame]
        self.plot.patch(list(x), list(y), fill_color=None, line_color=self._theme.axis)
        below = [18 if height == min(y) else -12 for height in y]
        source = ColumnDataSource({"x": x, "y": y, "text": names, "below": below})
        font = {"text_font": {"value": FONT}, "text_font_size": "13px", "text_color": self._theme.text}
        look = {"text_align": "center", "text_baseline": "middle", "y_offset": "below"}
        self.plot.text("x", "y", "text", source=source, **font, **look)

    def _numbered(self, paths: Mapping[str, MapPath]) -> dict[str, list[Any]]:
        """Return the numbers of steps that keep clear of each other, the first ones first."""
        steps = [
            (step, key, point)
            for key, path in paths.items()
            for step, point in zip(path.steps, path.points, strict=True)
            if np.isfinite(point.x)
        ]
        reach = _reach([point for _, _, point in steps])
        kept: list[tuple[int, str, MapPoint]] = []
        for entry in sorted(steps, key=lambda entry: entry[0]):
            point = entry[2]
            if all(max(abs(point.x - o.x) / reach[0], abs(point.y - o.y) / reach[1]) > 1.0 for _, _, o in kept):
                kept.append(entry)
        return {
            "x": [point.x for _, _, point in kept],
            "y": [point.y for _, _, point in kept],
            "text": [str(step) for step, _, _ in kept],
            "colour": [self._styles[key].colour if step else self._theme.text for step, key, _ in kept],
        }


_NONE: dict[str, list[Any]] = {"xs": [], "ys": []}
_NO_BANDS: dict[str, list[Any]] = {"xs": [], "ys": [], "lower_levels": [], "upper_levels": [], "fill_color": []}


def _axes(theme: Theme, triangle: bool, labels: tuple[str, str]) -> figure:
    ranges = [DataRange1d(syncable=False) if triangle else Range1d(0, 1, syncable=False) for _ in range(2)]
    plot = figure(
        name="map",
        height=HEIGHT,
        sizing_mode="stretch_width",
        x_range=ranges[0],
        y_range=ranges[1],
        match_aspect=triangle,
        min_border_left=54,
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_drag="box_zoom",
        active_scroll=None,
        output_backend="canvas",
        syncable=False,
    )
    style_axes(plot, theme)
    bare(plot)
    plot.grid.visible = False
    plot.axis.visible = not triangle
    plot.xaxis.axis_label, plot.yaxis.axis_label = labels
    for axis in plot.axis:
        axis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
        axis.formatter = CustomJSTickFormatter(code=SHORT)
    plot.toolbar_location, plot.toolbar_inner = "above", True
    plot.min_border_right = plot.min_border_top = 14
    ignore_long_press(plot)
    return plot


def _contours(plot: figure, theme: Theme) -> ColumnDataSource:
    source = ColumnDataSource(dict(_NO_BANDS), name="map-ground")
    look = {"fill_color": "fill_color", "line_color": theme.card, "line_width": 0.6, "line_alpha": 0.5}
    plot.multi_polygons("xs", "ys", source=source, **look)
    return source


def _bands(mesh: Mesh, theme: Theme) -> dict[str, list[Any]]:
    """Return the polygons between levels that lie closer together near the lowest point, as squares do."""
    x, y, z = mesh
    low, high = float(z.min()), float(z.max())
    room = max(high - low, 1e-9 * max(abs(high), 1.0))
    levels = low + room * np.linspace(0.0, 1.0, BANDS + 1) ** 2
    levels[0], levels[-1] = low - 1e-6 * room, high + 1e-6 * room
    found = contour_data(x, y, z, levels, want_line=False).fill_data.asdict()
    return {**found, "fill_color": _shades(*GROUND[theme.dark], len(found["xs"]))}


def _shades(low: str, high: str, count: int) -> list[str]:
    ends = [np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (low, high)]
    mixed = [ends[0] + (ends[1] - ends[0]) * k / max(count - 1, 1) for k in range(count)]
    return ["#" + "".join(f"{round(channel):02x}" for channel in colour) for colour in mixed]


def _reach(points: Sequence[MapPoint]) -> tuple[float, float]:
    """Return how far apart two numbers must be."""
    if not points:
        return 1.0, 1.0
    x, y = [point.x for point in points], [point.y for point in points]
    return 0.034 * (max(x) - min(x)) or 1.0, 0.055 * (max(y) - min(y)) or 1.0


def _source(*columns: str, name: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _columns(points: Sequence[MapPoint]) -> dict[str, list[Any]]:
    return {
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "title": [point.title for point in points],
        "objective": [point.objective for point in points],
        "weights": [point.weights for point in points],
    }
