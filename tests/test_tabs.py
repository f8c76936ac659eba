"""Tabs follow one session, are files that nobody lists, and are built when they are opened."""

import asyncio
import math
import re
import time
from typing import Any, ClassVar

import numpy as np
import pytest
from _problems import problem, ran
from _ticks import Prepared, first_steps, following, shown
from _waits import wait_for
from bokeh.document import Document

from mklviz.datasets import load_dataset
from mklviz.engine import MaxIter, Race
from mklviz.kernels import paper_bank
from mklviz.problem import Problem
from mklviz.recipe import Recipe
from mklviz.views.explorer.shell import OPENING, Shell
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.race.cursor_bar import FRAMES
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab, tab_classes
from mklviz.views.tabs.race import RaceTab
from mklviz.views.tabs.timeline import Timeline


def raced(*solvers: str, steps: int = 8) -> Race:
    return ran(Race(problem("blobs, C = 1"), solvers or ("level", "spg"), rules=(MaxIter(steps),)))


def at_the_timeline(race: Race) -> tuple[Session, Timeline]:
    session = shown(race)
    return session, following(session, Timeline())


class Plain(Tab):
    """A tab of a test, which says what it was told."""

    title, order = "Plain", 1
    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.told: list[tuple[Any, ...]] = []

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race is needed."""
        return "" if session.race is not None else "There is no race <yet>."

    def follow(self, session: Session) -> None:
        """Remember."""
        self.told.append((session.race, session.cursor, session.theme))

    def __panel__(self) -> Any:
        return "plain"


def test_tabs_are_found_in_their_order_with_a_title_each() -> None:
    found = tab_classes()
    assert {RaceTab, Timeline} <= set(found)
    assert [tab.order for tab in found] == sorted(tab.order for tab in found)
    assert len({tab.title for tab in found}) == len(found)
    assert found[0].supports(Session()) == ""  # what is open at the start has something to show


@pytest.mark.parametrize("tab", tab_classes())
def test_a_tab_without_anything_to_show_says_so_in_a_sentence(tab: type[Tab]) -> None:
    reason = tab.supports(Session())
    assert reason == "" or reason.endswith(".")
    assert tab.supports(shown(raced("level", steps=2))) == ""


def test_a_tab_is_built_when_it_is_opened_and_has_something_to_show() -> None:
    Plain.made = 0
    session = Session()
    shell = Shell(session, classes=[RaceTab, Plain])
    assert list(shell.tabs) == [RaceTab]
    shell.strip.active = 1
    assert Plain.made == 0
    assert "There is no race &lt;yet&gt;." in shell.boxes[Plain][0].object
    race = raced("level", steps=2)
    session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
    plain = shell.tabs[Plain]
    session.cursor = 1
    session.set_dark(True)
    assert plain.told[0][0] is race
    assert plain.told[-1] == (race, 1, DARK)
    shell.strip.active = 0
    told = len(plain.told)
    session.set_dark(False)
    session.cursor = 2
    assert len(plain.told) == told  # nobody sees it
    shell.strip.active = 1
    assert plain.told[told:] == [(race, 2, LIGHT)]
    shell.strip.active = 0
    session.set_dark(True)
    session.cursor = 0
    session.param.trigger("pinned")
    assert plain.told[-1] == (race, 0, DARK)
    told = len(plain.told)
    shell.strip.active = 1
    assert len(plain.told) == told
    assert Plain.made == 1
    session.clear()
    assert "no race" in shell.boxes[Plain][0].object


def test_a_page_hears_that_a_tab_is_being_drawn_before_it_is_built() -> None:
    shell, page = Shell(shown(raced("level", steps=2)), classes=[RaceTab, Plain]), Document()
    page.add_root(shell.root.get_root(page))
    shell.strip.active = 1
    assert Plain not in shell.tabs
    assert OPENING in shell.boxes[Plain][0].object
    shell.tick(0.0)
    assert Plain in shell.tabs
    words, _ = shell.boxes[Plain]  # which its style hides once the tab stands behind them
    assert OPENING in words.object


class Always(Plain):
    """A tab that needs no race, and has no view of one."""

    @classmethod
    def supports(cls, session: Session) -> str:
        return ""


def test_the_first_view_of_the_race_is_found_whatever_tab_stands_before_it() -> None:
    shell = Shell(Session(), classes=[Always, RaceTab, Timeline])
    assert list(shell.tabs) == [Always]
    assert shell.race_view() is shell.tabs[RaceTab].race_view
    assert list(shell.tabs) == [Always, RaceTab]
    with pytest.raises(LookupError, match="None of the tabs"):
        Shell(Session(), classes=[Always]).race_view()


def test_figures_and_table_of_the_race_stand_at_the_cursor() -> None:
    race = raced()
    session = shown(race)
    tab = following(session, RaceTab())
    session.cursor = 2
    marks = tab.view.charts.marks
    assert list(marks.source.data["iteration"]) == [2.0, 2.0]
    seconds = [trace.seconds_at(2) for trace in race.traces.values()]
    assert list(marks.source.data["seconds"]) == seconds
    assert len(marks.renderers) == len(tab.view.charts.figures)
    table = tab.view.page.table.object
    trace = race.traces["level"]
    assert "As of step 2" in table
    assert f">{trace.objective[:3].min():,.5g}<" in table
    tab.view.hidden = frozenset({"level"})
    assert math.isnan(marks.source.data["iteration"][0])
    tab.view.x_axis = "seconds"
    assert {renderer.glyph.x for renderer in marks.renderers} == {"seconds"}
    session.cursor = None
    assert np.isnan(marks.source.data["iteration"]).all()
    assert "As of step" not in tab.view.page.table.object
    session.cursor = 1
    session.show(Recipe(), Prepared(), raced("level", steps=2))  # type: ignore[arg-type]
    assert (session.cursor, session.last_step) == (None, 2)  # a new race begins at its end
    session.clear()
    assert (session.last_step, session.traces) == (-1, {})


def test_the_table_at_an_earlier_step_has_what_was_moved_and_scored_until_there() -> None:
    race = raced()
    session = shown(race)
    session.score = lambda iterate: iterate.objective / 1e6
    tab = following(session, RaceTab())
    session.cursor = 3
    wait_for(lambda: "–" not in tab.view.page.table.object, "scores", lambda: tab.view.tick(time.monotonic()))
    table = tab.view.page.table.object
    for key, trace in race.traces.items():
        row = re.findall(f'data-run="{key}".*?</tr>', table)[0]
        until = first_steps(trace, 4)
        assert trace.motion_at(3) == until.motion
        assert f">{until.motion.moved:.2f}×<" in row
        assert f">{100 * until.motion.share_in_vain:.0f} %<" in row
        assert f">{100 * until.best.objective / 1e6:,.1f} %<" in row
    assert "–" not in table


def test_the_timeline_goes_back_and_on_and_to_the_end_and_says_what_each_solver_did() -> None:
    race = raced()
    session, tab = at_the_timeline(race)
    last = session.last_step
    assert (tab.bar.slider.value, tab.bar.slider.end) == (last, last)
    tab.bar.back()
    assert session.cursor == tab.bar.slider.value == last - 1
    tab.bar.on()
    tab.bar.on()
    assert session.cursor == last
    tab.bar.slider.value = 1
    assert session.cursor == 1
    trace, solver = race.traces["level"], race.runs["level"].solver
    assert solver.narrate(trace[0], trace[1]).split("<")[0].split("&")[0] in tab.bar.words.object
    tab.bar.end()
    assert session.cursor is None


def test_the_timeline_says_which_runs_have_finished_though_none_is_longer_than_before() -> None:
    race = raced()
    shortest = min(race.traces.values(), key=len)
    end, shortest.status = shortest.status, "running"
    _, tab = at_the_timeline(race)
    assert f"Is at step {shortest.last_step}." in tab.bar.words.object
    shortest.status = end
    tab.tick(0.0)
    assert f"Finished at step {shortest.last_step}." in tab.bar.words.object


def test_the_timeline_plays_from_the_beginning_to_the_end_and_rests() -> None:
    session, tab = at_the_timeline(raced("level", steps=4))

    async def play() -> list[int]:
        stood = []
        for frame in range(3 * FRAMES):
            tab.tick(float(frame + 1))
            tab.view.heartbeat.ack = tab.view.heartbeat.seq
            stood.append(session.cursor)
            if not tab.bar.playing:
                break
        return stood

    tab.bar.play()
    assert (session.cursor, tab.bar.play_button.label) == (0, "Hold")
    assert asyncio.run(play()) == list(range(1, session.last_step + 1))
    assert tab.bar.play_button.label == "Play"


def test_the_timeline_stands_still_while_no_browser_paints_it() -> None:
    session, tab = at_the_timeline(raced("level", steps=30))
    heartbeat, last = tab.view.heartbeat, session.last_step

    async def play(begin: int, end: int) -> int:
        for second in range(begin, end):
            tab.tick(float(second))
        return int(session.cursor)

    tab.bar.play()
    assert asyncio.run(play(1, 20)) == 1 < last  # no step waits behind another
    assert tab.bar.playing
    heartbeat.ack = heartbeat.seq
    assert asyncio.run(play(20, 40)) == 2
    tab.bar.play()
    tab.bar.play()  # what was painted may never be told
    assert asyncio.run(play(40, 41)) == 3


@pytest.mark.full
def test_a_kernel_has_one_colour_in_all_tabs_whichever_was_seen_while_the_race_ran() -> None:
    race = Race(Problem(paper_bank(load_dataset("heart").X), load_dataset("heart").y), ("level", "spg"), [MaxIter(30)])
    session, early, late = shown(race), RaceTab(), Timeline()
    session.score = None
    early.follow(session)
    race.step(2)
    wait_for(lambda: race.status == "paused" and min(map(len, race.traces.values())) == 2, "the pause")
    early.tick(time.monotonic())
    ran(race)
    early.tick(time.monotonic())
    late.follow(session)
    early.shown, late.view.hidden = False, frozenset({"level"})
    for tab in (late, early):
        tab.tick(0.0)
    assert early.view.figures.readings.slots is late.view.figures.readings.slots


def test_the_keys_go_through_the_steps_and_a_speed_is_so_many_steps_a_second() -> None:
    session, tab = at_the_timeline(raced("level", steps=30))
    heartbeat, last = tab.view.heartbeat, session.last_step
    stood = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End"):
        heartbeat.param.update(key=key, presses=heartbeat.presses + 1)
        stood.append(session.cursor)
    assert stood == [0, 1, 2, 1, None]
    pressed: list[str] = []
    session.on_key = pressed.append
    heartbeat.param.update(key="s", presses=heartbeat.presses + 1)
    assert pressed == ["s"]

    def steps_in_a_second(speed: float) -> int:
        tab.bar.speed.value = speed
        tab.bar.start()
        tab.bar.set_playing(True)
        for eighth in range(11):
            tab.bar.tick(1000.0 * speed + eighth / 8)
            heartbeat.ack = heartbeat.seq
        return int(session.cursor)

    assert last > 20
    assert [steps_in_a_second(speed) for speed in (0.5, 1.0, 2.0, 4.0)] == [3, 6, 11, 22]
