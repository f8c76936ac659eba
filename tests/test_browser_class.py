"""A class answers a lesson: the page that leads shows bars before the race, and who follows is told that it counts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _browser import App

pytestmark = pytest.mark.browser


def test_an_answer_of_who_follows_is_a_bar_on_the_page_that_leads_and_a_row_of_its_file(
    open_app: Callable[..., App], chromium: Any, tmp_path: Path
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
