"""What the charts of a race show, as every drawer gets it: columns, axes and words."""

from itertools import combinations
from typing import Any

import pytest
from _problems import problem, ran
from _undrawn import draw_none, drawn_chart
from bokeh.models import Line, LinearScale, LogScale

from mklviz.engine import Race
from mklviz.views.chart.axes import NUMBERS, tick_text
from mklviz.views.chart.columns import WEIGHT_COLUMNS
from mklviz.views.chart.description import LineMark, RuleMark
from mklviz.views.chart.race_charts import (
    ChartOptions,
    enlargements,
    race_charts,
    run_table,
    stop_table,
    weights_chart,
    weights_title,
    x_axis,
)
from mklviz.views.look.palette import LIGHT, RunStyle
from mklviz.views.race.race_view import RaceView

STYLES = {
    "silp": RunStyle("SILP", "#d55e00", "dashed", "square"),
    "level": RunStyle("Level", "#0072b2", "solid", "circle"),
}


def test_the_gap_of_each_iterate_is_a_faint_line_behind_those_of_the_runs() -> None:
    chart = race_charts(STYLES, ChartOptions(LIGHT))["gap"]
    lines = [mark for mark in chart.marks if isinstance(mark, LineMark)]
    assert [line.y for line in lines] == ["own_gap"] * 2 + ["gap"] * 2
    by_table = {line.table: line for line in lines[2:]}
    for own, of_run in ((own, by_table[own.table]) for own in lines[:2]):
        assert (own.table, own.colour) == (of_run.table, of_run.colour)
        assert own.dash == "solid"
        assert own.alpha < of_run.alpha == 1.0
        assert own.width < of_run.width
    assert "best gap so far" in chart.note
    assert "gap of each step" in chart.note


def test_of_two_lines_that_coincide_both_are_seen() -> None:
    dashes = ("dotted", "solid", "dashed", "solid", "dashdot", "dashed")
    styles = {str(k): RunStyle(str(k), "#000000", dash, "circle") for k, dash in enumerate(dashes)}
    lines = race_charts(styles, ChartOptions(LIGHT))["objective"].marks
    for behind, before in combinations(lines, 2):  # one in front is narrower, or has gaps that one behind has not
        assert behind.width > before.width if behind.dash == before.dash else before.dash != "solid"
    assert {line.width for line in lines if line.label in "024"} == {2.0}


def test_the_gap_at_which_runs_stop_is_a_line_across_with_its_words() -> None:
    chart = race_charts(STYLES, ChartOptions(LIGHT, gap_tolerance=1e-3))["gap"]
    tables = {run_table(key): {"iteration": [0.0], "gap": [0.5], "own_gap": [0.7]} for key in STYLES}
    drawn = draw_none(chart, {**tables, "stop": stop_table(1e-3)})
    assert [rule.columns["y"] for rule in drawn.of(RuleMark)] == [[1e-3]]
    assert chart.beside == "stop at 0.1 %"
    assert race_charts(STYLES, ChartOptions(LIGHT, gap_tolerance=None))["gap"].beside == ""


def test_where_there_is_no_bound_no_chart_speaks_of_one() -> None:
    charts = race_charts(STYLES, ChartOptions(LIGHT, no_bound="It is not convex."))
    assert charts["gap"].title == "Projected gradient, relative to the objective"
    assert charts["gap"].note == "It is not convex."
    assert "bound" not in charts["objective"].note


def test_objectives_are_shares_above_the_best_bound_and_numbers_otherwise() -> None:
    plain, above = (race_charts(STYLES, ChartOptions(LIGHT, above=above))["objective"] for above in (False, True))
    assert {mark.columns["y"] for mark in plain.marks} == {"objective"}
    assert {mark.columns["y"] for mark in above.marks} == {"above"}
    assert (plain.y.numbers, above.y.numbers) == ("exact", "percent")
    assert above.note == "How far above the best proven lower bound."


@pytest.mark.parametrize("log", [False, True])
def test_what_may_fall_below_zero_or_is_counted_has_no_logarithmic_axis(log: bool) -> None:
    charts = race_charts(STYLES, ChartOptions(LIGHT, log_y=log, signed=True))
    scales = {name: chart.y.log for name, chart in charts.items()}
    assert scales == {"objective": False, "gap": log, "step": log, "active": False, "tolerance": True}
    assert charts["active"].y.whole


def test_the_horizontal_axis_counts_but_for_seconds_and_names_epochs() -> None:
    axes = [x_axis(ChartOptions(LIGHT, x, by_epoch=("UFO-MKL",))) for x in ("iteration", "svm_solves", "seconds")]
    assert [axis.label for axis in axes] == ["iteration (epoch for UFO-MKL)", "SVM solves", "CPU seconds"]
    assert [axis.whole for axis in axes] == [True, True, False]


def test_weights_have_the_colours_of_their_kernels_below_the_largest_there_ever_was() -> None:
    chart = weights_chart("level", STYLES["level"], ChartOptions(LIGHT), "settles")
    *kernels, top = [mark for mark in chart.marks if isinstance(mark, LineMark)]
    assert [line.y for line in kernels] == list(WEIGHT_COLUMNS)
    assert [line.colour for line in kernels] == list(LIGHT.kernels)
    assert (top.y, top.colour) == ("top", None)
    assert (chart.title, chart.beside, chart.y.start) == ("Level", "settles", 0.0)


def test_the_heading_of_the_weights_says_what_has_them_and_that_some_are_left_out() -> None:
    assert weights_title("kernel", 6, 91) == "Kernel weights, six largest"
    assert weights_title("parameter", 3, 3) == "Parameters of the kernel"


@pytest.mark.parametrize("change", [{}, {"x_axis": "svm_solves"}, {"log_y": False}, {"gap_tolerance": 1e-4}])
def test_the_dashboard_draws_what_is_described(change: dict[str, Any]) -> None:
    view = RaceView()
    view.show(Race(problem("blobs, C = 1"), ["silp", "level"]))
    assert view.charts is not None
    view.param.update(**change)
    for above in (False, True):
        view.charts.set_above(above)
        for name, chart in view.charts.described.items():
            plot = getattr(view.charts, name)
            lines = [r.glyph for r in plot.renderers if isinstance(r.glyph, Line)]
            described = [mark.columns for mark in chart.marks if isinstance(mark, LineMark)]
            assert [{"x": line.x, "y": line.y} for line in lines] == described
            assert isinstance(plot.y_scale, LogScale if chart.y.log else LinearScale)
            assert plot.xaxis.axis_label == chart.x.label
            assert plot.yaxis.formatter.code == NUMBERS[chart.y.numbers]


def test_the_dashboard_draws_every_step_of_a_short_race() -> None:
    view, race = RaceView(), Race(problem("blobs, C = 1"), ["silp", "level"])
    ran(race)
    view.show(race)
    for key, style in STYLES.items():
        trace = race.runs[key].trace
        drawn = drawn_chart(view, "gap")
        own, gap = drawn.of(LineMark, style.label)
        assert gap.columns["y"] == pytest.approx(trace.gap.tolist(), nan_ok=True)
        assert own.columns["y"] == pytest.approx(trace.iterate_gap.tolist(), nan_ok=True)
        assert all(y > 0.0 for _, y in drawn.points(gap))


def test_a_scale_of_its_own_is_said_where_it_makes_a_difference() -> None:
    said = enlargements({"silp": 1.0, "pgd": 0.8, "level": 0.111, "idle": 0.0})
    assert said == {"silp": "", "pgd": "", "level": "zoom 9×", "idle": ""}
    assert enlargements({}) == {}


def test_numbers_are_written_as_people_write_them() -> None:
    assert [tick_text(value, "percent") for value in (0.5, 1e-6, 2.5e-8, 1e-9, 2.5e-10, 0.0)] == [
        "50 %",
        "0.0001 %",
        "0.0000025 %",
        "10⁻⁷ %",
        "2.5×10⁻⁸ %",
        "0 %",
    ]
    assert [tick_text(value, "short") for value in (1e-7, -2e-5, 0.001, 3e6)] == ["10⁻⁷", "-2×10⁻⁵", "0.001", "3×10⁶"]
