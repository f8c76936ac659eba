"""The stage of a lesson: which picture stands on it, what can be pressed, and what is counted."""

from __future__ import annotations

from functools import cache

import pytest

from mklviz.recipe.prepared import Prepared
from mklviz.scenarios import Answer, scenarios
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.lessons.score import LessonScore
from mklviz.views.session.session import LessonResult
from mklviz.views.sidebar.lesson_panel import LessonPanel

NAME = "silp-is-fine"
LESSONS = [name for name, each in scenarios().items() if each.question is not None]


@cache
def prepared() -> Prepared:
    return scenarios()[NAME].recipe.prepare()


@pytest.fixture
def explorer() -> Explorer:
    made = Explorer()
    made.open_lesson(NAME)
    return made


def raced(explorer: Explorer, **changes: int) -> None:
    recipe = scenarios()[NAME].recipe.changed(**changes)
    race = recipe.race(prepared())
    explorer.session.show(recipe, prepared(), race)
    race.start()
    assert race.wait(60.0)
    explorer.stage.tick()


def names(explorer: Explorer) -> list[str]:
    return [chart.name for chart in explorer.stage.picture.charts]


def test_an_open_lesson_shows_the_axes_of_its_picture_and_nothing_of_the_answer(explorer: Explorer) -> None:
    explorer.stage.tick()
    assert explorer.stage.root.visible
    assert names(explorer) == ["solves", "valley"]
    assert all(not any(table.values()) for figure in explorer.stage.picture.figures for table in figure.tables.values())
    explorer.stage.close.clicks += 1
    assert not explorer.stage.root.visible


def test_a_scenario_without_a_question_has_no_stage(explorer: Explorer) -> None:
    explorer.sidebar.scenario.choice.value = "letter-sum"
    assert not explorer.stage.root.visible
    assert explorer.sidebar.scenario.lesson.told.visible


def test_the_race_of_a_lesson_is_drawn_by_its_picture_and_another_one_by_the_usual(explorer: Explorer) -> None:
    raced(explorer)
    assert names(explorer) == ["solves", "valley"]
    raced(explorer, max_iter=3)
    assert names(explorer) == ["lesson-gap", "solves"]


def test_a_changed_set_up_steps_back_until_it_is_put_back(explorer: Explorer) -> None:
    stage, own = explorer.stage, scenarios()[NAME].recipe
    assert not stage.changed.visible
    explorer.sidebar.load(own.changed(max_iter=7))
    assert stage.changed.visible
    assert not stage.panel.guess.visible
    explorer.sidebar.scenario.restore()
    assert not stage.changed.visible
    assert stage.panel.guess.visible
    assert explorer.sidebar.recipe == own


def test_buttons_are_those_that_mean_something(explorer: Explorer) -> None:
    stage = explorer.stage
    for state, seen in (("empty", "run"), ("preparing", "stop"), ("running", "stop"), ("finished", "run")):
        stage.show_state(state, blocked=False, changed=False)
        assert (stage.run.visible, stage.stop.visible) == (seen == "run", seen == "stop")
    assert stage.run.label == "▶ Run again"


def test_all_lessons_are_summed_up_when_the_last_one_is_done() -> None:
    turned: list[str] = []
    score = LessonScore(turned.append)
    for place, name in enumerate(LESSONS):
        assert not score.summary.visible
        panel = LessonPanel(scenarios()[name])
        question = scenarios()[name].question
        assert question is not None
        panel.guess.value = question.choices[place % 2]
        panel.show_result(LessonResult(Answer(question.choices[0], "it is so")))
        score.take(panel)
        score.next.clicks += 1
    assert turned == LESSONS[1:]
    assert score.summary.visible
    assert score.right == len(LESSONS[::2])
    assert not score.next.visible
