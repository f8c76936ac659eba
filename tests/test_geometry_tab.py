"""The Geometry tab without a browser: paths that grow, follow the cursor, and lie on a map computed beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _problems import blobs, problem, random_grams
from _shown import notes, words
from _ticks import Prepared
from _waits import wait_for
from bokeh.events import Tap

from mklviz.analysis.landscape import ONE_MAP
from mklviz.analysis.weight_map import STAGES, Plane, Slice
from mklviz.engine import MaxIter, Race
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.recipe import Recipe
from mklviz.views.explorer.shell import Shell
from mklviz.views.geometry import map_card
from mklviz.views.session.session import Session
from mklviz.views.tabs.geometry import Geometry


def few(m: int) -> Problem:
    _, y = blobs(24, 0.3, seed=3)
    return Problem(KernelBank.from_grams(random_grams(m, 24, seed=m)), y, Hinge(100.0), Simplex())


def opened(posed: Problem, *solvers: str, steps: int = 8) -> tuple[Session, Geometry]:
    race = Race(posed, solvers or ("silp", "level", "spg"), rules=(MaxIter(steps),))
    race.start()
    race.wait()
    session, tab = Session(), Geometry()
    session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
    tab.follow(session)
    session.param.watch(lambda _: tab.follow(session), ["race", "cursor", "theme"])
    return session, tab


def until(tab: Geometry, found: Callable[[], Any], what: str) -> None:
    wait_for(found, what, lambda: tab.tick(time.monotonic()))


def tap(plot: Any, x: float, y: float) -> None:
    """Tap on a figure, as the page tells it."""
    plot._trigger_event(Tap(plot, x=x, y=y))


def drawn(tab: Geometry, key: str) -> list[tuple[float, float]]:
    figure = tab.map.figure
    assert figure is not None
    return list(zip(*(figure.tables[f"path-{key}"][name] for name in ("along", "up")), strict=True))


def test_paths_of_many_kernels_are_drawn_in_their_plane_and_end_at_the_cursor() -> None:
    session, tab = opened(problem("blobs, C = 1"))
    tab.tick(1.0)
    map_ = tab.map.survey.map
    assert isinstance(map_, Plane)
    for key, trace in session.traces.items():
        assert np.array(drawn(tab, key)) == pytest.approx(np.array([map_.position(it.weights) for it in trace]))
        assert ((drawn(tab, key) >= map_.low) & (drawn(tab, key) <= map_.high)).all()
    session.cursor = 2
    tab.tick(2.0)
    for key, trace in session.traces.items():
        assert len(drawn(tab, key)) == min(3, len(trace))
    session.cursor = None
    tab.tick(3.0)
    assert len(drawn(tab, "spg")) == len(session.traces["spg"])
    assert f"{100 * map_.explained:.0f} %" in words(tab.map)
    tab.close()


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
    figure = tab.map.figure
    heights = tab.map.survey.sheet
    assert figure is not None
    assert heights is not None
    assert len(figure.tables["nodes"]["along"]) == 1073
    assert np.shape(figure.tables["ground"]["objective"]) == heights[0][2].shape
    assert figure.tables["best"]["objective"] == [f"{min(t.best.objective for t in session.traces.values()):,.6g}"]
    lowest = min(trace.best.objective for trace in session.traces.values())
    assert heights[0][2].min() >= lowest * 0.99


def test_three_kernels_are_seen_from_above_with_the_level_set_of_a_run() -> None:
    session, tab = opened(few(3))
    tab.tick(1.0)
    assert isinstance(tab.map.survey.map, Slice)
    assert set(tab.model.options.values()) == {"silp", "level", ""}
    assert tab.model.value == "level"
    session.cursor = 3
    tab.tick(2.0)
    figure = tab.map.figure
    assert figure is not None
    assert len(figure.tables["level-set"]["along"]) == 1
    level_set = figure.tables["level-set"]
    tab.model.value = "silp"
    tab.tick(3.0)
    assert figure.tables["level-set"] != level_set
    tab.model.value = ""
    tab.tick(4.0)
    assert figure.tables["level-set"]["along"] == []
    tab.close()


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
    tab.close()


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
    assert map_.shares(best.weights) @ map_.corners == pytest.approx(best.weights)
    tab.pins.value = offered[:2]
    tab.tick(3.0)
    assert tab.segment.root.visible
    assert not tab.map.root.visible
    assert tab.map.survey.map is None
    tab.pins.value = []
    tab.tick(4.0)
    assert isinstance(tab.map.survey.map, Plane)
    tab.close()


def test_a_tab_that_is_not_seen_computes_nothing() -> None:
    session, tab = opened(few(3), "level")
    tab.shown = False
    tab.tick(1.0)
    assert tab.map.survey.map is None
    shell = Shell(session)
    place = shell.titles.index("Geometry")
    shell.strip.active = place
    geometry = shell.tabs[Geometry]
    assert geometry.shown
    shell.strip.active = 0
    assert not geometry.shown
    shell.close()


@pytest.mark.parametrize("seen", [True, False])
def test_a_race_that_begins_while_the_tab_is_there_is_drawn_when_it_has_steps(seen: bool) -> None:
    session, _ = opened(few(3), "level")
    shell = Shell(session)
    place = shell.titles.index("Geometry")
    shell.strip.active = place
    geometry = shell.tabs[Geometry]
    shell.strip.active = place if seen else 0
    race = Race(few(3), ["spg"], rules=(MaxIter(4),))

    async def page() -> None:
        session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
        shell.tick(1.0)
        race.start()
        race.wait()
        shell.strip.active = place
        shell.tick(2.0)

    asyncio.run(page())
    assert drawn(geometry, "spg")
    shell.close()


def test_heights_that_were_known_when_everybody_left_are_drawn_when_somebody_comes_back() -> None:
    _, tab = opened(few(3), "level")
    tab.tick(1.0)
    survey = tab.map.survey
    land = survey.landscape
    assert land is not None
    survey.rest()
    with ONE_MAP:  # what is computed has ended
        land.finest()
    until(tab, lambda: survey.stage == STAGES - 1, "the finest map")
    assert survey.sheet is not None
    assert len(survey.sheet[1]) == 861
    tab.close()


@pytest.mark.parametrize("m", [3, 10])
def test_a_click_starts_every_solver_there_once_the_race_has_ended(m: int) -> None:
    session, tab = opened(few(m))
    tab.tick(1.0)
    map_, before = tab.map.survey.map, session.race
    assert map_ is not None
    x, y = map_.drawn_at((8, 12))
    figure = tab.map.figure
    assert figure is not None
    tap(figure.plot, x, y)
    assert session.race is not before
    session.race.wait()
    assert list(session.traces) == ["silp", "level", "spg"]
    for trace in session.traces.values():
        assert trace[0].weights == pytest.approx(map_.weights_at((8, 12)), abs=1e-9)
        assert not trace.recipe
    tab.close()


def test_a_click_while_the_race_goes_on_says_when_it_can_be_followed() -> None:
    race = Race(few(3), ("level", "spg"), rules=(MaxIter(8),))
    race.step(2)
    wait_for(lambda: min(map(len, race.traces.values())) == 2, "two steps")
    session, tab = Session(), Geometry()
    session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
    tab.follow(session)
    tab.tick(1.0)
    figure = tab.map.figure
    assert figure is not None
    tap(figure.plot, 0.5, 0.3)
    assert session.race is race
    until(tab, lambda: any("when the race has ended" in said for said in notes(tab.map)), "the reason")
    tab.close()
    race.cancel()
    race.wait()


def test_a_map_of_more_steps_than_decide_where_it_lies_still_holds_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_card, "MOST_FITTED", 6)
    _, tab = opened(few(10), steps=12)
    tab.tick(1.0)
    map_ = tab.map.survey.map
    assert isinstance(map_, Plane)
    places = np.concatenate([drawn(tab, key) for key in ("silp", "level", "spg")])
    assert ((places >= map_.low) & (places <= map_.high)).all()
    tab.close()
