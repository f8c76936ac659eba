"""Races from scripts and notebooks, and what data sets, banks, problems and traces show in a notebook."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from _browser import free_port, wait_for
from _problems import problem as named_problem

import mklviz as mv
from mklviz.engine import Race, standard_rules
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.views import notebook

ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "apps" / "notebooks" / "quickstart.ipynb"


@pytest.fixture
def problem() -> mv.Problem:
    return named_problem("noisy blobs, C = 10")


# -- outside notebooks


def test_outside_notebooks_a_race_returns_when_all_have_ended(problem: mv.Problem) -> None:
    race = mv.race(problem, ["level", "spg"], gap=1e-3)
    assert race.status == "finished"
    assert list(race.traces) == ["level", "spg"]
    assert all(trace.status == "converged" and trace.gap[-1] <= 1e-3 for trace in race.traces.values())


def test_a_race_gives_the_traces_that_single_solves_give(problem: mv.Problem) -> None:
    race = mv.race(problem, ["level", "spg"], gap=1e-3, seed=3)
    for name, trace in race.traces.items():
        alone = mv.solve(problem, name, gap=1e-3, seed=3)
        assert (trace.weights == alone.weights).all()


def test_one_solver_is_a_race_too(problem: mv.Problem) -> None:
    assert list(mv.race(problem, "spg", max_iter=3, gap=None).traces) == ["spg"]


def test_a_race_heeds_every_stop_rule(problem: mv.Problem) -> None:
    race = mv.race(problem, ["spg"], gap=None, max_iter=None, stop=[mv.MaxIter(4)])
    assert len(race.traces["spg"]) == 5  # the start and four steps


def test_a_race_that_cannot_be_says_why(problem: mv.Problem) -> None:
    with pytest.raises(MklvizError, match="There is no solver called 'spgg'"):
        mv.race(problem, ["spgg"])
    with pytest.raises(MklvizError, match="at least one solver"):
        mv.race(problem, [])
    with pytest.raises(UnsupportedProblem):
        mv.race(named_problem("linear penalty, blobs"), ["silp"])


def test_an_interrupted_race_is_stopped(problem: mv.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Race.wait

    def interrupt(self: Race, timeout: float | None = None) -> bool:
        if timeout is None:
            raise KeyboardInterrupt
        return wait(self, 60.0)

    monkeypatch.setattr(Race, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt) as stop:
        mv.race(problem, ["pgd"], gap=None, max_iter=None)
    found = stop.value.found  # type: ignore[attr-defined]
    assert found.finished
    assert found.runs["pgd"].status in ("stopped", "limit")  # PGD may have come to its end by itself


# -- inside, without a browser


def test_a_plain_process_is_no_notebook() -> None:
    assert not notebook.in_notebook()


def test_the_buttons_of_a_cell_pause_step_and_stop_the_race(problem: mv.Problem) -> None:
    from mklviz.views.live.cell import RaceCell

    race = Race(problem, ["silp", "level"], standard_rules(None, 400), pace=50.0)
    cell = RaceCell(race)
    race.start()
    cell.pause()
    wait_for(lambda: race.status == "paused", "the pause")
    steps = {key: len(trace) for key, trace in race.traces.items()}
    cell.step()
    wait_for(lambda: {k: len(t) for k, t in race.traces.items()} == {k: n + 1 for k, n in steps.items()}, "one step")
    wait_for(lambda: race.status == "paused", "the pause after the step")
    cell.pause()
    assert race.status == "running"
    cell.stop()
    assert race.wait(60)
    assert {run.status for run in race.runs.values()} == {"stopped"}


def test_a_cell_sends_nothing_before_it_is_drawn(problem: mv.Problem) -> None:
    from mklviz.views.live.cell import RaceCell

    race = Race(problem, ["level"])
    cell = RaceCell(race)
    race.start()
    race.wait()

    async def look() -> list[int]:
        cell.follow()
        await asyncio.sleep(0.5)
        cell._callback.stop()
        return [len(feed.source.data["iteration"]) for feed in cell.view.feeds.values()]

    assert asyncio.run(look()) == [0]
    assert cell.view.heartbeat.seq == 0


def test_the_quickstart_runs_in_a_fresh_kernel() -> None:
    import nbclient  # loading them takes seconds, which every process that collects tests would pay
    import nbformat

    document = nbformat.read(QUICKSTART, as_version=4)
    assert sum(cell.cell_type == "code" for cell in document.cells) == 5
    assert all(not cell.get("outputs") for cell in document.cells), "Clear the outputs before committing."
    with_path = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    client = nbclient.NotebookClient(document, timeout=300, kernel_name="python3")
    client.execute(env=with_path)
    outputs = [cell.outputs for cell in document.cells if cell.cell_type == "code"]
    data, posed, solved, raced, compared = ([output.get("data", {}) for output in cell] for cell in outputs)
    assert "Ionosphere" in data[0]["text/html"]
    assert "Multiple kernel learning problem" in posed[0]["text/html"]
    assert outputs[2][0]["text"].startswith("The duality gap, ")
    assert "converged" in solved[-1]["text/html"]
    assert "RaceCell" in raced[-1]["text/plain"]
    assert not any("cdn." in output.get("text/html", "")[:2000] for output in raced)  # inline: no network needed
    result = Table(compared[-1]["text/html"]).rows
    assert [row[0] for row in result[1:]] == ["SILP", "Level", "SPG"]


# -- tables


class Table(HTMLParser):
    """Rows of the cells of an HTML table, and whether every tag that was opened was closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def facts(value: Any) -> dict[str, str]:
    """Return the names and values that `value` shows in a notebook."""
    table = Table(value._repr_html_())
    assert table.open == []
    return {row[0]: row[1] for row in table.rows}


def test_a_data_set_shows_its_size_classes_and_source() -> None:
    shown = facts(mv.load_dataset("heart"))
    assert shown["samples"] == "270"
    assert shown["classes"] == "absence (150), presence (120)"
    assert shown["licence"] == "CC BY 4.0"


def test_a_bank_shows_its_kernels() -> None:
    bank = mv.paper_bank(mv.load_dataset("heart").split()[0].X)
    shown = facts(bank)
    assert shown["kernels"] == "140 Gaussian, 42 Polynomial"
    assert shown["first"].startswith("gauss 2⁻³ on all")
    assert facts(mv.KernelBank.from_grams([[[1.0, 0.0], [0.0, 1.0]]]))["kernels"] == "1 Gram matrix"


def test_a_problem_shows_what_is_solved(problem: mv.Problem) -> None:
    shown = facts(problem)
    positive = int((problem.y > 0).sum())
    assert shown["samples"] == f"60, of which {positive} are +1 and {60 - positive} are -1"
    assert shown["loss"] == "hinge, C = 10"


def test_a_trace_shows_how_it_ended(problem: mv.Problem) -> None:
    trace = mv.solve(problem, "level")
    shown = facts(trace)
    assert shown["status"] == f"converged: {trace.reason}"
    assert shown["SVM solves"] == f"{trace.final.svm_solves:,}"
    assert problem.bank.names[int(trace.final.weights.argmax())] in shown["heaviest"].split("), ")[0]
    assert facts(mv.Trace("level", "Level"))["status"] == "running"


def test_a_race_shows_its_result_once_there_is_one(problem: mv.Problem) -> None:
    race = Race(problem, ["level", "spg"])
    assert race._repr_html_() is None
    assert repr(race) == "Race(ready: level, spg)"
    race.start()
    race.wait()
    rows = Table(race._repr_html_() or "").rows
    assert [row[:2] for row in rows[1:]] == [["Level", "converged"], ["SPG", "converged"]]


def test_what_is_shown_is_escaped() -> None:
    X, y = [[0.0], [1.0]], [-1.0, 1.0]
    data = mv.Dataset(name="<script>", X=X, y=y, classes=("<a>", "&b"))  # type: ignore[arg-type]
    assert "<script>" not in data._repr_html_()
    assert facts(data)["classes"] == "<a> (1), &b (1)"


# -- inside, in JupyterLab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """JupyterLab with a notebook of one race; its address."""
    import nbformat

    lines = (
        "import mklviz as mv",
        "train, test = mv.load_dataset('heart').split()",
        "problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))",
        "race = mv.race(problem, ['silp', 'level'], gap=None, max_iter=None, pace=20)",
    )
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # JupyterLab would ask for one
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(lines))], metadata=kernel)
    nbformat.write(document, tmp_path / "race.ipynb")
    port = free_port()
    settings = (f"--ServerApp.port={port}", f"--ServerApp.root_dir={tmp_path}", "--IdentityProvider.token=")
    folders = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *settings],
            env={**os.environ, **folders, "PYTHONPATH": path},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    yield f"http://127.0.0.1:{port}/lab/tree/race.ipynb?reset"
    process.kill()  # JupyterLab waits for its kernels, which may be busy
    process.wait(60)


POINTS = """() => Object.fromEntries((window.Bokeh?.documents ?? []).flatMap((document) =>
  [...document._all_models.values()].filter((m) => (m.name ?? "").startsWith("run-")).map((source) => {
    const data = source.data
    return [source.name.slice(4), (data instanceof Map ? data.get("iteration") : data.iteration).length]
  })))"""


@pytest.mark.browser
def test_a_race_draws_itself_in_jupyterlab_and_stop_stops_it(chromium: Any, lab: str) -> None:
    page = chromium.new_page()
    page.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())  # a classroom without internet
    patience = 400.0  # seconds, against hanging for ever: JupyterLab starts, a kernel starts, numba may compile

    def until(found: Callable[[], Any], what: str) -> Any:
        return wait_for(found, what, page, patience)

    until(lambda: _opens(page, lab), "JupyterLab")
    page.locator(".jp-Notebook .jp-CodeCell").first.click(timeout=1e3 * patience)
    until(lambda: _runs(page), "the cell to run")
    points = until(lambda: all((now := page.evaluate(POINTS)).values()) and now, "the first points")
    assert set(points) == {"silp", "level"}
    until(lambda: page.evaluate(POINTS)["silp"] > points["silp"] + 5, "growing curves")
    page.get_by_role("button", name="Stop", exact=True).click()
    until(lambda: page.get_by_text("All 2 solvers have finished.").count() > 0, "the end of the race")
    before = page.evaluate(POINTS)
    page.wait_for_timeout(1000)
    assert page.evaluate(POINTS) == before
    page.close()


def _runs(page: Any) -> bool:
    """Run the first cell, again if need be: JupyterLab drops keys that are pressed before its shortcuts are there."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    if "[ ]" in cell.locator(".jp-InputPrompt").inner_text():
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(2000)
    return "[ ]" not in cell.locator(".jp-InputPrompt").inner_text()


def _opens(page: Any, address: str) -> bool:
    from playwright.sync_api import Error

    try:
        page.goto(address)
    except Error:  # nobody listens yet
        return False
    return True
