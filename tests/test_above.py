"""Objectives above the best bound: drawn by itself where the plain curves lie flat, until somebody chooses."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import numpy as np
import pytest
from _problems import problem
from _ticks import tick
from _undrawn import drawn_chart
from _waits import PATIENCE

from mklviz.contract import Iterate, Solver
from mklviz.engine import MaxIter, Race
from mklviz.problem import Problem
from mklviz.record.summary import Reference
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.look.palette import DARK
from mklviz.views.race.race_text import WORDS_EVERY
from mklviz.views.race.race_view import RaceView


class Falling(Solver):
    """An objective that falls by a factor of ten thousand at once."""

    name_, label = "falling", "Falling"

    def supports(self, problem: Problem) -> str:
        return ""

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


def shown(*solvers: Solver, view: RaceView | None = None) -> RaceView:
    view = view or RaceView()
    race = Race(problem("blobs, C = 1"), solvers, rules=(MaxIter(30),))
    view.show(race)
    race.start()
    assert race.wait(PATIENCE)
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
    race.start()
    assert race.wait(PATIENCE)
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


def test_a_problem_without_a_bound_is_drawn_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Problem, "no_bound", "There is none.")
    view = shown(Steady())
    view.above = True
    assert drawn(view) == {"objective"}


def test_a_still_picture_does_the_same() -> None:
    assert "Objective above the best bound" in race_still(shown(Falling()).race)
    assert "above" not in race_still(shown(Steady()).race)
