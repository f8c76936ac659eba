"""What stands over the curves of a race: pinned races in grey behind it, and the cursor that is dragged."""

import math
from functools import cache
from time import monotonic

import pytest
from _problems import problem, ran
from _ticks import shown as shown_by
from _waits import wait_for

from mklviz.engine import Race, solve
from mklviz.problem import Hinge
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record.store import EVERYBODY
from mklviz.views.explorer.shell import Shell
from mklviz.views.race.components import CursorDrag, step_near
from mklviz.views.session.session import MOST_PINNED, KeptRace, Session
from mklviz.views.tabs.race import RaceTab
from mklviz.views.tabs.runs import Runs

RECIPE = Recipe(DataChoice("two_moons"), solvers=[SolverChoice("spg"), SolverChoice("level")], stop=StopChoice(1e-3))


@cache
def raced(C: float = 100.0, count: int = 0) -> tuple[Session, Race]:
    """Return a session with a race that has ended; one more for every `count`."""
    recipe = RECIPE.changed(loss=Hinge(C))
    prepared = recipe.prepare()
    race = ran(recipe.race(prepared))
    return shown_by(race, recipe, prepared), race


def kept(C: float = 100.0) -> KeptRace:
    return KeptRace("1. Moons", raced(C)[1].traces)


def shown(C: float = 100.0, count: int = 1) -> tuple[Session, RaceTab]:
    """Return a page that shows a race."""
    session = Session()
    shell = Shell(session)
    session.take(raced(C, count)[0])
    return session, shell.tabs[RaceTab]


def grey(tab: RaceTab) -> dict[str, tuple[list[float], list[float]]]:
    """Return objectives and gaps of the grey lines by what a person reads of them."""
    charts = tab.view.charts
    lines = {id(line): line for plot in (charts.objective, charts.gap) for line in plot.renderers}
    assert all(id(line) in lines for line in charts.pinned)
    assert {line.level for line in charts.pinned} <= {"underlay"}
    found = {line.name: line.data_source.data for line in charts.pinned}
    return {name: (list(data["objective"]), list(data["gap"])) for name, data in found.items()}


@pytest.mark.full
def test_it_stays_when_the_page_is_reset_and_when_another_race_is_drawn_in_the_figures_that_stand() -> None:
    session, tab = shown()
    session.pin(kept())
    charts = tab.view.charts
    session.clear()
    session.take(raced(count=2)[0])
    assert tab.view.charts is charts
    assert len(grey(tab)) == 2
    tab.view.log_y = False
    assert tab.view.charts is charts
    assert len(grey(tab)) == 2


@pytest.mark.full
def test_of_another_problem_the_gap_alone_is_drawn() -> None:
    session, tab = shown(C=1.0)
    session.pin(kept())
    for objectives, gaps in grey(tab).values():
        assert all(map(math.isnan, objectives))
        assert any(map(math.isfinite, gaps))
    assert [item["apart"] for item in tab.view.chips.pinned] == [True]


@pytest.mark.full
def test_races_are_pinned_and_taken_off_in_the_tab_runs_and_not_more_than_a_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", "none")
    session, tab = Session(owner=EVERYBODY), Runs()
    for count in range(MOST_PINNED + 1):
        session.race_history.add("Moons", raced(100.0 + count)[1].traces)
    tab.follow(session)
    wait_for(lambda: tab.list.total, "the races", lambda: tab.tick(monotonic()))
    tab.order_by.value = "by name"
    keys = [race.id for race in sorted(tab.listed.listing.races, key=lambda race: race.name)]
    for key in keys:
        tab.list.chosen = [key]
        tab.behind.answer({"click": True})
    assert [race.name for race in session.pinned] == ["1. Moons", "2. Moons", "3. Moons"]
    assert tab.trouble.object == f"{MOST_PINNED} races are pinned already: take one of them off first."
    tab.list.chosen = keys[:1]
    tab.behind.answer({"click": True})
    assert [race.name for race in session.pinned] == ["2. Moons", "3. Moons"]


def test_the_nearest_step_is_found_on_each_axis() -> None:
    trace = solve(problem("blobs, C = 1"), "level", max_iter=6, gap=None)
    for place, step in ((2.4, 2), (-5.0, 0), (1e9, trace.last_step)):
        assert step_near([trace], "iteration", place) == step
    assert step_near([trace], "svm_solves", float(trace.svm_solves[3])) == 3
    assert trace.seconds[step_near([trace], "seconds", float(trace.seconds[4]))] == trace.seconds[4]
    assert step_near([], "seconds", 1.0) is None


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        ({"x": [3.5], "line": [-1]}, [(3.5, -1)]),
        ({"x": [3.5], "line": [1]}, [(3.5, 1)]),
        ({"x": [3.5]}, []),
        ({"x": ["a"], "line": [0]}, []),
        ({"x": [float("nan")], "line": [0]}, []),
        ({"x": [1, 2], "line": [0, 0]}, []),
    ],
)
def test_a_place_is_handed_on_and_answered_whatever_it_is(
    told: dict[str, list[object]], heard: list[tuple[float, int]]
) -> None:
    drag, places = CursorDrag(), list[tuple[float, int]]()
    drag.on_place = lambda place, line: places.append((place, line))
    drag.dragged.asked.data = told
    assert places == heard
    assert drag.dragged.answered.data["count"] == [1]
