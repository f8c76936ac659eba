"""The tab Sweep in the browser: words are typed, the sweep is solved in processes, and its figures are painted."""

import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from _browser import App

pytestmark = pytest.mark.browser
WORDS = "data=heart; split=0...5; solvers=level,spg; kernels=gauss:1,4@all poly:1@all"

# where the runs are on the page, in the picture of their spread
DOTS = """() => {
  const found = [...Bokeh.documents[0].all_models].filter((m) => m.type === "Figure")
    .flatMap((m) => m.renderers.map(({ glyph, data_source }) => [Bokeh.index.find_one(m), glyph, data_source]))
    .find(([view, glyph]) => view && glyph?.type === "Scatter" && glyph.y.field === "rows of seconds")
  if (found === undefined) return null  // not drawn, or drawn anew just now
  const [{ el, frame }, , source] = found
  el.scrollIntoView({ block: "nearest" })
  const { left, top } = el.getBoundingClientRect(), rows = source.get_array("rows of seconds")
  return Array.from(source.get_array("seconds"))
    .map((x, k) => [left + frame.x_scale.compute(x), top + frame.y_scale.compute(rows[k])])
}"""


def test_a_sweep_that_is_typed_is_solved_and_drawn_and_a_click_on_a_dot_opens_its_race(
    open_app: Callable[..., App],
) -> None:
    app = open_app()
    app.page.get_by_role("tab", name="Sweep").click()
    line = app.page.get_by_role("textbox", name="Sweep", exact=True)
    line.wait_for()
    line.fill(WORDS)
    line.press("Enter")
    app.page.get_by_text(re.compile(r"^12 runs")).wait_for()
    app.page.set_viewport_size({"width": 800, "height": 900})
    command = app.page.locator("pre").filter(has_text="mklviz sweep")
    whole = "(node) => node.scrollWidth <= node.clientWidth"
    app.until(lambda: command.evaluate(whole), "a command whose end is not under the button Copy")
    app.page.set_viewport_size({"width": 1280, "height": 900})
    splits = app.page.get_by_role("textbox", name="Splits")
    app.until(lambda: splits.input_value() == "0...5", "the splits in the form")
    app.page.get_by_role("button", name="Start", exact=True).click()
    app.page.get_by_text("Finished: 12 of 12 runs.").wait_for()
    app.page.get_by_text("12 runs of 6 cases, 12 converged.").wait_for()
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() == 2, "the profile and the spread")
    app.page.get_by_role("row", name=re.compile("Level.*SPG.*of 6")).wait_for()
    app.screenshot("sweep-1280")

    app.until(lambda: app.page.evaluate(DOTS), "the picture of the spread")
    dots = app.still(lambda: app.page.evaluate(DOTS), "dots that stay")
    assert len(dots) == 6
    app.page.mouse.click(*dots[0])
    app.page.get_by_role("tab", name="Race", selected=True).wait_for()
    app.until(lambda: "All 2 solvers have finished" in app.status, "the race of the run")
    app.until(lambda: len(app.row("level")) > 1 and len(app.row("spg")) > 1, "its solvers")
    app.until(lambda: "data=heart" in unquote(app.page.url), "its address")
