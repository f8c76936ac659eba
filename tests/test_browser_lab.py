"""The laboratory in the browser, from click to finished picture: a knob, a stop rule, and a branch on the timeline."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from _browser import App, at_rest

pytestmark = pytest.mark.browser
Open = Callable[..., App]

SOURCE = """(name) => Object.fromEntries([...Bokeh.documents[0].all_models]
  .filter((m) => m.name === name)
  .flatMap((m) => m.data instanceof Map ? [...m.data] : Object.entries(m.data))
  .map(([column, values]) => [column, Array.from(values,
    (v) => typeof v === "string" || v?.length === undefined ? v : Array.from(v))]))"""

LAID_OUT_ANEW = "(slider) => { slider.style.display = 'none'; slider.offsetWidth; slider.style.display = '' }"


def drawn(app: App, name: str) -> dict[str, Any]:
    """Return the columns of a source on the page."""
    found: dict[str, Any] = app.page.evaluate(SOURCE, name)
    return found


def raced(open_app: Open) -> App:
    app = open_app(solvers="silp,level,spg", iterations=40)
    app.press("Run")
    app.until_finished()
    app.settled()
    return app


def canvases(app: App) -> int:
    return int(app.page.locator(".bk-Canvas:visible").count())


def test_a_knob_draws_its_curve_before_the_one_that_was_there_and_follows_the_mouse(open_app: Open) -> None:
    app = raced(open_app)
    app.page.get_by_role("tab", name="Knobs").click()
    app.until(lambda: "λ = 0.9" in drawn(app, "knob-gap-lines").get("label", []), "the curve of the first position")
    app.until(lambda: canvases(app) == 2, "both figures")
    first = drawn(app, "knob-gap-lines")
    slider = app.page.get_by_role("slider", name="λ")
    app.until(lambda: slider.get_attribute("aria-valuetext") == "0.9", "the words of the first position")
    slider.fill("5")
    app.until(lambda: "λ = 0.5" in drawn(app, "knob-gap-lines")["label"], "the curve of the second position")
    second = drawn(app, "knob-gap-lines")
    assert second["label"] == ["λ = 0.9", "λ = 0.5", "SILP"]
    assert second["ys"][0] == first["ys"][first["label"].index("λ = 0.9")]
    assert second["alpha"][0] < second["alpha"][1]
    app.page.get_by_text(re.compile(r"^λ = 0\.5: \d+ SVM solves to a gap of .* Before, at λ = 0\.9: \d+")).wait_for()
    app.until(lambda: (bars := drawn(app, "knob-weights-bars"))["before"] != bars["weight"], "bars of before")
    app.screenshot("knobs-1280")

    box = at_rest(slider)
    y = box["y"] + box["height"] / 2
    app.page.mouse.move(box["x"] + 0.5 * box["width"], y)
    app.page.mouse.down()
    slider.evaluate(LAID_OUT_ANEW)  # as Bokeh does when a figure changes its height: the browser lets the pointer go
    seen = [drawn(app, "knob-gap-lines")["label"]]
    for share in (0.6, 0.4, 0.2):
        app.page.mouse.move(box["x"] + share * box["width"], y, steps=6)
        app.until(lambda: drawn(app, "knob-gap-lines")["label"] not in seen, "the curve of where the slider is")
        seen.append(drawn(app, "knob-gap-lines")["label"])
    app.page.mouse.up()


def in_words(rows: Any) -> list[float]:
    """Return the steps that the rows of the table name."""
    return sorted(map(float, re.findall(r"at step (\d+) of", " ".join(rows.all_inner_texts()))))


def test_a_stop_rule_says_when_each_run_would_have_stopped(open_app: Open) -> None:
    app = raced(open_app)
    app.page.get_by_role("tab", name="Stopping").click()
    rows = app.page.locator("table.replays tbody tr")
    app.until(lambda: rows.count() == 3, "a row for each solver")
    app.until(lambda: len(drawn(app, "stop-seen-lines").get("xs", [])) == 3, "a curve for each solver")
    app.choose("Rule", "Change of the weights")
    slider = app.page.get_by_role("slider", name="Threshold")
    slider.fill("14")
    app.until(lambda: slider.get_attribute("aria-valuetext") == "0.05", "the words of the threshold")
    marks = partial(drawn, app, "stop-seen-marks")
    app.until(lambda: marks()["x"] and sorted(marks()["x"]) == in_words(rows), "the steps of the marks in words")
    app.until(lambda: canvases(app) == 3, "three figures")
    app.screenshot("stopping-1280")


def test_another_solver_goes_on_from_the_step_of_the_cursor(open_app: Open) -> None:
    app = raced(open_app)
    app.page.get_by_role("tab", name="Timeline").click()
    app.page.get_by_role("slider", name="Step").fill("12")
    app.page.get_by_role("combobox", name="step 12 with:").wait_for()
    app.choose("step 12 with:", "UFO-MKL")
    app.page.get_by_text(re.compile("UFO-MKL always begins")).wait_for()
    go_on = app.button("Continue from here")
    app.until(lambda: go_on.get_attribute("aria-disabled") == "true", "the button to be off")
    solves = app.curves()["silp"]["svm_solves"][12]
    app.choose("step 12 with:", "Level")
    app.until(lambda: go_on.get_attribute("aria-disabled") != "true", "the button to be on")
    go_on.click()
    name = "Level from step 12 of SILP"
    app.until(lambda: len(app.curves().get(name, {}).get("iteration", [])) > 3, "the curve of the branch")
    app.until_finished()
    app.settled()
    curve = app.curves()[name]
    assert (curve["iteration"][0], curve["svm_solves"][0]) == (12.0, solves)
    app.until(lambda: [text.strip() for text in app.row(name)[:1]] == [name], "its row in the table")
    app.screenshot("branch-1280")
    app.page.get_by_role("tab", name="Runs").click()
    app.page.get_by_text(re.compile(name)).locator("visible=true").first.wait_for()
