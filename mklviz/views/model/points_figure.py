"""Points that can be added, dragged and removed, over the function learned from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Legend, LegendItem, LinearColorMapper, PointDrawTool
from bokeh.transform import factor_cmap, factor_mark

from mklviz.analysis.drawn_points import Field, Points
from mklviz.typing import Array
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, LineMark
from mklviz.views.host.beside import beside
from mklviz.views.host.dragging import DraggedFigure
from mklviz.views.look.palette import CLASS_MARKERS, FONT, Theme, class_colours, decision_shades

__all__ = ["CLASSES", "PointsFigure"]

HEIGHT = 440  # pixels
CLASSES = len(CLASS_MARKERS)  # that can be told apart


class PointsFigure:
    """The figure.

    `classes`: in the order of their colours; `corners` two (2,): what is shown of the plane; `on_change`: called when a
    person has changed the points, or the page has been told others, `on_drag` with what `Points.moved` takes while one
    is dragged; `source`: the points, with columns x, y and label.
    """

    def __init__(
        self,
        points: Points,
        classes: Sequence[str],
        names: Sequence[str],
        corners: tuple[Array, Array],
        theme: Theme,
        on_change: Callable[[], None],
        on_drag: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._corners = corners
        self._drawn = ChartFigure(_chart(names, corners, theme), theme, HEIGHT, tools="")
        self.plot = self._drawn.plot
        self.plot.grid.visible = False
        self.source = ColumnDataSource(_columns(points), name="drawn-points")
        self._taps = ColumnDataSource({"place": [], "at": []}, name="drawn-taps")  # the points that the last tap hit
        self._field = ColumnDataSource({"image": []}, name="drawn-field")
        self.dragged = DraggedFigure("drawn", on_drag)
        self._draw_field(classes, theme)
        self.tool = self._draw_points(classes, theme)
        self._adds, self._count = classes[0], len(points)
        self._on_change = on_change
        self.source.on_change("data", lambda _attr, _old, _new: self._changed())
        self._taps.on_change("data", lambda _attr, _old, _new: self._tapped())

    def _changed(self) -> None:
        """Take the points that the page sent; a tap from before the last change of mode counts in the new mode."""
        labels, before = self.source.data.get("label", []), self._count
        self._count = len(labels)
        if self._count != before + 1 or labels[-1] == self._adds:
            self._on_change()
            return
        last = [self._adds] if self._adds else []
        columns = {name: list(values)[: before + len(last)] for name, values in self.source.data.items()}
        self.source.data = columns | {"label": [*labels[:before], *last]}

    def _tapped(self) -> None:
        """Remove points that were tapped before the page learned that taps now remove them."""
        if self._adds:
            return
        hit = list(self._taps.data.get("place", []))
        columns = self.source.data.items()
        self.source.data = {name: [v for index, v in enumerate(values) if index not in hit] for name, values in columns}

    def set_points(self, points: Points) -> None:
        """Show other points, or again those that count."""
        self._count = len(points)
        self.source.data = _columns(points)

    def set_field(self, field: Field | None) -> None:
        """Show the learned function, or nothing."""
        self._field.data = {"image": [] if field is None else [field.values.astype(np.float32)]}
        for name in ("boundary", "margins"):
            lines = [] if field is None else getattr(field, name)
            self._drawn.show({name: {"xs": [x for x, _ in lines], "ys": [y for _, y in lines]}})

    def set_class(self, name: str) -> None:
        """Let taps add points of a class, or remove points for ""."""
        self._adds = name
        self.tool.update(add=bool(name), default_overrides={"label": name} if name else {})

    def _draw_field(self, classes: Sequence[str], theme: Theme) -> None:
        low, high = self._corners
        palette, least, most = decision_shades(theme, len(classes) if len(classes) > 2 else 0)
        mapper = LinearColorMapper(palette=palette, low=least, high=most)
        size = {"dw": float(high[0] - low[0]), "dh": float(high[1] - low[1])}
        area = {"x": float(low[0]), "y": float(low[1]), **size}
        self.plot.image("image", source=self._field, color_mapper=mapper, level="underlay", **area)

    def _draw_points(self, classes: Sequence[str], theme: Theme) -> PointDrawTool:
        factors, colours = list(classes), _colours(classes, theme)
        fill = factor_cmap("label", palette=colours, factors=factors)
        marker = factor_mark("label", list(CLASS_MARKERS[: len(classes)]), factors)
        style: dict[str, Any] = {"size": 10, "line_color": theme.card, "fill_color": fill, "marker": marker}
        alike = {"nonselection_fill_alpha": 1.0, "nonselection_line_alpha": 1.0}
        drawn = self.plot.scatter("x", "y", source=self.source, **style, **alike)
        legend = Legend(items=[LegendItem(label={"field": "label"}, renderers=[drawn])], location="top_left")
        legend.update(orientation="horizontal", border_line_color=None, background_fill_alpha=0.0, margin=0)
        legend.update(label_text_font=FONT, label_text_font_size=f"{12 * theme.scale:g}px", label_text_color=theme.text)
        self.plot.add_layout(legend, "above")
        tool = PointDrawTool(renderers=[drawn], add=True)
        self.plot.add_tools(tool)
        self.plot.toolbar.active_tap = tool
        models = {"source": self.source, "taps": self._taps, "tool": tool}
        script = self.dragged.script(beside(__file__, "points.js"), **models)
        for event in ("tap", "pan"):
            self.plot.js_on_event(event, script)
        return tool


def _chart(names: Sequence[str], corners: tuple[Array, Array], theme: Theme) -> Chart:
    """Describe the plane, with the line where f is zero and its margins."""
    spans = [(float(low), float(high)) for low, high in zip(*corners, strict=True)]
    x, y = (Axis(name, start=low, end=high) for name, (low, high) in zip(names, spans, strict=True))
    boundary = LineMark("boundary", "xs", "ys", theme.text, many=True)
    margins = LineMark("margins", "xs", "ys", theme.text, dash="dashed", width=1.0, many=True)
    return Chart("drawn", x=x, y=y, marks=(boundary, margins))


def _colours(classes: Sequence[str], theme: Theme) -> list[str]:
    return list(class_colours(theme)[: len(classes)])


def _columns(points: Points) -> dict[str, list[Any]]:
    return {"x": list(points.x), "y": list(points.y), "label": list(points.labels)}
