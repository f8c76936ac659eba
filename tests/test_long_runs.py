"""A run that is far longer than the others does not make them a sliver: the axis ends before it, and says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from _problems import problem
from _ticks import tick
from _waits import PATIENCE

from mklviz.contract import End, Iterate, Solver
from mklviz.engine import MaxIter, Race
from mklviz.errors import SolverError
from mklviz.problem import Problem
from mklviz.views.chart.axes import FAR, axis_end
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.race.race_view import RaceView


class Walker(Solver):
    """Takes `last` steps, two SVM solves each, and ends, or breaks down if told to."""

    name_, label = "walker", "Walker"

    def __init__(self, last: int = 5, breaks: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.last, self.breaks = last, breaks

    def supports(self, problem: Problem) -> str:
        return ""

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        weights = np.full(problem.m, 1.0 / problem.m)
        for t in range(self.last + 1):
            if self.breaks and t == self.last:
                raise SolverError("It broke down.")
            end = End("It stands still.") if t == self.last else None
            yield Iterate(weights, np.zeros(problem.n), 2.0 + 1.0 / (t + 1), 1.0, 0.1, 2 * t, end=end)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        return ""


class Runner(Walker):
    name_, label = "runner", "Runner"


def ended(view: RaceView, *solvers: Solver) -> RaceView:
    """Show a race of the solvers, to its end."""
    race = Race(problem("blobs, C = 1"), solvers, rules=(MaxIter(1000),))
    view.show(race)
    race.start()
    assert race.wait(PATIENCE)
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


def test_a_picture_that_stands_still_ends_there_too_and_says_how_far_the_run_went() -> None:
    view = ended(RaceView(), Walker(5), Runner(900))
    assert "Runner, to 1,800 SVM solves" in race_still(view.race, x="svm_solves")
    assert "Walker, to" not in race_still(view.race)
    alike = ended(RaceView(), Walker(5), Runner(30))
    assert ", to" not in race_still(alike.race)
