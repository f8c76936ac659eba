"""The drawer that draws nothing: it records the data that others would draw, of a race too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mklviz.views.chart.description import Chart, Mark, Tables
from mklviz.views.chart.race_charts import race_charts
from mklviz.views.race.race_view import RaceView

__all__ = ["DrawnChart", "DrawnMark", "draw_none", "drawn_chart"]


@dataclass(frozen=True)
class DrawnMark:
    """A mark with the columns it is drawn from, by the field that names them."""

    mark: Mark
    columns: dict[str, list[Any]]


@dataclass(frozen=True)
class DrawnChart:
    """A chart as it was drawn."""

    chart: Chart
    marks: Sequence[DrawnMark]

    def of(self, kind: type[Mark], label: str | None = None) -> list[DrawnMark]:
        """Return the marks of a kind, those with a label where one is given."""
        matches = [drawn for drawn in self.marks if isinstance(drawn.mark, kind)]
        return [drawn for drawn in matches if label is None or getattr(drawn.mark, "label", None) == label]

    def points(self, drawn: DrawnMark) -> list[tuple[float, float]]:
        """Return the points of a mark that have a place on both axes."""
        pairs = zip(drawn.columns["x"], drawn.columns["y"], strict=True)
        return [(x, y) for x, y in pairs if self.chart.x.shows(x) and self.chart.y.shows(y)]


def draw_none(chart: Chart, tables: Tables) -> DrawnChart:
    """Record what is drawn of `tables`; a mark's table or column that is missing raises `KeyError`."""
    marks = []
    for mark in chart.marks:
        table = tables[mark.table]
        marks.append(DrawnMark(mark, {name: list(table[column]) for name, column in mark.columns.items()}))
    return DrawnChart(chart, marks)


def drawn_chart(view: RaceView, name: str) -> DrawnChart:
    """Return one of the charts that show all runs as it is drawn now."""
    assert view.charts is not None
    tables = {table: source.data for table, source in view.charts.sources.items()}
    return draw_none(race_charts(view.charts.styles, view.charts.options)[name], tables)
