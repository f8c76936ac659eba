"""The controls of the sidebar in the browser: what is wrong is said under its field, what is off says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _browser import App

pytestmark = pytest.mark.browser
Open = Callable[..., App]


def test_a_text_that_is_no_value_says_so_under_its_field_until_it_is_one(open_app: Open) -> None:
    app = open_app(solvers="level", iterations=4)
    field = app.page.get_by_role("textbox", name="C", exact=True)
    said = app.page.get_by_role("alert").filter(has_text="C must be a positive number")
    app.enter("C$", "-3")
    said.wait_for()
    assert field.get_attribute("aria-invalid") == "true"
    app.until(app.button("Run").is_disabled, "Run to be off")
    app.enter("C$", "5")
    said.wait_for(state="detached")
    assert field.get_attribute("aria-invalid") is None
    app.until(app.button("Run").is_enabled, "Run to be on")


def test_a_choice_is_shown_as_chosen(open_app: Open) -> None:
    app = open_app(solvers="level", iterations=4)
    solves, iteration = app.button("SVM solves"), app.button("iteration")
    assert (iteration.get_attribute("aria-pressed"), solves.get_attribute("aria-pressed")) == ("true", "false")
    solves.click()
    assert (iteration.get_attribute("aria-pressed"), solves.get_attribute("aria-pressed")) == ("false", "true")
    app.settled()
    assert solves.get_attribute("aria-pressed") == "true"


def test_a_solver_that_cannot_follow_keeps_the_focus_and_says_why(open_app: Open) -> None:
    app = open_app(solvers="level", iterations=4)
    chip = app.page.get_by_role("button", name="OBSCURE", exact=True)
    assert chip.is_disabled()
    assert "not the simplex" in (chip.get_attribute("aria-description") or "")
    chip.hover()
    app.page.locator(".tip:popover-open").filter(has_text="not the simplex").wait_for()
    chip.evaluate("(chip) => chip.click()")
    other = app.page.get_by_role("button", name="SPG", exact=True)
    other.click()
    app.until(lambda: other.get_attribute("aria-pressed") == "true", "SPG to take part")
    app.page.get_by_text("Options of each solver").click()
    app.page.get_by_role("combobox", name="preset").wait_for()  # an option of the solver that has come
    assert chip.get_attribute("aria-pressed") == "false"
