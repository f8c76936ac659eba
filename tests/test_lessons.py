"""Lessons: every question has its answers; guess and answer meet beside the controls."""

import asyncio
from functools import cache

import pytest
from _problems import ran
from _waits import PATIENCE, soon, wait_for

from mklviz.engine import Race
from mklviz.errors import ProblemError
from mklviz.kernels import Gaussian
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice, StopChoice
from mklviz.recipe.prepared import Prepared
from mklviz.scenarios import GROUPS, Answer, Outcome, Question, Scenario, scenarios
from mklviz.views.explorer.before_and_after import Lesson
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import PACES
from mklviz.views.sidebar.scenario_panel import OPEN, LessonPanel
from mklviz.views.tabs import tab_classes

LESSONS = {name: each for name, each in scenarios().items() if each.question is not None}


def test_there_are_twelve_lessons_at_least_in_every_group_in_the_order_in_which_they_are_taught() -> None:
    assert len(LESSONS) >= 12
    assert {lesson.group for lesson in LESSONS.values()} == set(GROUPS)
    found = list(scenarios().values())
    assert [GROUPS.index(each.group) for each in found] == sorted(GROUPS.index(each.group) for each in found)
    assert found[0].name == "silp-oscillates"
    for each in found:
        assert each.tab in {tab.title for tab in tab_classes()}, each.name
        assert each.pace in PACES.values(), each.name


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_says_what_it_teaches_and_where_it_is_from(name: str) -> None:
    lesson = LESSONS[name]
    assert lesson.teaches.endswith(".")
    assert lesson.in_short[-1] in ".?"
    assert len(lesson.in_short) <= 60  # three lines of a small card
    assert lesson.look_for.endswith(".")
    assert lesson.source
    assert not lesson.source.endswith(".")


def test_questions_with_one_answer_or_the_same_twice_and_unknown_groups_are_refused() -> None:
    for choices in (("yes",), ("yes", "yes"), tuple("abcde")):
        with pytest.raises(ProblemError, match="2 to 4 different answers"):
            Question("Is it?", choices, lambda outcome: Answer("yes", "it is"))
    with pytest.raises(ProblemError, match="stands under First look, Why, When not, Beyond"):
        Scenario("zebra", "Stripes", "Nothing.", Recipe(), group="Elsewhere")


# guess and answer

BEFORE = "What to watch"
RECIPE = Recipe(
    data=DataChoice("two_moons"),
    kernels=KernelChoice(families=(Gaussian(widths=(0.5, 1.0, 2.0)),)),
    solvers=(SolverChoice("level"),),
    stop=StopChoice(max_iter=5),
)


def lesson(ask: Question | None) -> Scenario:
    return Scenario("small", "Small", "Watch.", RECIPE, ask, teaches="It ends.", source="A paper, figure 1")


def steps_of(outcome: Outcome) -> Answer:
    return Answer("five", f"{len(outcome.traces['level']) - 1} steps were taken", "So it is.")


ASKED = lesson(Question("How many steps?", ("one", "five"), steps_of))


@cache
def prepared() -> Prepared:
    return RECIPE.prepare()


def ended(recipe: Recipe = RECIPE) -> tuple[Session, Race]:
    session, race = Session(), recipe.race(prepared())
    session.show(recipe, prepared(), race)
    ran(race)
    return session, race


def waits(panel: LessonPanel) -> bool:
    """Return whether nothing is said of what came out."""
    return panel.headline.object == BEFORE and not any(
        line.visible for line in (panel.because, panel.why, panel.teaches, panel.source)
    )


def told(found: Lesson, panel: LessonPanel) -> str:
    """Let the lesson look until it has told something."""
    found.update()
    wait_for(lambda: panel.headline.object != BEFORE or panel.teaches.visible, "what is told", found.update)
    return str(panel.headline.object)


@pytest.mark.parametrize(
    ("guess", "said"),
    [("five", "You said “five”, and so it was."), ("one", "You said “one”. It was “five”."), (None, "It was “five”.")],
)
def test_the_guess_is_compared_with_what_came_out(guess: str | None, said: str) -> None:
    panel = LessonPanel(ASKED)
    panel.guess.answer({"value": guess})
    session, _ = ended()
    assert told(Lesson(session, panel), panel) == said
    assert (panel.guess.right, panel.because.object, panel.why.object) == ("five", "5 steps were taken.", "So it is.")
    assert (panel.teaches.object, panel.look_for.visible) == ("It ends.", False)
    assert panel.source.object == "From: A paper, figure 1."
    panel.guess.answer({"value": "one"})  # too late
    assert panel.guess.value == guess


def test_another_race_takes_the_answer_back_and_leaves_the_guess_and_a_branch_leaves_both() -> None:
    panel, (session, race) = LessonPanel(ASKED), ended()
    panel.guess.value = "one"
    found = Lesson(session, panel)
    told(found, panel)
    grown = race.branch("level", 2, "spg")
    session.show(RECIPE, prepared(), grown)
    found.update()
    assert not waits(panel)
    ran(grown)
    found.update()
    assert not waits(panel)
    later = told(Lesson(session, panel), panel)  # a page that comes later asks the runs of the lesson
    assert later == panel.headline.object
    session.show(RECIPE, prepared(), RECIPE.race(prepared()))
    found.update()
    assert waits(panel)
    assert (panel.guess.right, panel.guess.value) == ("", "one")


def test_a_race_that_was_stopped_or_with_other_settings_or_another_start_leaves_the_question_open() -> None:
    panel, session, race = LessonPanel(ASKED), Session(), RECIPE.race(prepared(), pace=1.0)
    session.show(RECIPE, prepared(), race)
    race.start()
    race.cancel()
    assert race.wait(PATIENCE)
    assert told(Lesson(session, panel), panel) == OPEN
    assert panel.guess.right == ""
    for recipe, from_recipe in ((RECIPE.changed(max_iter=4), True), (RECIPE, False)):
        panel, (session, race) = LessonPanel(ASKED), ended(recipe)
        if not from_recipe:
            race.traces["level"].recipe = ""
        found = Lesson(session, panel)
        found.update()
        assert not found.task.working
        assert waits(panel)


def test_an_answer_that_cannot_be_computed_is_open_and_without_a_question_what_is_taught_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(outcome: Outcome) -> Answer:
        raise ValueError("nothing")

    panel, (session, _) = LessonPanel(lesson(Question("Is it?", ("yes", "no"), broken))), ended()
    said = told(Lesson(session, panel), panel)
    assert said == "The answer could not be computed; the server's log says more. The question stays open."
    panel, (session, _) = LessonPanel(lesson(None)), ended()
    assert panel.description.visible
    assert told(Lesson(session, panel), panel) == ""
    assert panel.teaches.visible


@pytest.fixture
def explorer() -> Explorer:
    return Explorer()


def choose(explorer: Explorer, name: str) -> None:
    explorer.sidebar.scenario.choice.value = name


def test_a_lesson_opens_its_tab_at_its_pace_with_its_question(explorer: Explorer) -> None:
    assert explorer.run_panel.pace.value == scenarios()["silp-oscillates"].pace == 10.0
    choose(explorer, "three-kernels")
    assert explorer.shell.strip.active == [tab.title for tab in tab_classes()].index("Geometry")
    assert explorer.run_panel.pace.value == 2.0
    panel = explorer.sidebar.scenario.lesson
    assert panel.guess.label.startswith("Three weights")
    assert panel.guess.value is None
    choose(explorer, "silp-is-fine")
    assert explorer.shell.strip.active == 0
    assert not explorer.run_panel.full_speed.disabled
    explorer.run_panel.full_speed.clicks += 1
    assert explorer.run_panel.pace.value == 0.0
    assert explorer.run_panel.full_speed.disabled


def test_nothing_of_another_race_stands_under_the_text_of_a_lesson_nor_is_prepared(explorer: Explorer) -> None:
    explorer.run()
    assert explorer.state == "preparing"
    choose(explorer, "silp-is-fine")
    asyncio.run(soon(lambda: explorer.state != "preparing", "its end", explorer.tick))
    assert (explorer.session.race, explorer.state) == (None, "empty")
    race = RECIPE.race(prepared(), pace=1.0)
    explorer.session.show(RECIPE, prepared(), race)
    race.start()
    asyncio.run(explorer.tick())
    assert explorer.state == "running"
    choose(explorer, "three-kernels")
    assert (explorer.session.race, explorer.state) == (None, "empty")
    assert race.wait(PATIENCE)
    explorer.session.show(scenarios()["three-kernels"].recipe, prepared(), RECIPE.race(prepared()))
    explorer.sidebar.scenario.restore()
    assert explorer.session.race is not None  # that of the lesson itself stays
