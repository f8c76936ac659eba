"""A closed tab costs nothing for long, a lost connection loses nothing, and no session leaves anything behind."""

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing

import pytest
from _visits import Served, Visit, is_forgotten
from _waits import wait_for
from bokeh.events import DocumentReady

from mklviz.engine import Race
from mklviz.engine.scheduler import THREAD_PREFIX, Scheduler
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.host import page_session

pytestmark = pytest.mark.full

VISITS = 5
LONG = Recipe(
    data=DataChoice("heart"),
    solvers=(SolverChoice("silp"), SolverChoice("level")),
    stop=StopChoice(gap=1e-12, max_iter=100_000, max_seconds=1000.0),
)


def build() -> Explorer:
    """An explorer whose race, at this pace, outlasts every test."""
    explorer = Explorer()
    explorer.sidebar.load(LONG)
    explorer.run_panel.pace.value = 2.0  # steps per second
    return explorer


@pytest.fixture(autouse=True)
def others(one_worker: Scheduler) -> set[threading.Thread]:
    """Return the threads of races that other tests have left in this process; they serve none of this test's."""
    return workers()


@pytest.fixture
def served() -> Iterator[Served]:
    with closing(Served(build)) as server:
        yield server


def workers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)}


def running(visit: Visit) -> Race:
    """Start the race of a visitor and return it."""
    visit.do("run")
    wait_for(lambda: visit.explorer.race_view.race is not None)
    race = visit.explorer.race_view.race
    wait_for(lambda: min(len(trace) for trace in race.traces.values()) > 2)
    return race


def test_a_lost_connection_holds_the_solvers_and_its_return_lets_them_go_on(served: Served) -> None:
    visit = Visit(served)
    race = running(visit)
    visit.close()
    # five seconds by rule; the rest is for a machine with other things to do, such as other tests
    wait_for(lambda: {run.status for run in race.runs.values()} == {"paused"}, "the hold")
    held = [len(trace) for trace in race.traces.values()]
    back = Visit(served, visit.session)
    assert back.explorer.race_view.race is race
    wait_for(lambda: all(len(t) > n + 1 for t, n in zip(race.traces.values(), held, strict=True)))
    back.close()


def test_a_closed_tab_ends_its_solver_threads_and_its_race(served: Served, others: set[threading.Thread]) -> None:
    visit = Visit(served)
    race = running(visit)
    assert workers() - others
    visit.close()
    wait_for(lambda: not workers() - others, "the end of the threads")
    wait_for(lambda: race.finished)
    assert {run.status for run in race.runs.values()} == {"stopped"}
    wait_for(lambda: served.sessions == 0)


def test_one_closed_tab_does_not_touch_the_race_of_another(served: Served) -> None:
    leaves, stays = Visit(served), Visit(served)
    lost, kept = running(leaves), running(stays)
    leaves.close()
    wait_for(lambda: lost.finished)
    before = [len(trace) for trace in kept.traces.values()]
    wait_for(lambda: all(len(t) > n for t, n in zip(kept.traces.values(), before, strict=True)))
    assert {run.status for run in lost.runs.values()} == {"stopped"}
    assert {run.status for run in kept.runs.values()} == {"running"}
    stays.close()


def fetched(server: Served) -> None:
    """Fetch the page, as a browser does before it connects."""
    urllib.request.urlopen(f"http://127.0.0.1:{server.port}/explorer").read()


def test_a_page_is_kept_for_a_browser_that_stands_in_a_queue_and_as_long_as_one_looks_at_it() -> None:
    with closing(Served(build, lifetime=200, check=50)) as server:
        looks = Visit(server)
        fetched(server)
        time.sleep(2.0)  # ten times what a session without a connection has otherwise
        (session,) = (each for each in server._server.get_sessions() if each.id != looks.session)
        visit = Visit(server, session.id)
        visit._do(session.document, lambda: session.document.callbacks.trigger_event(DocumentReady()))
        assert len(server.explorers) == server.sessions == 2  # none was built once more
        visit.close()
        wait_for(lambda: server.sessions == 1)
        looks.close()
        wait_for(lambda: server.sessions == 0)


def test_a_page_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_session, "PATIENCE", 0.5)
    with closing(Served(build, lifetime=200, check=50)) as server:
        fetched(server)
        wait_for(lambda: server.sessions == 0)
        assert len(server.explorers) <= 1


def test_sessions_leave_nothing_behind(others: set[threading.Thread]) -> None:
    with closing(Served(build, lifetime=3000, check=500)) as server:  # longer than it takes to build a page
        server.settle()
        for count in range(VISITS):
            visit = Visit(server)
            if count % 3 == 0:
                visit.do("run")
            visit.close()
        del visit
        wait_for(lambda: is_forgotten(server))
        wait_for(lambda: not workers() - others)
