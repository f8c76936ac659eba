"""Milestones: the first step at which a run has come so far down, by a search that looks at each step."""

from __future__ import annotations

import math

import numpy as np
from _problems import problem, ran
from _ticks import tick

from mklviz.contract import Iterate
from mklviz.engine import Gap, MaxIter, Race
from mklviz.record import Trace
from mklviz.record.summary import PARTS, Milestone, Reference, milestones
from mklviz.views.race.race_view import RaceView


def of(*objectives: float) -> Trace:
    trace = Trace("made", "Made")
    for t, objective in enumerate(objectives):
        weights, dual = np.ones(1), np.zeros(1)
        trace.append(Iterate(weights, dual, objective, math.nan, 1.0, 2 * t), 0.5 * t)
    return trace


def test_the_way_leads_from_the_first_objective_to_the_least_of_all() -> None:
    trace = of(1000.0, 2000.0, 95.0, 500.0, 9.0, 0.0)
    best = Reference(objective=0.0)
    assert milestones(trace, best) == (Milestone(2, 4, 1.0), Milestone(4, 8, 2.0), Milestone(5, 10, 2.5))
    assert str(Milestone(1, 1, 0.5)) == "1 step · 1 SVM solve · 0.50 s"


def test_who_has_not_come_so_far_has_no_milestone() -> None:
    assert milestones(of(1000.0, 50.0), Reference(objective=0.0)) == (Milestone(1, 2, 0.5), None, None)
    assert milestones(Trace(), Reference(objective=0.0)) == (None, None, None)
    assert milestones(of(3.0), Reference()) == (None, None, None)


def test_they_are_what_looking_at_every_step_finds() -> None:
    race = ran(Race(problem("random Gram matrices"), ["silp", "level"], rules=[Gap(1e-4), MaxIter(60)]))
    best = Reference.of(race.traces.values())
    for trace in race.traces.values():
        least = np.minimum.accumulate(trace.objective)
        for part, found in zip(PARTS, milestones(trace, best), strict=True):
            low = best.objective + (1.0 - part) * (least[0] - best.objective)
            reached = np.flatnonzero(least <= low)
            assert (None if found is None else found.steps) == (reached[0] if len(reached) else None)


def test_they_stand_below_the_results_of_a_race_that_has_ended() -> None:
    view = RaceView()
    race = Race(problem("random Gram matrices"), ["silp", "level"], rules=[MaxIter(20)])
    view.show(race)
    assert view.page.milestones.object == ""
    ran(race)
    tick(view)
    assert view.page.milestones.object
    found = milestones(race.traces["level"], Reference.of(race.traces.values()))[0]
    assert str(found) in view.page.milestones.object
    view.clear()
    assert view.page.milestones.object == ""
