"""A path as Bokeh figures: see `path_charts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bokeh.layouts import column
from bokeh.models import Legend, LegendItem

from mklviz.views.chart.axes import style_legend
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.path_charts import path_charts
from mklviz.views.look.palette import Theme

if TYPE_CHECKING:
    from mklviz.engine import Path

__all__ = ["NAMED", "PathPicture"]

NAMED = 10  # kernels with a colour and a name; the others are grey
HEIGHTS = (340, 190, 190)  # pixels
LEFT = 64  # pixels beside the axes


class PathPicture:
    """The figures of a path, one below another: weights, kernels in use and cost."""

    def __init__(self, path: Path, cold: Path | None, theme: Theme, coloured: Sequence[int] = ()) -> None:
        charts, tables = path_charts(path, cold, theme, NAMED, coloured)
        x_range: Any = None
        self.figures: list[ChartFigure] = []
        for chart, height in zip(charts, HEIGHTS, strict=True):
            drawn = ChartFigure(chart, theme, height, x_range=x_range)
            drawn.show({mark.table: tables[mark.table] for mark in chart.marks})
            drawn.plot.update(background_fill_alpha=1.0, border_fill_alpha=1.0, min_border_left=LEFT)
            drawn.plot.axis.axis_line_color, x_range = theme.axis, drawn.plot.x_range
            self.figures.append(drawn)
        self.weights, self.active, self.cost = (drawn.plot for drawn in self.figures)
        self.weights.add_layout(_legend(self.figures[0], theme, click_policy="hide"), "right")
        self.cost.add_layout(_legend(self.figures[2], theme, location="top_left"))
        self.layout: Any = column(self.weights, self.active, self.cost, sizing_mode="stretch_width")


def _legend(drawn: ChartFigure, theme: Theme, **options: Any) -> Legend:
    labels = {mark.table: getattr(mark, "label", "") for mark in drawn.chart.marks}
    items = [LegendItem(label=label, renderers=drawn.renderers[table]) for table, label in labels.items() if label]
    legend = Legend(items=items, **options)
    style_legend(legend, theme)
    return legend
