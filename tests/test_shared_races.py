"""A reload finds its race and its set-up again; others follow a race and leave it alone; a class costs one solve."""

import asyncio
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from _ticks import shown, visit
from _waits import wait_for

from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.engine.race import ReopenedRace
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record.store import EVERYBODY, Owner
from mklviz.scenarios import Answer
from mklviz.sweeps import Sweep, SweepRun
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import LEADS, OVER, UNKNOWN, WAITS, Follower
from mklviz.views.explorer.page_recovery import SHARED_RACES, SharedRace, SharedRaces
from mklviz.views.form import Note
from mklviz.views.host.page_session import GIVE_UP_AFTER
from mklviz.views.links import link
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.scenario_panel import CHANGED, LINKED
from mklviz.views.tabs.sweep import SweepTab

RECIPE = Recipe(
    data=DataChoice("two_moons"), solvers=(SolverChoice("level"),), stop=StopChoice(gap=1e-12, max_iter=1000)
)


@pytest.fixture(scope="module")
def led() -> Session:
    """A session with a race that has not begun."""
    session, prepared = Session(owner=EVERYBODY), RECIPE.prepare()
    session.show(RECIPE, prepared, RECIPE.race(prepared))
    return session


def link_words(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(address[1:]).items()}


def opened(session: Session, present: bool) -> SharedRace:
    room = SharedRace(session, lambda: present)
    SHARED_RACES.open(room)
    return room


def test_a_race_is_taken_over_by_its_key_when_nobody_is_there_and_by_nothing_else(led: Session) -> None:
    rooms, there = SharedRaces(), True
    old, mine = SharedRace(led, lambda: there), SharedRace(Session(owner=EVERYBODY), lambda: True)
    name = old.name
    rooms.open(old)
    rooms.open(mine)
    assert not rooms.take_over(old.key, mine)  # somebody is there
    there = False
    assert not rooms.take_over(old.name, mine)  # who may look may not take
    for wrong in ("", "é", old.key + "é", "\udcff"):
        assert not rooms.take_over(wrong, mine)
    assert rooms.take_over(old.key, mine)
    assert mine.session.race is led.race
    assert old.left
    assert rooms.find(name) is mine  # who follows goes on following
    rooms.close(old)
    assert rooms.find(name) is mine
    assert len(rooms) == 1
    rooms.close(mine)
    assert len(rooms) == 0


def test_a_sweep_goes_on_with_the_page_that_was_reloaded() -> None:
    rooms, gone, mine = SharedRaces(), Session(owner=EVERYBODY), Session(owner=EVERYBODY)
    old, new = SharedRace(gone, lambda: False), SharedRace(mine, lambda: True)
    for room in (old, new):
        rooms.open(room)
    assert not rooms.take_over(old.key, new)  # it had nothing
    gone.sweep = SweepRun(Sweep.from_words("data=heart; split=0,1; solvers=level"))
    begun, tab = gone.sweep, SweepTab()
    tab.follow(mine)
    assert rooms.take_over(old.key, new)
    assert (mine.sweep, gone.sweep) == (begun, None)
    tab.tick(0.0)
    assert tab.run is begun
    assert tab.form.words.value == begun.sweep.to_words()
    tab.close()


def test_a_room_that_is_gone_with_its_server_is_opened_again_by_its_key_alone(led: Session) -> None:
    before, mine, others = (SharedRace(led, lambda: True) for _ in range(3))
    rooms = SharedRaces()  # of the server that was started again
    rooms.open(mine)
    for wrong in ("", before.name, before.key + "é", f"<b>.{before.key}"):
        rooms.restore(wrong, mine)
        assert rooms.find(mine.name) is mine
    rooms.restore(before.key, mine)
    assert (mine.name, mine.key) == (before.name, before.key)
    assert rooms.find(before.name) is mine
    assert len(rooms) == 1
    rooms.restore(before.key, others)
    assert others.name != before.name


@pytest.mark.full
def test_a_page_that_cannot_have_the_race_of_its_link_says_where_it_is_and_shows_no_other(
    led: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = opened(led, present=True), opened(Session(owner=Owner("another")), present=True)
    told = {mine.key: "another page of yours", theirs.key: "another visitor", "a.b": "not here any more"}
    for key, words in told.items():
        visit(monkeypatch, race=key)
        page = Explorer()
        page.page_recovery.recover_for = 0.0
        page.page_recovery.ask()
        page.page_recovery.open()
        for _ in range(3):
            asyncio.run(page.tick())
        assert words in page.alert.object
        assert page.alert.visible
        assert page.race_view.figures.drawn is None  # nor a recording of what a new page sets up


def test_a_page_that_is_loaded_again_has_the_controls_of_the_race_that_goes_on_and_its_table(led: Session) -> None:
    page = Explorer()
    assert page.sidebar.recipe != RECIPE
    page.session.take(led)
    page.resume()
    assert page.sidebar.recipe == RECIPE
    assert not page.session.stale
    assert "two_moons" in page.address.text("")
    moons = load_dataset("two_moons")
    recipe = RECIPE.on(replace(moons, name="mine", title="Mine", X=moons.X[::2], y=moons.y[::2]))
    prepared = recipe.prepare()
    page.session.take(shown(recipe.race(prepared), recipe, prepared))
    page.resume()
    assert page.sidebar.recipe == recipe
    assert page.sidebar.data.name_ == "Mine"


def test_a_page_whose_race_on_own_data_has_ended_offers_them_after_each_reload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moons = load_dataset("two_moons")
    recipe = RECIPE.on(replace(moons, name="mine", title="Mine", X=moons.X[::2], y=moons.y[::2]))
    prepared = recipe.prepare()
    changed = recipe.changed(stop=StopChoice(gap=1e-3))  # after the race
    visit(monkeypatch, recipe=changed.to_words())
    page = Explorer()
    page.open()
    assert "uploaded file" in page.alert.object
    assert link_words(page.address.text(""))["recipe"] == changed.to_words()  # still asked for at the next reload
    page.session.take(shown(recipe.race(prepared), recipe, prepared))
    page.session.race.cancel()
    wait_for(lambda: page.session.race.finished, "the end of the race")
    page.resume()
    assert page.sidebar.recipe == changed
    assert page.sidebar.data.name_ == "Mine"
    assert not page.alert.visible
    assert link_words(page.address.text(""))["recipe"] == changed.to_words()
    page.sidebar.load(RECIPE)
    assert "sha256" not in page.address.text("")


def test_the_address_also_names_a_race_of_the_past_that_was_opened_again() -> None:
    """So the page finds it again however often the server is started anew."""
    page, prepared = Explorer(), RECIPE.prepare()
    page.page_recovery.reconnect.session = "loaded"
    page.page_recovery.open()
    trace = solve(prepared.problem, "level")
    page.session.reopen(ReopenedRace(prepared.problem, {"level": trace}, stored="20261130T"), RECIPE, prepared)
    page.page_recovery.tell()
    room = page.page_recovery.shared_race
    assert link_words(page.page_recovery.reconnect.query)["race"] == f"{room.key}.20261130T"
    SHARED_RACES.close(room)


def test_a_follower_shows_the_race_and_never_touches_it(led: Session) -> None:
    room = opened(led, present=True)
    follower = Follower(room.name)
    assert follower.session.race is led.race
    assert follower.message.object == LEADS
    view = next(iter(follower.shell.tabs.values())).view
    view.hold_unseen.is_seen = lambda: False
    race = led.race
    race.step(1)
    wait_for(lambda: len(race.traces["level"]), "the first step")
    before = [run.status for run in race.runs.values()]
    for now in (0.0, GIVE_UP_AFTER / 2, 2 * GIVE_UP_AFTER):
        view.hold_unseen.update(race, now)
    assert not race.finished
    follower.close()
    assert not race.finished
    assert [run.status for run in race.runs.values()] == before
    SHARED_RACES.close(room)


def test_a_follower_waits_for_a_race_and_keeps_the_recording_when_whoever_led_has_gone(led: Session) -> None:
    empty = Session(owner=EVERYBODY)
    room = opened(empty, present=True)
    follower = Follower(room.name)
    assert follower.message.object == WAITS
    covers = follower.shell.race_view().page.covers
    assert all(str(cover.object).count("When the race begins,") == 1 for cover in covers)  # there is no Run to press
    follower.shell.turn_to("Geometry")
    words = [str(getattr(part, "object", "")) for part in follower.shell.root.select()]
    assert any("No race yet: the map shows" in said for said in words)
    follower.shell.turn_to("Race")
    empty.take(led)
    asyncio.run(follower.tick())
    assert follower.session.race is led.race
    SHARED_RACES.close(room)
    asyncio.run(follower.tick())
    assert follower.message.object == OVER
    assert follower.session.race is led.race
    assert Follower("nobody").message.object == UNKNOWN


@pytest.mark.full
def test_a_follower_sees_lesson_and_answer_and_guesses_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    leads = Explorer()
    room = opened(leads.session, present=True)
    leads.lesson.update()
    follower = Follower(room.name)
    panel = follower.lesson
    assert not follower.stage.root.visible
    leads.open_lesson("silp-oscillates")
    leads.lesson.update()
    asyncio.run(follower.tick())
    lesson = leads.sidebar.scenario.lesson
    assert panel.scenario is lesson.scenario
    assert panel.guess.label == lesson.guess.label
    assert follower.stage.root.visible
    assert not follower.stage.run.visible
    right = next(iter(panel.guess.options))
    panel.guess.answer({"value": right})
    assert lesson.guess.value is None
    told = link_words(follower.reconnect.query)
    assert told == {"follow": room.name, "guess": "1", "scenario": lesson.scenario.name}
    leads.session.lesson_result = LessonResult(Answer(right, "it did"))
    asyncio.run(follower.tick())
    assert panel.headline.object == f"You said “{right}”, and so it was."
    assert panel.because.object == "It did."
    assert follower.stage.score.right == 1
    leads.session.lesson_result = None
    asyncio.run(follower.tick())
    assert panel.headline.object == "What to watch"
    visit(monkeypatch, **told)
    again = Follower(room.name)
    assert again.lesson.guess.value == right
    visit(monkeypatch, **told | {"scenario": "three-kernels"})
    other = Follower(room.name)
    assert other.lesson.guess.value is None  # the guess was about another question
    leads.sidebar.scenario.choice.value = "three-kernels"
    leads.lesson.update()
    asyncio.run(again.tick())
    assert again.lesson.scenario.name == "three-kernels"
    assert again.lesson.guess.value is None
    SHARED_RACES.close(room)


def test_an_address_brings_scenario_recipe_pace_and_axes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    visit(monkeypatch)
    first = Explorer()
    assert first.address.text("") == "?"  # a new page's is short
    first.sidebar.scenario.choice.value = "spg-parts"
    first.sidebar.load(RECIPE)
    first.run_panel.pace.value = 10.0
    asked = first.sidebar.scenario.lesson.guess
    asked.answer({"value": list(asked.options)[1]})
    first.race_view.param.update(x_axis="svm_solves", log_x=True, log_y=False)
    text = first.address.text("key")
    said = link_words(text)
    assert said["race"] == "key"
    visit(monkeypatch, **said)
    second = Explorer()
    assert link.open_address(second.sidebar) == ""
    second.address.open()
    assert second.sidebar.recipe == RECIPE
    assert "stop at 10⁻¹⁰ %" in second.race_view.page.titles["gap"].object  # in the figures that wait for a race
    notes = [part for part in second.sidebar.form.root.every() if isinstance(part, Note) and part.visible]
    (said,) = [note for note in notes if note.object == LINKED]
    assert second.sidebar.scenario.scenario.name == "spg-parts"
    assert second.run_panel.pace.value == 10.0
    assert (second.race_view.x_axis, second.race_view.log_x, second.race_view.log_y) == ("svm_solves", True, False)
    assert second.sidebar.scenario.lesson.guess.value == asked.value
    assert second.address.text("key") == text
    second.sidebar.load(RECIPE.changed(stop=StopChoice(gap=0.1)))
    assert said.object == CHANGED
    assert "guess" not in second.address.to_share("race", None, {})  # everybody has their own
    visit(monkeypatch, pace="nan", x="nothing", log="-", scenario="none", theme="dark", guess="9")
    third = Explorer()
    assert "“guess=9” in the link cannot be used." in third.address.open()
    assert link.open_address(third.sidebar) == ""
    assert third.run_panel.pace.value == third.sidebar.scenario.scenario.pace  # what is none is left out
    assert third.race_view.x_axis == "iteration"
    assert not third.race_view.log_y
    assert "theme=dark" in third.address.text("")  # whatever else was there stays
