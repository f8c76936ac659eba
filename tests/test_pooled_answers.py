"""The answers of a class: one a visitor, bounded, brought back after a restart to their owner alone, and exported."""

import asyncio
import csv
import io
import json
from dataclasses import replace

import pytest
from _students import CODE, Teacher, class_answers, cookies_at
from _ticks import visit
from test_gate import before_a_server
from tornado.httpclient import AsyncHTTPClient

from mklviz.record.store import Owner, Store
from mklviz.scenarios import Answer, Question, Scenario, load_scenario
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import COUNTED, LATE, Follower
from mklviz.views.explorer.page_recovery import SHARED_RACES, SharedRace
from mklviz.views.lessons.pooled import MOST_VISITORS, PooledAnswers
from mklviz.views.lessons.stage import GUESS_FOLLOWING
from mklviz.views.session.session import LessonResult, Session

LESSON = load_scenario("silp-oscillates")
CHOICES = list(LESSON.question.choices) if LESSON.question else []
FIRST, SECOND = CHOICES[:2]
A, B = Owner("a" * 24), Owner("b" * 24)


@pytest.fixture
def answers(store: Store) -> PooledAnswers:
    return PooledAnswers(store.of(A), "room")


@pytest.mark.full
def test_a_visitor_has_one_answer_and_the_class_is_bounded(answers: PooledAnswers) -> None:
    for choice in (FIRST, SECOND, "no choice", None):
        answers.give(LESSON, "one", choice)
    question = answers.questions[LESSON.name]
    assert question.given == {"one": SECOND}
    assert answers.has(LESSON.name, "one", SECOND)
    assert not answers.has(LESSON.name, "one", FIRST)
    for k in range(2 * MOST_VISITORS):
        answers.give(LESSON, str(k), FIRST)
    assert sum(question.counts) == MOST_VISITORS
    answers.give(LESSON, "one", FIRST)  # whoever is counted may still change
    answers.settle(LESSON.name, FIRST)
    answers.give(LESSON, "one", SECOND)  # the answer is known
    assert question.share_right == 1.0


def test_a_restarted_server_has_them_for_their_owner_alone(store: Store) -> None:
    answers = PooledAnswers(store.of(A), "room")
    answers.give(LESSON, "one", FIRST)
    answers.settle(LESSON.name, SECOND)
    again = PooledAnswers(store.of(A), "room")
    (one,) = again.questions.values()
    assert (one.title, list(one.choices), one.given, one.right) == (LESSON.title, CHOICES, {"one": FIRST}, SECOND)
    assert PooledAnswers(store.of(B), "room").questions == {}
    assert PooledAnswers(store.of(A), "another").questions == {}
    path = store.folder / "answers" / "room.json"
    for damaged in ("{", json.dumps({"owner": A.name, "questions": {"a": 1}}), json.dumps({"owner": A.name})):
        path.write_text(damaged)
        assert PooledAnswers(store.of(A), "room").questions == {}


def test_files_of_rooms_are_written_only_where_runs_are_kept_and_those_left_behind_are_bounded(store: Store) -> None:
    mine = store.of(A)
    mine.enabled = False
    PooledAnswers(mine, "room").give(LESSON, "one", FIRST)
    assert not (store.folder / "answers").exists()
    for room in range(4):
        answers = PooledAnswers(store.of(A), f"room{room}")
        answers.most_rooms = 2
        answers.give(LESSON, "one", FIRST)
    assert len(list((store.folder / "answers").iterdir())) == 2


def test_a_table_has_a_row_for_each_choice_and_no_formula(answers: PooledAnswers) -> None:
    def right(_outcome: object) -> Answer:
        return Answer("=1+1", "")

    own = Scenario("own", '=cmd("x"), or', "", LESSON.recipe, Question("?", ("=1+1", "b"), right))
    for visitor, choice in (("one", "=1+1"), ("two", "b"), ("three", "b"), ("four", "b")):
        answers.give(own, visitor, choice)
    answers.settle("own", "=1+1")
    answers.give(replace(own, name="open", title="Open"), "one", "b")
    rows = list(csv.reader(io.StringIO(answers.table().decode())))
    assert rows == [
        ["lesson", "choice", "answers", "right", "answers to the lesson", "share right"],
        ['\'=cmd("x"), or', "'=1+1", "1", "yes", "4", "0.25"],
        ['\'=cmd("x"), or', "b", "3", "no", "4", "0.25"],
        ["Open", "'=1+1", "0", "", "1", ""],
        ["Open", "b", "1", "", "1", ""],
    ]


def led() -> Explorer:
    """A page that leads a lesson."""
    leads = Explorer()
    SHARED_RACES.open(leads.page_recovery.shared_race)
    leads.open_lesson(LESSON.name)
    leads.lesson.update()
    return leads


@pytest.mark.full
def test_followers_answer_and_the_page_that_leads_shows_bars_then_what_was_right() -> None:
    leads = led()
    card, room = leads.class_card, leads.page_recovery.shared_race
    guess = leads.sidebar.scenario.lesson.guess
    one, other = Follower(room.name), Follower(room.name)
    asyncio.run(leads.tick())
    assert not card.row.visible  # nothing of it is on a page without a class
    assert guess.counts == []
    for follower, choice in ((one, FIRST), (other, SECOND), (other, FIRST)):
        follower.lesson.guess.answer({"value": choice})
        assert follower.counted.visible
        assert follower.counted.object == COUNTED
    asyncio.run(leads.tick())
    assert card.row.visible
    assert card.given.object == "2 answers"
    assert guess.counts == [2, *[0] * (len(CHOICES) - 1)]
    assert not card.reveal.visible
    leads.session.project(True)
    asyncio.run(leads.tick())
    assert card.given.object == "2 answers"
    assert guess.counts == []  # before a room, not yet
    card.reveal.answer({"click": True})
    assert guess.counts[0] == 2
    assert not card.row.visible  # the picture has its room
    leads.sidebar.scenario.lesson.show_result(LessonResult(Answer(FIRST, "it did")))
    card.tick()
    assert room.answers.questions[LESSON.name].right == guess.right == FIRST
    leads.close()
    assert SHARED_RACES.find(room.name) is None


def test_the_bars_come_without_reveal_once_the_answer_is_known_and_hard_lessons_are_told_from_the_second_on() -> None:
    leads = led()
    card, room = leads.class_card, leads.page_recovery.shared_race
    leads.session.project(True)
    for name, right in ((LESSON.name, True), ("silp-is-fine", False)):
        lesson = load_scenario(name)
        leads.open_lesson(name)
        assert leads.sidebar.scenario.lesson.guess.counts == []  # none of the lesson before
        assert not card.root.visible
        choices = lesson.question.choices
        room.answers.give(lesson, "one", choices[0])
        leads.sidebar.scenario.lesson.show_result(LessonResult(Answer(choices[0 if right else 1], "it did")))
        card.tick()
        assert leads.sidebar.scenario.lesson.guess.counts == [1, *[0] * (len(choices) - 1)]
    assert card.root.visible
    hardest, easiest = (card.hard.object.index(load_scenario(name).title) for name in ("silp-is-fine", LESSON.name))
    assert hardest < easiest
    leads.close()


@pytest.mark.full
def test_who_has_seen_the_race_begin_is_not_counted_and_no_recording_tells_a_class_the_answer() -> None:
    session = Session(scenario=LESSON, lesson_open=True)
    room = SharedRace(session, lambda: True)
    SHARED_RACES.open(room)
    early, late = Follower(room.name), Follower(room.name)
    early.lesson.guess.answer({"value": FIRST})
    asyncio.run(early.tick())
    assert early.stage.picture.cover.object == f'<p class="guess">{GUESS_FOLLOWING}</p>'
    session.race = "a race"
    for lesson in (early.lesson, late.lesson):
        lesson.guess.answer({"value": SECOND})
    assert early.counted.object == late.counted.object == LATE
    assert list(room.answers.questions[LESSON.name].given.values()) == [FIRST]
    SHARED_RACES.close(room)


@pytest.mark.full
def test_a_page_that_is_loaded_again_has_the_answers_of_before_the_race_also_from_a_server_started_again(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = SharedRace(Session(owner=A), lambda: False)
    before.answers = PooledAnswers(store.of(A), before.name)
    SHARED_RACES.open(before)
    before.answers.give(LESSON, "one", FIRST)
    mine = SharedRace(Session(owner=A), lambda: True)
    assert SHARED_RACES.take_over(before.key, mine)
    assert mine.answers is before.answers
    SHARED_RACES.close(mine)  # as does the server that ends
    visit(monkeypatch, race=before.key)
    for owner, found in ((B, 0), (A, 1)):
        page = Explorer()
        recovery, session = page.page_recovery, page.session
        session.owner, session.store = owner, store.of(owner)
        recovery.ask()
        recovery.open()
        asyncio.run(page.tick())
        assert len(recovery.shared_race.answers.questions) == found
        assert (SHARED_RACES.find(before.name) is recovery.shared_race) == bool(found)
        assert page.alert.visible == (not found)
        SHARED_RACES.close(recovery.shared_race)


@pytest.mark.full
def test_a_class_behind_a_code_is_counted_to_the_last_and_its_answers_outlive_the_server() -> None:
    told: list[str] = []

    async def lead(port: int, _server: object) -> None:
        cookies = await cookies_at(port)
        page = await AsyncHTTPClient().fetch(f"http://localhost:{port}/explorer", headers={"Cookie": cookies})
        told.append(page.headers["Set-Cookie"].partition(";")[0])
        teacher = await Teacher(port, f"{cookies}; {told[0]}").open()
        await class_answers(teacher, port, cookies, 8)
        told.append(await teacher.until(r"(&race=[\w.-]+)"))
        teacher.leave()

    async def come_back(port: int, _server: object) -> None:
        teacher = await Teacher(port, await cookies_at(port, told[0]), told[1]).open()
        told.append(await teacher.until("(8) answers"))
        teacher.leave()

    before_a_server(lead, code=CODE, own=True)
    room = SHARED_RACES.find(told[1][6:22])
    SHARED_RACES.close(room)  # as the end of its process does
    before_a_server(come_back, code=CODE, own=True)
    assert told[2] == "8"
