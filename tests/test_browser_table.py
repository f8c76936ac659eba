"""From a file to a race in one step, in a browser: what was assumed is shown, and one click proposes what fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _browser import App

pytestmark = pytest.mark.browser

ROWS = "".join(
    f"{100 + i},{'' if i % 12 == 5 else 20 + i % 40},{'yes' if i % 3 else 'no'},20{10 + i % 9}-01-11,{9.5 * (i % 40)}\n"
    for i in range(60)
)
TABLE = f"id,age,smoker,since,fee\n{ROWS}"


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
    app.page.get_by_text(
        "mv.read_dataset('the file of your own', target='fee', missing='fill', header=True)"
    ).wait_for()


def test_a_file_that_is_no_table_is_named_in_the_page(open_app: Callable[..., App], tmp_path: Path) -> None:
    app = open_app()
    open_table(app, tmp_path, "holiday.csv", b"\xff\xd8\xff\xe0" + bytes(100))
    app.page.get_by_text("holiday.csv is a photo, not a table").wait_for()
    open_table(app, tmp_path, "mine.csv", b"a,b,class\n1,2,u\n2,1,v\n3,3,u\n1,3,v\n")
    app.page.get_by_text("4 samples, 2 features").wait_for()
