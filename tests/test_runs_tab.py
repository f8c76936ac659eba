"""Every race of the store is listed, found, named, opened in the tabs and repeated; files of runs go in and out."""

import asyncio
import io
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import Mock

import pytest
from _problems import ran
from _waits import wait_for
from bokeh.document import Document
from panel.io.state import set_curdoc

from mklviz.engine import Race
from mklviz.engine.race import ReopenedRace
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.record.bundle import write_bundle
from mklviz.record.store import EVERYBODY, RunHead, StoredRun, open_store
from mklviz.views.history.past_race import PastRace, races_of
from mklviz.views.session.session import RaceHistory, Session, shared_recipe
from mklviz.views.tabs.runs import Runs

pytestmark = pytest.mark.usefixtures("store")
RECIPE = Recipe(DataChoice("liver"), solvers=[SolverChoice("spg"), SolverChoice("level")], stop=StopChoice(1e-3))


@cache
def raced(C: float = 100.0, seed: int = 0) -> Race:
    recipe = RECIPE.changed(loss=RECIPE.problem.loss.__class__(C), seed=seed)
    return ran(recipe.race(recipe.prepare()))


def recorded(race: Race, **head: Any) -> str:
    """Record a race in the store; return its key."""
    recording = open_store().record(race.traces, RunHead(**{"data": "Liver", "name": "Liver", **head}))
    recording.finish()
    return recording.race


def until(tab: Runs, seen: Callable[[], object]) -> None:
    """Let the tab look for news until something is seen."""
    tab.look()
    wait_for(seen, "what the tab was to show", lambda: tab.tick(monotonic()))


def at_the_tab(races: int) -> tuple[Session, Runs]:
    session, tab = Session(owner=EVERYBODY), Runs()
    session.on_open, session.on_repeat = Mock(return_value=""), Mock(return_value="")
    tab.follow(session)
    until(tab, lambda: tab.list.total == races)
    return session, tab


def opened(session: Session) -> list[tuple[Recipe | None, Mapping[str, Trace], str]]:
    """Return the recipes, traces and keys of races that the dashboard was asked to open."""
    asked = [call.args for call in session.on_open.call_args_list]
    return [(shared_recipe(traces.values()), traces, stored) for traces, stored in asked]


def names(tab: Runs) -> list[str]:
    return [row["name"] for row in tab.list.rows(0)]


@pytest.mark.full
def test_races_of_a_session_are_kept_once_and_the_oldest_give_way() -> None:
    kept = RaceHistory()
    first = kept.add("Liver", raced().traces)
    assert first.summary.startswith("SPG, Level · ")
    assert kept.add("Liver", raced().traces) is None
    assert kept.add("Liver", {}) is None
    second = RaceHistory().add("Liver", raced(seed=1).traces)
    kept.most_bytes = first.size + second.size - 1
    assert kept.add("Liver", raced(seed=1).traces) is not None
    assert [race.name for race in kept.races] == ["2. Liver"]
    kept.most_bytes = 10
    assert kept.add("Liver", raced(C=1.0).traces) is None


def test_a_row_says_solvers_and_what_came_of_the_race_in_a_search_for_one_solver_too() -> None:
    recorded(raced(), words="data=liver", lesson="a lesson of yore")
    _, tab = at_the_tab(1)
    (row,) = tab.list.rows(0)
    assert [label for label, _ in row["solvers"]] == ["SPG", "Level"]
    best = min(float(trace.gap[-1]) for trace in raced().traces.values())
    assert best < 1e-3
    assert row["result"].startswith("gap 0.0")
    assert "SVM solves" in row["result"]
    assert (row["words"], row["lesson"], row["state"]) == ("data=liver", "a lesson of yore", "")
    tab.search.value = "solver:level"
    until(tab, lambda: len(tab.listed.listing.races) == 1 and not tab.search.helper_text)
    assert [run.solver for run in tab.listed.listing.races[0].runs] == ["spg", "level"]


def test_a_search_filters_and_a_wrong_condition_is_told_beside_the_field() -> None:
    recorded(raced(), name="one", words="C=100")
    recorded(raced(C=1.0), name="other", words="C=1", lesson="jumping-weights")
    _, tab = at_the_tab(2)
    tab.search.value = "other"
    until(tab, lambda: names(tab) == ["other"])
    tab.search.value = "gap<much"
    until(tab, lambda: tab.search.helper_text)
    assert "is no number" in tab.search.helper_text
    tab.search.value = ""
    tab.lesson.value = "jumping-weights"
    until(tab, lambda: names(tab) == ["other"])
    assert tab.search.helper_text == ""
    tab.lesson.value, tab.order_by.value = "", "by name"
    until(tab, lambda: names(tab) == ["one", "other"])


def test_a_stored_race_opens_as_if_it_had_just_ended() -> None:
    key = recorded(raced())
    session, tab = at_the_tab(1)
    tab.list.chosen = [key]
    asyncio.run(tab.show())
    ((recipe, traces, stored),) = opened(session)
    assert (recipe, stored) == (RECIPE, key)
    race = ReopenedRace(RECIPE.prepare().problem, traces, stored=stored)
    assert race.status == "finished"
    for name, trace in raced().traces.items():
        assert race.traces[name].weights == pytest.approx(trace.weights)
        assert race.runs[name].reason == trace.reason
    branch = ran(race.branch("spg", 1, "level"))
    assert [run.status for run in branch.runs.values()] == ["converged"] * 3


def test_two_races_on_one_problem_open_over_each_other_and_on_two_problems_are_refused() -> None:
    keys = [recorded(raced()), recorded(raced())]
    other = recorded(raced(C=1.0))
    session, tab = at_the_tab(3)
    tab.list.chosen = keys
    asyncio.run(tab.show())
    ((_, traces, _),) = opened(session)
    assert list(traces) == ["SPG (Liver 1)", "Level (Liver 1)", "SPG (Liver 2)", "Level (Liver 2)"]
    tab.list.chosen = [keys[0], other]
    asyncio.run(tab.show())
    assert "different problems" in tab.trouble.object
    assert len(opened(session)) == 1


def test_a_race_without_a_recipe_opens_in_the_tabs_and_where_they_are_taken_a_sentence_says_so() -> None:
    race = ran(Race(RECIPE.prepare().problem, ["level"]))
    key = recorded(race)
    session, tab = at_the_tab(1)
    tab.list.chosen = [key]
    asyncio.run(tab.show())
    ((recipe, traces, stored),) = opened(session)
    assert (recipe, list(traces), stored) == (None, ["level"], key)
    session.on_open.return_value = "A race is going on."
    asyncio.run(tab.show())
    assert tab.trouble.object == "A race is going on."


def test_name_tags_and_note_are_kept_in_the_store_and_a_race_is_repeated_by_its_recipe() -> None:
    key = recorded(raced(seed=1))
    session, tab = at_the_tab(1)
    tab.list.chosen = [key]
    tab.repeat.answer({"click": True})
    session.on_repeat.assert_called_once_with(RECIPE.changed(seed=1))
    for field, text in (("name", "  by night "), ("tags", "thesis, chapter 3,,"), ("note", "as in the paper")):
        getattr(tab.words, field).answer({"value": text})
    tab.list.receive({"act": "pin", "id": key})
    run = open_store().runs()[0]
    assert (run.name, run.tags, run.note, run.pinned) == ("by night", ("thesis", "chapter 3"), "as in the paper", True)
    until(tab, lambda: names(tab) == ["by night"])


@pytest.mark.full
def test_a_deleted_race_comes_back_by_undo() -> None:
    key = recorded(raced())
    _, tab = at_the_tab(1)
    tab.list.chosen = [key]
    tab.delete.answer({"click": True})
    until(tab, lambda: tab.list.total == 0)
    assert open_store().runs() == []
    undo = next(part for part in tab.undo.every() if getattr(part, "label", "") == "Undo")
    undo.answer({"click": True})
    until(tab, lambda: tab.list.total == 1)


def test_a_file_of_runs_is_kept_and_opens_and_another_is_refused() -> None:
    session, tab = at_the_tab(0)
    file = io.BytesIO()
    write_bundle(raced().traces, file)
    asyncio.run(tab.receive(file.getvalue(), "runs.zip", len(file.getvalue())))
    assert sorted(run.solver for run in open_store().runs()) == ["level", "spg"]
    assert [sorted(traces) for _, traces, _ in opened(session)] == [["level", "spg"]]
    for content, why in ((b"nothing", "is not a file of runs"), (b"", "are read")):
        asyncio.run(tab.receive(content, "other.zip", len(content)))
        assert why in tab.trouble.object
    assert len(open_store().runs()) == 2


class Served(Document):
    """A document that a server shows."""

    session_context: Any = object()


def test_a_file_saved_in_python_changes_the_page_only_with_the_lock_of_its_document(tmp_path: Path) -> None:
    session, tab = at_the_tab(0)
    trace = raced().traces["spg"].snapshot()
    trace.recipe = ""  # as of a problem that was made in Python
    trace.save(tmp_path / "solve.mklrun.npz")
    content = (tmp_path / "solve.mklrun.npz").read_bytes()
    for file, seen in ((b"nothing", "is not a file of runs"), (content, "")):
        document = Served()
        with set_curdoc(document):
            asyncio.run(tab.receive(file, "solve.mklrun.npz", len(file)))
        assert opened(session) == []
        for callback in document.session_callbacks:
            callback.callback()
        assert seen in tab.trouble.object
    assert [(recipe, [*traces]) for recipe, traces, _ in opened(session)] == [(None, ["spg"])]


def test_without_a_store_the_races_of_the_session_are_listed() -> None:
    recorded(raced(), name="before")
    session, tab = Session(owner=EVERYBODY), Runs()
    tab.follow(session)
    tab.keep.answer({"value": False})
    assert not session.store.enabled
    assert open_store().enabled  # for all others
    session.race_history.add("Liver", raced(C=1.0).traces)
    tab.follow(session)
    until(tab, lambda: sorted(names(tab)) == ["1. Liver", "before"])


def test_runs_are_put_together_by_their_race_which_is_cut_off_where_one_of_them_is() -> None:
    runs = [StoredRun("b", race="r", created=2.0), StoredRun("a", race="r", created=1.0), StoredRun("c", created=3.0)]
    races = races_of(runs)
    assert {key: [run.id for run in race.runs] for key, race in races.items()} == {"r": ["a", "b"], "c": ["c"]}
    for states in (("converged", "cut off"), ("cut off", "failed"), ("stopped", "cut off")):
        race = PastRace("race", tuple(StoredRun(state, status=state) for state in states))
        assert (race.state, race.result) == ("cut off", "no steps")
    for what, text in (("test accuracy", "92.6 %"), ("test R²", "0.926")):
        run = StoredRun("one", steps=1, svm_solves=18, gap=0.0095, results={"score": 0.926, "score_label": what})
        assert PastRace("race", (run,)).result == f"gap 0.95 % · 18 SVM solves · {what} {text}"
