"""What the charts of a race show, as every drawer gets it: columns, axes and words, and axes that draw what matters."""

import math
from collections.abc import Iterator
from itertools import combinations
from time import monotonic
from typing import Any

import numpy as np
import pytest
from _problems import PlainSolver, problem, ran
from _shown import source_of
from _ticks import Walker, tick
from _undrawn import drawn_chart
from bokeh.models import Line, LinearScale, LogScale

from mklviz.contract import Iterate, Solver
from mklviz.engine import MaxIter, Race
from mklviz.numbers import number_text, share_text
from mklviz.problem import Problem
from mklviz.record.summary import Reference
from mklviz.views.chart.axes import FAR, NUMBERS, axis_end, tick_text
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import WEIGHT_COLUMNS
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark, RuleMark
from mklviz.views.chart.race_charts import ChartOptions, enlargements, race_charts, weights_chart, weights_title
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.look.palette import DARK, LIGHT, RunStyle
from mklviz.views.race.race_text import WORDS_EVERY
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


def test_objectives_are_shares_above_the_best_bound_or_numbers_and_without_one_no_chart_speaks_of_it() -> None:
    plain, above = (race_charts(STYLES, ChartOptions(LIGHT, above=above))["objective"] for above in (False, True))
    assert {mark.columns["y"] for mark in plain.marks} == {"objective"}
    assert {mark.columns["y"] for mark in above.marks} == {"above"}
    assert (plain.y.numbers, above.y.numbers) == ("exact", "percent")
    assert above.note == "How far above the best proven lower bound."
    charts = race_charts(STYLES, ChartOptions(LIGHT, no_bound="It is not convex."))
    assert charts["gap"].title == "Projected gradient, relative to the objective"
    assert charts["gap"].note == "It is not convex."
    assert "bound" not in charts["objective"].note


@pytest.mark.parametrize("log", [False, True])
def test_what_may_fall_below_zero_or_is_counted_has_no_logarithmic_axis(log: bool) -> None:
    charts = race_charts(STYLES, ChartOptions(LIGHT, log_y=log, signed=True))
    scales = {name: chart.y.log for name, chart in charts.items()}
    assert scales == {"objective": False, "gap": log, "step": log, "active": False, "tolerance": True}
    assert charts["active"].y.whole


def test_weights_have_the_colours_of_their_kernels_below_the_largest_there_ever_was() -> None:
    chart = weights_chart("level", STYLES["level"], ChartOptions(LIGHT), "settles")
    *kernels, top = [mark for mark in chart.marks if isinstance(mark, LineMark)]
    assert [line.y for line in kernels] == list(WEIGHT_COLUMNS)
    assert [line.colour for line in kernels] == list(LIGHT.kernels)
    assert (top.y, top.colour) == ("top", None)
    assert (chart.title, chart.beside, chart.y.start) == ("Level", "settles", 0.0)
    assert weights_title("kernel", 6, 91) == "Kernel weights, six largest"
    assert weights_title("parameter", 3, 3) == "Parameters of the kernel"


@pytest.mark.parametrize("change", [{}, {"x_axis": "svm_solves"}, {"log_y": False}, {"gap_tolerance": 1e-4}])
def test_the_dashboard_draws_what_is_described(change: dict[str, Any]) -> None:
    view = RaceView()
    view.show(Race(problem("blobs, C = 1"), ["silp", "level"]))
    view.param.update(**change)
    for above in (False, True):
        view.charts.set_above(above)
        for name, chart in race_charts(view.charts.styles, view.charts.options).items():
            plot = getattr(view.charts, name)
            lines = [r.glyph for r in plot.renderers if isinstance(r.glyph, Line)]
            described = [mark.columns for mark in chart.marks if isinstance(mark, LineMark)]
            assert [{"x": line.x, "y": line.y} for line in lines] == described
            assert isinstance(plot.y_scale, LogScale if chart.y.log else LinearScale)
            assert plot.xaxis.axis_label == chart.x.label
            assert plot.yaxis.formatter.code == NUMBERS[chart.y.numbers]


def test_a_scale_of_its_own_is_said_where_it_makes_a_difference_and_numbers_are_written_as_people_write_them() -> None:
    said = enlargements({"silp": 1.0, "pgd": 0.8, "level": 0.111, "idle": 0.0})
    assert said == {"silp": "", "pgd": "", "level": "zoom 9×", "idle": ""}
    assert enlargements({}) == {}
    shares = {0.5: "50 %", 1e-6: "0.0001 %", 2.5e-8: "0.0000025 %", 1e-9: "10⁻⁷ %", 2.5e-10: "2.5×10⁻⁸ %", 0.0: "0 %"}
    assert {value: tick_text(value, "percent") for value in shares} == shares
    assert [tick_text(value, "short") for value in (1e-7, -2e-5, 0.001, 3e6)] == ["10⁻⁷", "−2×10⁻⁵", "0.001", "3×10⁶"]
    assert tick_text(-1234.5, "exact") == number_text(-1234.5) == "−1,234.5"
    assert [number_text(value, ".2g") for value in (6e-05, -7.6e-7, math.nan)] == ["6×10⁻⁵", "−7.6×10⁻⁷", "–"]
    plain = {0.0: "0 %", 1e-6: "0.0001 %", 2.34e-8: "0.0000023 %", 1e-9: "under 0.000001 %", 0.0123: "1.2 %"}
    plain |= {0.0996: "10 %", 0.45: "45 %", 12.0: "1,200 %", -0.02: "−2 %"}
    assert {share: share_text(share) for share in plain} == plain  # without powers of ten


# -- objectives above the best bound, and an end before a run far longer than others


class Falling(PlainSolver):
    """An objective that falls by a factor of ten thousand at once."""

    name_, label = "falling", "Falling"

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        for t in range(40):
            objective, bound = self.bounds(t)
            yield Iterate(np.full(problem.m, 1.0 / problem.m), np.zeros(problem.n), objective, bound, 1.0, t + 1)

    def bounds(self, t: int) -> tuple[float, float]:
        return (1e6 if t == 0 else 100.0 + 0.5**t), 100.0 - 100.0 * 0.5**t


class Steady(Falling):
    """One that falls step by step."""

    name_, label = "steady", "Steady"

    def bounds(self, t: int) -> tuple[float, float]:
        return 100.0 * 0.8**t, 0.001


def shown(*solvers: Solver, view: RaceView | None = None, posed: Problem | None = None, steps: int = 30) -> RaceView:
    """Show a race of the solvers, to its end and some looks beyond it."""
    view = view or RaceView()
    view.show(Race(posed or problem("blobs, C = 1"), solvers, rules=(MaxIter(steps),)))
    ran(view.race)
    look_at(view)
    return view


def look_at(view: RaceView, now: float | None = None) -> None:
    for _ in range(3):
        tick(view, now)


def drawn(view: RaceView) -> set[str]:
    return {line.mark.columns["y"] for line in drawn_chart(view, "objective").marks}


class Boundless(Problem):
    no_bound = "There is none."


def test_flat_objectives_are_drawn_above_the_best_bound_by_itself_and_with_another_theme_or_scale() -> None:
    view = shown(Falling(), Falling())
    assert view.above
    assert drawn(view) == {"above"}
    assert "How far above the best proven lower bound" in view.page.titles["objective"].object
    reference = Reference.of(view.race.traces.values())
    for key, trace in view.race.traces.items():
        expected = [reference.above(value) for value in trace.objective]
        assert list(view.figures.readings.feeds[key].source.data["above"]) == pytest.approx(expected)
    for change in ({"theme": DARK}, {"log_x": True}):
        view.param.update(**change)
        assert drawn(view) == {"above"}


def test_while_somebody_has_zoomed_nothing_else_is_drawn_by_itself() -> None:
    view = RaceView()
    race = Race(problem("blobs, C = 1"), (Falling(), Falling()), rules=(MaxIter(30),))
    view.show(race)
    places, told = (view.charts.objective.select_one({"name": name}) for name in ("zooms", "zoomed"))
    assert not places.syncable  # the browser alone knows where; it tells that there is a zoom
    told.tags = ["zoomed"]
    ran(race)
    look_at(view)
    assert drawn(view) == {"objective"}
    told.tags = []
    view.figures.readings.restart()  # what is drawn changes only with something new
    look_at(view, monotonic() + WORDS_EVERY)
    assert drawn(view) == {"above"}


def test_steady_ones_and_those_of_a_problem_without_a_bound_are_drawn_as_they_are() -> None:
    view = shown(Steady(), Steady())
    assert not view.above
    assert drawn(view) == {"objective"}
    assert "bound of all" not in view.page.titles["objective"].object
    plain = problem("blobs, C = 1")
    view = shown(Steady(), posed=Boundless(plain.bank, plain.y, plain.loss, plain.regularizer))
    view.above = True
    assert drawn(view) == {"objective"}


def test_who_has_chosen_keeps_the_choice_in_the_next_race_and_another_begins_with_the_plain_objective() -> None:
    view = shown(Falling())
    assert drawn(shown(Steady(), view=view)) == {"objective"}
    assert not view.above_chosen
    view = shown(Falling())
    view.above = False
    assert view.above_chosen
    assert drawn(shown(Falling(), view=view)) == {"objective"}
    view.above = True
    assert drawn(shown(Steady(), view=view)) == {"above"}


@pytest.mark.full
def test_a_still_picture_does_the_same_and_ends_before_a_far_longer_run_and_says_so() -> None:
    assert "Objective above the best bound" in race_still(shown(Falling()).race)
    assert "above" not in race_still(shown(Steady()).race)
    view = ended(RaceView(), Walker(5), Runner(900))
    assert "Runner, to 1,800 SVM solves" in race_still(view.race, x="svm_solves")
    assert "Walker, to" not in race_still(view.race)
    assert ", to" not in race_still(ended(view, Walker(5), Runner(30)).race)


class Runner(Walker):
    name_, label = "runner", "Runner"


def ended(view: RaceView, *solvers: Solver) -> RaceView:
    """Show a long race of the solvers, to its end."""
    return shown(*solvers, view=view, steps=1000)


def axis(view: RaceView) -> list[float]:
    """Return from where to where the horizontal axis is; nothing where it follows the data."""
    carriers = view.charts.objective.x_range.renderers
    return list(carriers[0].data_source.data["x"]) if carriers else []


@pytest.mark.parametrize(
    ("reached", "going", "end"),
    [
        ({"a": 10.0, "b": 70.0}, "", math.inf),  # room for both
        ({"a": 10.0, "b": 1000.0}, "", FAR * 10.0),
        ({"a": 10.0, "b": 1000.0}, "b", FAR * 10.0),
        ({"a": 10.0, "b": 1000.0}, "a", math.inf),  # which may become as long
        ({"a": 10.0, "b": 900.0, "c": 1000.0}, "", math.inf),  # most are long
        ({"a": 10.0, "b": 12.0, "c": 900.0, "d": 1000.0}, "", FAR * 12.0),
        ({"a": 10.0, "b": 60.0, "c": 1000.0}, "", FAR * 60.0),
        ({"a": 0.0, "b": 1000.0}, "", math.inf),  # one that has not moved is no measure
        ({"a": 1000.0}, "", math.inf),
        ({}, "", math.inf),
    ],
)
def test_the_axis_ends_where_the_shorter_half_has_an_eighth(reached: dict[str, float], going: str, end: float) -> None:
    assert axis_end(reached, {key: key not in going for key in reached}) == end


@pytest.mark.parametrize(
    ("x", "per_step", "reached"), [("iteration", 1, "iteration {:,}"), ("svm_solves", 2, "{:,} SVM solves")]
)
def test_every_linear_axis_ends_before_a_far_longer_run_and_says_so(x: str, per_step: int, reached: str) -> None:
    view = ended(RaceView(x_axis=x), Walker(5), Runner(900))
    assert view.charts.end == FAR * 5 * per_step
    assert axis(view) == [0.0, FAR * 5 * per_step]
    assert view.long_runs.note.object == f"Not shown: Runner goes on to {reached.format(900 * per_step)}."
    assert view.long_runs.note.visible


def test_all_is_shown_at_the_press_of_a_button_and_hidden_and_failed_runs_and_races_before_do_not_count() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    assert view.charts.marks.renderers[0] in view.charts.objective.x_range.renderers  # the cursor is never beyond it
    assert view.long_runs.button.label == "Show all"
    view.long_runs.button.clicks += 1
    assert axis(view) == []
    assert not view.long_runs.note.visible
    view.long_runs.button.clicks += 1
    assert axis(view) == [0.0, 40.0]
    view.hidden = frozenset({"walker"})
    tick(view)
    assert axis(view) == []
    assert not view.long_runs.button.visible
    view.hidden = frozenset()
    for walker, shown in ((Walker(breaks=5), []), (Walker(9), [0.0, 72.0])):
        assert axis(ended(view, walker, Runner(900))) == shown


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


def test_a_table_that_has_not_changed_is_not_sent_again() -> None:
    figure, sent = ChartFigure(CHART, LIGHT, 200), list[str]()
    for name in TABLES:
        source_of(figure.plot, f"gap-{name}").on_change("data", lambda _attr, _old, _new, name=name: sent.append(name))
    figure.show(TABLES)
    assert sent == ["run", "stop"]
    figure.show({"run": {name: list(column) for name, column in TABLES["run"].items()}, "stop": {"gap": [0.02]}})
    assert sent == ["run", "stop", "stop"]
    assert source_of(figure.plot, "gap-stop").data == {"gap": [0.02]}
