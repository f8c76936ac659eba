"""The sidebar in the browser, from a file of one's own to a race: what is wrong is said where it is, and mended."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import App, Open, Server, at_rest, one_page
from _cells import with_path

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


ROWS = "".join(
    f"{100 + i},{'' if i % 12 == 5 else 20 + i % 40},{'yes' if i % 3 else 'no'},20{10 + i % 9}-01-11,{9.5 * (i % 40)}\n"
    for i in range(60)
)
WRONG = (
    ("holiday.csv", b"\xff\xd8\xff\xe0" + bytes(100), "is a photo, not a table"),
    ("plot.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "is a picture, not a table"),
    ("paper.pdf", b"%PDF-1.7\n" + bytes(100), "is a PDF, not a table"),
    ("empty.csv", b"", "is empty"),
    ("large.csv", b"x" * (60 * 2**20), "has 60 MB, but at most"),
    ("ragged.csv", b"a,b,class\n1,2\nx,y,z,w\n", ""),
)
TABLE = f"id,age,smoker,since,fee\n{ROWS}"


def open_table(app: App, folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    app.page.set_input_files("input[type=file]", folder / name)


def test_from_a_table_of_numbers_and_words_to_a_race(open_app: Open, tmp_path: Path) -> None:
    app = open_app(solvers="level,spg", iterations=20)
    open_table(app, tmp_path, "insurance.csv", TABLE.encode())
    app.page.get_by_text("55 samples, 2 features").wait_for()
    app.page.get_by_text("What was done to the table (4)").click()
    app.page.get_by_text('Column "since" is set aside: it holds dates or times').wait_for()
    app.page.get_by_role("button", name="Use the squared loss").click()
    app.page.get_by_label("missing values").select_option("fill in, 5 rows")
    app.page.get_by_text("60 samples, 2 features").wait_for()
    app.press("Run")
    app.until_finished()
    app.page.get_by_role("tab", name="Share").click()
    code = app.page.locator("pre").filter(has_text="import mklviz as mv")
    code.wait_for()
    assert "mv.read_dataset('insurance.csv', target='fee', missing='fill', header=True)" in code.inner_text()
    program = [sys.executable, "-c", code.inner_text()]
    said = subprocess.run(program, cwd=tmp_path, env=with_path(), capture_output=True, text=True)
    app.settled()
    best = {key: min(curve["objective"]) for key, curve in app.curves().items()}
    for key, line in zip(best, said.stdout.splitlines(), strict=True):
        assert float(line.rpartition(" ")[2]) == pytest.approx(best[key], rel=1e-4), said


def test_a_file_that_is_no_table_is_named_in_the_page_and_races_go_on(open_app: Open, tmp_path: Path) -> None:
    app = open_app(solvers="level,spg", iterations=5)
    app.press("Run")
    app.until_finished()
    drawn = app.settled()
    button = app.page.locator("label.file").filter(has_text="Use a file of your own")
    for name, content, what in WRONG:
        open_table(app, tmp_path, name, content)
        said = app.page.get_by_role("alert").filter(has_text=f"{name} {what}".strip())
        said.wait_for()
        assert said.inner_text().strip().endswith(".")
        assert 0 <= at_rest(said)["y"] - at_rest(button)["y"] < 80, "it stands elsewhere"
        assert app.page.get_by_role("combobox", name="Data set").input_value().startswith("Statlog (Heart)")
    assert app.points() == drawn, "the race that was there is lost"
    app.race_again()
    app.until(lambda: app.points() == drawn, "the race of the data that stay")
    open_table(app, tmp_path, "mine.csv", b"a,b,class\n1,2,u\n2,1,v\n3,3,u\n1,3,v\n")
    app.page.get_by_text("4 samples, 2 features").wait_for()
