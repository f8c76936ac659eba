"""Tabs in the browser: the timeline goes back over a race, each tab follows it, a typed sweep is solved and drawn."""

import re
from urllib.parse import unquote

import pytest
from _browser import App, Open

pytestmark = pytest.mark.browser


def deeds(app: App) -> list[str]:
    """What the timeline says each solver did."""
    return [str(text) for text in app.page.locator("p.why:visible:has(b)").all_inner_texts()]


LAID_OUT = """() => new Promise((done) => {
  const figure = Bokeh.Models.get("Plot").prototype.default_view.prototype, { compute_layout } = figure
  const views = [...Bokeh.documents[0].all_models].filter((model) => model.type === "Figure")
    .map((model) => Bokeh.index.find_one(model)).filter((view) => view)
  const hidden = views.filter((view) => !view.is_displayed), seen = views.find((view) => view.is_displayed)
  let measured = 0, times = 0
  for (const { _computed_style: style } of hidden) style.replace = () => measured++
  seen.compute_layout()
  figure.compute_layout = function () { times += !this.is_displayed; compute_layout.call(this) }
  for (const view of hidden) view.request_repaint()
  setTimeout(() => {
    figure.compute_layout = compute_layout
    for (const { _computed_style: style } of hidden) delete style.replace
    done([hidden.length > 0, measured, times])
  }, 500)
})"""  # whether there are figures that nobody sees, how often these are measured when one that is seen is laid out,
# and how often they are laid out where they are to be painted


def canvases(app: App) -> int:
    """Number of figures that can be seen."""
    return int(app.page.locator(".bk-Canvas:visible").count())


def test_the_timeline_steps_back_and_the_race_is_there_again(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Race").click()
    shown = canvases(app)
    assert shown >= 4

    app.page.get_by_role("tab", name="Timeline").click()
    app.until(lambda: len(deeds(app)) == 3, "a sentence for each solver")
    app.until(lambda: canvases(app) >= 4, "the figures of the timeline")
    last = deeds(app)
    app.press("Step back")
    app.until(lambda: deeds(app) != last, "the step before")
    app.screenshot("timeline-1280")
    app.press("To the end")
    app.until(lambda: deeds(app) == last, "the end again")
    app.press("Play")
    app.until(lambda: deeds(app) != last, "the first steps")
    app.page.get_by_role("slider", name="Step").fill("36")  # to play the last ones alone
    app.until(lambda: deeds(app) == last, "the last step, played to")
    assert app.page.evaluate(LAID_OUT) == [True, 0, 0]

    app.page.get_by_role("tab", name="Race").click()
    app.until(lambda: canvases(app) == shown, "the figures of the race")
    assert re.search("finished", app.status)


def test_arrows_home_and_end_go_through_the_steps_from_anywhere_but_a_text_field(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Timeline").click()
    app.press("To the end")
    app.until(lambda: len(deeds(app)) == 3, "a sentence for each solver")
    last = deeds(app)
    app.page.locator("body").click(position={"x": 700, "y": 880})
    app.page.keyboard.press("Home")
    app.until(lambda: deeds(app) != last, "the first step")
    first = deeds(app)
    app.page.keyboard.press("ArrowRight")
    app.until(lambda: deeds(app) != first, "the step after")
    app.page.keyboard.press("End")
    app.until(lambda: deeds(app) == last, "the last step")
    app.page.get_by_label("Standardize features").focus()
    app.page.keyboard.press("Home")
    app.until(lambda: deeds(app) == first, "the first step, with the focus on a switch")
    speed = app.page.get_by_role("combobox", name="Speed")
    speed.click()
    app.page.keyboard.press("ArrowDown")
    app.page.keyboard.press("Enter")
    app.until(lambda: "2×" in speed.evaluate("(list) => list.selectedOptions[0].text"), "the speed")
    app.page.keyboard.press("End")
    app.until(lambda: deeds(app) == last, "the last step, when the speed was chosen")
    app.page.get_by_role("textbox").first.focus()
    app.page.keyboard.press("Home")
    app.press("Step back")
    app.until(lambda: deeds(app) not in (first, last), "one step before the end")


CUT = """(columns) => columns.filter((c) => c.clientHeight > 0 && c.scrollHeight > c.clientHeight + 8)
  .map((c) => [c.innerText.slice(0, 40), c.clientHeight, c.scrollHeight])"""


def cut(app: App) -> list[object]:
    """Columns that end before what is in them does."""
    return list(app.page.locator(".bk-panel-models-layout-Column:visible").evaluate_all(CUT))


PATHS = """() => Object.fromEntries([...Bokeh.documents[0].all_models]
  .filter((m) => /^map-(path-(silp|level|spg)|ground|best)$/.test(m.name ?? ""))
  .map((m) => [m.name.replace(/^map-(path-)?/, ""), m.data instanceof Map ? m.data : new Map(Object.entries(m.data))])
  .map(([name, data]) => [name, data.values().next().value.length]))"""


def test_the_geometry_shows_every_path_on_a_map_and_follows_the_cursor(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Geometry").click()

    def drawn() -> dict[str, int]:
        return {key: count for key, count in app.page.evaluate(PATHS).items() if key in app.points()}

    app.press("To the end")
    app.until(lambda: drawn() == app.points(), "a path with every step of each solver")
    steps = app.settled()
    app.until(lambda: app.page.evaluate(PATHS)["ground"] > 5, "contours of the objective")
    assert app.page.evaluate(PATHS)["best"] == 1
    app.until(lambda: canvases(app) == 1, "the figure of the map")
    app.screenshot("geometry-1280")
    app.press("Step back")
    app.until(lambda: max(drawn().values()) == max(steps.values()) - 1, "the paths as of the step before")
    app.press("To the end")
    app.until(lambda: drawn() == steps, "the whole paths again")


LEARNED = """() => [...Bokeh.documents[0].all_models].filter((m) => m.type === "Figure" && m.title?.text)
  .map((m) => m.title.text)"""


def test_the_model_shows_what_was_learned_and_follows_the_cursor(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Model").click()
    # until then the button of the tab before is taken, which is just being hidden
    app.page.get_by_text(re.compile("The solution of|at step")).locator("visible=true").first.wait_for()
    app.press("To the end")

    def drawn() -> set[str]:
        return set(app.page.evaluate(LEARNED))

    wanted = {"By feature and kernel", "By family", "Weighted sum", "Confusion, number of samples"}
    app.until(lambda: wanted <= drawn(), "the figures of every section")
    app.until(lambda: canvases(app) >= 10, "their canvases")
    for width, height in ((390, 844), (1280, 720)):
        app.page.set_viewport_size({"width": width, "height": height})
        app.until(lambda: cut(app) == [], f"cards as high as what is in them, {width} pixels wide")
    app.page.get_by_text(re.compile("The solution of .*, found at step")).wait_for()
    said = re.compile("kernels are in use")
    before = app.page.get_by_text(said).first.inner_text()
    app.press("To the start")
    app.page.get_by_text(re.compile("at step 0")).wait_for()
    app.until(lambda: app.page.get_by_text(said).first.inner_text() != before, "the weights of the first step")
    app.screenshot("model-1280")


def test_another_solver_goes_on_from_the_step_of_the_cursor(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Timeline").click()
    app.until(lambda: len(deeds(app)) == 3, "the timeline, and not the slider of the tab before")
    app.page.get_by_role("slider", name="Step").fill("12")
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


def test_a_sweep_that_is_typed_is_solved_and_drawn_and_a_click_on_a_dot_opens_its_race(open_app: Open) -> None:
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
