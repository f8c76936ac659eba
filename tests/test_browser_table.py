"""From a file to a race in one step, in a browser: what was assumed is shown, and one click proposes what fits."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _browser import App, at_rest

pytestmark = pytest.mark.browser

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


def _from_here() -> dict[str, str]:
    """Return the environment of a program in another folder, which finds the packages that the tests run on."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def open_table(app: App, folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    app.page.set_input_files("input[type=file]", folder / name)


def test_from_a_table_of_numbers_and_words_to_a_race(open_app: Callable[..., App], tmp_path: Path) -> None:
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
    said = subprocess.run(
        [sys.executable, "-c", code.inner_text()], cwd=tmp_path, env=_from_here(), capture_output=True, text=True
    )
    app.settled()
    best = {key: min(curve["objective"]) for key, curve in app.curves().items()}
    for key, line in zip(best, said.stdout.splitlines(), strict=True):
        assert float(line.rpartition(" ")[2]) == pytest.approx(best[key], rel=1e-4), said


def test_a_file_that_is_no_table_is_named_in_the_page_and_races_go_on(
    open_app: Callable[..., App], tmp_path: Path
) -> None:
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
