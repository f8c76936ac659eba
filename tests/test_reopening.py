"""A race of the past on the dashboard: it opens in all tabs, is repeated, and what goes on from it joins it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _stores import recorded_race
from _ticks import follow

import mklviz as mv
from mklviz.engine import make_solver
from mklviz.engine.kinds import ProblemFacts
from mklviz.errors import UnsupportedProblem
from mklviz.recipe import Recipe, SolverChoice
from mklviz.record import Trace
from mklviz.record.store import Store
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.session.launcher import begin_at, branch_at
from mklviz.views.tabs import tab_classes

RECIPE = Recipe().changed(source="two_moons", solvers=[SolverChoice("silp"), SolverChoice("level")], max_iter=4)


@pytest.fixture
def explorer(store: Store, monkeypatch: pytest.MonkeyPatch) -> Explorer:
    monkeypatch.setenv("MKLVIZ_STORE", str(store.folder))
    found = Explorer()
    found.run_panel.pace.value = 0.0
    return found


def opened(explorer: Explorer, store: Store) -> str:
    """Open a race that another program has recorded; return its key."""
    key = recorded_race(store, RECIPE)
    assert explorer.open_race(store.traces(key), key) == ""
    assert explorer.state == "preparing"
    follow(explorer, lambda: explorer.state == "finished")
    return key


def test_a_race_of_the_past_opens_in_the_tabs_and_is_not_recorded_again(explorer: Explorer, store: Store) -> None:
    key = opened(explorer, store)
    before = store.traces(key)
    assert explorer.alert.visible is False
    assert explorer.sidebar.recipe == explorer.session.recipe == RECIPE
    for name, trace in explorer.race_view.race.traces.items():
        np.testing.assert_array_equal(trace.weights, before[name].weights)
    assert {run.race for run in store.runs()} == {key}
    assert len(store.runs()) == 2


@pytest.mark.full
def test_a_branch_of_a_race_of_the_past_joins_it_in_the_store(explorer: Explorer, store: Store) -> None:
    key = opened(explorer, store)
    assert branch_at(explorer.session, "silp", 2, make_solver("spg")) == ""
    follow(explorer, lambda: explorer.state == "finished" and len(store.runs("status:running")) == 0)
    assert branch_at(explorer.session, "level", 1, make_solver("silp")) == ""
    follow(explorer, lambda: explorer.state == "finished" and len(store.runs("status:running")) == 0)
    assert {run.race for run in store.runs()} == {key}
    branches = {"SPG from step 2 of SILP", "SILP from step 1 of Level"}
    assert sorted(run.key for run in store.runs()) == sorted({"silp", "level"} | branches)
    assert set(store.traces(key)) == {"silp", "level"} | branches


@pytest.mark.full
def test_a_race_is_opened_and_repeated_only_where_none_goes_on(explorer: Explorer, store: Store) -> None:
    key = recorded_race(store, RECIPE)
    explorer.sidebar.load(RECIPE)
    explorer.run(steps=1)
    assert "A race is going on" in explorer.open_race(store.traces(key), key)
    assert "A race is going on" in explorer.repeat(RECIPE)
    follow(explorer, lambda: explorer.state == "paused")
    explorer.stop()
    follow(explorer, lambda: explorer.state == "finished")


@pytest.mark.full
def test_a_race_is_repeated_by_the_controls_and_gives_the_same_steps(explorer: Explorer, store: Store) -> None:
    key = recorded_race(store, RECIPE)
    turned: list[bool] = []
    explorer.turn_to_tabs = lambda: turned.append(True)
    assert explorer.repeat(RECIPE) == ""
    assert turned == [True]
    follow(explorer, lambda: explorer.state == "finished")
    for name, trace in store.traces(key).items():
        np.testing.assert_array_equal(explorer.session.traces[name].weights, trace.weights)


@pytest.mark.full
def test_a_race_whose_data_are_missing_opens_in_the_tabs_which_show_what_its_steps_say(explorer: Explorer) -> None:
    prepared = RECIPE.prepare()
    race = mv.race(prepared.problem, ["silp", "level"], max_iter=4)
    assert explorer.open_race(race.traces, "") == ""
    assert explorer.state == "finished"
    session, tabs = explorer.session, tab_classes()
    unable = [tab.title for tab in tabs if tab.supports(session) == session.missing]
    assert "recorded without its data" in session.missing
    assert unable == ["Your mix", "Model", "Knobs"]
    for title in explorer.shell.titles:
        explorer.shell.turn_to(title)
        follow(explorer, lambda: not explorer.alert.visible)
    assert session.traces == race.traces
    with pytest.raises(UnsupportedProblem, match="recorded without its data"):
        _ = session.race.problem
    assert session.missing in branch_at(session, "silp", 2, make_solver("spg"))
    assert session.missing in begin_at(session, race.traces["silp"].final.weights)
    explorer.session.cursor = 1
    explorer.reset()
    assert explorer.state == "empty"


def test_a_race_on_a_file_of_ones_own_is_shown_and_repeated_where_the_file_is_opened_again(
    explorer: Explorer, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("a,b,y\n" + "\n".join(f"{k % 7},{k % 5},{k % 2}" for k in range(30)))
    own = RECIPE.on(mv.read_dataset(file))
    stored = Recipe.from_json(own.to_json())  # which knows the digest alone
    assert "open that file under Data" in explorer.repeat(stored)
    assert explorer.state == "empty"
    assert "nothing to show" in explorer.open_race({"silp": Trace("silp", "SILP")}, "")
    traces = mv.race(RECIPE.prepare().problem, ["silp"], max_iter=4).traces
    traces["silp"].recipe = stored.to_json()
    assert explorer.open_race(traces, "") == ""
    assert "open that file under Data" in explorer.session.missing


@pytest.mark.parametrize("regularizer", [mv.Simplex(), mv.L1Penalty(1.0)], ids=lambda each: each.name_)
def test_steps_tell_what_their_problem_says_without_its_data(regularizer: Any) -> None:
    problem = RECIPE.changed(regularizer=regularizer).prepare().problem
    known = ProblemFacts.of(problem)
    told = ProblemFacts.recorded(mv.race(problem, ["spg"], max_iter=4).traces.values())
    assert list(told.names) == list(known.names)
    for name in ("m", "noun", "no_bound", "signed", "on_simplex"):
        assert getattr(told, name) == getattr(known, name)
    outside = np.linspace(-1.0, 2.0, known.m)
    # one formula, or one clipping
    np.testing.assert_allclose(told.project(outside), known.project(outside), atol=1e-15)
