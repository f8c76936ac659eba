"""A chart is described once: drawers show what the description says, and numbers as people write them."""

import math

import pytest
from _shown import source_of
from _undrawn import draw_none

from mklviz.numbers import share_text
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark, RuleMark
from mklviz.views.look.palette import LIGHT

TABLES = {
    "run": {"step": [0.0, 1.0, 2.0], "gap": [0.5, math.nan, 0.0], "size": [7.0, math.nan, 7.0]},
    "stop": {"gap": [0.01]},
}
CHART = Chart(
    "gap",
    "Duality gap",
    Axis("iteration", whole=True),
    Axis(scale="log", numbers="percent"),
    [
        LineMark("run", "step", "gap", "#123456", label="Level"),
        PointMark("run", "step", "gap", "#123456", size=Column("size"), label="Level"),
        RuleMark("stop", y="gap", dash="dashed"),
    ],
)


def test_what_is_drawn_are_the_columns_that_the_marks_name() -> None:
    drawn = draw_none(CHART, TABLES)
    [line], [points], [rule] = drawn.of(LineMark, "Level"), drawn.of(PointMark), drawn.of(RuleMark)
    assert line.columns["x"] == [0.0, 1.0, 2.0]
    assert points.columns["size"][0] == 7.0
    assert rule.columns == {"y": [0.01]}
    assert drawn.of(LineMark, "SILP") == []


def test_what_has_no_place_on_an_axis_is_not_seen() -> None:
    [line] = draw_none(CHART, TABLES).of(LineMark)
    assert draw_none(CHART, TABLES).points(line) == [(0.0, 0.5)]  # a hole, and a zero on a logarithmic axis
    assert Axis(limit=3.0).shows(3.0)
    assert not Axis(limit=3.0).shows(4.0)


@pytest.mark.parametrize("tables", [{}, {"run": {"step": [0.0]}, "stop": {"gap": []}}])
def test_a_column_that_is_missing_is_an_error(tables: dict[str, dict[str, list[float]]]) -> None:
    with pytest.raises(KeyError):
        draw_none(CHART, tables)


def test_a_table_that_has_not_changed_is_not_sent_again() -> None:
    figure, sent = ChartFigure(CHART, LIGHT, 200), list[str]()
    for name in TABLES:
        source_of(figure.plot, f"gap-{name}").on_change("data", lambda _attr, _old, _new, name=name: sent.append(name))
    figure.show(TABLES)
    assert sent == ["run", "stop"]
    figure.show({"run": {name: list(column) for name, column in TABLES["run"].items()}, "stop": {"gap": [0.02]}})
    assert sent == ["run", "stop", "stop"]
    assert source_of(figure.plot, "gap-stop").data == {"gap": [0.02]}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-6, "0.0001 %"),
        (2.34e-8, "0.0000023 %"),
        (1e-9, "under 0.000001 %"),
        (0.0123, "1.2 %"),
        (0.0996, "10 %"),
        (0.45, "45 %"),
        (12.0, "1,200 %"),
        (-0.02, "-2 %"),
    ],
)
def test_a_share_is_written_in_per_cent_without_powers_of_ten(share: float, text: str) -> None:
    assert share_text(share) == text
