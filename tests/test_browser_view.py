"""What a person can do with the figures: hide, zoom, change axis and theme; and whether everybody can use the page."""

from collections.abc import Callable

import pytest
from _browser import LONG, App, Open, serious

from mklviz.views.tabs import tab_classes

pytestmark = pytest.mark.browser

LINES = "(figure) => figure.renderers.filter((r) => r.data_source?.name?.startsWith('run-') && r.glyph.type === 'Line')"
VISIBLE = f"(figure) => ({LINES})(figure).filter((r) => r.visible).map((r) => r.data_source.name)"
COLUMNS = f"(figure) => ({LINES})(figure).map((r) => r.glyph.x.field)"
RANGES = "(figure) => [figure.x_range.start, figure.x_range.end, figure.y_range.start, figure.y_range.end]"
SCALES = "(figure) => figure.x_scale.type + figure.y_scale.type"
ZOOMED = "(figure) => figure.x_range.have_updated_interactively && figure.y_range.have_updated_interactively"
FINITE = "(figure) => [figure.x_range, figure.y_range].map((range) => Number.isFinite(range.start + range.end))"
IDENTITY = "(figure) => figure.id"
FLAT_FROM = 30  # points of a long race, from which on its objectives lie too flat
MAIN = "^(objective|gap|step|active)$"


def test_the_legend_hides_a_solver_in_every_figure_and_the_axis_changes_in_all(raced: App) -> None:
    app = raced
    names = app.still(lambda: app.figures(MAIN, VISIBLE), "the lines of every figure")
    assert set(names) == {"objective", "gap", "step", "active"}
    assert all(set(shown) == {"run-level", "run-silp", "run-spg"} for shown in names.values())

    legend = app.page.get_by_role("group", name="Solvers shown")
    silp = legend.get_by_role("button", name="SILP")
    silp.click()
    app.until(lambda: all("run-silp" not in v for v in app.figures(MAIN, VISIBLE).values()), "SILP to be hidden")
    app.until(lambda: silp.get_attribute("aria-pressed") == "false", "its button to be up")
    app.until(lambda: app.page.locator('tr[data-run="silp"].hidden-run').count() == 1, "its row to be grey")
    silp.click()
    app.until(lambda: app.figures(MAIN, VISIBLE) == names, "SILP to come back")

    axes = ("iteration", "SVM solves", "CPU seconds")

    def chosen() -> list[str]:
        return [name for name in axes if app.button(name).get_attribute("aria-pressed") == "true"]

    assert chosen() == ["iteration"]
    for button, column in (("SVM solves", "svm_solves"), ("CPU seconds", "seconds"), ("iteration", "iteration")):
        app.press(button)
        app.until(
            lambda column=column: {x for shown in app.figures(".", COLUMNS).values() for x in shown} == {column},
            f"{button} on the axis of every figure",
        )
        app.until(lambda button=button: chosen() == [button], f"{button} to be shown as chosen")


def test_a_zoom_holds_still_while_data_arrive_until_it_is_reset(open_app: Open) -> None:
    """Also where curves that lie flat would be drawn above the best bound, which they are when it is reset."""
    app = open_app(**LONG | {"pace": 2})  # so slow that the race is held in time
    app.press("Run")
    app.until_running(points=5)
    app.press("Pause")
    app.settled()
    followed = app.figures("^objective$", RANGES)["objective"]
    assert max(app.points().values()) < FLAT_FROM
    app.drag(0, (0.4, 0.3), (0.7, 0.6), rest=600)  # people think, and a busy page hears of the mouse late
    app.until(lambda: app.figures("^objective$", ZOOMED)["objective"], "the zoom")
    app.screenshot("zoomed-1280")
    zoomed = app.still(lambda: app.figures("^objective$", RANGES), "ranges that stay", quiet=0.5)
    left, right, bottom, top = zoomed["objective"]
    assert followed[0] < left < right < followed[1]
    assert followed[2] < bottom < top < followed[3]
    app.choose("pace", "10 steps/s")
    app.press("Resume")
    app.until(lambda: all(n > FLAT_FROM + 15 for n in app.points().values()), "more points")
    assert app.figures("^objective$", RANGES) == zoomed
    app.press("Reset zoom")
    app.until(lambda: not app.figures("^objective$", ZOOMED)["objective"], "the end of the zoom")
    app.until(
        lambda: app.figures("^objective$", RANGES)["objective"][1] >= max(app.last("iteration").values()) - 3,
        "the range to follow the data again",
    )
    app.until(lambda: app.figures("^objective$", RANGES)["objective"][3] < 10, "objectives above the best bound")


def test_a_zoom_stays_with_another_theme_and_other_scales_until_it_is_reset(raced: App) -> None:
    app = raced
    whole = app.still(lambda: app.figures(MAIN, RANGES), "ranges that stay", quiet=0.5)
    app.drag(0, (0.4, 0.3), (0.7, 0.6))
    app.until(lambda: app.figures("^objective$", ZOOMED)["objective"], "the zoom")
    box = app.still(lambda: app.figures("^objective$", RANGES)["objective"], "ranges that stay", quiet=0.5)
    built = app.figures("^objective$", IDENTITY)

    def change(press: Callable[[], None], anew: bool = False) -> dict[str, list[float]]:
        nonlocal built
        scales = app.figures("^objective$", SCALES)
        press()
        if anew:
            app.until(lambda: app.figures("^objective$", IDENTITY) not in ({}, built), "new figures")
        else:
            app.until(lambda: app.figures("^objective$", SCALES) != scales, "other scales")
            assert app.figures("^objective$", IDENTITY) == built  # which are never blank meanwhile
        built = app.figures("^objective$", IDENTITY)
        app.until(lambda: all(map(all, app.figures(MAIN, FINITE).values())), "their ranges")
        return app.still(lambda: app.figures(MAIN, RANGES), "ranges that stay", quiet=0.5)

    theme = app.page.get_by_role("button", name="Toggle theme")
    switches = [theme, app.page.get_by_label("log y"), app.page.get_by_label("log x"), theme]
    for switch in switches:
        ranges = change(switch.click, switch is theme)
        assert ranges["objective"] == box
        assert ranges["gap"][:2] == box[:2]  # one x axis for all
    assert ranges["active"][2:] == whole["active"][2:]  # where nobody zoomed

    app.press("Reset zoom")
    app.until(lambda: not app.figures("^objective$", ZOOMED)["objective"], "the end of the zoom")
    change(app.page.get_by_label("log x").click)
    change(app.page.get_by_label("log y").click)
    app.until(lambda: app.figures(MAIN, RANGES) == whole, "the ranges of the beginning")


def test_every_tab_can_be_used_by_everybody_with_a_finished_and_a_failed_run(open_app: Open) -> None:
    app = open_app(solvers="level,broken", iterations=12)
    app.race()
    found: dict[str, list[str]] = {}
    for tab in tab_classes():
        app.page.get_by_role("tab", name=tab.title, exact=True).click()
        found[tab.title] = serious(app.page)
    app.page.keyboard.press("?")
    app.page.get_by_role("dialog", name="Keys").wait_for()
    found["the list of keys"] = serious(app.page)
    assert not any(found.values()), "\n".join(f"{state}: {rule}" for state in found for rule in found[state])


def test_the_page_turns_dark_and_everybody_can_use_it_light_and_dark_empty_and_finished(open_app: Open) -> None:
    app = open_app(solvers="level,silp,spg,pgd", iterations=30, width=1920, height=1080)
    found = {"empty, light": serious(app.page)}
    app.screenshot("empty-1920")
    app.race()
    found["finished, light"] = serious(app.page)
    app.screenshot("finished-1920", whole=True)
    cards = [app.page.get_by_role("heading", name=name).first for name in ("Duality gap", "Step size")]
    bottom = "(node) => node.getRootNode().host.parentNode.host.getBoundingClientRect().bottom"
    app.until(lambda: len({card.evaluate(bottom) for card in cards}) == 1, "cards as high as each other")
    colours = "(figure) => [figure.background_fill_color, figure.below[0].major_label_text_color]"
    card = "() => getComputedStyle(document.body).backgroundColor"
    light, ground = app.figures(MAIN, colours), app.page.evaluate(card)
    before = app.points()

    app.page.get_by_role("button", name="Toggle theme").click()
    app.until(lambda: app.figures(MAIN, colours).keys() == light.keys(), "the figures")
    app.until(lambda: all(app.figures(MAIN, colours)[name] != light[name] for name in light), "dark figures")
    app.until(lambda: app.page.evaluate(card) != ground, "a dark page")
    app.until(lambda: app.points() == before, "the curves to be there again")
    found["finished, dark"] = serious(app.page)
    app.screenshot("dark-1920", whole=True)
    app.press("Reset")
    app.until(lambda: app.status.startswith("Press Run"), "the empty page")
    found["empty, dark"] = serious(app.page)
    app.page.get_by_role("button", name="Toggle theme").click()  # the browser remembers it
    assert not any(found.values()), "\n".join(f"{state}: {rule}" for state in found for rule in found[state])


def test_the_page_is_dark_where_the_system_is_until_somebody_chooses(open_app: Open) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    app = open_app(solvers="level")
    light = app.page.evaluate(ground)
    app.page.emulate_media(color_scheme="dark")
    app.until(lambda: app.page.evaluate(ground) != light, "a dark page")
    dark = app.page.evaluate(ground)
    app.page.reload()
    app.page.get_by_role("button", name="Run", exact=False).first.wait_for()
    app.until(lambda: app.page.evaluate(ground) == dark, "a page that is dark from the beginning")
    assert app.page.evaluate("document.documentElement.style.colorScheme") == ""  # whose page it is says so itself
    app.screenshot("system-dark-1280")
    app.page.get_by_role("button", name="Toggle theme").click()
    app.until(lambda: app.page.evaluate(ground) == light, "the light page that was chosen")
    app.page.emulate_media(color_scheme="light")
    app.page.emulate_media(color_scheme="dark")
    assert app.still(lambda: app.page.evaluate(ground), "the colour of the page", quiet=0.5) == light


def test_an_axis_ends_before_a_far_longer_run_until_all_is_asked_for(open_app: Open) -> None:
    app = open_app(solvers="newton,pgd", iterations=300, gap=1e-5)
    app.press("Run")
    app.until_finished()
    app.settled()  # the sentence may come before the last points
    last = app.last("iteration")
    assert last["pgd"] > 9 * last["newton"]  # far beyond eight times as long
    told = app.page.get_by_text(f"Not shown: PGD goes on to iteration {last['pgd']:,.0f}.")
    told.wait_for()

    def end() -> float:
        return float(app.figures("^objective$", RANGES)["objective"][1])

    app.until(lambda: 8 * last["newton"] <= end() < 9 * last["newton"], "the axis to end where Newton is still seen")
    app.screenshot("long-run-1280")
    app.press("Show all")
    app.until(lambda: end() >= last["pgd"], "all of the axis")
    told.wait_for(state="hidden")
    app.press("Show where the others end")
    app.until(lambda: end() < 9 * last["newton"], "the beginning again")
