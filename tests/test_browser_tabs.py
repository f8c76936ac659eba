"""Tabs in the browser: the timeline goes back over a race, and the race is there again afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from _browser import App

pytestmark = pytest.mark.browser
Open = Callable[..., App]


def deeds(app: App) -> list[str]:
    """What the timeline says each solver did."""
    return [str(text) for text in app.page.locator("p.why:visible:has(b)").all_inner_texts()]


def canvases(app: App) -> int:
    """Number of figures that can be seen."""
    return int(app.page.locator(".bk-Canvas:visible").count())


def test_the_timeline_steps_back_and_the_race_is_there_again(open_app: Open) -> None:
    app = open_app(solvers="level,spg", iterations=30)
    app.page.get_by_role("tab", name="Timeline").click()
    app.page.get_by_text("Press Run first").wait_for()
    app.page.get_by_role("tab", name="Race").click()
    app.press("Run")
    app.until_finished()
    app.settled()
    shown = canvases(app)
    assert shown >= 4

    app.page.get_by_role("tab", name="Timeline").click()
    app.until(lambda: len(deeds(app)) == 2, "a sentence for each solver")
    app.until(lambda: canvases(app) >= 4, "the figures of the timeline")
    last = deeds(app)
    app.press("Step back")
    app.until(lambda: deeds(app) != last, "the step before")
    app.screenshot("timeline-1280")
    app.press("To the end")
    app.until(lambda: deeds(app) == last, "the end again")
    app.press("Play")
    app.until(lambda: any("start" in said.lower() for said in deeds(app)) or deeds(app) != last, "the first steps")
    app.press("Hold")

    app.page.get_by_role("tab", name="Race").click()
    app.until(lambda: canvases(app) == shown, "the figures of the race")
    assert re.search("finished", app.status)
