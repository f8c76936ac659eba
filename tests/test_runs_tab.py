"""Races that have ended are kept, named, shown again and laid over each other; files of runs open as well."""

from __future__ import annotations

import asyncio
import html
import io
import json
import re
from functools import cache
from typing import Any

import panel as pn
import pytest

from mklviz.engine import Race
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record.bundle import write_bundle
from mklviz.views.form import Checkbox
from mklviz.views.session import race_history
from mklviz.views.session.race_history import RaceHistory, overlaid
from mklviz.views.session.session import Session
from mklviz.views.tabs.runs import Runs

RECIPE = Recipe(DataChoice("liver"), solvers=[SolverChoice("spg"), SolverChoice("level")], stop=StopChoice(1e-3))


@cache
def raced(C: float = 100.0, seed: int = 0) -> Race:
    recipe = RECIPE.changed(loss=RECIPE.problem.loss.__class__(C), seed=seed)
    race = recipe.race(recipe.prepare())
    race.start()
    race.wait()
    return race


def at_the_tab(*races: Race) -> tuple[Session, Runs]:
    session, tab = Session(), Runs()
    for race in races:
        session.race_history.add("Liver", race.traces)
    tab.follow(session)
    return session, tab


def boxes(tab: Runs) -> list[Checkbox]:
    return [part for part in tab.list.every() if isinstance(part, Checkbox)]


def tick_boxes(tab: Runs, *values: bool) -> None:
    for box, value in zip(boxes(tab), values, strict=True):
        box.value = value


def numbers(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    told: dict[str, Any] = json.loads(found[1])
    return told


def test_races_are_kept_once_and_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = RaceHistory()
    first = kept.add("Liver", raced().traces)
    assert first is not None
    assert first.summary.startswith("SPG, Level · ")
    assert kept.add("Liver", raced().traces) is None
    assert kept.add("Liver", {}) is None
    second = RaceHistory().add("Liver", raced(seed=1).traces)
    assert second is not None
    monkeypatch.setattr(race_history, "MOST_BYTES", first.size + second.size - 1)
    assert kept.add("Liver", raced(seed=1).traces) is not None
    assert [race.name for race in kept.races] == ["2. Liver"]
    monkeypatch.setattr(race_history, "MOST_BYTES", 10)
    assert kept.add("Liver", raced(C=1.0).traces) is None


def test_a_race_is_shown_again_with_all_its_steps() -> None:
    _, tab = at_the_tab(raced(), raced(C=1.0))
    assert tab.button.disabled
    tick_boxes(tab, False, True)
    assert not tab.button.disabled
    asyncio.run(tab.show())
    runs = numbers(tab.shown_page)["runs"]
    assert [run["label"] for run in runs] == ["SPG", "Level"]
    assert runs[0]["iteration"][-1] == len(raced(C=1.0).traces["spg"]) - 1
    (frame,) = [pane.object for pane in tab.root.select(pn.pane.HTML) if "<iframe" in pane.object]
    assert 'sandbox="allow-scripts"' in frame
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == tab.shown_page  # type: ignore[index]


def test_a_branch_is_named_in_the_row_of_the_race_it_was_added_to() -> None:
    race = raced()
    session, tab = at_the_tab(race)
    grown = race.branch("spg", 1, "level")
    grown.start()
    assert grown.wait(60)
    session.race_history.add("Liver", grown.traces)
    tab.tick(0.0)
    (box,) = boxes(tab)
    assert "Level from step 1 of SPG" in box.label


def test_two_races_on_one_problem_lie_over_each_other() -> None:
    again = RECIPE.race(RECIPE.prepare())
    again.start()
    assert again.wait(60)
    _, tab = at_the_tab(raced(), again)
    tick_boxes(tab, True, True)
    asyncio.run(tab.show())
    labels = ["SPG (1. Liver)", "Level (1. Liver)", "SPG (2. Liver)", "Level (2. Liver)"]
    runs = numbers(tab.shown_page)["runs"]
    assert [run["label"] for run in runs] == labels
    assert runs[0]["dash"] != runs[2]["dash"]  # of one colour, and told apart


@pytest.mark.parametrize(("other", "why"), [({"C": 1.0}, "different problems"), ({"seed": 1}, "differ in data, split")])
def test_races_on_two_problems_are_refused_in_a_sentence(other: dict[str, Any], why: str) -> None:
    _, tab = at_the_tab(raced(), raced(**other))
    tick_boxes(tab, True, True)
    asyncio.run(tab.show())
    assert why in tab.trouble.object
    assert tab.shown_page == ""


def test_names_can_be_given_and_races_forgotten() -> None:
    session, tab = at_the_tab(raced(), raced(C=1.0))
    name, _, _, forget = tab.list.objects[0].objects
    name.answer({"value": "  by night "})
    assert overlaid(session.race_history.races)  # of both
    assert session.race_history.races[0].name == "by night"
    forget.answer({"click": True})
    tab.tick(0.0)
    assert len(tab.list.objects) == len(session.race_history.races) == 1


def test_a_file_of_runs_opens_and_another_is_refused() -> None:
    session, tab = at_the_tab()
    file = io.BytesIO()
    write_bundle(raced().traces, file)
    asyncio.run(tab.receive(file.getvalue(), "runs.zip", len(file.getvalue())))
    assert [kept.name for kept in session.race_history.races] == ["1. runs.zip"]
    assert [run["key"] for run in numbers(tab.shown_page)["runs"]] == ["spg", "level"]
    for content, why in ((b"nothing", "is no file of runs"), (b"", "are read")):
        asyncio.run(tab.receive(content, "other.zip", len(content)))
        assert why in tab.trouble.object
    assert len(session.race_history.races) == 1
