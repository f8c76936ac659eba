"""Nobody looks at empty axes while solvers are compiled: a recording of the race plays, marked, and counts nowhere."""

import asyncio
import math
from collections.abc import Iterator, Sequence

import pytest
from _ticks import follow, warm_up_by

from mklviz.engine.race import entered
from mklviz.engine.warmup import PREPARING, Warmup
from mklviz.problem import Problem
from mklviz.recipe import Recipe
from mklviz.record import FINAL
from mklviz.record.bundle import FOLDER, recording
from mklviz.scenarios import DEFAULT, load_scenario, scenarios
from mklviz.views.explorer.before_and_after import PLAYED, YOURS_FOLLOWS
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import Follower
from mklviz.views.host.panel_setup import configure
from mklviz.views.race.race_view import Playback, RaceView

NAMES = sorted(path.stem for path in FOLDER.glob("*.zip"))
MARK = ">Recording<"


class Cold(Warmup):
    """A warm-up in which everything is being compiled until `ready` names a solver."""

    ready = ""

    def __init__(self) -> None:
        super().__init__()
        self._started.acquire()

    def start(self) -> None:
        """It is under way."""

    def want(self, problem: Problem, solvers: Sequence[str]) -> None:
        """It goes on when the test says so."""

    def compiling(self, part: str) -> bool:
        return not self.ready and part != "banks"

    def held(self, problem: Problem, solver: str) -> str:
        return "" if solver == self.ready else PREPARING


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Cold:
    warmup = Cold()
    warm_up_by(monkeypatch, warmup)
    return warmup


@pytest.fixture
def explorer() -> Iterator[Explorer]:
    configure()
    made = Explorer()
    made.set_dark(False)
    yield made
    made.close()


def points(view: RaceView) -> dict[str, int]:
    return {key: len(feed.source.data["iteration"]) for key, feed in view.figures.readings.feeds.items()}


def marks(view: RaceView) -> set[bool]:
    return {MARK in str(pane.object) for pane in view.page.covers}


# what comes with the package


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_of_its_scenario_as_it_is_now(name: str) -> None:
    wanted = load_scenario(name).recipe
    runs = recording(name)
    assert list(runs) == list(entered([choice.make() for choice in wanted.solvers]))
    for trace in runs.values():
        assert Recipe.from_json(trace.recipe).same_race(wanted), "record it anew: python .ci/recordings.py"
        assert trace.status in FINAL
        assert trace.status not in ("failed", "stopped")
        assert trace.versions["mklviz"]
        assert math.isfinite(trace.gap[-1]) or wanted.kernels.combination == "product"
        assert len(trace.kernel_names) == len(trace.final.weights)


def test_the_race_that_a_page_opens_with_and_all_lessons_are_recorded_and_recordings_are_small() -> None:
    assert DEFAULT in NAMES
    assert set(NAMES) == {name for name, each in scenarios().items() if each.question is not None}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_100_000
    assert recording("half-a-million") == {}
    assert recording(DEFAULT)["silp"].motion.verdict == "oscillates"
    assert recording(DEFAULT)["level"].motion.verdict != "oscillates"


def test_a_damaged_recording_is_none(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.record.bundle.FOLDER", tmp_path)
    (tmp_path / "torn.zip").write_bytes((FOLDER / f"{DEFAULT}.zip").read_bytes()[:20_000])  # type: ignore[operator]
    assert recording("torn") == {}


# how it is played


def played(pace: float = 10.0) -> Playback:
    recipe = load_scenario(DEFAULT).recipe
    return Playback(DEFAULT, recipe, pace)


def test_a_recording_grows_at_the_pace_and_ends_as_it_did() -> None:
    playback = played()
    for now, steps in ((100.0, 1), (100.95, 10), (102.05, 21), (300.0, 121)):
        playback.advance(now)
        assert len(playback.drawn.traces["silp"]) == steps
    whole = recording(DEFAULT)
    assert playback.drawn.states() == [trace.status for trace in whole.values()]
    for key, trace in playback.drawn.traces.items():
        assert list(trace.gap) == list(whole[key].gap)


# on the page


@pytest.mark.full
def test_who_opens_a_page_during_compilation_sees_a_recording_that_is_nobodys_run(
    explorer: Explorer, cold: Cold
) -> None:
    view = explorer.race_view
    follow(explorer, lambda: view.playback is not None and points(view)["silp"] > 3)
    follow(explorer, lambda: explorer.status == f"{PLAYED} Press Run to start the solvers.")
    assert (explorer.state, view.race, explorer.session.race, marks(view)) == ("empty", None, None, {True})
    heads = "".join(str(head.object) for head in view.page.weights.heads.values())
    assert "SILP" in heads
    assert "Level" in heads
    assert "moved" not in heads.replace('class="moved"', "")  # which the lesson asks, and tells when the race has ended
    assert [item["label"] for item in view.chips.items] == ["SILP", "PGD", "SPG", "Level"]
    assert explorer.session.traces == {}
    assert explorer.session.race_history.races == []
    assert explorer.session.lesson_result is None
    assert "appears here" in str(view.page.table.object)
    assert view.page.bars.items == []
    follower = Follower(explorer.page_recovery.shared_race.name)
    assert follower.session.race is None
    cold.ready = "silp"
    explorer.run()
    follow(explorer, lambda: view.race is not None and len(view.race.traces["silp"]) > 1)
    explorer.stop()
    follow(explorer, lambda: explorer.state == "finished")
    (kept,) = explorer.session.race_history.races
    assert kept.traces["silp"] is view.race.traces["silp"]
    assert [trace.label for trace in kept.begun] == ["SILP"]


@pytest.mark.full
def test_where_nothing_is_compiled_the_whole_recording_waits_for_run(explorer: Explorer, cold: Cold) -> None:
    cold.ready = "silp"
    view = explorer.race_view
    asyncio.run(explorer.tick())
    assert view.playback is None  # a page opens faster without
    whole = {key: len(trace) for key, trace in recording(DEFAULT).items()}
    follow(explorer, lambda: view.playback is not None and points(view) == whole)
    assert explorer.status.startswith("Press Run")
    assert (explorer.state, marks(view), explorer.session.traces) == ("empty", {True}, {})
    figures = view.charts.objective
    explorer.run()
    said = set()

    def begun() -> bool:
        said.add(explorer.status)
        return view.race is not None and points(view)["silp"] > 1

    follow(explorer, begun)
    assert YOURS_FOLLOWS not in said
    assert (view.playback, marks(view)) == (None, {False})
    assert view.charts.objective is figures
    explorer.stop()


@pytest.mark.full
def test_the_race_takes_the_place_of_its_recording_and_the_axes_stay(explorer: Explorer, cold: Cold) -> None:
    view = explorer.race_view
    explorer.run_panel.pace.value = 50.0
    explorer.run()
    follow(explorer, lambda: view.playback is not None and points(view)["silp"] > 40)
    follow(explorer, lambda: explorer.status == YOURS_FOLLOWS)
    assert explorer.state == "preparing"
    figures, reached = view.charts.objective, max(view.figures.readings.feeds["silp"].source.data["iteration"])
    explorer.run_panel.pace.value = 1.0
    cold.ready = "silp"
    follow(explorer, lambda: view.race is not None and points(view)["silp"] > 1)
    assert (view.playback, marks(view), explorer.state) == (None, {False}, "running")
    assert points(view)["silp"] < 10
    assert points(view)["level"] == 0
    assert view.charts.objective is figures
    asyncio.run(explorer.tick())
    held = view.charts.anchors["objective"]
    assert held.visible
    assert held.data_source.data["x"][1] == reached
    explorer.stop()
    follow(explorer, lambda: explorer.state == "finished")
    follow(explorer, lambda: not held.visible)  # the ranges are the race's own


@pytest.mark.full
def test_a_preparation_that_is_stopped_goes_back_to_the_recording(explorer: Explorer, cold: Cold) -> None:
    explorer.run()
    follow(explorer, lambda: explorer.race_view.playback is not None)
    explorer.stop()
    follow(explorer, lambda: explorer.state == "empty")
    assert explorer.race_view.playback is not None
