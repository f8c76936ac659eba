"""Points in the browser: added, dragged and removed by hand, learned from at once, and raced on."""

import itertools
from typing import Any
from urllib.parse import quote

import pytest
from _browser import App, Pages, Server, held

pytestmark = pytest.mark.browser
MOONS = "data=two_moons; kernels=gauss:1,2@all poly:1@each; C=10; solvers=level"
POINTS = """() => {
  const source = [...Bokeh.documents[0].all_models].find((m) => m.name === "drawn-points")
  const data = source.data instanceof Map ? Object.fromEntries(source.data) : source.data
  return Object.fromEntries(["x", "y", "label"].map((name) => [name, Array.from(data[name])]))
}"""
# where a place of the figure is on the page
PLACE = """([x, y]) => {
  const model = [...Bokeh.documents[0].all_models].find((m) => m.type === "Figure" && m.name === "drawn")
  const figure = Bokeh.index.find_one(model), {el} = figure.canvas_view, frame = figure.frame
  el.scrollIntoView({block: "nearest"})  // what comes later above it moves it off the screen
  const box = el.getBoundingClientRect()
  return [box.x + frame.x_scale.compute(x), box.y + frame.y_scale.compute(y)]
}"""
# the lines where the function that is learned is zero
DECISION = """() => {
  const source = [...Bokeh.documents[0].all_models].filter((m) => m.name === "drawn-boundary").at(-1)
  return Array.from(source.get_array("xs")[0])
}"""
ADDS = """() => {
  const models = [...Bokeh.documents[0].all_models]
  for (const tool of models.filter((model) => model.type === "PointDrawTool")) tool.add = true
}"""


def points(app: App) -> dict[str, list[Any]]:
    """Return the points as the page has them."""
    found: dict[str, list[Any]] = app.page.evaluate(POINTS)
    return found


def counted(app: App, label: str) -> int:
    return points(app)["label"].count(label)


def place(app: App, x: float, y: float) -> tuple[float, float]:
    across, down = app.page.evaluate(PLACE, [x, y])
    return across, down


def click(app: App, x: float, y: float) -> None:
    """Click on a place of the figure, once that stays where it is."""
    app.page.mouse.click(*app.still(lambda: place(app, x, y), "the figure where it stays", quiet=0.5))


def choose(app: App, what: str) -> None:
    """Choose what taps do, and wait as a person does until it is shown as chosen."""
    app.button(what).click()
    app.until(lambda: app.button(what).get_attribute("aria-pressed") == "true", f"taps to be {what!r}")


def test_points_are_added_dragged_and_removed_and_raced_on(pages: Pages, server: Server) -> None:
    app = pages.open(f"{server.url()}&recipe={quote(MOONS)}")
    app.press("Run")
    app.until_finished()
    app.page.get_by_role("tab", name="Model").click()
    app.page.get_by_label("Edit points").check()
    app.page.get_by_text("Learned from all 200 points").wait_for()
    app.page.get_by_text("Learned from all 200 points").scroll_into_view_if_needed()

    click(app, 0.0, -2.2)
    app.until(lambda: counted(app, "upper") == 101, "a point of the first class")
    app.page.get_by_text("Learned from all 201 points").wait_for()
    choose(app, "adds lower")
    click(app, 1.0, 2.2)
    app.until(lambda: counted(app, "lower") == 101, "a point of the second class")
    app.page.get_by_text("Learned from all 202 points").wait_for()

    before, decision = points(app), app.page.evaluate(DECISION)
    click(app, before["x"][0], before["y"][0])  # selects nothing for good
    with held(app.page, *app.still(lambda: place(app, 0.0, -2.2), "the figure where it stays", quiet=0.5)):
        app.rest(600)  # people think, and a busy page hears of the mouse late
        there, moves = place(app, -0.5, -2.0), itertools.count()
        app.page.mouse.move(*there, steps=4)

        def decided() -> bool:
            # a busy page may hear of the drag after its last move
            app.page.mouse.move(there[0] + next(moves) % 2, there[1])
            return bool(app.page.evaluate(DECISION) != decision)

        app.until(decided, "the decision, while the mouse is down")
    app.until(lambda: points(app)["x"][200] == pytest.approx(-0.5, abs=0.1), "the point to be dragged")
    moved = points(app)
    far = [k for k in range(202) if abs(moved["x"][k] - before["x"][k]) + abs(moved["y"][k] - before["y"][k]) > 0.1]
    assert far == [200]  # the one that was dragged, and no other along with it
    app.screenshot("points-1280")

    choose(app, "removes a point")
    click(app, 1.0, 2.2)
    app.until(lambda: counted(app, "lower") == 100, "the point to go")
    app.page.get_by_text("Learned from all 201 points").wait_for()
    click(app, 2.1, -2.2)  # where there is none
    assert len(points(app)["x"]) == 201

    app.rest(1000)  # two taps at once are another gesture
    app.page.evaluate(ADDS)  # as a page does that has not heard yet that taps remove points
    click(app, *(points(app)[name][200] for name in ("x", "y")))
    app.page.get_by_text("Learned from all 200 points").wait_for()
    app.until(lambda: len(points(app)["x"]) == 200, "the other point to go")

    data = app.page.get_by_role("combobox", name="Data set")
    chosen = "(menu) => menu.selectedOptions[0].textContent"
    app.until(lambda: "Drawn points" in data.evaluate(chosen), "the drawn points as the data")
    app.page.get_by_role("tab", name="Race").click()  # curves that nobody sees stay as they are
    app.race_again()
    app.until_finished()
    app.page.get_by_role("tab", name="Model").click()
    app.page.get_by_text("of 100 held-out samples").wait_for()
    assert len(points(app)["x"]) == 200
