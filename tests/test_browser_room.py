"""For everyone in the room, in a browser: the projector, the list of keys, and races in grey behind others."""

from typing import Any

import pytest
from _browser import App, Open

pytestmark = pytest.mark.browser
FOCUS = """() => {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node?.textContent.trim() ?? ""
}"""
SEEN = "(figure) => Bokeh.index.find_one(figure)?.el?.getBoundingClientRect().height ?? 0"
BOTTOM = "(figure) => Bokeh.index.find_one(figure)?.el?.getBoundingClientRect().bottom ?? 0"
FONT = "(figure) => figure.below[0].major_label_text_font_size"

SMALL_TYPE = r"""() => {
  const all = [], walk = (root) => {
    for (const node of root.children) {
      if (["STYLE", "SCRIPT", "OPTION"].includes(node.tagName) || getComputedStyle(node).display === "none") continue
      all.push(node)
      walk(node)
      if (node.shadowRoot) walk(node.shadowRoot)
    }
  }
  walk(document)
  const seen = (node) => {
    const {x, width, height} = node.getBoundingClientRect(), look = getComputedStyle(node)
    return x >= 0 && width > 0 && height > 0 && look.visibility !== "hidden" && look.clipPath === "none"
  }
  const written = (node) => [...node.childNodes].some((part) => part.nodeType === 3 && part.textContent.trim())
  const behind = (node) => getComputedStyle(node, "::after")  // such as the sign of a help
  const small = (node) => (written(node) && parseFloat(getComputedStyle(node).fontSize) < 20)
    || (/\w|\?/.test(behind(node).content.replace("none", "")) && behind(node).display !== "none"
      && parseFloat(behind(node).fontSize) < 20)
  return all.filter((node) => seen(node) && small(node))
    .map((node) => `${getComputedStyle(node).fontSize} ${node.textContent.trim().slice(0, 40)}`)
}"""
UNCUT = "(node) => node.scrollHeight <= node.clientHeight && node.scrollWidth <= node.clientWidth"


def seen(app: App) -> dict[str, float]:
    """Return the heights of the figures that can be seen, by name."""
    return {name: height for name, height in app.figures(".", SEEN).items() if height > 0}


def test_a_projector_shows_objective_and_weights_alone_and_then_all_is_back_and_each_tab_in_large_type(
    open_app: Open,
) -> None:
    app = open_app(solvers="level,silp", iterations=5, height=720)
    app.race()
    app.until(lambda: len(seen(app)) >= 6, "all figures")
    before = app.still(lambda: seen(app), "all figures in their places")
    switch = app.page.get_by_role("switch", name="Projector")
    switch.check()
    alone = {"objective", *(f"weights-{key}" for key in ("level", "silp"))}
    app.until(lambda: set(seen(app)) == alone, "objective and weights alone")
    app.until(lambda: set(app.figures("^objective$", FONT).values()) == {"20.4px"}, "large type")
    app.until(lambda: not app.button("Reset").is_visible(), "the drawer to be folded")
    app.until(lambda: "projector=on" in app.page.url, "the address")
    app.until(lambda: app.points() and min(app.points().values()) >= 2, "the curves")
    app.settled()
    app.until(lambda: set(seen(app)) == alone, "all figures in their places, which are laid out anew for large type")
    bottoms, heights = app.still(lambda: (app.figures(".", BOTTOM), seen(app)), "figures that stay")
    assert all(0 < bottoms[name] <= 720 for name in alone), bottoms
    assert min(heights.values()) >= 160
    assert heights["objective"] > 1.8 * before["objective"]
    app.screenshot("projector-1280")
    header = app.page.get_by_role("banner")
    status, run = header.get_by_role("status"), header.get_by_role("button", name="Run")
    app.race_again(run.click)
    app.until(lambda: status.inner_text() == "All 2 solvers have finished.", "the end in the header")
    app.until(lambda: status.evaluate(UNCUT), "a sentence in the header that is not cut")
    switch.uncheck()
    app.until(lambda: seen(app) == before, "all figures again")
    app.until(lambda: set(app.figures("^objective$", FONT).values()).isdisjoint({"20.4px"}), "the usual type")
    app.button("Run").wait_for()
    app.until(lambda: "projector" not in app.page.url, "the address")
    switch.check()
    for tab in ("Timeline", "Geometry", "Your mix", "Model", "Knobs", "Stopping", "Sweep", "Runs", "Share", "Race"):
        app.page.get_by_role("tab", name=tab, exact=True).click()
        app.until(lambda: app.page.evaluate(SMALL_TYPE) == [], f"large type in the tab {tab}")
        low = app.still(lambda: {name: high for name, high in seen(app).items() if high < 160}, f"the figures of {tab}")
        assert low == {}, tab
        run.wait_for()


def test_a_question_mark_opens_the_list_of_keys_and_escape_closes_it(raced: App) -> None:
    app, whole = raced, raced.points()
    reset = app.button("Reset zoom")
    reset.focus()
    app.page.keyboard.press("?")
    dialog = app.page.get_by_role("dialog", name="Keys")
    dialog.wait_for()
    app.until(lambda: app.page.evaluate(FOCUS) == "Close", "the focus in the list")
    assert "run, pause or resume" in dialog.inner_text()
    app.page.keyboard.press("r")  # is not heard behind it
    app.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    app.until(lambda: app.page.evaluate(FOCUS) == "Reset zoom", "the focus where it was")
    assert app.still(app.points, "the race") == whole
    app.button("Keys").click()
    dialog.wait_for()
    app.screenshot("keys-1280")
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="hidden")
    app.page.locator("body").click(position={"x": 640, "y": 700})
    app.race_again(lambda: app.page.keyboard.press(" "))
    app.until_finished()


def grey(app: App) -> dict[str, int]:
    """Return how many points of each grey line are drawn."""
    count = """() => Object.fromEntries([...Bokeh.documents[0].all_models]
      .filter((m) => m.type === "Figure" && m.name === "gap" && Bokeh.index.find_one(m) !== null)
      .flatMap((figure) => figure.renderers)
      .filter((r) => r.data_source.name?.startsWith("pin-"))
      .map((r) => [r.name, (r.data_source.data instanceof Map ? r.data_source.data.get("gap")
        : r.data_source.data.gap).length]))"""
    found: dict[str, Any] = app.page.evaluate(count)
    return found


def test_a_pinned_race_is_grey_behind_the_next_until_it_is_taken_off(raced: App) -> None:
    app = raced
    app.page.get_by_role("tab", name="Runs").click()
    app.page.get_by_role("checkbox", name="Choose Heart").first.check()
    app.press("Draw in grey")
    app.page.get_by_role("tab", name="Race").click()
    app.race_again()
    app.until(lambda: len(grey(app)) == 3, "a grey line of each")
    app.until_finished()
    app.settled()
    app.until(
        lambda: grey(app) == dict.fromkeys(("SILP (Heart)", "Level (Heart)", "SPG (Heart)"), 41), "whole grey lines"
    )
    app.screenshot("pinned-1280")
    app.page.get_by_role("button", name="Take off the pinned race Heart").click()
    app.until(lambda: grey(app) == {}, "no grey line")
    app.until(lambda: len(app.points()) == 3, "the race to be there still")
