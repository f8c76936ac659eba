"""The stage of a lesson: which picture stands on it, what can be pressed, and what is counted."""

import asyncio
import json
from dataclasses import replace
from functools import cache
from time import monotonic

import pytest
from _problems import problem, ran

import mklviz as mv
from mklviz.errors import SolverError
from mklviz.recipe.prepared import Prepared
from mklviz.reproduce.recorded import answers_by_paper
from mklviz.scenarios import Answer, scenarios
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.lessons.picture import step_table
from mklviz.views.lessons.pictures import picture_of, recorded_picture, recorded_runs
from mklviz.views.lessons.score import LessonScore
from mklviz.views.lessons.stage import PictureView, emptied
from mklviz.views.look.palette import LIGHT
from mklviz.views.session.session import LessonResult
from mklviz.views.sidebar.scenario_panel import LessonPanel

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
    ran(race)
    explorer.stage.tick()


def names(explorer: Explorer) -> list[str]:
    return [chart.name for chart in explorer.stage.picture.charts]


def test_an_open_lesson_shows_the_axes_of_its_picture_and_nothing_of_the_answer_before_the_guess(
    explorer: Explorer,
) -> None:
    explorer.stage.tick()
    assert explorer.stage.root.visible
    assert f'<h2 class="unseen">Lesson: {scenarios()[NAME].title}</h2>' in explorer.stage.heading.object
    assert names(explorer) == ["solves", "valley"]
    assert rows(explorer) == 0
    explorer.stage.every = 0.0
    explorer.stage.progress = "Compiling solvers, 14 of 60, about 20 s"  # what a race waits for
    explorer.stage.tick()
    assert "14 of 60, about 20 s" in explorer.stage.picture.cover.object
    asyncio.run(explorer.tick())
    assert explorer.session.preview == ""  # no tab shows the recorded race
    explorer.sidebar.scenario.lesson.guess.value = "SILP"
    asyncio.run(explorer.tick())
    assert explorer.session.preview == NAME
    explorer.stage.close.clicks += 1
    assert not explorer.stage.root.visible


def rows(explorer: Explorer) -> int:
    """Return how many rows the tables of the picture have."""
    tables = [table for figure in explorer.stage.picture.figures for table in figure.tables.values()]
    return sum(len(column) for table in tables for column in table.values())


@pytest.mark.full
def test_a_guess_lets_the_recorded_race_play_until_the_live_one_has_points(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [monotonic() + 100.0]
    monkeypatch.setattr("mklviz.views.lessons.stage.monotonic", lambda: clock[0])
    stage, panel = explorer.stage, explorer.sidebar.scenario.lesson
    stage.tick()
    assert (rows(explorer), "<b" in stage.picture.head.object) == (0, False)
    charts, grown = stage.picture.charts, []
    panel.guess.value = "SILP"
    for _ in range(3):
        clock[0] += 1.0
        stage.tick()
        grown.append([table["value"][-1] for table in stage.picture.figures[0].tables.values()])
    assert grown == [[1], [11], [14]]  # SVMs that SILP solved, in steps
    assert ">recorded</b>" in stage.picture.head.object
    assert rows(explorer) > 0
    assert explorer.session.lesson_result is None
    raced(explorer)
    assert ">live</b>" in stage.picture.head.object
    assert stage.picture.charts[0] == charts[0]  # the same axes and colours; the other waits for its lines


def test_a_lesson_whose_race_fails_at_once_says_why_in_the_picture(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise SolverError("The steps are lost.")

    monkeypatch.setattr("mklviz.engine.run.Run._next", fails)
    raced(explorer)
    assert "SILP: The steps are lost. SimpleMKL: The steps are lost." in explorer.stage.picture.cover.object


def test_there_is_one_run_button_which_the_status_names_and_it_comes_back_when_the_lesson_is_closed(
    explorer: Explorer,
) -> None:
    in_drawer, in_header = explorer.run_panel.buttons["run"], explorer.header.run
    assert (explorer.stage.run.visible, in_drawer.visible, in_header.visible) == (True, False, False)
    assert explorer.status == "Press Run lesson to start the solvers."
    explorer.stage.close.clicks += 1
    assert (explorer.stage.root.visible, in_drawer.visible, in_header.visible) == (False, True, True)
    assert explorer.status == "Press Run to start the solvers."
    explorer.sidebar.scenario.choice.value = "letter-sum"  # a scenario without a question
    assert not explorer.stage.root.visible
    assert explorer.sidebar.scenario.lesson.description.visible


@pytest.mark.full
def test_a_claim_that_cannot_be_tested_clears_the_set_up_of_the_one_before(explorer: Explorer) -> None:
    every = [answer.claim for answers in answers_by_paper().values() for answer in answers]
    raced, untestable = (next(claim for claim in every if bool(claim.untestable) is told) for told in (False, True))
    explorer.open_claim(raced.name)
    assert explorer.sidebar.recipe == raced.race
    explorer.open_claim(untestable.name)
    assert explorer.sidebar.recipe == scenarios()[NAME].recipe


@pytest.mark.parametrize("name", LESSONS)
def test_charts_of_a_picture_are_high_enough_and_end_on_the_screen_of_a_laptop(name: str) -> None:
    picture, view = recorded_picture(name, LIGHT), PictureView()
    assert picture is not None
    view.show(picture, LIGHT)
    heights = {figure.chart.name: figure.plot.height for figure in view.figures}
    assert min(heights.values()) >= 185  # 120 pixels of them within the axes
    assert sum(heights[row[0].name] + 30 for row in picture.rows) <= 440  # each with its title


def test_a_chart_that_only_the_result_fills_says_so_until_then_and_what_a_colour_means_where_there_are_points() -> None:
    runs, view = recorded_runs(NAME, LIGHT), PictureView()
    assert runs is not None
    for evidence, empty in ((runs.evidence, False), ({}, True)):
        view.show(picture_of(scenarios()[NAME], replace(runs, evidence=evidence)), LIGHT)
        solves, valley = (str(figure.object) for figure in view.headings)
        assert ("Appears when" in solves, "Appears when" in valley) == (False, empty)
    picture, view = recorded_picture("silp-oscillates", LIGHT), PictureView()
    assert picture is not None
    for tables, waiting, noted in ((picture.tables, "", True), (emptied(picture.tables), "Guess", False)):
        view.show(replace(picture, tables=tables), LIGHT, waiting)
        said = ["grey: another kernel" in str(heading.object) for heading in view.headings]
        assert said == [False, noted, noted]


@pytest.mark.full
def test_the_race_of_a_lesson_is_drawn_by_its_picture_and_another_by_the_usual_and_whole_on_a_projector(
    explorer: Explorer,
) -> None:
    stage = explorer.stage
    raced(explorer)
    assert names(explorer) == ["solves", "valley"]
    assert stage.below.css_classes == ["stage"]
    explorer.session.project(True)
    stage.tick()
    assert stage.below.css_classes == ["stage", "projected"]  # what is said stands below
    assert max(figure.plot.height for figure in stage.picture.figures) <= 380
    explorer.session.project(False)
    raced(explorer, max_iter=3)
    assert names(explorer) == ["lesson-gap", "solves"]


def test_a_changed_set_up_steps_back_until_it_is_put_back(explorer: Explorer) -> None:
    stage, own = explorer.stage, scenarios()[NAME].recipe
    assert not stage.changed.visible
    explorer.sidebar.load(own.changed(max_iter=7))
    assert stage.changed.visible
    assert stage.run.label == "▶ Run as changed"
    assert not stage.panel.guess.visible
    stage.question.receive({"key": stage.changed.objects[-1].key, "click": True})
    assert not stage.changed.visible
    assert stage.panel.guess.visible
    assert explorer.sidebar.recipe == own


@pytest.mark.full
def test_buttons_are_those_that_mean_something(explorer: Explorer) -> None:
    stage = explorer.stage
    for state, seen in (("empty", "run"), ("preparing", "stop"), ("running", "stop"), ("finished", "run")):
        stage.show_state(state, blocked=False, changed=False)
        assert (stage.run.disabled, stage.stop.visible) == (seen != "run", seen == "stop")
        assert stage.run.visible  # so that it keeps the focus
    assert stage.run.label == "▶ Run again"


def done(score: LessonScore, name: str, guess: int) -> LessonPanel:
    """Do a lesson whose first choice is right."""
    panel = LessonPanel(scenarios()[name])
    question = scenarios()[name].question
    assert question is not None
    panel.guess.value = question.choices[guess]
    panel.show_result(LessonResult(Answer(question.choices[0], "it is so")))
    score.take(panel)
    return panel


def test_another_page_of_the_browser_knows_what_was_guessed_until_it_is_told_to_forget() -> None:
    score = LessonScore(None)
    done(score, LESSONS[0], 0)
    done(score, LESSONS[1], 1)
    again = LessonScore(None)
    again.take(LessonPanel(scenarios()[LESSONS[2]]))
    assert not again.line.visible
    again.storage.receive({"kept": json.loads(score.storage.kept)})
    assert again.line.visible
    assert (again.done, again.right) == (score.done, 1)
    assert f"Lessons 2 to {len(LESSONS) + 1}: 2 done; 1 of 2 guesses right." in str(again.count.object)
    panel = done(again, LESSONS[2], 0)
    assert (len(again.done), again.right) == (3, 2)
    again.forget.clicks += 1
    again.take(panel)
    assert again.done == json.loads(again.storage.kept) == {}
    panel.show_result(None)  # the race is run again
    again.take(panel)
    done(again, LESSONS[2], 1)
    assert (len(again.done), again.right) == (1, 0)


def test_a_lesson_done_without_a_guess_is_no_wrong_guess_and_only_guesses_that_there_are_come_back() -> None:
    score, panel = LessonScore(None), LessonPanel(scenarios()[NAME])
    panel.show_result(LessonResult(Answer("SILP", "it is so")))
    score.take(panel)
    assert str(score.count.object).endswith(f"Lessons 2 to {len(LESSONS) + 1}: 1 done.")
    score, (right, wrong, *_) = LessonScore(None), scenarios()[NAME].question.choices  # type: ignore[union-attr]
    for found in (None, [], 1, {NAME: 1}, {NAME: [right]}, {NAME: [None, "no choice"]}, {NAME: [[], right]}, {"x": 1}):
        score.storage.receive({"kept": found})
        assert score.done == {}
    score.storage.receive("no message")
    score.storage.receive({"kept": {NAME: [wrong, right], "gone": [right, right]}})
    assert score.done == {NAME: (wrong, right)}


def test_all_lessons_are_summed_up_when_the_last_one_is_done() -> None:
    turned: list[str] = []
    score = LessonScore(turned.append)
    for place, name in enumerate(LESSONS):
        assert not score.summary.visible
        done(score, name, place % 2)
        score.next.clicks += 1
    assert turned == LESSONS[1:]
    assert score.summary.visible
    assert score.right == len(LESSONS[::2])
    assert not score.next.visible


def test_a_race_that_takes_a_step_while_it_is_drawn_is_drawn_up_to_the_step_before() -> None:
    trace = mv.solve(problem("blobs, C = 1"), "level", max_iter=5)
    passes = trace.kernel_passes[:-1]  # read a moment before
    table = step_table(trace, passes=passes, gap=trace.gap_at)
    assert table["passes"] == list(passes)
    assert len(table["gap"]) == len(trace) - 1
