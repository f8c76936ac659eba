"""Rules replayed on recordings: they stop where they stopped live, and what is returned is told in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from _problems import problem

import mklviz as mv
from mklviz.contract import Facts, Iterate
from mklviz.engine import KKT, Gap, IterateGap, Measured, ModelGap, ObjectiveChange, ProjectedGradient, WeightChange
from mklviz.engine.replaying import measured, replay
from mklviz.errors import MklvizError
from mklviz.record import Trace

RULES: tuple[Callable[[float], Measured], ...] = (
    *(Gap, IterateGap, ModelGap, WeightChange, ObjectiveChange, KKT, ProjectedGradient),
)


@dataclass(frozen=True, kw_only=True)
class Told(Facts):
    """What a method with a model knows."""

    model_gap: float = math.nan


def iterate(first: float, objective: float, bound: float, **facts: float) -> Iterate:
    return Iterate(np.array([first, 1.0 - first]), np.zeros(4), objective, bound, 0.1, 1, Told(**facts))


def recorded(*steps: Iterate) -> Trace:
    trace = Trace("told", "Told")
    for second, step in enumerate(steps):
        trace.append(step, float(second))
    return trace


ZIGZAG = recorded(
    iterate(0.5, 20.0, 4.0),
    iterate(1.0, 12.0, 8.0),
    iterate(0.2, 16.0, 9.0),
    iterate(0.3, 15.9, 9.5),
    iterate(0.6, 10.0, 9.8),
)


@cache
def long_run(solver: str) -> Trace:
    return mv.solve(problem("blobs, C = 100"), solver, gap=1e-6, max_iter=200)


def test_what_is_returned_is_told_by_what_is_known_at_the_end() -> None:
    found = replay(ZIGZAG, WeightChange(0.15))
    assert found.step == 3
    assert found.verdict is not None
    assert found.verdict.status == "rule"
    last, best = found.last, found.best
    assert (last.step, best.step) == (3, 1)
    assert (last.at_least, last.at_most) == (pytest.approx(0.59), pytest.approx(0.61))  # of 10, bound 9.8
    assert (best.at_least, best.at_most) == (pytest.approx(0.2), pytest.approx(0.22))
    assert (last.misplaced, best.misplaced) == (pytest.approx(0.3), pytest.approx(0.4))
    assert math.isnan(last.score)
    scored = replay(ZIGZAG, WeightChange(0.15), score=lambda step: step.objective)
    assert (scored.last.score, scored.best.score) == (15.9, 12.0)


def test_other_runs_tell_more_exactly_how_far_off_it_was() -> None:
    better = recorded(iterate(0.0, 8.0, 7.9))
    found = replay(ZIGZAG, Gap(0.5), [better, Trace("none", "None")])
    assert found.step == 1
    assert found.last is found.best
    assert found.last.at_most == pytest.approx((12.0 - 9.8) / 8.0)
    assert found.last.misplaced == pytest.approx(1.0)


def test_a_rule_that_never_fires_returns_what_the_run_returned() -> None:
    found = replay(ZIGZAG, KKT(0.1))
    assert found.verdict is None
    assert (found.step, found.best.step) == (4, 4)
    assert found.best.at_least == 0.0
    with pytest.raises(MklvizError, match="no steps"):
        replay(Trace("none", "None"), Gap(0.1))


def test_without_a_bound_it_is_only_known_how_far_off_it_was_at_least() -> None:
    found = replay(recorded(iterate(0.5, 20.0, math.nan), iterate(1.0, 10.0, math.nan)), ObjectiveChange(2.0))
    assert math.isnan(found.best.at_most)
    assert found.best.at_least == 0.0


@pytest.mark.parametrize("solver", ["silp", "level", "spg"])
@pytest.mark.parametrize("rule", [Gap(0.05), IterateGap(0.05), WeightChange(0.02), ObjectiveChange(1e-3), KKT(0.05)])
def test_a_rule_stops_a_recording_where_it_stops_the_run(solver: str, rule: Measured) -> None:
    live = mv.solve(problem("blobs, C = 100"), solver, gap=None, max_iter=200, stop=[rule])
    found = replay(long_run(solver), rule)
    assert found.step == min(len(live), len(long_run(solver))) - 1
    assert found.best.iterate.objective == live.best.objective
    if found.verdict is not None:
        assert found.verdict.reason == live.reason


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_fires_at_the_first_step_that_measures_no_more_than_its_threshold(
    rule: Callable[[float], Measured],
) -> None:
    trace = long_run("level")
    values = measured(trace, rule(1.0))
    assert len(values) == len(trace)
    for tol in (0.3, 0.03, 0.003):
        below = np.flatnonzero(values <= tol)
        found = replay(trace, rule(tol))
        assert (found.verdict is not None) == bool(len(below))
        assert found.step == (below[0] if len(below) else len(trace) - 1)


def test_what_rules_measure() -> None:
    assert measured(ZIGZAG, ObjectiveChange(1.0))[1:] == pytest.approx([8 / 12, 4 / 16, 0.1 / 15.9, 5.9 / 10])
    assert measured(ZIGZAG, Gap(1.0)) == pytest.approx([0.8, 4 / 12, 3 / 12, 2.5 / 12, 0.02])
    assert measured(ZIGZAG, IterateGap(1.0)) == pytest.approx([0.8, 4 / 12, 7 / 16, 6.4 / 15.9, 0.02])
    assert np.isnan(measured(ZIGZAG, ModelGap(1.0))).all()
    told = recorded(iterate(0.5, 20.0, 0.0, model_gap=0.25), iterate(1.0, 0.0, 0.0))
    assert measured(told, ModelGap(1.0))[0] == 0.25
    assert measured(told, ObjectiveChange(1.0))[1] == math.inf
