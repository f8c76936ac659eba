"""What is dragged in the browser: the picture changes while the mouse is still down."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from _browser import App, Open, at_rest, held, middle

pytestmark = pytest.mark.browser

TABLE = """(name) => { const source = [...Bokeh.documents[0].all_models].filter((m) => m.name === name).at(-1)
  if (source === undefined) return {}
  const columns = source.data instanceof Map ? [...source.data] : Object.entries(source.data)
  return Object.fromEntries(columns.map(([name, values]) => [name, Array.from(values)])) }"""


def table(app: App, name: str) -> dict[str, list[Any]]:
    """Return what a source of the page holds."""
    found: dict[str, list[Any]] = app.page.evaluate(TABLE, name)
    return found


def drawn_mix(app: App) -> list[float]:
    """Return where the line of one's own mix is drawn."""
    lines = table(app, "mix-above-lines")
    return list(lines["ys"][lines["label"].index("Your mix")])


def dragged(
    app: App,
    part: Any,
    shares: tuple[float, ...],
    read: Callable[[], Any],
    pressed: Callable[[], object] = lambda: None,
) -> None:
    """Drag along a part, by shares of its width; at each but the first the page has to show what it did not before.

    `pressed`: what happens once the mouse is down.
    """
    box = at_rest(part)
    y, (begin, *others) = box["y"] + box["height"] / 2, shares
    with held(app.page, box["x"] + begin * box["width"], y):
        pressed()
        seen = [read()]
        for share in others:
            app.page.mouse.move(box["x"] + share * box["width"], y, steps=6)
            app.until(lambda: read() not in seen, f"what is at {share} of the part that is dragged along")
            seen.append(read())


def test_a_race_begins_where_the_start_of_a_large_problem_is_let_go(open_app: Open) -> None:
    app = open_app(solvers="silp,level,spg", iterations=12)
    app.race()
    app.page.get_by_role("tab", name="Geometry").click()
    handle = app.page.get_by_role("slider", name="Start of the paths")
    handle.wait_for()
    before = app.still(lambda: table(app, "map-path-silp"), "the whole path")
    handle.scroll_into_view_if_needed()
    x, y = middle(handle)
    stood = handle.get_attribute("style")
    with held(app.page, x, y):
        app.page.mouse.move(x + 75, y - 45, steps=4)
        app.until(lambda: handle.get_attribute("style") != stood, "the handle under the mouse")
        app.until(lambda: "Let go" in (handle.get_attribute("data-hint") or ""), "what letting go does")
        app.screenshot("drag-start-1280")
    app.button("Undo").wait_for()
    app.until(lambda: len(table(app, "map-ghosts")["along"]) == 3, "the former paths")
    app.press("Undo")
    app.until(lambda: not table(app, "map-ghosts")["along"], "the race of before, without former paths")
    app.until(lambda: len(table(app, "map-path-silp")["along"]) == len(before["along"]), "its paths")
    handle.focus()
    app.page.keyboard.press("ArrowUp")
    app.until(lambda: table(app, "map-ghosts")["along"], "a race from where the arrow led")
    app.until(lambda: (handle.get_attribute("aria-valuetext") or "").startswith("Start: "), "words for who cannot see")
    app.button("Undo").wait_for()


def test_the_score_of_a_mix_follows_the_bar_that_is_dragged(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Your mix").click()
    bars = app.page.get_by_role("group", name="Kernel weights of your mix").get_by_role("slider")
    app.until(lambda: "Your mix" in table(app, "mix-above-lines").get("label", []), "the line of equal weights")
    dragged(app, bars.first, (0.1, 0.3, 0.5, 0.7), lambda: drawn_mix(app))
    app.screenshot("drag-mix-1280")
    app.page.locator("text=above the best proven lower bound >> visible=true").first.wait_for()
    words = app.still(lambda: bars.first.get_attribute("aria-valuetext"), "words for who cannot see")
    assert words
    bars.first.press("ArrowLeft")
    app.until(lambda: bars.first.get_attribute("aria-valuetext") != words, "the bar that an arrow key moved")


def test_the_cursor_goes_with_the_mouse_that_is_dragged_on_a_figure(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Timeline").click()
    slider = app.page.get_by_role("slider", name="Step")
    app.press("To the end")
    app.until(lambda: slider.input_value() == "40", "the cursor at the end")
    dragged(app, app.page.locator(".bk-Canvas:visible").first, (0.8, 0.6, 0.4, 0.25), slider.input_value)
    app.until(lambda: 0 < int(slider.input_value()) < 20, "the step where the mouse was let go")
    app.screenshot("drag-cursor-1280")


SEEN = """(x) => {
  const [figure, view] = [...Bokeh.documents[0].all_models].filter((m) => m.type === "Figure" && m.name === "gap")
    .map((m) => [m, Bokeh.index.find_one(m)]).find(([, view]) => view?.el.getBoundingClientRect().width > 0) ?? []
  if (!figure) return null  // it is being laid out
  const { left, top } = view.el.getBoundingClientRect(), { data } = figure.renderers
    .map(({ data_source }) => data_source).find(({ name }) => name === "marks")
  return { lines: Array.from(data.get?.("svm_solves") ?? data.svm_solves), end: figure.x_range.end,
    zooms: figure.toolbar.gestures.pan.active !== null,
    place: [left + view.frame.x_scale.compute(x), top + view.frame.bbox.top + view.frame.bbox.height / 2] }
}"""


def seen(app: App, x: float = 1.0) -> dict[str, Any]:
    """Return how the figure of the gap stands, and the place of `x` on the screen."""
    found: dict[str, Any] = app.until(lambda: app.page.evaluate(SEEN, x), "the figure of the gap")
    return found


def pointed(app: App, x: float) -> dict[str, Any]:
    """Move the mouse to where `x` is now, which axes move as they are laid out; return how the figure stands."""
    app.page.mouse.move(*seen(app, x)["place"])
    return seen(app)


def test_a_line_of_the_cursor_is_dragged_on_the_race_and_elsewhere_a_drag_zooms(open_app: Open) -> None:
    app = open_app(solvers="level,spg", iterations=30)
    app.race()
    app.page.get_by_role("tab", name="Timeline").click()
    slider = app.page.get_by_role("slider", name="Step")
    app.until(lambda: slider.input_value() == "30", "the cursor at the end")
    slider.fill("20")
    app.page.get_by_role("tab", name="Race").click()
    bounds = app.page.locator("text=above best bound >> visible=true")
    app.until(lambda: bounds.count() == app.button("SVM solves").count() == 1, "the buttons of Race, not of Timeline")
    app.press("SVM solves")
    solves = app.curves()["spg"]["svm_solves"]
    app.until(lambda: seen(app)["lines"][1] == solves[20], "the lines of the cursor")
    app.still(lambda: seen(app, solves[20]), "the figure where it stays")
    app.until(lambda: not pointed(app, solves[20])["zooms"], "the tool that zooms to be put away")
    with held(app.page, *seen(app, solves[20])["place"]):
        app.page.mouse.move(*seen(app, solves[10])["place"], steps=8)
        app.until(lambda: seen(app)["lines"][1] == solves[10], "the line of SPG where the mouse is")
        app.screenshot("drag-line-1280")
    app.until(lambda: pointed(app, solves[25])["zooms"], "the tool that zooms")
    before = app.still(lambda: seen(app, solves[25]), "the figure where it stays")["end"]
    with held(app.page, *seen(app, solves[25])["place"]):
        across, down = seen(app, solves[15])["place"]
        app.page.mouse.move(across, down + 40, steps=8)
    app.until(lambda: seen(app)["end"] < before, "the zoom")
    assert seen(app)["lines"][1] == solves[10]


# as Bokeh does when a figure changes its height: the browser lets the pointer go
LAID_OUT_ANEW = "(slider) => { slider.style.display = 'none'; slider.offsetWidth; slider.style.display = '' }"


def test_a_knob_draws_its_curve_before_the_one_that_was_there_and_follows_the_mouse(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Knobs").click()
    app.until(lambda: "λ = 0.8" in table(app, "knob-gap-lines").get("label", []), "the curve of the first position")
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() == 2, "both figures")
    first = table(app, "knob-gap-lines")
    slider = app.page.get_by_role("slider", name="λ")
    app.until(lambda: slider.get_attribute("aria-valuetext") == "0.8", "the words of the first position")
    slider.fill("5")
    app.until(lambda: "λ = 0.5" in table(app, "knob-gap-lines")["label"], "the curve of the second position")
    second = table(app, "knob-gap-lines")
    assert second["label"] == ["λ = 0.8", "λ = 0.5", "SILP"]
    assert second["ys"][0] == first["ys"][first["label"].index("λ = 0.8")]
    assert second["alpha"][0] < second["alpha"][1]
    app.page.get_by_text(re.compile(r"^λ = 0\.5: \d+ SVM solves to a gap of .* Before, at λ = 0\.8: \d+")).wait_for()
    app.until(lambda: (bars := table(app, "knob-weights-bars"))["before"] != bars["weight"], "bars of before")
    app.screenshot("knobs-1280")

    def curves() -> list[str]:
        return list(table(app, "knob-gap-lines")["label"])

    dragged(app, slider, (0.5, 0.6, 0.4, 0.2), curves, lambda: slider.evaluate(LAID_OUT_ANEW))
