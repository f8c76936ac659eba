"""The tab Knobs without a browser: the slider solves again, the last position wins, and what is drawn is what came."""

import time
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import panel as pn
import pytest
from _problems import blobs, problem, ran, small_bank
from _ticks import Prepared, following, shown, until
from _waits import PATIENCE

import mklviz as mv
from mklviz.analysis import knobs as lab
from mklviz.analysis.knobs import CS, GOAL, KNOBS, LAMBDAS, POWERS, too_large
from mklviz.engine import Race
from mklviz.problem import LpBall, Simplex
from mklviz.recipe import Recipe
from mklviz.views.session.session import Session
from mklviz.views.tabs.knobs import Knobs

BY_TITLE = {knob.title: knob for knob in KNOBS}


@cache
def race() -> Race:
    return ran(Race(problem("blobs, C = 100"), ["level"], rules=(mv.MaxIter(3),)))


def opened(made: Race | None = None) -> tuple[Session, Knobs]:
    session = shown(made or race())
    return session, following(session, Knobs())


def opened_and_settled() -> Knobs:
    _, tab = opened()
    until(tab, lambda: settled(tab))
    return tab


def settled(tab: Knobs) -> bool:
    """Whether what is drawn is what the slider says."""
    drawn = tab.now is not None and (tab.now.knob, tab.now.position) == (tab.choice.value, tab.slider.value)
    return drawn and not tab.outdated and not tab.now.coarse


def test_a_position_is_solved_and_drawn_with_the_one_before_behind_it() -> None:
    tab = opened_and_settled()
    assert tab.slider.names[tab.slider.value] == "0.8"
    direct = mv.solve(race().problem, "level", gap=GOAL, lam=0.8)
    assert tab.now.trace.final.svm_solves == direct.final.svm_solves
    assert list(tab.gaps.tables["lines"]["label"]) == ["λ = 0.8", "SILP"]
    words = " ".join(str(pane.object) for pane in tab.root.select(pn.pane.HTML))
    assert all(f"{name}</span>" in words for name in ("Level", "SILP"))  # in the legend
    assert tab.gaps.tables["lines"]["xs"][0] == list(map(float, direct.svm_solves))
    assert tab.gaps.tables["lines"]["ys"][0] == pytest.approx(direct.gap)
    assert np.isnan(tab.weights.tables["bars"]["before"]).all()
    tab.slider.value = LAMBDAS.index(0.5)
    until(tab, lambda: settled(tab))
    assert list(tab.gaps.tables["lines"]["label"]) == ["λ = 0.8", "λ = 0.5", "SILP"]
    assert tab.gaps.tables["lines"]["alpha"][0] < 1.0 == tab.gaps.tables["lines"]["alpha"][1]
    other = mv.solve(race().problem, "level", gap=GOAL, lam=0.5)
    names = race().problem.bank.names
    bars = tab.weights.tables["bars"]
    for name, weight, before in zip(bars["name"], bars["weight"], bars["before"], strict=True):
        assert weight == pytest.approx(other.best.weights[names.index(name)])
        assert before == pytest.approx(direct.best.weights[names.index(name)])
    solves = other.final.svm_solves
    assert f"λ = 0.5: {solves} SVM solves" in tab.progress.object
    assert f"Before, at λ = 0.8: {direct.final.svm_solves} SVM solves" in tab.progress.object


def races_of(monkeypatch: pytest.MonkeyPatch, pace: float = 0.0) -> list[Race]:
    """Return the races to come, at a pace in steps per second."""
    races: list[Race] = []

    def begun(*what: Any) -> Race:
        races.append(Race(*what, pace=pace))
        return races[-1]

    monkeypatch.setattr(lab, "Race", begun)
    return races


def test_a_slider_that_never_rests_still_has_its_curves_drawn() -> None:
    tab, seen, places = opened_and_settled(), set[int](), [0, 1] * 10_000

    def moved() -> bool:
        tab.slider.value = places.pop()
        seen.add(tab.now.position)
        return len(seen) == 3

    until(tab, moved)


def test_a_knob_that_moves_on_gives_up_what_is_being_solved_and_the_last_position_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    races, (_, tab) = races_of(monkeypatch), opened()
    for place in (0, 3, 5, 7, 2):
        tab.slider.value = place
        tab.tick(time.monotonic())
    until(tab, lambda: settled(tab))
    assert tab.now.position == 2
    assert all(race.wait(PATIENCE) for race in races)
    assert tab.before is None or tab.before.position in (0, 3, 5, 7)


def test_a_solve_that_takes_long_shows_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    tab = opened_and_settled()
    tab.rest = 0.0
    before, races = tab.now, races_of(monkeypatch, pace=0.5)
    tab.slider.value = 0
    tab.tick(time.monotonic())
    assert not tab.bar.visible
    until(tab, lambda: tab.bar.visible)
    assert 0 <= tab.bar.value <= 100
    assert tab.progress.object.startswith("Solving. ")
    tab.stop.clicks += 1
    until(tab, lambda: not tab.task.working)
    assert races[0].wait(PATIENCE)
    assert not tab.bar.visible
    for _ in range(3):
        tab.tick(time.monotonic())
    assert tab.now is before
    assert tab.progress.object == "Stopped by hand. What is drawn is λ = 0.8."


def test_what_takes_long_is_drawn_coarsely_while_the_slider_moves_and_solved_to_its_end_where_it_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tab = opened_and_settled()
    first = tab.now
    tab.rest = 1e9
    races = races_of(monkeypatch, pace=5.0)  # so that no run has ended by then
    for place in (0, 1):
        tab.slider.value = place
        until(tab, lambda place=place: tab.now.position == place and not tab.outdated)  # type: ignore[misc]
        assert tab.now.coarse
        assert len(tab.now.trace) > 1
        assert tab.now.trace.status == "stopped"
        assert f"{tab.now.words}, coarse while the slider moves: stopped after" in tab.progress.object
        assert tab.before is first  # not what was coarse as well
    assert len(races) == 2
    races_of(monkeypatch)
    tab.rest = 0.0
    until(tab, lambda: settled(tab))
    assert tab.now.trace.status == "converged"
    assert tab.before is first
    assert "coarse" not in tab.progress.object


def test_another_knob_begins_at_the_setting_of_the_race_and_forgets_the_curve_before() -> None:
    tab = opened_and_settled()
    tab.choice.value = BY_TITLE["C"]
    assert CS[tab.slider.value] == race().problem.loss.C
    until(tab, lambda: settled(tab))
    assert tab.before is None
    assert list(tab.gaps.tables["lines"]["label"]) == ["C = 100"]
    tab.slider.value = CS.index(0.1)
    until(tab, lambda: settled(tab))
    posed = mv.Problem(race().problem.bank, race().problem.y, mv.Hinge(0.1), race().problem.regularizer)
    assert tab.now.trace.best.objective == pytest.approx(mv.solve(posed, "spg", gap=GOAL).best.objective)


def test_what_each_knob_turns() -> None:
    posed = problem("blobs, C = 100")
    power, parts, level = (BY_TITLE[title] for title in ("p of ℓp", "Parts of SPG", "Level's λ"))
    assert isinstance(power.problem(posed, 0).regularizer, Simplex)
    assert power.problem(posed, len(POWERS) - 1).regularizer == LpBall(4.0)
    assert BY_TITLE["C"].problem(posed, 0).loss.C == 0.01
    labels = [str(parts.solver(place).name) for place in range(len(parts.names))]
    assert labels == ["PGD", "PGD+N", "PGD+S", "PGD+N+S", "SPG"]
    assert BY_TITLE["SVM tolerance"].solver(0).options()["svm_tolerance"] == 0.1
    assert [level.solver(place).options()["lam"] for place in (0, len(level.names) - 1)] == [0.0, 1.0]
    for knob in KNOBS:
        assert knob.refusal(posed) == ""
        assert 0 <= knob.usual(posed) < len(knob.names)
        assert knob.watch.endswith(".")
        assert len({knob.words(place) for place in range(len(knob.names))}) == len(knob.names)


def test_a_larger_problem_is_solved_once_when_asked() -> None:
    X, y = blobs(301, 0.2)
    large = ran(Race(mv.Problem(small_bank(X), y), ["level"], rules=(mv.MaxIter(3),)))
    assert "301 samples and" in too_large(large.problem)
    _, tab = opened(large)

    def waits() -> bool:
        for _ in range(5):
            tab.tick(time.monotonic())
        return not tab.task.working

    assert waits()
    assert tab.now is None
    assert tab.once.visible
    tab.once.clicks += 1
    until(tab, lambda: settled(tab))
    tab.slider.value = 0
    assert waits()
    assert not settled(tab)


def test_what_cannot_be_turned_is_said_in_a_sentence() -> None:
    assert "Press Run" in Knobs.supports(Session())
    session, tab = opened()
    session.follows = True
    assert "another page's race" in Knobs.supports(session)
    session.follows = False
    penalized = replace(problem("blobs, C = 100"), regularizer=mv.L1Penalty(1.0))
    made = Race(penalized, ["spg"], rules=(mv.MaxIter(2),))
    session.show(Recipe(), Prepared(), made)  # type: ignore[arg-type]
    tab.tick(time.monotonic())
    assert "Level" in tab.refusal.object
    assert not tab.task.working
    assert not tab.once.visible
