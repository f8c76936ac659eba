"""Races from scripts and notebooks, and what data sets, banks, problems and traces show in a notebook."""

import ast
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from _browser import events_of, free_port
from _cells import PATIENCE, PROBLEM, executed, opens, patient, rows, run_through, steps, with_path
from _problems import problem as named_problem
from _shown import html_of
from _waits import wait_for, wait_until_still

import mklviz as mv
from mklviz.engine import Race, standard_rules
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.record import Trace
from mklviz.views.notebook import register
from mklviz.views.notebook.race_widget import RaceWidget


@pytest.fixture(scope="module")
def problem() -> mv.Problem:
    return named_problem("noisy blobs, C = 10")


def test_outside_notebooks_a_race_returns_when_all_have_ended_or_says_why_it_cannot_be(problem: mv.Problem) -> None:
    race = mv.race(problem, ["level", "spg"], gap=1e-3)
    assert race.status == "finished"
    assert list(race.traces) == ["level", "spg"]
    assert all(trace.status == "converged" and trace.gap[-1] <= 1e-3 for trace in race.traces.values())
    with pytest.raises(MklvizError, match="There is no solver called 'spgg'"):
        mv.race(problem, ["spgg"])
    with pytest.raises(MklvizError, match="at least one solver"):
        mv.race(problem, [])
    with pytest.raises(UnsupportedProblem):
        mv.race(named_problem("linear penalty, blobs"), ["silp"])


def say(widget: Any, wish: str) -> None:
    """Say something as a page that draws the widget."""
    widget.comm.handle_msg({"content": {"data": {"method": "custom", "content": {"wish": wish}}}, "buffers": []})


def test_the_buttons_of_a_widget_pause_step_and_stop_the_race(problem: mv.Problem) -> None:
    race = Race(problem, ["silp", "level"], standard_rules(None, 400), pace=50.0)
    widget = RaceWidget(race)
    race.start()
    say(widget, "pause")
    wait_for(lambda: race.status == "paused", "the pause")
    steps = {key: len(trace) for key, trace in race.traces.items()}
    say(widget, "step")
    wait_for(lambda: {k: len(t) for k, t in race.traces.items()} == {k: n + 1 for k, n in steps.items()}, "one step")
    wait_for(lambda: race.status == "paused", "the pause after the step")
    say(widget, "pause")
    assert race.status == "running"
    say(widget, "full")
    assert race.pace == 0.0
    say(widget, "stop")
    assert race.wait(PATIENCE)
    assert {run.status for run in race.runs.values()} <= {"stopped", "limit"}  # at full speed it may have been quicker


def test_the_state_of_a_widget_is_the_recording_as_far_as_it_goes_and_a_page_has_drawn_it(problem: mv.Problem) -> None:
    race = Race(problem, ["silp", "level"], standard_rules(1e-9, 50))
    widget = RaceWidget(race, 1e-2)
    widget.update()
    assert (widget.control["state"], widget.recording) == ("ready", {})
    for run in race.runs.values():
        for _ in range(2):
            run.advance()
    widget.update()
    assert [run["iteration"] for run in widget.recording["runs"]] == [[0, 1], [0, 1]]
    assert not widget.recording["ended"]
    assert not widget.wanted.is_set()  # it waits for a page to have drawn it
    say(widget, "more")
    assert widget.wanted.is_set()
    widget.update()
    assert widget.wanted.is_set()  # there was nothing new to draw
    race.start()
    race.wait()
    widget.update()
    drawn = {run["key"]: run["iteration"] for run in widget.recording["runs"]}
    assert drawn == {key: list(range(len(trace))) for key, trace in race.traces.items()}
    assert widget.recording["ended"]
    assert widget.recording["stop"] == {"y": [0.01]}


@pytest.fixture
def marimo(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A stand-in for marimo in whose notebook the test runs; what is registered there goes with the test."""
    import holoviews as hv

    made = SimpleNamespace(running_in_notebook=lambda: True, iframe=str, Html=str)
    monkeypatch.setitem(sys.modules, "marimo", made)
    for shown in (Trace, mv.Path, Race, hv.core.ViewableElement, hv.core.ViewableTree):
        monkeypatch.setattr(shown, "_display_", None, raising=False)
    return made


def in_marimo(value: Any) -> Any:
    """Return what marimo shows where a cell ends with `value`."""
    return value._display_()


@pytest.mark.full
def test_in_marimo_a_race_returns_at_once_and_its_widget_stands_below(
    problem: mv.Problem, marimo: SimpleNamespace
) -> None:
    below: list[Any] = []
    marimo.output = SimpleNamespace(append=below.append)
    race = mv.race(problem, ["level", "spg"], gap=1e-3)
    [widget] = below
    assert in_marimo(race) is widget  # type: ignore[attr-defined]  # marimo asks what a cell ends with
    wait_for(lambda: widget.recording.get("ended"), "the end in the figures")
    assert widget.control["state"] == "finished"
    assert [run["iteration"][-1] for run in widget.recording["runs"]] == [len(t) - 1 for t in race.traces.values()]


@pytest.mark.usefixtures("marimo")
def test_in_marimo_traces_and_paths_show_a_picture_below_their_table(problem: mv.Problem) -> None:
    register()
    for found in (mv.solve(problem, "level"), mv.path(problem, "level", C=[1.0, 10.0])):
        html = in_marimo(found)
        assert html.startswith(found._repr_html_())
        assert html.count("<img") == 1
    assert "<img" not in in_marimo(Trace("level", "Level"))


def test_in_marimo_pictures_are_svg_and_with_sliders_marimo_s_own(problem: mv.Problem, marimo: SimpleNamespace) -> None:
    import holoviews as hv

    from mklviz.views.pictures.export import show_in_notebooks

    marimo.ui = SimpleNamespace(panel=lambda shown: ("with sliders", shown))
    show_in_notebooks()
    trace = mv.solve(problem, "level")
    gap, weights = mv.plot.gap(trace), mv.plot.weights(trace)
    for picture in (gap, weights, gap + weights):
        page = in_marimo(picture)
        assert page.startswith("<img")
        assert "<script" not in page
    framed = in_marimo(hv.Curve([1, 2]))  # a picture that is not ours, with what draws it inside
    assert "Bokeh" in framed
    assert not re.search(r"<(script|link)[^>]+(src|href)=", framed)
    turned = hv.HoloMap({step: mv.plot.weights(trace, step=step) for step in (0, 1)}, kdims="step")
    both = gap + turned
    assert in_marimo(both) == ("with sliders", both)
    figure = mv.path_figure(mv.path(problem, "level", C=[1.0, 10.0]))
    assert in_marimo(figure).count("<img") == 1


@pytest.fixture(scope="module")
def quickstart() -> Any:
    """The quick start, run in a fresh kernel."""
    document = run_through("quickstart")
    assert sum(cell.cell_type == "code" for cell in document.cells) == 5
    return document


@pytest.mark.full
def test_the_quickstart_runs_in_a_fresh_kernel(quickstart: Any) -> None:
    outputs = [cell.outputs for cell in quickstart.cells if cell.cell_type == "code"]
    data, posed, solved, raced, compared = ([output.get("data", {}) for output in cell] for cell in outputs)
    assert "Ionosphere" in data[0]["text/html"]
    assert "Multiple kernel learning problem" in posed[0]["text/html"]
    assert outputs[2][0]["text"].startswith("The duality gap, ")
    assert "converged" in solved[-1]["text/html"]
    assert "Race(finished: silp, level, spg)" in raced[-1]["text/plain"]
    result = rows_of(compared[-1]["text/html"].split("<img")[0])
    assert [row[0] for row in result[1:]] == ["SILP", "Level", "SPG"]


@pytest.mark.full
def test_a_saved_notebook_is_small_and_keeps_pictures_which_its_export_shows_without_scripts(quickstart: Any) -> None:
    import nbformat
    from nbconvert import HTMLExporter

    saved = nbformat.writes(quickstart)
    assert len(saved) < 1_000_000
    assert "Bokeh" not in saved
    _, _, solved, raced, compared = [cell.outputs for cell in quickstart.cells if cell.cell_type == "code"]
    for outputs in (solved, raced, compared):
        assert "data:image/svg+xml;base64," in outputs[-1]["data"]["text/html"]
    picture = ElementTree.fromstring(raced[-1]["data"]["image/svg+xml"])
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"SILP", "Level", "SPG", "Duality gap", "stop at 1 %"} <= set(words)
    assert "Objective above the best bound" in words  # as the plain one would lie flat beside SILP's
    assert words.count("iteration") == 5  # objective, gap, and the weights of each solver
    assert "<iframe" in raced[-1]["data"]["text/html"]  # with the cursor
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(quickstart)
    assert page.count('src="data:image/svg+xml;base64,') == 3
    assert not re.search(r"<script[^>]+src=", page)


def run(*lines: str) -> list[list[Any]]:
    """Return the outputs of cells, run in a fresh kernel."""
    return [cell.outputs for cell in executed(*lines).cells]


PICTURED = """
import mklviz as mv
train, _ = mv.load_dataset("heart").split(train=0.2, seed=0)
trace = mv.solve(mv.Problem(mv.KernelBank.build(train.X, [mv.Gaussian()]), train.y), "level")
mv.plot.gap(trace) + mv.plot.weights(trace)
"""


def is_pictured(shown: list[Any], by_holoviews: bool) -> None:
    """Compare what a cell has put out with what it shows as its last line, a picture."""
    assert ("Bokeh" in shown[-1]["data"]["text/html"]) == by_holoviews
    assert ("image/svg+xml" in shown[-1]["data"]) != by_holoviews
    assert sum(len(json.dumps(output)) for output in shown) < 195_000  # of a script, what is no part of BokehJS
    assert not any(output.get("name") == "stderr" for output in shown)


@pytest.mark.full
def test_a_path_its_figure_and_a_picture_as_a_last_line_keep_a_picture_in_a_notebook() -> None:
    _, shown, figure, picture = run(
        f"{PROBLEM}path = mv.path(problem, 'level', C=[10.0, 1.0])", "path", "mv.path_figure(path)", PICTURED
    )
    assert "<table>" in shown[-1]["data"]["text/html"]
    assert "data:image/svg+xml;base64," in shown[-1]["data"]["text/html"]
    assert "data:image/svg+xml;base64," in figure[0]["data"]["text/html"]
    assert "Kernels in use" in figure[0]["data"]["image/svg+xml"]
    assert sum(len(json.dumps(output)) for output in figure) < 200_000
    is_pictured(picture, by_holoviews=False)


@pytest.mark.full
def test_a_picture_as_a_last_line_is_holoviews_own_where_that_was_loaded() -> None:
    _, picture = run("import holoviews; holoviews.extension('bokeh')", PICTURED)
    is_pictured(picture, by_holoviews=True)


def rows_of(html: str) -> list[list[str]]:
    """Return the rows of cells of a table, whose tags are closed as they were opened."""
    table = ElementTree.fromstring(f"<div>{html}</div>")
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


def facts(value: Any) -> dict[str, str]:
    """Return the names and values that `value` shows in a notebook."""
    return {row[0]: row[1] for row in rows_of(html_of(value))}


def test_a_data_set_shows_its_size_classes_and_source_escaped_and_a_bank_its_kernels() -> None:
    heart = mv.load_dataset("heart")
    shown = facts(heart)
    assert shown["samples"] == "270"
    assert shown["classes"] == "absence (150), presence (120)"
    assert shown["licence"] == "CC BY 4.0"
    kernels = facts(mv.paper_bank(heart.split()[0].X))
    assert kernels["kernels"] == "140 Gaussian, 42 Polynomial"
    assert kernels["first"].startswith("gauss 2⁻³ on all")
    assert facts(mv.KernelBank.from_grams([[[1.0, 0.0], [0.0, 1.0]]]))["kernels"] == "1 Gram matrix"
    X, y = [[0.0], [1.0]], [-1.0, 1.0]
    data = mv.Dataset(name="<script>", X=X, y=y, classes=("<a>", "&b"))  # type: ignore[arg-type]
    assert "<script>" not in html_of(data)
    assert facts(data)["classes"] == "<a> (1), &b (1)"


def test_a_problem_shows_what_is_solved_and_a_trace_how_it_ended(problem: mv.Problem) -> None:
    shown, positive = facts(problem), int((problem.y > 0).sum())
    assert shown["samples"] == f"60, of which {positive} are +1 and {60 - positive} are -1"
    assert shown["loss"] == "hinge, C = 10"
    trace = mv.solve(problem, "level")
    shown = facts(trace)
    assert shown["status"] == f"converged: {trace.reason}"
    assert shown["SVM solves"] == f"{trace.final.svm_solves:,}"
    assert problem.bank.names[int(trace.final.weights.argmax())] in shown["heaviest"].split("), ")[0]
    assert facts(mv.Trace("level", "Level"))["status"] == "running"


def test_a_race_shows_its_result_once_there_is_one(problem: mv.Problem) -> None:
    race = Race(problem, ["level", "spg"])
    assert html_of(race) is None
    assert repr(race) == "Race(ready: level, spg)"
    race.start()
    race.wait()
    assert [row[:2] for row in rows_of(html_of(race))[1:]] == [["Level", "converged"], ["SPG", "converged"]]


SLOW = (f"{PROBLEM}race = mv.race(problem, ['silp', 'level'], gap=None, max_iter=None, pace=4)",)
FULL_SPEED = (
    PROBLEM,
    "race = mv.race(problem, ['silp', 'level', 'spg'])",
    "race.wait()\nprint({key: len(trace) for key, trace in race.traces.items()})",
)
FOLDERS = {"jupyterlab": "lab/tree", "notebook": "notebooks"}  # where each opens a file
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'


@pytest.fixture(scope="module", params=["jupyterlab", pytest.param("notebook", marks=pytest.mark.product)])
def lab(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A notebook of one slow race, and one of a race at full speed, in a real server: address and folder."""
    import nbformat

    tmp_path, port = tmp_path_factory.mktemp("lab"), free_port()
    for name, lines in (("slow", SLOW), ("fast", FULL_SPEED)):
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # JupyterLab would ask for one
        cells = [nbformat.v4.new_code_cell(source) for source in lines]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / f"{name}.ipynb")
    settings = (f"--ServerApp.port={port}", f"--ServerApp.root_dir={tmp_path}", "--IdentityProvider.token=")
    folders = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    words = [sys.executable, "-m", request.param, "--no-browser", "--allow-root", *settings]
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(words, env=with_path(**folders), stdout=log, stderr=subprocess.STDOUT)
    yield f"http://127.0.0.1:{port}/{FOLDERS[request.param]}", tmp_path
    process.kill()  # a notebook server waits for its kernels, which may be busy
    process.wait(PATIENCE)


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page in a classroom without internet."""
    opened = chromium.new_page()
    opened.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
    yield opened
    opened.close()


@pytest.mark.browser
def test_a_race_draws_itself_and_stop_stops_it_also_on_a_page_loaded_again(page: Any, lab: tuple[str, Path]) -> None:
    address, folder = lab
    until = patient(page)
    until(lambda: opens(page, f"{address}/slow.ipynb?reset"), "the notebook server")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    until(lambda: _runs(page), "the cell to run")
    first = until(lambda: steps(page), "the first points")
    until(lambda: steps(page) > first + 5, "growing curves")
    _choose(page, "File", "^Save Notebook$")
    # what is on disk is what counts: Notebook 7 marks nothing that is not saved yet
    until(lambda: "data-still" in (folder / "slow.ipynb").read_text(encoding="utf-8"), "the notebook to be saved")
    page.reload()
    again = until(lambda: steps(page), "the points of a page loaded again")
    until(lambda: steps(page) > again + 5, "growing curves on a page loaded again")
    assert page.locator("[data-still]").is_hidden()
    page.get_by_role("button", name="Stop", exact=True).click()
    ended = re.compile(r"^(Stopped: \d of 2 solvers had finished before|All 2 solvers (were stopped|have finished))\.$")
    until(lambda: page.get_by_text(ended).count() > 0, "the end of the race")  # some may have been as exact as can be
    # their last points may come after the words
    wait_until_still(lambda: steps(page), "curves that grow no more", events_of(page))


@pytest.mark.browser
def test_a_race_at_full_speed_is_complete_on_a_slow_page_under_run_all(page: Any, lab: tuple[str, Path]) -> None:
    (address, _), until = lab, patient(page)
    until(lambda: opens(page, f"{address}/fast.ipynb?reset"), "the notebook server")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    until(lambda: page.locator(IDLE).count() > 0, "a kernel")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    _choose(page, "Run", "^Run All Cells$")
    told = page.locator(".jp-Notebook .jp-CodeCell").last.locator(".jp-OutputArea-output")
    told.wait_for()
    found = ast.literal_eval(told.inner_text())
    assert set(found) == {"silp", "level", "spg"}
    until(lambda: rows(page) == [length - 1 for length in found.values()], "the last step of every solver")


def _choose(page: Any, menu: str, entry: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{menu}$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(entry)).first.click()


def _runs(page: Any) -> bool:
    """Run the first cell, again if need be: JupyterLab drops keys that are pressed before its shortcuts are there."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").first

    def runs() -> bool:
        return "[ ]" not in cell.locator(".jp-InputPrompt").inner_text()

    if not runs():
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        with contextlib.suppress(AssertionError):
            wait_for(runs, "an answer to the keys", events_of(page), patience=2.0)
    return runs()
