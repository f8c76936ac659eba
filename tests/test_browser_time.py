"""Where the time goes, in the browser: bars that grow with the race, in seconds or as shares, by hand and by ear."""

import re

import pytest
from _browser import App, Open

pytestmark = pytest.mark.browser

# the card is in the shadow of its component, where locators reach but queries do not
WIDTHS = """(rows) => Object.fromEntries(rows.filter((row) => !row.hidden).map((row) => [row.dataset.run,
  [...row.querySelectorAll('.segment')].reduce((sum, s) => sum + s.getBoundingClientRect().width, 0)]))"""
FILL = "(row) => getComputedStyle(row.querySelector('.segment')).backgroundColor"


def lengths(app: App) -> dict[str, float]:
    """Width of each bar on screen, in pixels."""
    found: dict[str, float] = app.page.locator(".bars .row").evaluate_all(WIDTHS)
    return found


def test_bars_grow_with_the_race_and_show_shares_and_seconds(open_app: Open) -> None:
    app = open_app(solvers="level,silp,spg", iterations=900, pace=10)
    app.page.get_by_text("What each solver spends its time on appears here.").wait_for()
    app.press("Run")
    app.until(lambda: len(lengths(app)) == 3 and min(lengths(app).values()) > 0, "bars while the race runs")
    app.press("Stop")
    app.until_finished()
    app.settled()

    app.still(lambda: lengths(app), "the last numbers, which come with the last words")
    bars = app.page.get_by_role("list").filter(has=app.page.get_by_role("img", name=re.compile("^Level, ")))
    app.until(lambda: bars.count() == 1, "the bar of Level")
    for key, label in (("level", "Level"), ("silp", "SILP"), ("spg", "SPG")):
        said = app.page.get_by_role("img", name=re.compile(rf"^{label}, [\d.]+ s: SVM \d+ %, gradient \d+ %, "))
        app.until(lambda key=key, said=said: app.row(key)[4] in str(said.get_attribute("aria-label")), "the same time")
    app.screenshot("time-1280")

    drawn, spent = lengths(app), app.last("seconds")
    longest = max(spent, key=lambda key: spent[key])
    for key in spent:  # to a pixel for each of five segments, and the rounding of what was sent
        assert drawn[key] == pytest.approx(drawn[longest] * spent[key] / spent[longest], abs=6.0)
    app.press("Shares")
    app.until(lambda: max(lengths(app).values()) - min(lengths(app).values()) <= 5.0, "bars of one length")
    app.press("Seconds")
    app.until(lambda: lengths(app) == drawn, "the seconds to come back")

    legend = app.page.get_by_role("group", name="Solvers shown")
    legend.get_by_role("button", name="SILP").click()
    app.until(lambda: set(lengths(app)) == {"level", "spg"}, "SILP to be hidden")
    level = app.page.locator(".bars .row").first
    light = level.evaluate(FILL)
    app.page.get_by_role("button", name="Toggle theme").click()
    app.until(lambda: level.evaluate(FILL) != light, "other colours in the dark")
    app.screenshot("time-dark-1280")
    app.page.get_by_role("button", name="Toggle theme").click()  # the browser remembers it
    app.press("Reset")
    app.until(lambda: lengths(app) == {}, "the bars to go")
