"""A race in the browser, driven as a person drives it, in haste, too: run, watch, pause, step, stop, reset."""

import pytest
from _browser import LONG, App, Open, held, middle
from _served import small_recipe

from mklviz.engine import solve

pytestmark = pytest.mark.browser
EMPTY = "Press Run to start the solvers."
HINT = "These curves belong to the old settings. Press Run to update."


def grew(before: dict[str, int], after: dict[str, int]) -> bool:
    """Whether every curve has more points than before."""
    return all(after[key] > before[key] for key in before)


def test_the_page_loads_and_another_data_set_is_raced_after_the_first(open_app: Open) -> None:
    app = open_app()
    app.until(lambda: app.status == EMPTY, "the empty page")
    assert app.page.get_by_role("heading", level=1).inner_text() == "mklviz"
    app.until(lambda: app.button("Run").is_enabled() and app.button("Pause").is_disabled(), "Run to be on alone")
    assert app.points() == {}
    app.screenshot("empty-1280")

    app.enter("iterations", "3")
    app.race()
    before = app.last("objective")
    app.choose("Data set", "Congressional")
    app.until(lambda: app.page.get_by_text(HINT).is_visible(), "the hint")
    app.press("Run")
    app.until(lambda: app.last("objective").keys() == before.keys() and app.last("objective") != before, "new curves")
    app.until_finished()
    app.settled()
    assert all(after != before[key] for key, after in app.last("objective").items())
    app.until(app.page.get_by_text(HINT).is_hidden, "the hint to go")


def test_curves_move_pause_resume_step_by_one_and_stop(open_app: Open) -> None:
    app = open_app(**{**LONG, "solvers": "level,spg,pgd", "pace": 2})
    app.press("Run")
    app.until_running()
    first = app.points()
    app.until(lambda: grew(first, app.points()), "every curve to grow")
    second = app.points()
    app.until(lambda: grew(second, app.points()), "every curve to grow once more")
    app.screenshot("running-1280")

    app.press("Pause")
    app.until(lambda: app.status.startswith("Paused: 0 of 3 solvers finished"), "the pause")
    held = app.settled()
    assert app.settled() == held

    shown = app.last("iteration")
    for count in (1, 2):
        app.press("Step")
        app.until(lambda n=count: app.last("iteration") == {key: at + n for key, at in shown.items()}, "one step each")
    app.settled()
    assert app.last("iteration") == {key: at + 2 for key, at in shown.items()}

    app.press("Resume")
    held = app.points()
    app.until(lambda: grew(held, app.points()), "the curves to go on")

    app.press("Stop")
    app.until_finished()
    stopped = app.settled()
    assert min(stopped.values()) >= 3
    app.until(lambda: "".join(app.row("spg")[1:2]).startswith("stopped"), "the table to say so")
    app.until(lambda: app.status == "All 3 solvers were stopped.", "the end of all")
    app.until(app.button("Run").is_enabled, "Run to be on")


def test_the_last_point_is_the_solvers_last_iterate_and_reset_keeps_seed_and_settings(open_app: Open) -> None:
    app = open_app(solvers="level,silp", iterations=30)
    app.enter("seed", "3")
    app.race()
    recipe = small_recipe("level,silp", 30).changed(seed=3)
    problem = recipe.prepare().problem
    curves = app.curves()
    assert set(curves) == {"level", "silp"}
    for key, curve in curves.items():
        trace = solve(problem, key, gap=1e-9, max_iter=30, seed=3)
        assert curve["iteration"] == list(range(len(trace)))  # no hole, none twice
        assert curve["iteration"][-1] == len(trace) - 1
        # the same arithmetic in another process
        assert curve["objective"] == pytest.approx(list(trace.objective), rel=1e-9)
        assert curve["gap"][-1] == pytest.approx(trace.gap[-1], rel=1e-6)
        assert curve["own_gap"] == pytest.approx(list(trace.iterate_gap), rel=1e-6)
        assert curve["svm_solves"][-1] == trace.final.svm_solves
        told = [f"{len(trace) - 1:,}", f"{trace.final.svm_solves:,}"]
        app.until(lambda key=key, told=told: app.row(key)[2:4] == told and app.row(key)[9].endswith("%"), "its row")
        row = app.row(key)
        assert row[5] == f"{trace.best.objective:,.1f}"
    app.screenshot("finished-1280")

    app.press("Reset")
    app.until(lambda: app.status == EMPTY, "the empty page")
    app.page.get_by_text("The result of each solver appears here.").wait_for()
    legend = app.page.get_by_role("group", name="Solvers shown").get_by_role("button")
    app.until(lambda: legend.count() == 0, "the legend to be empty")
    for name, kept in (("seed", "3"), ("iterations", "30")):
        field = app.page.get_by_role("textbox", name=name)
        assert app.still(field.input_value, f"the field {name}", quiet=0.5) == kept


def test_the_keys_run_pause_step_stop_and_reset(open_app: Open) -> None:
    app = open_app(**LONG)
    keys = app.page.keyboard
    app.page.get_by_role("heading", level=1).click()
    keys.press(" ")
    app.until_running()
    keys.press(" ")
    app.until(lambda: app.status.startswith("Paused"), "the pause")
    app.settled()
    shown = app.last("iteration")
    keys.press("s")
    app.until(lambda: app.last("iteration") == {key: at + 1 for key, at in shown.items()}, "one step each")
    shown = app.last("iteration")
    app.press("CPU seconds")  # a click leaves the keys to the race
    app.page.get_by_role("checkbox", name="log x").click()
    keys.press("s")
    app.until(lambda: app.last("iteration") == {key: at + 1 for key, at in shown.items()}, "one step more")
    seed = app.page.get_by_role("textbox", name="seed")
    seed.focus()
    keys.press("x")  # a letter in a field is text
    app.page.get_by_role("heading", level=1).click()
    app.settled()
    assert app.status.startswith("Paused")
    seed.fill("0")
    app.page.get_by_role("heading", level=1).click()
    keys.press("x")
    app.until_finished()
    keys.press("r")
    app.until(lambda: app.status == EMPTY, "the empty page")


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
            with held(app.page, x, y):
                if away:
                    app.page.mouse.move(x, y + away)
                else:
                    app.page.evaluate("() => { document.body.style.transform = 'translateY(150px)' }")
                    assert control.bounding_box()["y"] > y
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
    with held(app.page, 9, 9):
        app.page.evaluate("replace()")
    app.page.mouse.click(9, 9)
    assert app.page.evaluate("clicked") == ["second", "second"]
