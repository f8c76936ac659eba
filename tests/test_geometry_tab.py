"""The Geometry tab without a browser: paths on a map follow the cursor, and begin where their start is dragged."""

import asyncio
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import problem, ran
from _shown import notes, words
from _ticks import Prepared, following, shown, until
from _waits import wait_for
from bokeh.events import Tap
from test_geometry import few

from mklviz.analysis.landscape import ONE_MAP
from mklviz.analysis.weight_map import STAGES, Plane, Slice
from mklviz.contract import Iterate
from mklviz.engine import MaxIter, Race
from mklviz.problem import LpBall, Problem, Simplex
from mklviz.recipe import Recipe
from mklviz.scenarios import scenarios
from mklviz.views.chart.columns import contour_levels
from mklviz.views.chart.description import Axis
from mklviz.views.explorer.shell import Shell
from mklviz.views.geometry.map_card import flat_valley, model_words, shade_scale
from mklviz.views.geometry.map_chart import DIGIT, FRAME, LOW_AND_HIGH, RIGHT, SIZE, UP, numbered_steps
from mklviz.views.host import solved_paths
from mklviz.views.lessons import one_curve
from mklviz.views.look.palette import DARK, LIGHT, contrast
from mklviz.views.session.session import Session
from mklviz.views.start.front import front_html
from mklviz.views.tabs.geometry import Geometry


def opened(posed: Problem, *solvers: str, steps: int = 8) -> tuple[Session, Geometry]:
    session = shown(ran(Race(posed, solvers or ("silp", "level", "spg"), rules=(MaxIter(steps),))))
    return session, following(session, Geometry())


def under_way(follows: bool = False) -> tuple[Session, Geometry]:
    """Return the tab of a race that rests after two steps, which may be that of another page."""
    race = Race(few(3), ("level", "spg"), rules=(MaxIter(8),))
    race.step(2)
    wait_for(lambda: min(map(len, race.traces.values())) == 2, "two steps")
    session = shown(race)
    session.follows = follows
    return session, following(session, Geometry())


def tap(plot: Any, x: float, y: float) -> None:
    """Tap on a figure, as the page tells it."""
    plot._trigger_event(Tap(plot, x=x, y=y))


def drawn(tab: Geometry, key: str) -> list[tuple[float, float]]:
    table = tab.map.figure.tables[f"path-{key}"]
    return list(zip(table["along"], table["up"], strict=True))


def test_paths_of_many_kernels_are_drawn_in_their_plane_and_end_at_the_cursor() -> None:
    session, tab = opened(problem("blobs, C = 1"))
    tab.map.most_fitted = 6  # fewer steps decide where the plane lies than it has to hold
    tab.tick(1.0)
    map_ = tab.map.survey.map
    assert isinstance(map_, Plane)
    for key, trace in session.traces.items():
        assert np.array(drawn(tab, key)) == pytest.approx(np.array([map_.position(it.weights) for it in trace]))
        assert ((drawn(tab, key) >= map_.low) & (drawn(tab, key) <= map_.high)).all()
    for now, cursor in ((2.0, 2), (3.0, None)):
        session.cursor = cursor
        tab.tick(now)
        for key, trace in session.traces.items():
            assert len(drawn(tab, key)) == min(3 if cursor else len(trace), len(trace))
    assert f"{100 * map_.explained:.0f} %" in words(tab.map)


def test_the_objective_is_computed_beside_coarse_first_and_then_finer() -> None:
    session, tab = opened(problem("blobs, C = 1"), "level", "spg")
    sizes: list[int] = []

    def finished() -> bool:
        sheet = tab.map.survey.sheet
        if sheet is not None and (not sizes or sheet[0][2].size != sizes[-1]):
            sizes.append(sheet[0][2].size)
        return len(sizes) == 3

    until(tab, finished, "three stages of the map")
    assert sizes == [80, 285, 1073]
    tables, heights = tab.map.figure.tables, tab.map.survey.sheet[0][2]
    lowest = min(trace.best.objective for trace in session.traces.values())
    assert len(tables["nodes"]["along"]) == 1073
    assert np.shape(tables["ground"]["objective"]) == heights.shape
    assert tables["best"]["objective"] == [f"{lowest:,.6g}"]
    assert heights.min() >= lowest * 0.99


def test_three_kernels_are_seen_from_above_with_the_level_set_of_a_run() -> None:
    session, tab = opened(few(3))
    tab.tick(1.0)
    assert isinstance(tab.map.survey.map, Slice)
    assert set(tab.model.options.values()) == {"silp", "level", ""}
    assert tab.model.value == "level"
    session.cursor = 3
    sets = []
    for now, run in ((2.0, "level"), (3.0, "silp"), (4.0, "")):
        tab.model.value = run
        tab.tick(now)
        sets.append(tab.map.figure.tables["level-set"])
    assert [len(each["along"]) for each in sets] == [1, 1, 0]
    assert sets[0] != sets[1]


def test_two_kernels_show_cuts_the_level_and_the_threshold() -> None:
    session, tab = opened(few(2))
    session.cursor = 2
    until(tab, lambda: tab.segment.survey.sheet is not None, "the objective")
    until(tab, lambda: tab.segment.figures["silp"].tables["cuts"]["share"], "what is drawn of it")
    silp, level, spg = (tab.segment.figures[key].tables for key in ("silp", "level", "spg"))
    assert len(silp["cuts"]["share"]) == len(level["cuts"]["share"]) == 3
    assert spg["cuts"]["share"] == []
    trace = session.traces["silp"]
    assert silp["arrow"]["share_end"] == pytest.approx([trace[2].weights[0]], abs=1e-6)
    assert level["line"]["objective"] == [session.traces["level"][2].facts.level] * 2
    assert len(level["set"]["share"]) == 2
    assert len(spg["line"]["objective"]) == 2
    assert [len(tables["points"]["share"]) for tables in (silp, level, spg)] == [3, 3, 3]
    assert len(silp["objective"]["share"]) >= 17
    assert tab.curve.visible  # the picture of the first lesson over them
    assert tab.curve.pair["names"] == list(session.race.facts.names)
    assert tab.curve.pair["lambda"] == session.race.runs["level"].solver.lam


def test_two_or_three_of_many_kernels_can_be_picked_for_an_exact_slice() -> None:
    session, tab = opened(problem("blobs, C = 1"))
    tab.tick(1.0)
    offered = list(tab.pins.options.values())
    best = min((trace.best for trace in session.traces.values()), key=lambda it: it.objective)
    assert offered[0] == int(best.weights.argmax())
    tab.pins.value = offered[:3]
    tab.tick(2.0)
    map_ = tab.map.survey.map
    assert isinstance(map_, Slice)
    assert map_.shares(best.weights) @ map_.vertices == pytest.approx(best.weights)
    tab.pins.value = offered[:2]
    tab.tick(3.0)
    assert tab.segment.root.visible
    assert not tab.map.root.visible
    assert tab.map.survey.map is None
    tab.pins.value = []
    tab.tick(4.0)
    assert isinstance(tab.map.survey.map, Plane)


def test_a_tab_that_is_not_seen_computes_nothing() -> None:
    session, tab = opened(few(3), "level")
    tab.shown = False
    tab.tick(1.0)
    assert tab.map.survey.map is None
    shell = Shell(session)
    for title in ("Geometry", shell.titles[0]):
        shell.turn_to(title)
        assert shell.tabs[Geometry].shown == (title == "Geometry")
    shell.close()


@pytest.mark.full
@pytest.mark.parametrize("seen", [True, False], ids=["seen", "not seen"])
def test_a_race_that_begins_while_the_tab_is_there_is_drawn_when_it_has_steps(seen: bool) -> None:
    session, _ = opened(few(3), "level")
    shell, race = Shell(session), Race(few(3), ["spg"], rules=(MaxIter(4),))
    shell.turn_to("Geometry")
    if not seen:
        shell.turn_to(shell.titles[0])

    async def page() -> None:
        session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
        shell.tick(1.0)
        ran(race)
        shell.turn_to("Geometry")
        shell.tick(2.0)

    asyncio.run(page())
    assert drawn(shell.tabs[Geometry], "spg")
    shell.close()


@pytest.mark.full
def test_heights_that_were_known_when_everybody_left_are_drawn_when_somebody_comes_back() -> None:
    _, tab = opened(few(3), "level")
    tab.tick(1.0)
    survey = tab.map.survey
    land = survey.landscape
    survey.rest()
    with ONE_MAP:  # what is computed has ended
        land.finest()
    until(tab, lambda: survey.stage == STAGES - 1, "the finest map")
    assert len(survey.sheet[1]) == 861


@pytest.mark.parametrize("m", [3, 10])
def test_a_click_starts_every_solver_there_once_the_race_has_ended(m: int) -> None:
    session, tab = opened(few(m))
    tab.tick(1.0)
    map_, before = tab.map.survey.map, session.race
    x, y = map_.drawn_at((8, 12))
    figure = tab.map.figure
    tap(figure.plot, x, y)
    assert session.race is not before
    session.race.wait()
    assert list(session.traces) == ["silp", "level", "spg"]
    for trace in session.traces.values():
        assert trace[0].weights == pytest.approx(map_.weights_at((8, 12)), abs=1e-9)
        assert not trace.recipe


def test_a_click_while_the_race_goes_on_says_when_it_can_be_followed() -> None:
    session, tab = under_way()
    race = session.race
    tab.tick(1.0)
    tap(tab.map.figure.plot, 0.5, 0.3)
    assert session.race is race
    until(tab, lambda: any("when the race has ended" in said for said in notes(tab.map)), "the reason")
    race.cancel()
    race.wait()


UNIT = Axis(start=0.0, end=1.0)


def end(weights: list[float], objective: float) -> Iterate:
    return Iterate(np.array(weights), np.zeros(2), objective, -np.inf, 1.0, 1)


def test_the_scale_names_the_objectives_of_its_ends_and_its_middle_and_truly_which_shade_is_lower() -> None:
    heights = np.array([[3120.0, 4000.0], [6000.0, 9800.0]])
    said = {dark: shade_scale((heights, heights, heights), theme) for dark, theme in ((False, LIGHT), (True, DARK))}
    assert re.findall("<b>(.*?)</b>", said[False]) == ["3,120", "4,790", "9,800"]
    assert float(contour_levels(heights, 2)[1]) == 4790.0
    for dark, text in said.items():
        low, high = (contrast(shade, "#000000") for shade in LOW_AND_HIGH[dark])
        assert ("Darker" if low < high else "Lighter") + " = lower objective" in text
    assert shade_scale(None, LIGHT) == ""
    unthemed = [front_html(""), *(str(vars(scenario)) for scenario in scenarios().values())]
    assert not [text for text in unthemed if re.search(r"\b([Ll]ighter|[Dd]arker)\b", text)]
    assert "its level" in model_words("Level", level=True)
    assert "the best objective so far" in model_words("SILP", level=False)


def test_ends_apart_and_equally_low_are_called_a_flat_valley_and_no_others() -> None:
    one, near, far = end([0.5, 0.5], 100.0), end([0.51, 0.49], 100.1), end([0.2, 0.8], 100.4)
    assert flat_valley([("SILP", one), ("Level", near)]) == ""
    assert flat_valley([("SILP", one), ("Level", end([0.0, 1.0], 150.0))]) == ""
    assert flat_valley([]) == ""
    said = flat_valley([("SILP", one), ("SPG", near), ("Level", far)])
    assert "the best points of SPG and Level are 31 % of the weight apart" in said
    assert "differ by 0.3 % only" in said


@pytest.mark.parametrize("seed", range(3))
def test_numbers_cover_neither_each_other_nor_a_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = {key: rng.uniform(size=(60, 2)) ** 2 for key in ("one", "two")}
    numbers = numbered_steps(places, {key: range(60) for key in places}, UNIT, UNIT)
    assert len(numbers) >= 10
    scale = np.array(FRAME)
    corners = {n: places[n.key][n.index] * scale + (RIGHT, UP) for n in numbers}
    sizes = {n: np.array([DIGIT * len(str(n.step)), SIZE]) for n in numbers}
    for a, b in combinations(numbers, 2):
        assert (np.maximum(corners[a], corners[b]) >= np.minimum(corners[a] + sizes[a], corners[b] + sizes[b])).any()
    points = np.concatenate([*places.values()]) * scale
    for n in numbers:
        assert not ((points > corners[n]) & (points < corners[n] + sizes[n])).all(axis=1).any()


# -- the handle at the start of the paths: let go, it begins a race from there


def ready(m: int = 3, solvers: tuple[str, ...] = ()) -> tuple[Session, Geometry]:
    session, tab = opened(few(m), *solvers)
    until(tab, lambda: tab.map.start.handle.place, "the handle")
    return session, tab


def test_while_the_start_of_a_large_problem_is_dragged_its_paths_stay() -> None:
    session, tab = ready(11)
    race, handle, map_ = session.race, tab.map.start.handle, tab.map.survey.map
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


@pytest.mark.parametrize(("m", "solvers"), [(3, ("silp", "spg")), (8, ("level", "simplemkl"))])
def test_the_browser_is_told_a_small_problem_and_where_weights_lie_on_the_map(m: int, solvers: tuple[str, ...]) -> None:
    session, tab = ready(m, solvers)
    told: list[dict[str, Any]] = []
    handle, map_, before = tab.map.start.handle, tab.map.survey.map, drawn(tab, solvers[0])
    handle.send = told.append
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


def test_let_go_the_handle_begins_a_race_there_and_undo_leads_back() -> None:
    session, tab = ready()
    first, figure = session.race, tab.map.figure
    map_ = tab.map.survey.map
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


def test_a_race_that_goes_on_or_is_somebody_elses_and_weights_that_follow_from_functions_have_no_handle() -> None:
    session, tab = under_way(follows=True)
    until(tab, lambda: tab.map.survey.map is not None, "the map")
    assert tab.map.start.handle.place == []
    session.race.start()
    session.race.wait()
    for now in (2.0, 3.0):
        tab.tick(now)
    assert tab.map.start.handle.place == []
    posed = few(3)
    session, tab = opened(Problem(posed.bank, posed.y, posed.loss, LpBall(2.0)), "spg")
    until(tab, lambda: tab.map.survey.stage >= 0, "the map")
    assert session.race.finished
    assert tab.map.start.handle.place == []


@pytest.mark.parametrize(
    "message", [None, {}, {"at": [1]}, {"at": ["1", 2]}, {"at": [float("nan"), 0]}, {"at": [10**400, 0]}]
)
def test_what_no_browser_tells_moves_nothing(message: object) -> None:
    session, tab = ready()
    race = session.race
    tab.map.start.handle.receive(message)
    assert session.race is race
    assert not tab.map.start.held


def test_the_end_of_a_session_changes_nothing_of_a_handle_whose_page_is_gone() -> None:
    _, tab = ready()
    changed: list[str] = []
    handle = tab.map.start.handle
    handle.param.watch(lambda *events: changed.extend(event.name for event in events), list(handle.param))
    tab.close()
    assert changed == []


@pytest.mark.parametrize(
    ("module", "handed"), [(one_curve, "solveCurve"), (solved_paths, "whole"), (solved_paths, "answer")]
)
def test_the_text_of_a_worker_has_no_sign_for_which_panels_compiler_writes_a_helper(module: Any, handed: str) -> None:
    """A worker gets the text of a function as it is compiled, and not the helpers beside it."""
    script = Path(module.__file__).with_suffix(".js").read_text()
    [function] = re.finditer(rf"^( *)const {handed} = \(.*?^\1\}}$", script, re.DOTALL | re.MULTILINE)
    assert "postMessage" in function[0] or handed == "whole"
    assert not re.search(r"\?\.\D|\?\?", function[0])
