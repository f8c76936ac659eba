"""Races that show something of their own in the browser: products of kernels, several classes, other formulations."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from _browser import App
from _served import SENTENCE

from mklviz.scenarios import scenarios

pytestmark = pytest.mark.browser
Open = Callable[..., App]
GAP_COLUMN, ACTIVE_COLUMN, SCORE_COLUMN = 6, 7, 10
VALUES = "(figure) => Array.from(figure.renderers[0].data_source.data.y)"


def raced(app: App, scenario: str) -> None:
    """Choose the scenario whose title begins so, run it and wait for its end."""
    app.choose("Scenario", scenario)
    app.press("Full speed")
    asks = any(each.question for each in scenarios().values() if each.title.startswith(scenario))
    app.press("Run lesson" if asks else "Run")
    app.until_finished()
    app.settled()


def test_a_product_of_kernels_has_no_gap_and_shows_in_which_minima_its_runs_ended(open_app: Open) -> None:
    app = open_app()
    raced(app, "Products of kernels")
    keys = {"spg", "SPG, start 1", "SPG, start 7", "pgd"}
    app.until(lambda: set(app.last("gap")) == keys, "the curves of all four")
    # in the place of the gap: the projected gradient, which falls to where the runs stop
    app.page.get_by_role("heading", name="Projected gradient, relative to the objective").wait_for()
    app.page.get_by_text("there is no lower bound, hence no gap").wait_for()
    assert app.page.get_by_role("heading", name="Duality gap").count() == 0
    ends = app.last("gap")
    assert all(0.0 < ends[key] < curve["gap"][0] for key, curve in app.curves().items())
    app.until(lambda: all(app.row(key)[GAP_COLUMN : GAP_COLUMN + 1] == ["–"] for key in ends), "no gap in the table")

    app.page.get_by_role("heading", name="Minima", level=3).wait_for()
    app.page.get_by_text("These 4 runs ended in 3 different places").wait_for()
    app.page.get_by_text(re.compile("etween the best two, ")).wait_for()  # the progress on the way there has a colon
    way = app.still(lambda: app.figures("^minima$", VALUES)["minima"], "the way between the minima")
    best = sorted(set(app.last("objective").values()))[0]
    assert way[0] == pytest.approx(best, rel=1e-3)  # the last steps move the objective by less
    app.until(app.page.get_by_role("heading", name="The same solution in other formulations").is_hidden, "no others")
    app.screenshot("product-1280", whole=True)


def test_a_polynomial_shows_its_parameters_and_predicts(open_app: Open) -> None:
    app = open_app()
    raced(app, "A polynomial learns its features")
    for heading in ("Parameters of the kernel, six largest", "Parameters in use"):
        app.page.get_by_role("heading", name=heading).wait_for()
    app.page.get_by_text("A problem in the parameters of a kernel is not convex").wait_for()
    app.page.get_by_text("All 4 runs ended at the same weights").wait_for()
    keys = app.last("objective")
    app.until(lambda: all(app.row(key)[SCORE_COLUMN].endswith("%") for key in keys), "the test accuracy")
    assert all(float(app.row(key)[SCORE_COLUMN].removesuffix(" %")) > 80.0 for key in keys)
    app.screenshot("polynomial-1280", whole=True)


def test_of_three_classes_learned_together_ufo_keeps_one_kernel_and_the_closed_form_all(open_app: Open) -> None:
    app = open_app()
    raced(app, "Three classes at once, or one after the other")
    app.until(lambda: app.last("active") == {"ufo": 1.0, "closed-form": 4.0}, "one kernel and all")
    told = {"ufo": ["1"], "closed-form": ["4"]}
    app.until(lambda: {key: app.row(key)[ACTIVE_COLUMN : ACTIVE_COLUMN + 1] for key in told} == told, "their rows")
    gaps = app.last("gap")
    assert all(0.0 <= gap <= 1e-3 for gap in gaps.values())
    app.until(lambda: all(app.row(key)[SCORE_COLUMN].endswith("%") for key in gaps), "the test accuracy")
    shares = [float(app.row(key)[SCORE_COLUMN].removesuffix(" %")) for key in gaps]
    assert min(shares) > 100 / 3  # better than to name one class for all
    app.screenshot("three-groups-1280", whole=True)


def test_the_solution_is_listed_in_other_formulations_and_solving_them_agrees(open_app: Open) -> None:
    app = open_app(solvers="spg", iterations=400, gap=1e-5)
    app.enter("C$", "1")
    app.press("Run")
    app.until_finished()
    table = app.page.get_by_role("table", name="Problems with the same solution")
    table.wait_for()
    rows = table.locator("tbody tr")
    app.until(lambda: rows.count() == 3, "three formulations")
    assert [cell[-1] for cell in map(texts, rows.all())] == ["–"] * 3
    app.press("Solve them to check")
    app.until(lambda: all(texts(row)[-1].endswith("%") for row in rows.all()), "the objectives of other solvers")
    for row in rows.all():
        cells = texts(row)
        # both solutions are certified: the one raced to 1e-5, the one found afresh to 1e-4 of the objective
        assert abs(float(cells[-1].removesuffix(" %"))) <= 0.02
        assert "SPG" in cells[-2]
    app.screenshot("equivalence-1280", whole=True)


def test_a_solver_is_followed_along_c_and_one_that_breaks_down_says_why(open_app: Open) -> None:
    app = open_app(solvers="spg,broken", iterations=5)
    app.press("Run")
    app.until_finished()
    app.page.get_by_role("heading", name="Path of C").wait_for()
    app.press("Follow the path of C")
    app.page.get_by_text("SPG for 20 values of C from").wait_for()
    drawn = "(figure) => Array.from(figure.renderers[0].data_source.data.value).length"
    app.until(lambda: app.figures("^path-active$", drawn) == {"path-active": 20}, "the picture")
    app.screenshot("path-1280", whole=True)

    app.choose("Solver of the path", "Broken")
    app.press("Follow the path of C")
    app.page.get_by_text("Broken for 1 value of C").wait_for()
    said = app.page.get_by_text(SENTENCE)  # in the table, in the head of its figure and, a moment later, by the path
    app.until(lambda: [text.is_visible() for text in said.all()].count(True) == 3, "the sentence in three places")


def texts(row: object) -> list[str]:
    """Return the texts of the cells of a table's row."""
    return [str(text) for text in row.locator("td").all_inner_texts()]  # type: ignore[attr-defined]
