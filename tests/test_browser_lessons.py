"""Every lesson in the browser, as a class takes them: question, guess, Run, and the whole picture with the answer.

All of them in one page, one after the other, so that none may leave anything behind for the next; at full speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from _browser import App, Pages, Server

from mklviz.scenarios import Scenario, scenarios

pytestmark = pytest.mark.browser

LESSONS = [each for each in scenarios().values() if each.question is not None]
LONGEST = 150.0  # seconds for a race at full speed, on a machine that may be busy
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


@pytest.mark.parametrize("lesson", LESSONS, ids=[each.name for each in LESSONS])
def test_a_lesson_goes_from_its_question_to_its_answer_beside_a_finished_picture(
    classroom: App, lesson: Scenario
) -> None:
    app, question = classroom, lesson.question
    assert question is not None
    app.choose("Scenario", lesson.title)
    if (opened := app.button("Open this lesson")).is_visible():  # it was chosen before
        opened.click()
    group = asked(app, lesson)
    group.wait_for()
    radios = group.get_by_role("radio")
    app.until(lambda: radios.count() == len(question.choices), "the answers to choose from")
    assert all(radio.is_enabled() for radio in radios.all())
    verdict = app.page.get_by_text("You said “")
    assert verdict.count() == 0
    teaches = app.page.get_by_text(lesson.teaches).locator("visible=true")  # its card on the page Lessons is hidden
    assert teaches.count() == 0
    group.get_by_role("radio", name=question.choices[0], exact=True).check()

    faster = app.button("Full speed")
    if faster.is_visible() and faster.is_enabled():
        faster.click()
    app.press("Run lesson")
    verdict.wait_for(timeout=1e3 * LONGEST)
    said = verdict.inner_text()
    assert said.startswith(f"You said “{question.choices[0]}”")
    assert any(f"“{choice}”" in said for choice in question.choices)
    assert teaches.count() == 1
    assert app.page.get_by_text(f"From: {lesson.source}").is_visible()
    assert all(radio.is_disabled() for radio in radios.all())

    app.until_finished()
    if lesson.tab == "Race":
        steps = [count for count in app.settled().values() if count]  # curves of lessons before stand empty
        assert len(steps) == len(lesson.recipe.solvers)
        assert min(steps) > 1
    else:
        app.until(lambda: max(app.page.evaluate(CONTOURS), default=0) > 5, "the ground of the map")
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() > 0, "a figure")
    assert not app.errors, "\n".join(app.errors)
