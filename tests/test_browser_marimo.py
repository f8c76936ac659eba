"""What a notebook of marimo shows, in marimo itself, which has an environment of its own: `.ci/run` makes it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import events_of, free_port, not_driven
from _cells import PATIENCE, opens, patient, rows, steps, with_path
from _waits import wait_until_still

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import mklviz as mv

    train, test = mv.load_dataset("heart").split()
    problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
    race = mv.race(problem, ["silp", "level"], gap=None, max_iter=None, pace=4)
    return mv, problem


@app.cell
def _(mv, problem):
    trace = mv.solve(problem, "level")
    trace
    return (trace,)


@app.cell
def _(mv, problem):
    mv.path_figure(mv.path(problem, "level", C=[10.0, 1.0]))
    return


@app.cell
def _(mv, trace):
    mv.plot.gap(trace) + mv.plot.weights(trace)
    return
"""

pytestmark = pytest.mark.browser


def marimo_python() -> str:
    """Return the Python that has marimo, or skip the test, or fail it where it must not be skipped."""
    python = os.environ.get("MKLVIZ_MARIMO", "")
    if not python:
        not_driven("No browser test of marimo: MKLVIZ_MARIMO names no Python with marimo, mklviz and anywidget.")
    return python


@pytest.fixture(params=["run", "edit"])
def marimo(request: Any, tmp_path: Path) -> Iterator[str]:
    """The notebook in marimo, as an application or with its code; its address."""
    python = marimo_python()
    (tmp_path / "race.py").write_text(NOTEBOOK)
    (tmp_path / "pyproject.toml").write_text("[tool.marimo.runtime]\nauto_instantiate = true\n")  # runs all cells
    port = free_port()
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "CACHE", "STATE", "DATA")}
    words = [python, "-m", "marimo", "--yes", request.param, "--headless", "--no-token", f"--port={port}", "race.py"]
    with (tmp_path / "marimo.log").open("w") as log:
        process = subprocess.Popen(words, cwd=tmp_path, env=with_path(**folders), stdout=log, stderr=subprocess.STDOUT)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page in a classroom without internet, which must not even ask for it."""
    opened = chromium.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
    yield opened
    opened.close()
    assert [url for url in asked if "127.0.0.1" not in url and not url.startswith(("data:", "blob:"))] == []


def test_marimo_shows_a_live_race_and_pictures_and_asks_nobody_else(page: Any, marimo: str) -> None:
    until = patient(page)

    def button(name: str) -> Any:
        return page.locator(".mklviz-race").get_by_role("button", name=name, exact=True)

    until(lambda: opens(page, marimo), "the server of marimo")
    first = until(lambda: steps(page), "the first points")
    until(lambda: steps(page) > first + 5, "growing curves")
    button("Pause").click()
    button("Resume").wait_for()
    paused = wait_until_still(lambda: rows(page), "curves that rest", events_of(page))
    button("Step").click()
    until(lambda: rows(page) == [step + 1 for step in paused], "one step of each solver")
    stills = page.locator("img[src^='data:image/svg+xml;base64,']")
    until(lambda: stills.count() == 3, "pictures of trace and path, and of mv.plot")
    until(lambda: page.get_by_role("cell", name="converged").count() == 1, "the table of the trace")
    button("Stop").click()
    until(lambda: page.get_by_text("2 solvers were stopped").count() == 1, "the end of the race")
