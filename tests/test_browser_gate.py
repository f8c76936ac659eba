"""The served dashboard behind its gate, in a browser: the policy forbids nothing it needs; uploads get answers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import ROOT, App, Pages, free_port, wait_for

pytestmark = pytest.mark.browser


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[str]:
    """The address of ``mklviz serve`` with a code."""
    port, log = free_port(), tmp_path / "server.log"
    words = ["serve", "--no-show", "--port", str(port), "--address", "127.0.0.1", "--code", "blackboard"]
    with log.open("w") as file:
        server = subprocess.Popen([sys.executable, "-m", "mklviz", *words], cwd=ROOT, stdout=file, stderr=file)
    try:
        wait_for(lambda: "the code is blackboard" in log.read_text(), "the server to say its code")
        yield f"http://127.0.0.1:{port}/explorer"
    finally:
        server.terminate()
        server.wait(20)
    assert not re.search(r"\b(ERROR|CRITICAL|Traceback|refused)\b", log.read_text()), log.read_text()


def test_who_gives_the_code_can_race_and_the_policy_is_never_in_the_way(chromium: Any, gated: str) -> None:
    pages = Pages(chromium)
    try:
        stranger = chromium.new_page()
        stranger.goto(gated)
        assert "opens with a code" in stranger.inner_text("body")
        stranger.fill("input", "blackboard")
        stranger.click("button")
        stranger.get_by_role("status").first.wait_for()
        assert "code" not in stranger.url
        stranger.close()
        app = pages.open(f"{gated}?recipe=data=heart;solvers=level;max-iter=20")
        app.press("Run")
        app.until_finished()
        assert not pages.errors
    finally:
        pages.close()


def test_nothing_that_a_person_does_is_refused(chromium: Any, gated: str, tmp_path: Path) -> None:
    rows = "".join(f"{i / 7},{i % 7 / 3},{'yes' if i % 2 else 'no'}\n" for i in range(60_000))
    (tmp_path / "mine.csv").write_text(f"a,b,class\n{rows}")  # more than one piece of half a megabyte
    pages = Pages(chromium)
    try:
        app = pages.open(f"{gated}?code=blackboard&recipe=data=two_moons;solvers=level,silp;max-iter=20")
        app.press("Run")
        app.until_finished()
        for tab in ("Geometry", "Model", "Race"):
            app.page.get_by_role("tab", name=tab).click()
            app.page.wait_for_timeout(1000)
        app.page.set_viewport_size({"width": 900, "height": 700})
        app.page.emulate_media(color_scheme="dark")
        app.page.mouse.move(500, 400)
        app.page.mouse.wheel(0, 300)
        app.page.set_input_files("input[type=file]", tmp_path / "mine.csv")
        app.page.get_by_text("60,000 samples, 2 features").wait_for()
        assert not pages.errors
    finally:
        pages.close()


def test_an_upload_is_read_or_answered_in_a_sentence(open_app: Callable[..., App], tmp_path: Path) -> None:
    app = open_app()
    table = "a,b,class\n" + "".join(f"{i},{i % 7},{'yes' if i % 2 else 'no'}\n" for i in range(40))
    files = {"mine.csv": table.encode(), "empty.csv": b"", "large.csv": b"x" * (60 * 2**20)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    app.page.set_input_files("input[type=file]", tmp_path / "empty.csv")
    app.page.get_by_text("empty.csv is empty").wait_for()
    app.page.set_input_files("input[type=file]", tmp_path / "large.csv")
    app.page.get_by_text("large.csv has 60 MB, but at most").wait_for()
    app.page.set_input_files("input[type=file]", tmp_path / "mine.csv")
    app.page.get_by_text("40 samples, 2 features").wait_for()
