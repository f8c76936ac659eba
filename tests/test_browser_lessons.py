"""Lessons in the browser, as a class takes them: question, guess, Run, and the whole picture with the answer.

Those from their question to their answer are taken in one page, one after the other, so that none may leave anything
behind for the next; at full speed.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from _browser import App, Open, Pages, Server, at_rest, fresh_page

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


def test_the_map_of_a_lesson_stands_right_below_its_controls_and_its_heading_is_explained(open_app: Open) -> None:
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


SIZES = [(1280, 720), (390, 844)]
NAMES = "^solves$|^trials$"
BARS = '(figure) => figure.renderers.find((r) => r.glyph.type === "HBar").data_source.get("value").length'


@pytest.fixture
def open_lesson(chromium: Any, server: Server) -> Iterator[Open]:
    """Open lessons on the stage, in a browser that has kept no answer of those above."""
    context = fresh_page(chromium).context
    pages = Pages(context)

    def opened(width: int = 1280, height: int = 720, **query: str) -> App:
        address = f"http://127.0.0.1:{server.port}/explorer?{urlencode({'pace': '0', **query})}"
        return pages.open(address, width, height, "Run lesson")

    yield opened
    assert not pages.errors, "\n".join(pages.errors)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_answer_of_a_lesson_is_on_the_screen_after_its_run(open_lesson: Open, width: int, height: int) -> None:
    app = open_lesson(width, height, scenario="line-search")
    run = app.page.get_by_role("button", name="Run lesson")
    run.wait_for()
    app.page.get_by_text("What to watch").wait_for()
    app.page.get_by_role("radio", name="Two to ten").check()
    run.click()
    app.page.get_by_text("You said “Two to ten”. It was “More than ten”.").wait_for()
    app.until(lambda: set(app.figures(NAMES, BARS).values()) == {3}, "the bars of three solvers")
    because = at_rest(app.page.get_by_text("SimpleMKL solved"))
    assert because["y"] + because["height"] < height
    assert app.page.evaluate("scrollY") == 0
    assert app.page.evaluate("document.documentElement.scrollWidth") == width
    assert at_rest(app.page.get_by_role("heading", name="SVM solves", exact=True))["y"] < height
    chart = at_rest(app.page.locator(".bk-Canvas:visible").first)
    assert chart["height"] == (290 if width < 600 else 400)  # on a phone the next one is not far below
    app.screenshot(f"stage-{width}")
    again = open_lesson(width, height, scenario="silp-is-fine", lesson="on")
    again.page.get_by_text(f"Lessons 2 to {len(LESSONS) + 1}: 1 done; 0 of 1 guess right.").wait_for()
    again.page.get_by_role("button", name="Forget").click()
    again.page.get_by_text(f"Lessons 2 to {len(LESSONS) + 1}: 1 done").wait_for(state="hidden")
    kept = "localStorage.getItem('mklviz-guesses')"
    again.until(lambda: again.page.evaluate(kept) is None, "the guesses to be forgotten")


def test_words_over_an_empty_picture_begin_below_its_heading_on_a_phone(open_lesson: Open) -> None:
    app = open_lesson(390, 844, scenario="three-groups", lesson="on")  # whose heading has several lines
    words = app.page.locator("p.guess:visible")
    words.wait_for()

    def apart() -> bool:
        heading = app.page.get_by_role("heading", name="Three machines").bounding_box()
        below, chart = words.bounding_box(), app.page.locator(".bk-Canvas:visible").first.bounding_box()
        return bool(heading and below and chart) and (
            heading["y"] + heading["height"] <= below["y"] < below["y"] + below["height"] < chart["y"] + chart["height"]
        )

    app.until(apart, "words that lie in the chart alone")
    app.screenshot("stage-words-390")
    assert apart()


def test_the_longest_reasons_and_the_picture_beside_them_are_on_the_screen_of_a_laptop(open_lesson: Open) -> None:
    app = open_lesson(scenario="certificate", lesson="on")
    app.press("Run lesson")
    source = app.page.get_by_text(f"From: {scenarios()['certificate'].source}.")
    source.wait_for()
    app.until(lambda: app.figures("^proved$", BARS) == {"proved": 3}, "the bars of three bounds")
    for part in (source, app.page.locator(".bk-Canvas:visible").nth(1)):
        place = at_rest(part)
        assert place["y"] + place["height"] < 720
    app.screenshot("stage-reasons")


def test_an_answer_of_who_follows_is_a_bar_on_the_page_that_leads_and_a_row_of_its_file(
    open_app: Open, chromium: Any, tmp_path: Path
) -> None:
    app = open_app()
    app.choose("Scenario", "Three kernels from above")
    link = app.page.locator("a", has_text="?follow=")
    link.wait_for()
    student = chromium.new_page()
    student.goto(str(link.evaluate("(link) => link.href")))
    for name in ("Inside: all three", "On a side: two kernels"):  # the second replaces the first
        student.get_by_role("radio", name=name, exact=True).check()
        student.get_by_text("Your answer is counted.").wait_for()
    app.page.get_by_text("1 answer", exact=True).wait_for()
    app.page.locator("label", has_text=re.compile("^On a side: two kernels1$")).wait_for()
    app.screenshot("class")
    with app.page.expect_download() as download:
        app.press("Answers as CSV")
    download.value.save_as(tmp_path / "answers.csv")
    student.close()
    assert "above,On a side: two kernels,1,,1," in (tmp_path / "answers.csv").read_text(encoding="utf-8")
    app.press("Full speed")
    app.press("Run lesson")
    app.page.locator("label.right", has_text=re.compile("^Inside: all three0$")).wait_for()
    app.screenshot("class-right")
