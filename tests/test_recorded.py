"""Every race is in the store without being asked, with its scores, and opens on the dashboard and goes on there."""

import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from _problems import problem, ran
from _stores import growing, recorded_race, unfinished
from _ticks import follow
from _waits import wait_for

import mklviz as mv
from mklviz.cli import main
from mklviz.engine import Race, make_solver
from mklviz.engine.kinds import ProblemFacts
from mklviz.engine.race import BRANCH_DASH
from mklviz.engine.task import Helpers
from mklviz.errors import MklvizError, ProblemError, UnsupportedProblem
from mklviz.recipe import Recipe, SolverChoice
from mklviz.recipe.recorded import RecordedRace, head_for, left_of
from mklviz.record import Trace
from mklviz.record.store import Owner, Store, open_store, reset
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.race.race_view import PAGE_CLOSED
from mklviz.views.session.launcher import begin_at, branch_at
from mklviz.views.session.session import Session
from mklviz.views.tabs import tab_classes

RECIPE = Recipe().changed(
    source="two_moons", solvers=[SolverChoice("silp"), SolverChoice("level")], gap=1e-12, max_iter=12
)
WAIT = 120.0


def begun(recipe: Recipe) -> tuple[Race, RecordedRace]:
    """Return the race of a recipe before its first step, and what records it."""
    prepared = recipe.prepare()
    race = recipe.race(prepared)
    return race, RecordedRace(race, head_for(recipe, "command line"), prepared)


def raced(recipe: Recipe = RECIPE) -> tuple[Race, RecordedRace]:
    race, recorded = begun(recipe)
    race.start()
    recorded.wait(WAIT)
    return race, recorded


def test_a_race_is_found_with_its_recipe_and_its_scores_and_no_thread_stays_behind_it(store: Store) -> None:
    before = set(threading.enumerate())
    race, recorded = raced()
    assert not [thread for thread in {*threading.enumerate()} - before if thread.name == "mklviz-recorded"]
    found, scored = {run.key: run for run in store.runs(f"race:{recorded.race}")}, RECIPE.prepare()
    assert set(found) == {"silp", "level"}
    for key, run in found.items():
        trace = race.traces[key]
        assert Recipe.from_json(run.recipe) == RECIPE
        assert (run.words, run.data, run.made_by) == (RECIPE.to_words(), "Two moons", "command line")
        assert (run.status, run.reason) == (trace.status, trace.reason)
        assert run.results["score"] == scored.score(trace.best)
        assert run.results["score_label"] == "test accuracy"


def test_a_script_s_race_is_kept_and_read_again_step_by_step(store: Store) -> None:
    race = mv.race(problem("blobs, C = 1"), ["level", "spg"], max_iter=8)
    runs = mv.runs("made:script", order="created")
    assert [run.key for run in runs] == ["level", "spg"]
    for run in runs:
        np.testing.assert_array_equal(run.trace.objective, race.traces[run.key].objective)
        assert run.status == race.traces[run.key].status
    assert list(runs.to_frame()["solver"]) == ["level", "spg"]
    assert "Level" in runs._repr_html_()
    assert set(runs.traces) == {run.id for run in runs}
    assert len(mv.runs("solver:level")) == 1
    assert repr(mv.runs("no such word")) == "StoredRuns(0 runs)"


def test_where_runs_are_not_kept_a_race_goes_on_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", "none")
    race, recorded = raced()
    race.wait(WAIT)
    assert race.finished
    assert (recorded.ids, len(mv.runs())) == ({}, 0)


def test_of_data_of_one_s_own_only_a_digest_and_their_file_s_name_are_kept(store: Store, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{x:.17g},{y:.17g},{int(x + y > 0)}" for x, y in rng.standard_normal((60, 2))]
    (tmp_path / "patients.csv").write_text("\n".join(["width,height,ill", *rows]))
    own = mv.read_dataset(tmp_path / "patients.csv")
    recipe = RECIPE.on(own).changed(solvers=[SolverChoice("level")])
    _, recorded = raced(recipe)
    (run,) = store.runs(f"race:{recorded.race}")
    assert run.data == run.name == "patients"
    for path in (store.folder / "runs" / run.id).iterdir():
        content = path.read_bytes()
        assert own.X[0].tobytes() not in content
    with pytest.raises(ProblemError, match="an uploaded file"):
        mv.resume(run.id)
    with pytest.raises(ProblemError, match="another digest"):
        mv.resume(run.id, data=mv.load_dataset("two_moons"))
    assert mv.resume(run.id, data=own).finished


def cut_off(store: Store, solver: str = "silp", steps: int = 6, **options: float) -> tuple[str, mv.Trace]:
    """A run in the store that was left in the middle."""
    race, recorded = begun(RECIPE.changed(solvers=[SolverChoice(solver, options)]))
    trace = race.traces[solver]
    if steps:
        race.step(steps)
        wait_for(lambda: len(trace) >= steps and race.status == "paused")
    recorded._recording.close()
    return recorded.ids[solver], trace


def test_a_run_that_was_cut_off_goes_on_as_a_branch_of_its_race_by_its_solver_or_another_that_can(store: Store) -> None:
    run_id, before = cut_off(store)
    (run,) = mv.runs(f"run:{run_id}")
    assert run.status == "cut off"
    race = mv.resume(run)
    (key,) = race.traces
    trace = race.traces[key]
    assert key == f"SILP from step {before.best_index} of SILP"
    assert (trace.origin.label, trace.origin.step) == ("SILP", before.best_index)
    assert trace[0].svm_solves == before[before.best_index].svm_solves
    np.testing.assert_allclose(trace[0].weights, before.best.weights, rtol=1e-12)  # they are made to sum to one again
    assert trace.gap[0] <= before.gap[-1] * (1 + 1e-9)  # what had been proved stays proved
    assert trace.seconds[0] >= before.seconds[before.best_index]
    assert Recipe.from_json(trace.recipe).problem == RECIPE.problem
    again = store.runs(f"race:{run.race}")
    assert {other.key for other in again} == {"silp", key}
    twice = mv.resume(run)
    assert list(twice.traces) == [f"{key}, 2"]
    trace = next(iter(mv.resume(run_id, "spg").traces.values()))
    assert (trace.solver, trace.first_step) == ("spg", before.best_index)
    with pytest.raises(UnsupportedProblem, match="always begins at the zero function"):
        mv.resume(run_id, "ufo")


def test_the_run_of_a_recipe_that_was_left_is_found_whatever_its_stop_rules(store: Store) -> None:
    asked = RECIPE.changed(gap=1e-3)
    assert left_of(store, asked) is None
    run_id, _ = cut_off(store)
    cut_off(store, steps=0)
    for solver in (None, SolverChoice("silp")):
        assert left_of(store, asked, solver).id == run_id
    assert left_of(store, asked, SolverChoice("level")) is None
    for other in (asked.changed(loss=mv.Hinge(7.0)), asked.changed(seed=1)):
        assert left_of(store, other, None) is None
    mv.resume(run_id)
    assert left_of(store, asked) is None  # it has ended since
    trace = growing(solver="silp")
    trace.recipe = asked.to_json()
    unfinished(store.folder, trace, seen=time.time())
    reset()
    with pytest.raises(MklvizError, match="is going on, or its process ended less than 30 s ago"):
        left_of(open_store(), asked)


def test_the_command_line_goes_on_with_the_same_options_and_the_threads_that_are_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = cut_off(store, "level", lam=0.5)
    assert left_of(store, RECIPE, SolverChoice("level")) is None
    helpers, kept = Mock(wraps=Helpers), list[int]()
    monkeypatch.setattr("mklviz.engine.run.Helpers", helpers)
    monkeypatch.setattr("mklviz.cli.race.warm_up", lambda *_: kept.append(len(store.runs())))
    assert main(["run", "--data", "two_moons", "--resume", "--threads", "2"]) == 0
    again = store.runs()[0]
    assert kept == [1]  # a run that is killed while its solver is compiled leaves nothing
    assert again.label == f"Level from step {before.best_index} of Level"
    assert Recipe.from_json(again.recipe).solvers == (SolverChoice("level", {"lam": 0.5}),)
    assert [call.args[0] for call in helpers.call_args_list] == [2]


def test_a_race_without_a_recipe_is_gone_on_from_by_its_problem(store: Store) -> None:
    mv.race(problem("blobs, C = 1"), ["level"], gap=None, max_iter=5)
    (run,) = mv.runs()
    with pytest.raises(MklvizError, match="recorded without its data"):
        mv.resume(run)
    with pytest.raises(MklvizError, match="cannot go on here"):
        Race.going_on(RECIPE.prepare().problem, run.trace, make_solver("level"))
    race = Race.going_on(problem("blobs, C = 1"), run.trace, make_solver("level"))
    (only,) = race.runs.values()
    assert only.solver.dash == BRANCH_DASH


def test_the_dashboard_s_races_and_branches_are_one_race_of_the_page_s_owner(store: Store) -> None:
    session = Session(owner=Owner("somebody"))
    prepared = RECIPE.prepare()
    race = RECIPE.race(prepared)
    session.show(RECIPE, prepared, race)
    ran(race)
    assert branch_at(session, "silp", 3, make_solver("spg")) == ""
    session.race.wait(WAIT)
    session.recorded.wait(WAIT)
    found = store.of(Owner("somebody")).runs()
    assert {run.race for run in found} == {session.recorded.race}
    assert {run.key for run in found} == {"silp", "level", "SPG from step 3 of SILP"}
    assert {run.made_by for run in found} == {"dashboard"}
    assert all("score" in run.results for run in found)
    assert store.of(Owner("another")).runs() == []


def test_a_race_whose_page_is_closed_says_so_and_stays(store: Store) -> None:
    session, prepared = Session(), RECIPE.prepare()
    race = RECIPE.race(prepared)
    session.show(RECIPE, prepared, race)
    race.step(2)
    wait_for(lambda: race.status == "paused")
    race.cancel(PAGE_CLOSED)
    session.recorded.wait(WAIT)
    assert {(run.status, run.reason) for run in store.runs()} == {("stopped", PAGE_CLOSED)}


SHORT = RECIPE.changed(gap=Recipe().stop.gap, max_iter=4)


@pytest.fixture
def explorer(store: Store) -> Explorer:
    found = Explorer()
    found.run_panel.pace.value = 0.0
    return found


def opened(explorer: Explorer, store: Store) -> str:
    """Open a race that another program has recorded; return its key."""
    key = recorded_race(store, SHORT)
    assert explorer.open_race(store.traces(key), key) == ""
    assert explorer.state == "preparing"
    follow(explorer, lambda: explorer.state == "finished")
    return key


def test_a_race_of_the_past_opens_in_the_tabs_and_is_not_recorded_again(explorer: Explorer, store: Store) -> None:
    key = opened(explorer, store)
    before = store.traces(key)
    assert explorer.alert.visible is False
    assert explorer.sidebar.recipe == explorer.session.recipe == SHORT
    for name, trace in explorer.race_view.race.traces.items():
        np.testing.assert_array_equal(trace.weights, before[name].weights)
    assert {run.race for run in store.runs()} == {key}
    assert len(store.runs()) == 2


@pytest.mark.full
def test_a_branch_of_a_race_of_the_past_joins_it_in_the_store(explorer: Explorer, store: Store) -> None:
    key = opened(explorer, store)
    for run, step, solver in (("silp", 2, "spg"), ("level", 1, "silp")):
        assert branch_at(explorer.session, run, step, make_solver(solver)) == ""
        follow(explorer, lambda: explorer.state == "finished" and len(store.runs("status:running")) == 0)
    assert {run.race for run in store.runs()} == {key}
    branches = {"SPG from step 2 of SILP", "SILP from step 1 of Level"}
    assert sorted(run.key for run in store.runs()) == sorted({"silp", "level"} | branches)
    assert set(store.traces(key)) == {"silp", "level"} | branches


@pytest.mark.full
def test_a_race_is_repeated_by_the_controls_and_gives_the_same_steps_and_opened_only_where_none_goes_on(
    explorer: Explorer, store: Store
) -> None:
    key, turned = recorded_race(store, SHORT), list[bool]()
    explorer.turn_to_tabs = lambda: turned.append(True)
    assert explorer.repeat(SHORT) == ""
    assert turned == [True]
    follow(explorer, lambda: explorer.state == "finished")
    for name, trace in store.traces(key).items():
        np.testing.assert_array_equal(explorer.session.traces[name].weights, trace.weights)
    explorer.reset()
    explorer.run(steps=1)
    assert "A race is going on" in explorer.open_race(store.traces(key), key)
    assert "A race is going on" in explorer.repeat(SHORT)
    follow(explorer, lambda: explorer.state == "paused")
    explorer.stop()
    follow(explorer, lambda: explorer.state == "finished")


@pytest.mark.full
def test_a_race_whose_data_are_missing_opens_in_the_tabs_which_show_what_its_steps_say(explorer: Explorer) -> None:
    prepared = SHORT.prepare()
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
    own = SHORT.on(mv.read_dataset(file))
    stored = Recipe.from_json(own.to_json())  # which knows the digest alone
    assert "open that file under Data" in explorer.repeat(stored)
    assert explorer.state == "empty"
    assert "nothing to show" in explorer.open_race({"silp": Trace("silp", "SILP")}, "")
    traces = mv.race(SHORT.prepare().problem, ["silp"], max_iter=4).traces
    traces["silp"].recipe = stored.to_json()
    assert explorer.open_race(traces, "") == ""
    assert "open that file under Data" in explorer.session.missing


@pytest.mark.parametrize("regularizer", [mv.Simplex(), mv.L1Penalty(1.0)], ids=lambda each: each.name_)
def test_steps_tell_what_their_problem_says_without_its_data(regularizer: Any) -> None:
    problem = SHORT.changed(regularizer=regularizer).prepare().problem
    known = ProblemFacts.of(problem)
    told = ProblemFacts.recorded(mv.race(problem, ["spg"], max_iter=4).traces.values())
    assert list(told.names) == list(known.names)
    for name in ("m", "noun", "no_bound", "signed", "on_simplex"):
        assert getattr(told, name) == getattr(known, name)
    outside = np.linspace(-1.0, 2.0, known.m)
    # one formula, or one clipping
    np.testing.assert_allclose(told.project(outside), known.project(outside), atol=1e-15)
