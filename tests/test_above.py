"""Axes that draw what matters: objectives above the best bound, and an end before a run far longer than others."""

import math
from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np
import pytest
from _problems import PlainSolver, problem, ran
from _ticks import tick
from _undrawn import drawn_chart

from mklviz.contract import End, Iterate, Solver
from mklviz.engine import MaxIter, Race
from mklviz.errors import SolverError
from mklviz.problem import Problem
from mklviz.record.summary import Reference
from mklviz.views.chart.axes import FAR, axis_end
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.look.palette import DARK
from mklviz.views.race.race_text import WORDS_EVERY
from mklviz.views.race.race_view import RaceView


class Falling(PlainSolver):
    """An objective that falls by a factor of ten thousand at once."""

    name_, label = "falling", "Falling"

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        for t in range(40):
            objective, bound = self.bounds(t)
            weights, dual = np.full(problem.m, 1.0 / problem.m), np.zeros(problem.n)
            yield Iterate(
                weights=weights, dual=dual, objective=objective, lower_bound=bound, step=1.0, svm_solves=t + 1
            )

    def bounds(self, t: int) -> tuple[float, float]:
        return (1e6 if t == 0 else 100.0 + 0.5**t), 100.0 - 100.0 * 0.5**t


class Steady(Falling):
    """One that falls step by step."""

    name_, label = "steady", "Steady"

    def bounds(self, t: int) -> tuple[float, float]:
        return 100.0 * 0.8**t, 0.001


def shown(*solvers: Solver, view: RaceView | None = None, posed: Problem | None = None) -> RaceView:
    view = view or RaceView()
    race = Race(posed or problem("blobs, C = 1"), solvers, rules=(MaxIter(30),))
    view.show(race)
    ran(race)
    look_at(view)
    return view


def look_at(view: RaceView, now: float | None = None) -> None:
    for _ in range(3):
        tick(view, now)


def drawn(view: RaceView) -> set[str]:
    return {line.mark.columns["y"] for line in drawn_chart(view, "objective").marks}


def test_flat_objectives_are_drawn_above_the_best_bound_by_itself() -> None:
    view = shown(Falling(), Falling())
    assert view.above
    assert drawn(view) == {"above"}
    assert "How far above the best proven lower bound" in view.page.titles["objective"].object
    reference = Reference.of(view.race.traces.values())
    for key, trace in view.race.traces.items():
        expected = [reference.above(value) for value in trace.objective]
        assert list(view.figures.readings.feeds[key].source.data["above"]) == pytest.approx(expected)


def test_while_somebody_has_zoomed_nothing_else_is_drawn_by_itself() -> None:
    view = RaceView()
    race = Race(problem("blobs, C = 1"), (Falling(), Falling()), rules=(MaxIter(30),))
    view.show(race)
    assert view.charts is not None
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


def test_steady_ones_are_drawn_as_they_are() -> None:
    view = shown(Steady(), Steady())
    assert not view.above
    assert drawn(view) == {"objective"}
    assert "bound of all" not in view.page.titles["objective"].object


def test_who_has_chosen_keeps_the_choice_in_the_next_race() -> None:
    view = shown(Falling())
    view.above = False
    assert view.above_chosen
    assert drawn(shown(Falling(), view=view)) == {"objective"}
    view.above = True
    assert drawn(shown(Steady(), view=view)) == {"above"}


def test_who_has_not_begins_the_next_race_with_the_plain_objective() -> None:
    view = shown(Falling())
    assert drawn(shown(Steady(), view=view)) == {"objective"}
    assert not view.above_chosen


def test_a_change_of_theme_or_scale_keeps_what_is_drawn() -> None:
    view = shown(Falling())
    view.theme = DARK
    assert drawn(view) == {"above"}
    view.log_x = True
    assert drawn(view) == {"above"}


class Boundless(Problem):
    no_bound = "There is none."


def test_a_problem_without_a_bound_is_drawn_as_it_is() -> None:
    plain = problem("blobs, C = 1")
    view = shown(Steady(), posed=Boundless(plain.bank, plain.y, plain.loss, plain.regularizer))
    view.above = True
    assert drawn(view) == {"objective"}


@pytest.mark.full
def test_a_still_picture_does_the_same() -> None:
    assert "Objective above the best bound" in race_still(shown(Falling()).race)
    assert "above" not in race_still(shown(Steady()).race)


class Walker(PlainSolver):
    """Takes `last` steps, two SVM solves each, and ends, or breaks down if told to."""

    name_, label = "walker", "Walker"

    def __init__(self, last: int = 5, breaks: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.last, self.breaks = last, breaks

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        weights = np.full(problem.m, 1.0 / problem.m)
        for t in range(self.last + 1):
            if self.breaks and t == self.last:
                raise SolverError("It broke down.")
            end = End("It stands still.") if t == self.last else None
            yield Iterate(weights, np.zeros(problem.n), 2.0 + 1.0 / (t + 1), 1.0, 0.1, 2 * t, end=end)


class Runner(Walker):
    name_, label = "runner", "Runner"


def ended(view: RaceView, *solvers: Solver) -> RaceView:
    """Show a race of the solvers, to its end."""
    race = Race(problem("blobs, C = 1"), solvers, rules=(MaxIter(1000),))
    view.show(race)
    ran(race)
    tick(view)
    return view


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
def test_the_axis_ends_where_the_shorter_half_still_has_an_eighth(
    reached: dict[str, float], going: str, end: float
) -> None:
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


def test_all_is_shown_at_the_press_of_a_button_and_the_beginning_at_the_next() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    assert view.long_runs.button.label == "Show all"
    view.long_runs.button.clicks += 1
    assert axis(view) == []
    assert not view.long_runs.note.visible
    view.long_runs.button.clicks += 1
    assert axis(view) == [0.0, 40.0]


def test_hidden_and_failed_runs_do_not_count_and_a_new_race_has_its_own_axis() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    view.hidden = frozenset({"walker"})
    tick(view)
    assert axis(view) == []
    assert not view.long_runs.button.visible
    view.hidden = frozenset()
    assert axis(ended(view, Walker(5, breaks=True), Runner(900))) == []
    assert axis(ended(view, Walker(9), Runner(900))) == [0.0, 72.0]


def test_the_cursor_is_never_beyond_the_axis() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    assert view.charts.marks.renderers[0] in view.charts.objective.x_range.renderers


@pytest.mark.full
def test_a_picture_that_stands_still_ends_there_too_and_says_how_far_the_run_went() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    assert "Runner, to 1,800 SVM solves" in race_still(view.race, x="svm_solves")
    assert "Walker, to" not in race_still(view.race)
    alike = ended(RaceView(), Walker(5), Runner(30))
    assert ", to" not in race_still(alike.race)
