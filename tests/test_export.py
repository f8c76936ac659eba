"""A recorded race as one page: its numbers are those of the traces, and nothing in it is taken for a tag."""

import base64
import hashlib
import json
import math
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import problem, ran
from PIL import Image, ImageSequence

from mklviz.cli.commands import main
from mklviz.contract import Iterate
from mklviz.engine import Gap, MaxIter, Race
from mklviz.errors import MklvizError
from mklviz.quoting import one_line
from mklviz.record import Trace
from mklviz.record.bundle import recording
from mklviz.record.summary import Reference, result_at
from mklviz.views.chart.columns import WEIGHT_COLUMNS
from mklviz.views.chart.race_charts import ChartOptions, race_charts
from mklviz.views.export.page import MOST_STEPS, race_page, recorded
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import run_styles
from mklviz.views.race.results import chart_heading, result_cells

EVIL = "</script><script>alert(1)</script><!-- & \u2028 “x”"
SMALL = ["--data", "two_moons", "--kernels", "gauss:0.5,1,2@all poly:1@each", "--C", "10"]


@cache
def raced() -> Race:
    return ran(Race(problem("random Gram matrices"), ["silp", "level"], rules=[Gap(1e-4), MaxIter(60)]))


def numbers(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    told: dict[str, Any] = json.loads(found[0])
    return told


def made(steps: int, name: str = "", objective: float = 1.0) -> Trace:
    trace = Trace("made", name or "Made", kernel_names=[name or "one", "two"], problem=f"a problem {name}")
    for t in range(steps):
        weights = np.array([1.0, 0.0])
        iterate = Iterate(
            weights=weights, dual=np.zeros(3), objective=objective / (t + 1), lower_bound=0.0, step=1.0, svm_solves=t
        )
        trace.append(iterate, 0.01 * t)
    return trace


def test_every_number_of_a_page_is_that_of_its_trace() -> None:
    told = numbers(race_page(raced()))
    assert [run["key"] for run in told["runs"]] == ["silp", "level"]
    for run in told["runs"]:
        trace = raced().traces[run["key"]]
        assert run["iteration"] == list(range(len(trace)))
        assert run["objective"] == pytest.approx(trace.objective.tolist(), rel=1e-5)
        assert run["gap"] == pytest.approx(trace.gap.tolist(), rel=1e-3)
        assert run["svm_solves"] == trace.svm_solves.tolist()
        rows = [result_cells(result_at(trace, t), trace.motion_at(t)) for t in range(len(trace))]
        assert [tuple(row.split("\t")) for row in run["cells"]] == rows
        largest = max(run[column][-1] for column in WEIGHT_COLUMNS if column in run)
        assert largest == pytest.approx(trace.weights[-1].max(), rel=1e-2)
        assert run["reason"] == trace.reason


def test_a_page_says_what_each_solver_did_at_each_step_live_and_loaded_alike(tmp_path: Path) -> None:
    live = numbers(race_page(raced()))
    loaded = {}
    for key, trace in raced().traces.items():
        trace.save(tmp_path / f"{key}.npz")
        loaded[key] = Trace.load(tmp_path / f"{key}.npz")
    runs = zip(live["runs"], numbers(race_page(loaded))["runs"], strict=True)
    for one, other in runs:
        assert len(one["narration"]) == len(one["iteration"])
        assert one["narration"] == other["narration"]
        assert "start" in one["narration"][0]


def test_objectives_stand_above_the_best_bound_of_all() -> None:
    traces = raced().traces
    best = max(trace.lower_bound.max() for trace in traces.values())
    least = min(trace.objective.min() for trace in traces.values())
    for run in numbers(race_page(raced()))["runs"]:
        expected = (traces[run["key"]].objective - best) / abs(least)
        assert run["above"] == pytest.approx(expected.tolist(), rel=1e-3)
        assert min(run["above"]) >= 0.0


def test_no_run_has_no_reference_and_says_nothing() -> None:
    nothing = Reference.of([])
    assert not nothing
    assert math.isnan(nothing.above(1.0))


def test_a_name_cannot_end_the_script_that_holds_it() -> None:
    page = race_page(made(3, EVIL))
    assert numbers(page)["kernels"][0] == EVIL
    assert numbers(page)["runs"][0]["label"] == one_line(EVIL, len(EVIL))
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)</script>" not in page


def test_a_page_lets_its_own_script_run_and_loads_nothing() -> None:
    page = race_page(raced())
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page)) - {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert not addresses
    assert not re.findall(r"\b(?:src|href)=", page)


@pytest.mark.parametrize(
    ("name", "solver", "drawn"),
    [
        ("three random Gram matrices", "level", True),
        ("three random Gram matrices", "pgd", False),
        ("random Gram matrices", "level", False),
    ],
)
def test_a_page_of_three_kernels_has_a_triangle_where_a_browser_can_solve_it(
    name: str, solver: str, drawn: bool
) -> None:
    race = ran(Race(problem(name), [solver], rules=[MaxIter(3)]))
    page = race_page(race)
    assert ("playTriangle" in page) == ("worker-src blob:" in page) == drawn


def test_a_long_run_is_thinned_and_the_page_says_so() -> None:
    told = numbers(race_page(made(5000)))
    [run] = told["runs"]
    assert len(run["iteration"]) <= MOST_STEPS + 1
    assert (run["iteration"][0], run["iteration"][-1]) == (0, 4999)
    assert told["left_out"].startswith("Of 5,000 steps of Made this page keeps ")


@pytest.mark.full
def test_twelve_long_runs_stay_below_a_megabyte() -> None:
    runs = [made(5000) for _ in range(12)]
    assert len(race_page(runs).encode()) < 1e6
    assert len(numbers(race_page(runs))["runs"]) == 12


def test_runs_of_several_problems_are_refused() -> None:
    with pytest.raises(MklvizError, match="solved different problems"):
        recorded([made(3, "one"), made(3, "two")])


def test_the_command_line_writes_a_page_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, picture = tmp_path / "race.html", tmp_path / "race.svg"
    assert main(["race", *SMALL, "--solvers", "level,spg", "--html", str(page), "--svg", str(picture)]) == 0
    written = page.read_text(encoding="utf-8")
    told = numbers(written)
    assert "<h1>A race on Two moons</h1>" in written
    assert [run["label"] for run in told["runs"]] == ["Level", "SPG"]
    assert told["stop"] == {"y": [0.01]}
    assert "stop at 1 %" in told["charts"]["gap"]["heading"]
    assert "stop at 1 %" in picture.read_text(encoding="utf-8")
    assert main(["race", *SMALL, "--html", str(tmp_path / "nowhere" / "race.html")]) == 2
    assert "There is no folder" in capsys.readouterr().err


@pytest.mark.full
def test_pictures_are_written_for_slides_and_for_print(tmp_path: Path) -> None:
    files = {kind: tmp_path / f"race{kind}" for kind in (".png", ".pdf", ".gif")}
    for kind, file in files.items():
        option = "--video" if kind == ".gif" else "--picture"
        assert main(["race", *SMALL, "--solvers", "silp,level", option, str(file)]) == 0
    with Image.open(files[".png"]) as png:
        wide, high = png.size
        assert (png.format, wide) == ("PNG", 2 * 960)
    assert files[".pdf"].read_bytes().startswith(b"%PDF-")
    with Image.open(files[".gif"]) as gif:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(gif)]
    assert {frame.shape for frame in frames} == {(high // 2, 960, 3)}
    ink = [int((frame < 200).sum()) for frame in frames]
    assert len(frames) > 5
    assert ink[0] < ink[len(ink) // 2] < ink[-1]  # lines grow, on axes that stay


@pytest.mark.full
def test_a_film_is_what_ffmpeg_makes_of_the_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, told = tmp_path / "race.webm", tmp_path / "told"
    program = tmp_path / "ffmpeg"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}\nhead -c 8 | tail -c 3\ncat > /dev/null\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert main(["race", *SMALL, "--solvers", "silp,level", "--video", str(file)]) == 0
    assert file.read_bytes() == b"\n\x1a\n"  # of the first PNG
    assert "image2pipe" in told.read_text()
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 3\n")
    assert main(["race", *SMALL, "--solvers", "silp,level", "--video", str(tmp_path / "other.webm")]) != 0


@pytest.mark.parametrize(
    ("option", "name", "told"),
    [
        ("--picture", "race.gif", "FILE.svg or FILE.png or FILE.pdf"),
        ("--video", "race.mp4", "FILE.gif or FILE.webm"),
        ("--video", "race.webm", "ffmpeg"),
    ],
)
def test_a_kind_of_picture_that_cannot_be_written_is_refused_before_anything_is_solved(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    name: str,
    told: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["race", *SMALL, option, str(tmp_path / name)]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_a_page_has_the_charts_of_the_dashboard_in_its_own_colours() -> None:
    data = numbers(race_page(raced()))
    styles = run_styles(raced().traces, LIGHT)
    for name, chart in race_charts(styles, ChartOptions(LIGHT, gap_tolerance=None)).items():
        if name in data["charts"]:
            drawn = data["charts"][name]
            assert drawn["heading"] == chart_heading(replace(chart, term=""), with_note=True)
            assert [mark["column"] for mark in drawn["marks"]] == [mark.columns["y"] for mark in chart.marks]
    assert set(data["charts"]) == {"objective", "above", "gap", "step"}
    assert {mark["colour"] for mark in data["charts"]["step"]["marks"]} == {"var(--run-0)", "var(--run-1)"}
    assert [chart["title"] for chart in data["weights"]] == ["SILP", "Level"]
    assert ">Kernel weights" in data["weights_heading"]


def test_a_page_says_whose_iterations_are_epochs() -> None:
    runs = recording("three-groups")
    label = recorded(runs).page_data()["axes"]["iteration"]["label"]
    assert label == f"iteration (epoch for {runs['ufo'].label})"
