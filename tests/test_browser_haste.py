"""Clicks in haste: changes that arrive together, each answered, and buttons that move while they are pressed."""

from collections.abc import Callable

import pytest
from _browser import App, middle

pytestmark = pytest.mark.browser
Open = Callable[..., App]
Control = tuple[str, str]

THEME = ("button", "Toggle theme")
CHANGES = (  # what builds all figures anew with either, of what changes them in place each with one
    (THEME, "Reset"),
    (THEME, "Run"),
    (("button", "CPU seconds"), "Reset"),
    (("checkbox", "log y"), "Run"),
)
CLICK = "(controls) => controls.forEach((control) => control.click())"


def at_once(app: App, *controls: Control) -> None:
    """Click on several controls before the server can have answered the first."""
    app.page.evaluate(CLICK, [app.page.get_by_role(role, name=name).first.element_handle() for role, name in controls])


def test_two_clicks_at_once_are_both_answered(open_app: Open) -> None:
    app = open_app(solvers="level,spg", iterations=8)
    whole = {"level": 9, "spg": 9}
    app.press("Run")
    app.until(lambda: app.points() == whole, "the first curves")
    for change, click in CHANGES:
        app.until_finished()
        before = app.begun()
        at_once(app, change, ("button", click))
        if click == "Reset":
            app.until(lambda: app.status.startswith("Press Run"), f"the empty page after {change[1]} and Reset")
            app.press("Run")
        app.until(
            lambda before=before: (
                app.points() == whole and all(app.begun().get(key, before[key]) != before[key] for key in whole)
            ),
            f"the curves of another race after {change[1]} and {click}",
        )
    scales = dict.fromkeys(("objective", "gap"), ["LinearScale"] * 2)  # of seconds as they come, the other changed once
    found = app.still(
        lambda: app.figures("^(objective|gap)$", "(figure) => [figure.x_scale.type, figure.y_scale.type]"), "the scales"
    )
    assert found == scales


def test_a_button_that_moves_while_it_is_pressed_is_clicked_unless_the_mouse_leaves_it(open_app: Open) -> None:
    app = open_app(solvers="level", iterations=30)
    run, timeline = app.button("Run"), app.page.get_by_role("tab", name="Timeline")
    for away in (200, 0):
        for control in (run, timeline):
            x, y = middle(control)
            app.page.mouse.move(x, y)
            app.page.mouse.down()
            if away:
                app.page.mouse.move(x, y + away)
            else:
                app.page.evaluate("() => { document.body.style.transform = 'translateY(150px)' }")
                assert control.bounding_box()["y"] > y
            app.page.mouse.up()
            app.page.evaluate("() => { document.body.style.transform = '' }")
        if away:
            assert app.status.startswith("Press Run")
    app.until_finished()
    app.until(lambda: timeline.get_attribute("aria-selected") == "true", "the tab that was pressed")


def test_a_button_that_is_replaced_while_it_is_pressed_is_clicked_once(open_app: Open) -> None:
    app = open_app(solvers="level", iterations=30)
    app.page.evaluate("""() => {
      const made = (by) => Object.assign(document.createElement("button"), {
        textContent: "Own", onclick: () => clicked.push(by),
        style: "position: fixed; inset: 0 auto auto 0; z-index: 99999" })
      window.clicked = []
      window.own = made("first")
      window.replace = () => own.replaceWith(made("second"))
      document.body.append(own)
    }""")
    app.page.mouse.move(9, 9)
    app.page.mouse.down()
    app.page.evaluate("replace()")
    app.page.mouse.up()
    app.page.mouse.down()
    app.page.mouse.up()
    assert app.page.evaluate("clicked") == ["second", "second"]
