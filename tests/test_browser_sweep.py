"""The tab Sweep in the browser: words are typed, the sweep is solved in processes, and its figures are painted."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from _browser import App

pytestmark = pytest.mark.browser
WORDS = "data=heart; split=0...5; solvers=level,spg; kernels=gauss:1,4@all poly:1@all"


def test_a_sweep_that_is_typed_is_solved_and_drawn(open_app: Callable[..., App]) -> None:
    app = open_app()
    app.page.get_by_role("tab", name="Sweep").click()
    line = app.page.get_by_role("textbox", name="Sweep", exact=True)
    line.wait_for()
    line.fill(WORDS)
    line.press("Enter")
    app.page.get_by_text(re.compile(r"^12 runs")).wait_for()
    app.page.set_viewport_size({"width": 800, "height": 900})
    command = app.page.locator("pre").filter(has_text="mklviz sweep")
    assert command.evaluate("(node) => node.scrollWidth <= node.clientWidth"), "its end is under the button Copy"
    app.page.set_viewport_size({"width": 1280, "height": 900})
    assert app.page.get_by_role("textbox", name="Splits").input_value() == "0...5"
    app.page.get_by_role("button", name="Start", exact=True).click()
    app.page.get_by_text("Finished: 12 of 12 runs have ended.").wait_for()
    app.page.get_by_text("12 runs of 6 cases, 12 converged.").wait_for()
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() == 2, "the profile and the spread")
    app.page.get_by_role("row", name=re.compile("Level.*SPG.*of 6")).wait_for()
    app.screenshot("sweep-1280")
