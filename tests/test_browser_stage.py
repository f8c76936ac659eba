"""The stage of a lesson in the browser: the answer is on the screen after the run, on a laptop and on a phone."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from _browser import App, Pages, Server, at_rest

from mklviz.scenarios import scenarios

pytestmark = pytest.mark.browser
LESSONS = sum(each.question is not None for each in scenarios().values())
SIZES = [(1280, 720), (390, 844)]
NAMES = "^solves$|^trials$"
BARS = '(figure) => figure.renderers.find((r) => r.glyph.type === "HBar").data_source.get("value").length'


class Classroom:
    """Opens lessons on the stage."""

    def __init__(self, pages: Pages, server: Server) -> None:
        self.pages, self._server = pages, server

    def open(self, width: int = 1280, height: int = 720, button: str = "Run lesson", **query: str) -> App:
        address = f"http://127.0.0.1:{self._server.port}/explorer?{urlencode({'pace': '0', **query})}"
        return self.pages.open(address, width, height, button)


@pytest.fixture
def classroom(chromium: Any, server: Server) -> Iterator[Classroom]:
    pages = Pages(chromium)
    yield Classroom(pages, server)
    pages.close()
    assert not pages.errors, "\n".join(pages.errors)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_answer_of_a_lesson_is_on_the_screen_after_its_run(classroom: Classroom, width: int, height: int) -> None:
    app = classroom.open(width, height, scenario="line-search")
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
    again = classroom.open(width, height, scenario="silp-is-fine", lesson="on")
    again.page.get_by_text(f"Lessons 2 to {LESSONS + 1}: 1 done; 0 of 1 guess right.").wait_for()
    again.page.get_by_role("button", name="Forget").click()
    again.page.get_by_text(f"Lessons 2 to {LESSONS + 1}: 1 done").wait_for(state="hidden")
    kept = "localStorage.getItem('mklviz-guesses')"
    again.until(lambda: again.page.evaluate(kept) is None, "the guesses to be forgotten")


def test_words_over_an_empty_picture_begin_below_its_heading_on_a_phone(classroom: Classroom) -> None:
    app = classroom.open(390, 844, scenario="three-groups", lesson="on")  # whose heading has several lines
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


def test_the_longest_reasons_and_the_picture_beside_them_are_on_the_screen_of_a_laptop(classroom: Classroom) -> None:
    app = classroom.open(scenario="certificate", lesson="on")
    app.press("Run lesson")
    source = app.page.get_by_text(f"From: {scenarios()['certificate'].source}.")
    source.wait_for()
    app.until(lambda: app.figures("^proved$", BARS) == {"proved": 3}, "the bars of three bounds")
    for part in (source, app.page.locator(".bk-Canvas:visible").nth(1)):
        place = at_rest(part)
        assert place["y"] + place["height"] < 720
    app.screenshot("stage-reasons")
