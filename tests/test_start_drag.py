"""The handle at the start of the paths, without a browser: let go, it begins a race from there."""

from typing import Any

import numpy as np
import pytest
from _waits import wait_for
from test_geometry_tab import Prepared, drawn, few, opened, until

from mklviz.engine import MaxIter, Race
from mklviz.problem import LpBall, Problem, Simplex
from mklviz.recipe import Recipe
from mklviz.views.session.session import Session
from mklviz.views.tabs.geometry import Geometry


def ready(m: int = 3, solvers: tuple[str, ...] = ()) -> tuple[Session, Geometry]:
    session, tab = opened(few(m), *solvers)
    until(tab, lambda: tab.map.start.handle.place, "the handle")
    return session, tab


def test_while_the_start_of_a_large_problem_is_dragged_its_paths_stay() -> None:
    session, tab = ready(11)
    race, handle, map_ = session.race, tab.map.start.handle, tab.map.survey.map
    assert map_ is not None
    before = {key: drawn(tab, key) for key in race.runs}
    x, y = map_.drawn_at((8, 12))
    handle.receive({"at": [x, y], "ended": False})
    assert tab.map.start.held
    assert handle.hint == "Let go to start here"
    tab.tick(1.0)
    assert session.race is race
    assert {key: drawn(tab, key) for key in race.runs} == before
    handle.receive({"at": [x, y], "ended": True})
    assert not tab.map.start.held
    assert not handle.hint
    tab.close()


@pytest.mark.parametrize(("m", "solvers"), [(3, ("silp", "spg")), (8, ("level", "simplemkl"))])
def test_the_browser_is_told_a_small_problem_and_where_weights_lie_on_the_map(m: int, solvers: tuple[str, ...]) -> None:
    session, tab = ready(m, solvers)
    told: list[dict[str, Any]] = []
    handle, map_, before = tab.map.start.handle, tab.map.survey.map, drawn(tab, solvers[0])
    handle.send = told.append
    assert map_ is not None
    x, y = map_.drawn_at((8, 12))
    handle.receive({"at": [x, y], "ended": False})
    [paths] = told
    assert [(run["key"], run["solver"]) for run in paths["runs"]] == [(name, name) for name in solvers]
    assert len(paths["problem"]["kernels"]) == m == len(paths["names"])
    A, a, B, b = map(np.array, paths["flat"])
    weights = Simplex().project(B @ [x, y] + b)
    assert weights == pytest.approx(map_.weights_near(x, y))
    assert A @ weights + a == pytest.approx(map_.position(weights))
    assert drawn(tab, solvers[0]) == before
    tab.map.start.lie(map_, "another figure")
    assert told[1:] == [{}]
    handle.receive({"at": [x, y], "ended": True})
    until(tab, lambda: session.race.traces[solvers[0]][0].weights == pytest.approx(weights), "the race from there")
    tab.close()


def test_let_go_the_handle_begins_a_race_there_and_undo_leads_back() -> None:
    session, tab = ready()
    first, figure = session.race, tab.map.figure
    map_ = tab.map.survey.map
    assert map_ is not None
    x, y = map_.drawn_at((8, 12))
    tab.map.start.handle.receive({"at": [x, y], "ended": True})
    until(tab, lambda: session.race is not first and session.race.finished, "the race from there")
    second = session.race
    assert all(trace[0].weights == pytest.approx(map_.weights_at((8, 12))) for trace in second.traces.values())
    until(tab, lambda: np.array(drawn(tab, "silp")[0]) == pytest.approx(np.array([x, y])), "its paths")
    assert tab.map.figure is figure  # what is dragged lies on it
    assert tab.map.survey.map is map_
    assert len(tab.map.start.ghosts) == 1
    tab.map.start.clear_ghosts()
    assert not tab.map.start.ghosts
    tab.map.start.undo()
    assert session.race is first
    until(tab, lambda: len(drawn(tab, "spg")) == len(first.traces["spg"]), "the paths of before")
    tab.close()


def test_a_race_that_goes_on_or_is_somebody_elses_has_no_handle() -> None:
    race = Race(few(3), ("level", "spg"), rules=(MaxIter(8),))
    race.step(2)
    wait_for(lambda: min(len(trace) for trace in race.traces.values()) >= 2, "two steps")
    session, tab = Session(follows=True), Geometry()
    session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
    tab.follow(session)
    until(tab, lambda: tab.map.survey.map is not None, "the map")
    assert tab.map.start.handle.place == []
    race.start()
    race.wait()
    tab.tick(2.0)
    tab.tick(3.0)
    assert tab.map.start.handle.place == []
    tab.close()


def test_where_weights_follow_from_functions_there_is_no_handle() -> None:
    posed = few(3)
    session, tab = opened(Problem(posed.bank, posed.y, posed.loss, LpBall(2.0)), "spg")
    until(tab, lambda: tab.map.survey.stage >= 0, "the map")
    assert session.race.finished
    assert tab.map.start.handle.place == []
    tab.close()


@pytest.mark.parametrize(
    "message", [None, {}, {"at": [1]}, {"at": ["1", 2]}, {"at": [float("nan"), 0]}, {"at": [10**400, 0]}]
)
def test_what_no_browser_tells_moves_nothing(message: object) -> None:
    session, tab = ready()
    race = session.race
    tab.map.start.handle.receive(message)
    assert session.race is race
    assert not tab.map.start.held
    tab.close()


def test_the_end_of_a_session_changes_nothing_of_a_handle_whose_page_is_gone() -> None:
    _, tab = opened(few(3))
    until(tab, lambda: tab.map.start.handle.place, "the handle")
    changed: list[str] = []
    handle = tab.map.start.handle
    handle.param.watch(lambda *events: changed.extend(event.name for event in events), list(handle.param))
    tab.close()
    assert changed == []
