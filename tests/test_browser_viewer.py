"""Files of runs dropped on the page that opens them: it shows what the exported page of the same runs shows."""

from __future__ import annotations

import base64
import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from _browser import chromium  # noqa: F401
from _problems import problem

from mklviz.engine import Gap, MaxIter, Race
from mklviz.record import Trace
from mklviz.record.bundle import write_bundle
from mklviz.record.recordings import FOLDER, recording
from mklviz.views.export.recording import DIGITS, recorded
from mklviz.views.export.viewer import viewer_page

pytestmark = pytest.mark.browser

DROP = """([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)), data = new DataTransfer()
  data.items.add(new File([bytes], name))
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
}"""
WORDS = ("key", "table", "label", "status", "verdict", "milestones", "enlarged")


def test_a_file_of_runs_is_shown_as_their_exported_page_and_a_bad_one_gets_a_sentence(
    chromium: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    path = tmp_path / "viewer.html"
    path.write_text(viewer_page(), encoding="utf-8")
    page, asked, errors = chromium.new_page(), [], []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    traces = raced()
    begun = Trace("level", "Level", {}, traces["silp"].kernel_names, traces["silp"].problem, traces["silp"].recipe)
    drop(page, "race.zip", bundled({**traces, "begun": begun}))  # which has no step to show
    shows(page, traces)
    page.get_by_role("slider", name="Step").fill("2")
    cells = page.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[1:3] == ["2", str(traces["silp"][2].svm_solves)]
    for name in ("products", "three-groups", "spg-parts"):  # without a bound, of several classes, five of one solver
        page.get_by_label("Files of runs").set_input_files(FOLDER / f"{name}.zip")
        shows(page, recording(name))
    content = bundled(traces)
    refused(page, content[: len(content) // 2], "is no file of runs")
    refused(page, content[:5000] + bytes([content[5000] ^ 1]) + content[5001:], "is no file of runs, or is damaged")
    refused(page, b"steps,objective\n0,1\n", "is no file of runs")
    refused(page, zipped("notes.txt", b"nothing"), "holds no runs: choose a file that mklviz has saved.")
    refused(page, bundled({**traces, "other": recording("products")["spg"]}), "These runs solved different problems")
    assert page.locator("h1").inner_text() == "A race on Heart"  # which is still there
    choose(page, *([f"{day}.zip", content] for day in ("monday", "tuesday", *"abcd")))  # twelve runs of two solvers
    page.wait_for_function("() => view.data.runs.length === 12")
    labels = page.evaluate("view.data.runs.map((run) => run.label)")
    assert labels[:4] == [f"{name}, {day}" for day in ("monday", "tuesday") for name in ("SILP", "Level")]
    assert page.evaluate("new Set(view.data.runs.map((run) => run.colour + run.dash)).size") == 12
    page.evaluate("most => { KIT.most_bytes = most }", len(content) + 1)
    choose(page, ["monday.zip", content], ["tuesday.zip", content])
    page.locator(".wrong", has_text="These files hold more together than can be opened here").wait_for()
    assert (asked, errors) == ([path.as_uri()], [])
    page.close()


def raced() -> Mapping[str, Trace]:
    race = Race(problem("random Gram matrices"), ["silp", "level"], rules=[Gap(1e-4), MaxIter(60)])
    race.start()
    race.wait()
    return race.traces


def bundled(traces: Mapping[str, Trace]) -> bytes:
    file = io.BytesIO()
    write_bundle(traces, file)
    return file.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def drop(page: Any, name: str, content: bytes) -> None:
    page.evaluate(DROP, [name, base64.b64encode(content).decode()])


def choose(page: Any, *files: list[Any]) -> None:
    chosen = [{"name": name, "mimeType": "application/zip", "buffer": content} for name, content in files]
    page.get_by_label("Files of runs").set_input_files(chosen)


def refused(page: Any, content: bytes, sentence: str) -> None:
    page.locator(".wrong").evaluate("place => place.textContent = ''")
    drop(page, "bad.zip", content)
    page.locator(".wrong", has_text=sentence).wait_for()


def shows(page: Any, traces: Mapping[str, Trace]) -> None:
    """Expect the page to draw what Python makes of these traces, but for what solvers say of steps."""
    page.wait_for_function("keys => `${view?.data.runs.map((run) => run.key)}` === `${keys}`", arg=[*traces])
    mine, theirs = page.evaluate("view.data"), json.loads(json.dumps(recorded(traces).page_data()))
    for made, expected in zip(mine["runs"], theirs["runs"], strict=True):
        assert {word: made[word] for word in WORDS} == {word: expected[word] for word in WORDS}
        weights = [column for column in expected if column[0] == "w" and column[1:].isdigit()]
        for column in (*DIGITS, *weights, "least", "kept", "moved", "vain", "top"):
            close = 5e-2 if column == "vain" else 5e-3  # as many digits as pages of traces are written with
            assert drawn(made[column]) == pytest.approx(drawn(expected[column]), rel=close, abs=1e-9, nan_ok=True), (
                column
            )
    for part in {*theirs} - {"runs", "charts", "weights"}:
        assert mine[part] == theirs[part], part
    for name, chart in theirs["charts"].items():
        words = ("title", "beside", "note", "more", "y")
        assert {word: mine["charts"][name][word] for word in words} == {word: chart[word] for word in words}
        marks = [
            [(mark["table"], mark.get("column")) for mark in each["marks"]] for each in (mine["charts"][name], chart)
        ]
        assert marks[0] == marks[1]


def drawn(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
