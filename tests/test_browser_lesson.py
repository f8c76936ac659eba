"""A lesson in the browser, from its choice in the menu to the sentence after its race."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from _browser import App, at_rest

pytestmark = pytest.mark.browser
Open = Callable[..., App]


def test_a_guess_is_kept_through_the_race_and_compared_with_what_came_out(open_app: Open) -> None:
    app = open_app()
    app.choose("Scenario", "A data set that one question decides")
    asked = app.page.get_by_role("group", name="On Vote one question nearly decides")
    asked.wait_for()
    app.until(lambda: asked.get_by_role("radio").count() == 4, "the four answers")
    asked.get_by_role("radio", name="SILP", exact=True).check()
    app.press("Full speed")
    app.press("Run lesson")
    app.until_finished()
    said = app.page.get_by_text("You said “SILP”. It was “SimpleMKL”.")
    said.wait_for()
    assert said.get_attribute("role") == "status"
    app.page.get_by_text("The SVM solves were SILP").wait_for()
    app.page.get_by_text("Where the SVM has several solutions").wait_for()
    asked.get_by_role("radio", name="SILP", exact=True, checked=True).wait_for()
    app.until(asked.get_by_role("radio", name="Level").is_disabled, "the answers to stay")
    app.screenshot("lesson")
    # another lesson begins with nothing of this one
    app.choose("Scenario", "Three kernels from above")
    app.until(lambda: said.count() == 0, "the answer to be taken back")
    app.page.get_by_role("group", name="Three weights that sum to one").wait_for()
    pace = app.page.get_by_role("combobox", name="pace")
    app.until(lambda: pace.input_value() == "2 steps/s", "the pace of the other lesson")
    app.until(lambda: app.page.get_by_role("radio", checked=True).count() == 0, "no guess")
    assert app.page.get_by_text("This is a recording of").count() == 0  # which would tell the answer
    app.page.get_by_role("radio", name="In a corner: one kernel").check()
    app.page.get_by_text("This is a recording of “Three kernels from above”.").wait_for()
    app.page.get_by_text("A recording. Run lesson brings your own race.").wait_for()


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
