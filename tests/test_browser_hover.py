"""What lies under the mouse: one box beside it says the value of every curve, or of a bar, and goes when it leaves."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from _browser import App, Open

pytestmark = pytest.mark.browser

FRAME = """(name) => {
  const view = [...Bokeh.documents[0].all_models].filter((m) => m.type === "Figure" && m.name === name)
    .map((m) => Bokeh.index.find_one(m)).find((view) => view?.el.getBoundingClientRect().width > 0)
  if (view === undefined) return null
  view.el.scrollIntoView({ block: "nearest" })
  const { left, top } = view.el.getBoundingClientRect(), frame = view.frame.bbox
  return [left + frame.left, top + frame.top, frame.width, frame.height]
}"""
BOX = """() => {
  const box = document.getElementById("mk-readout")
  if (box === null || box.style.display === "none") return null
  const { left, top, right, bottom } = box.getBoundingClientRect()
  const whole = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  return { said: box.innerText.split("\\n"), whole, top }
}"""


def hover(app: App, figure: str, across: float, down: float) -> Any:
    """Move the mouse to a place of a figure, in shares of its frame; return the box, if there is one."""
    left, top, width, height = app.until(lambda: app.page.evaluate(FRAME, figure), f"the figure {figure}")
    app.page.mouse.move(left + across * width, top + down * height, steps=2)
    return app.page.evaluate(BOX)


def read(app: App, figure: str, across: float, down: float, holds: Callable[[Any], Any]) -> Any:
    """Point at a place of a figure until there is a box of which `holds` is true; return it."""
    return app.until(
        lambda: (box := hover(app, figure, across, down)) and holds(box) and box, f"{figure} at {across}, {down}"
    )


def leave(app: App) -> None:
    """Move the mouse off all figures, and wait until nothing is said any more."""
    app.page.mouse.move(2, 2, steps=2)
    app.until(lambda: app.page.evaluate(BOX) is None, "the box to go")


def no_value_before_a_branch(app: App) -> None:
    """Read the curves before and behind the step at which one begins."""
    app.page.get_by_role("tab", name="Race").click()
    app.page.evaluate("""() => {
      const of_runs = [...Bokeh.documents[0].all_models].filter((m) => m.name === "run-spg")
      for (const source of of_runs) {  // as those of a branch from step 20
        const columns = source.data instanceof Map ? [...source.data] : Object.entries(source.data)
        source.data = Object.fromEntries(columns.map(([name, values]) => [name, Array.from(values).map((value) =>
          ["iteration", "svm_solves", "seconds"].includes(name) ? value + 20 : value)]))
      }
    }""")
    read(app, "objective", 0.6, 0.5, lambda box: "SPG" in box["said"])
    before = read(app, "objective", 0.2, 0.5, lambda box: "SPG" not in box["said"])
    assert "SILP" in before["said"]


FIGURES = {
    "Knobs": ("knob-gap", "SVM solves", {"λ = 0.8", "SILP"}, "knob-weights"),
    "Stopping": ("stop-seen", "iteration", {"SILP", "Level", "SPG"}, "stop-weights"),
    "Your mix": ("mix-above", "step", {"SILP", "Level", "SPG", "Your mix"}, None),
}


def test_every_curve_of_the_laboratory_is_read_beside_the_mouse(raced: App) -> None:
    app = raced
    for tab, (figure, axis, names, bars) in FIGURES.items():
        app.page.get_by_role("tab", name=tab).click()
        box = read(app, figure, 0.15, 0.5, lambda box, names=names: set(box["said"][1::2]) == names)
        assert re.match(rf"{axis} \d+$", box["said"][0])
        assert all(re.fullmatch(r"[\d.]+ %", value) for value in box["said"][2::2])
        for across, down in ((0.99, 0.5), (0.15, 0.97), (0.99, 0.97)):
            read(app, figure, across, down, lambda box: box["whole"])
        leave(app)
        if bars is not None:
            weight = app.page.get_by_text(re.compile(r"weight 0\.\d{4}$"))
            app.until(lambda bars=bars, weight=weight: [hover(app, bars, 0.05, 0.05), weight.count()][1], "a weight")
            leave(app)
    app.screenshot("hover-1280")
    no_value_before_a_branch(app)


def test_the_box_stays_in_a_window_that_is_narrower_than_two_of_it(open_app: Open) -> None:
    app = open_app(solvers="silp,level,spg", iterations=40, width=390)
    app.page.keyboard.press("Space")  # on a phone Run is put away
    app.until_finished()
    app.settled()
    for across in (0.05, 0.5, 0.95):
        for down in (0.1, 0.9):
            read(app, "weights-silp", across, down, lambda box: len(box["said"]) > 10 and box["whole"])
    app.screenshot("hover-390")
    app.page.set_viewport_size({"width": 390, "height": 220})  # a phone that lies, where nothing is high enough
    for down in (0.1, 0.5, 0.9):
        read(app, "weights-silp", 0.5, down, lambda box: box["top"] >= 0)
    leave(app)
