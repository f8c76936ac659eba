"""Every lesson in the browser, as a class takes them: question, guess, Run, and the whole picture with the answer.

All of them in one page, one after the other, so that none may leave anything behind for the next; at full speed.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _browser import App, Pages, Server, at_rest

from mklviz.scenarios import Scenario, scenarios

pytestmark = pytest.mark.browser

LESSONS = [each for each in scenarios().values() if each.question is not None]
CONTOURS = """() => [...Bokeh.documents[0].all_models].filter((m) => m.name === "map-ground")
  .map((m) => (m.data instanceof Map ? m.data.get("xs") : m.data.xs).length)"""


@pytest.fixture(scope="module")
def classroom(chromium: Any, server: Server) -> Iterator[App]:
    """Open one page for all lessons."""
    pages = Pages(chromium)
    yield pages.open(server.url())
    pages.close()


def asked(app: App, lesson: Scenario) -> Any:
    """Return the question of a lesson, as the page shows it."""
    assert lesson.question is not None
    return app.page.get_by_role("group", name=lesson.question.text)


# a tab of curves, a map and a path; others differ in data and words
EACH_TIME = ("silp-oscillates", "three-kernels", "regularization-path")


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(each, id=each.name, marks=[pytest.mark.product] * (each.name not in EACH_TIME)) for each in LESSONS],
)
def test_a_lesson_goes_from_its_question_to_its_answer_beside_a_finished_picture(
    classroom: App, lesson: Scenario
) -> None:
    app, question = classroom, lesson.question
    assert question is not None
    app.choose("Scenario", lesson.title)
    group, opened = asked(app, lesson), app.button("Open this lesson")  # where it was chosen before
    app.until(lambda: group.is_visible() or opened.is_visible(), "the lesson")
    if stood := opened.is_visible():  # at the pace of the address, which is full speed
        opened.click()
    group.wait_for()
    radios = group.get_by_role("radio")
    app.until(lambda: radios.count() == len(question.choices), "the answers to choose from")
    app.until(lambda: all(radio.is_enabled() for radio in radios.all()), "answers that can be chosen")
    verdict = app.page.get_by_text("You said “")
    app.until(lambda: verdict.count() == 0, "the verdict of before to go")
    teaches = app.page.get_by_text(lesson.teaches).locator("visible=true")  # its card on the page Lessons is hidden
    app.until(lambda: teaches.count() == 0, "no answer yet")
    group.get_by_role("radio", name=question.choices[0], exact=True).check()

    if not stood:
        app.press("Full speed")
    app.press("Run lesson")
    verdict.wait_for()
    said = verdict.inner_text()
    assert verdict.get_attribute("role") == "status"
    assert said.startswith(f"You said “{question.choices[0]}”")
    assert any(f"“{choice}”" in said for choice in question.choices)
    app.until(lambda: teaches.count() == 1, "what it teaches")
    app.page.get_by_text(f"From: {lesson.source}").locator("visible=true").first.wait_for()
    app.until(lambda: all(radio.is_disabled() for radio in radios.all()), "answers that stay")

    app.until_finished()
    if lesson.tab == "Race":
        steps = [count for count in app.settled().values() if count]  # curves of lessons before stand empty
        assert len(steps) == len(lesson.recipe.solvers)
        assert min(steps) > 1
    else:
        app.until(lambda: max(app.page.evaluate(CONTOURS), default=0) > 5, "the ground of the map")
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() > 0, "a figure")
    assert not app.errors, "\n".join(app.errors)


def test_the_map_of_a_lesson_stands_right_below_its_controls_and_its_heading_is_explained(
    open_app: Callable[..., App],
) -> None:
    app = open_app()
    app.choose("Scenario", "Three kernels from above")
    app.press("Full speed")
    app.press("Run lesson")
    app.until_finished()
    app.page.get_by_text("It was “Inside: all three”.").wait_for()  # nothing above moves any more
    model = app.page.get_by_role("combobox", name="Cuts and level set of")
    heading = app.page.get_by_role("heading", name="Three kernels from above", level=3)
    heading.wait_for()
    app.until(model.is_visible, "the choice of a model")
    above, below = at_rest(model), at_rest(heading)
    assert 0 < below["y"] - above["y"] < 90
    mark = app.page.get_by_role("note", name="Simplex: All weights that are not negative")
    mark.hover()
    shown = mark.evaluate("(mark) => getComputedStyle(mark, '::after').content")
    assert "with three kernels it is a triangle" in shown
    app.screenshot("lesson-map")
    # in the picture of the lesson the browser solves the paths from another start
    start = app.page.get_by_role("slider", name="Start of the paths").first
    app.still(lambda: app.page.inner_text("body"), "the picture to be there")
    start.press("ArrowLeft")
    said = app.page.get_by_text(re.compile(r"SILP: \d+ solves.*; Level: \d+.*; SPG: \d+"))
    said.wait_for()
    app.page.get_by_role("button", name="Undo").click()
    app.until(lambda: said.count() == 0, "the recorded paths")
