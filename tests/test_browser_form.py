"""The controls of the sidebar in the browser: what is wrong is said under its field, what is off says why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import App, Server, at_rest, one_page

pytestmark = pytest.mark.browser
# no answer comes between the choice of all that stands there and the first letter in its place
TYPED = "(line, letter) => { line.focus(); line.select(); document.execCommand('insertText', false, letter) }"


@pytest.fixture(scope="module")
def app(chromium: Any, server: Server) -> Iterator[App]:
    yield from one_page(chromium, server, solvers="level", iterations=4)


def test_a_text_that_is_no_value_says_so_under_its_field_until_it_is_one(app: App) -> None:
    field = app.page.get_by_role("textbox", name="C", exact=True)
    said = app.page.get_by_role("alert").filter(has_text="C must be a positive number")
    app.enter("C$", "-3")
    said.wait_for()
    app.until(lambda: field.get_attribute("aria-invalid") == "true", "the field to be marked")
    app.until(app.button("Run").is_disabled, "Run to be off")
    app.enter("C$", "5")
    said.wait_for(state="detached")
    app.until(lambda: field.get_attribute("aria-invalid") is None, "the mark to go")
    app.until(app.button("Run").is_enabled, "Run to be on")


def test_a_solver_that_cannot_follow_keeps_the_focus_and_says_why(app: App) -> None:
    chip = app.page.get_by_role("button", name="OBSCURE", exact=True)
    app.until(chip.is_disabled, "the solver to be off")
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


def test_what_is_being_typed_is_not_taken_away_by_an_answer_to_another_field(app: App) -> None:
    app.page.get_by_role("tab", name="Sweep").click()
    splits, line = (app.page.get_by_role("textbox", name=name, exact=True) for name in ("Splits", "Sweep"))
    app.until(lambda: "split=0...4" in line.input_value(), "the words of the sweep")
    splits.fill("0...2")
    words = "data=heart; split=0...7; solvers=level,spg"
    line.evaluate(TYPED, words[0])  # which sends what was written into the other field
    app.page.keyboard.type(words[1:], delay=40)
    app.until(lambda: splits.input_value() == "0...2", "the other field")
    assert line.input_value() == words
    app.page.keyboard.press("Enter")
    app.until(lambda: splits.input_value() == "0...7", "the words to be read")
    app.until(lambda: line.input_value().startswith("data=heart; split=0...7"), "the words as they are written")


def test_the_help_of_a_file_goes_when_one_is_chosen_and_comes_back_when_it_is_pointed_at_again(
    app: App, tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text("a,b,class\n1,2,u\n2,1,v\n3,3,u\n1,3,v\n")
    button = app.page.locator("label.file").filter(has_text="Use a file of your own")
    tip = app.page.locator(".tip:popover-open").filter(has_text="arrays of NumPy")
    with app.page.expect_file_chooser() as chooser:
        button.click()
    button.locator("input").dispatch_event("pointerover", {"bubbles": True})  # as the system's window goes
    tip.wait_for()
    chooser.value.set_files(tmp_path / "mine.csv")
    tip.wait_for(state="detached")
    app.page.get_by_text("4 samples, 2 features").wait_for()
    app.page.mouse.move(640, 700)
    at_rest(button)
    button.hover()
    tip.wait_for()
