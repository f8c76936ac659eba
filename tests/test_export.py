"""Recorded races, laboratories and the gallery as pages: numbers are those of traces, nothing is taken for a tag."""

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import problem, ran
from PIL import Image, ImageSequence

import mklviz as mv
from mklviz.analysis.knob_grid import MOST_RUNS, LabGrid, LabKnob, usual_solvers
from mklviz.cli.commands import main
from mklviz.contract import Iterate
from mklviz.engine import Gap, MaxIter, Race
from mklviz.errors import MklvizError
from mklviz.quoting import one_line
from mklviz.record import Trace
from mklviz.record.bundle import FOLDER, recording
from mklviz.record.summary import Reference, result_at
from mklviz.reproduce.recorded import claim_races, recorded_answers
from mklviz.views.chart.columns import WEIGHT_COLUMNS
from mklviz.views.chart.race_charts import ChartOptions, race_charts
from mklviz.views.export import gallery
from mklviz.views.export.gallery import LABORATORIES, save_gallery
from mklviz.views.export.lab_page import lab_page
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
    return json.loads(found[0])


def made(steps: int, name: str = "") -> Trace:
    trace = Trace("made", name or "Made", kernel_names=[name or "one", "two"], problem=f"a problem {name}")
    for t in range(steps):
        trace.append(Iterate(np.array([1.0, 0.0]), np.zeros(3), 1.0 / (t + 1), 0.0, 1.0, t), 0.01 * t)
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
    loaded = {}
    for key, trace in raced().traces.items():
        trace.save(tmp_path / f"{key}.npz")
        loaded[key] = Trace.load(tmp_path / f"{key}.npz")
    live, read = (numbers(race_page(runs))["runs"] for runs in (raced(), loaded))
    for one, other in zip(live, read, strict=True):
        assert len(one["narration"]) == len(one["iteration"])
        assert one["narration"] == other["narration"]
        assert "start" in one["narration"][0]


def test_objectives_stand_above_the_best_bound_of_all_where_there_is_a_run() -> None:
    traces = raced().traces
    best = max(trace.lower_bound.max() for trace in traces.values())
    least = min(trace.objective.min() for trace in traces.values())
    for run in numbers(race_page(raced()))["runs"]:
        expected = (traces[run["key"]].objective - best) / abs(least)
        assert run["above"] == pytest.approx(expected.tolist(), rel=1e-3)
        assert min(run["above"]) >= 0.0
    nothing = Reference.of([])
    assert not nothing
    assert math.isnan(nothing.above(1.0))


def test_a_page_lets_its_own_script_run_which_no_name_can_end_and_loads_nothing() -> None:
    page = race_page(made(3, EVIL))
    assert numbers(page)["kernels"][0] == EVIL
    assert numbers(page)["runs"][0]["label"] == one_line(EVIL, len(EVIL))
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)</script>" not in page
    page = race_page(raced())
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page)) - {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert not addresses
    assert not re.findall(r"\b(?:src|href)=", page)


def test_a_page_of_three_kernels_has_a_triangle_where_a_browser_can_solve_it() -> None:
    three, many = "three random Gram matrices", "random Gram matrices"
    for name, solver, drawn in ((three, "level", True), (three, "pgd", False), (many, "level", False)):
        page = race_page(ran(Race(problem(name), [solver], rules=[MaxIter(3)])))
        assert ("playTriangle" in page) == ("worker-src blob:" in page) == drawn, (name, solver)


def test_a_long_run_is_thinned_and_the_page_says_so_and_runs_of_several_problems_are_refused() -> None:
    told = numbers(race_page(made(5000)))
    [run] = told["runs"]
    assert len(run["iteration"]) <= MOST_STEPS + 1
    assert (run["iteration"][0], run["iteration"][-1]) == (0, 4999)
    assert told["left_out"].startswith("Of 5,000 steps of Made this page keeps ")
    with pytest.raises(MklvizError, match="solved different problems"):
        recorded([made(3, "one"), made(3, "two")])


@pytest.mark.full
def test_twelve_long_runs_stay_below_a_megabyte() -> None:
    runs = [made(5000) for _ in range(12)]
    assert len(race_page(runs).encode()) < 1e6
    assert len(numbers(race_page(runs))["runs"]) == 12


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
        ("--picture", "race.gif", "ends in .svg or .png or .pdf"),
        ("--video", "race.mp4", "ends in .gif or .webm"),
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


def test_a_page_has_the_charts_of_the_dashboard_in_its_own_colours_and_says_whose_iterations_are_epochs() -> None:
    data = numbers(race_page(raced()))
    styles = run_styles(raced().traces, LIGHT)
    charts = race_charts(styles, ChartOptions(LIGHT, gap_tolerance=None))
    assert set(data["charts"]) == {"objective", "above", "gap", "step"}
    for name in set(charts) & set(data["charts"]):
        drawn = data["charts"][name]
        assert drawn["heading"] == chart_heading(replace(charts[name], term=""), with_note=True)
        assert [mark["column"] for mark in drawn["marks"]] == [mark.columns["y"] for mark in charts[name].marks]
    assert {mark["colour"] for mark in data["charts"]["step"]["marks"]} == {"var(--run-0)", "var(--run-1)"}
    assert [chart["title"] for chart in data["weights"]] == ["SILP", "Level"]
    assert ">Kernel weights" in data["weights_heading"]
    runs = recording("three-groups")
    label = recorded(runs).page_data()["axes"]["iteration"]["label"]
    assert label == f"iteration (epoch for {runs['ufo'].label})"


# -- laboratories


RECIPE = mv.Recipe.from_words("data=two_moons; kernels=gauss:0.5,1,2@all poly:1@each; C=10; solvers=silp,level")
LAM, C = LabKnob("level.lam", [0.0, 0.5, 0.8]), LabKnob("C", [1.0, 10.0])


@cache
def solved(*knobs: LabKnob) -> tuple[LabGrid, list[dict[str, Trace]]]:
    """Return a grid with the traces at its positions; a run that is at several of them is one object."""
    grid, known, places = LabGrid(RECIPE, knobs), {}, []
    bank = RECIPE.build()
    for recipe in grid.recipes:
        prepared, place = recipe.posed(bank), {}
        for choice in recipe.solvers:
            key = (recipe.problem, choice)
            if key not in known:
                known[key] = mv.solve(prepared.problem, choice.make(), gap=recipe.goal)
            place[choice.name] = known[key]
        places.append(place)
    return grid, places


def column(run: dict[str, Any], name: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(run[name]["single"]), "<f4")


def test_every_number_of_a_laboratory_is_that_of_its_trace_to_single_precision() -> None:
    grid, places = solved(LAM, C)
    told = numbers(lab_page(grid, places))
    assert [len(knob["names"]) for knob in told["knobs"]] == [3, 2]
    for at, place in zip(told["places"], places, strict=True):
        for index, (key, trace) in zip(at["runs"], place.items(), strict=True):
            run = told["runs"][index]
            assert run["key"] == key
            for name in ("objective", "gap", "svm_solves", "seconds"):
                assert np.array_equal(column(run, name), np.asarray(getattr(trace, name), "f4"), equal_nan=True)
            drawn = {told["kernels"][slot]: column(run, f"w{slot}") for slot in range(len(told["kernels"]))}
            for k, name in enumerate(trace.kernel_names):
                assert np.array_equal(drawn[name], trace.weights[:, k].astype("f4"))


def test_objectives_of_several_problems_stand_above_the_best_bound_of_their_own() -> None:
    grid, places = solved(C)
    told = numbers(lab_page(grid, places))
    assert told["squashed"]
    assert told["apart"] == ["objective"]
    for at, place in zip(told["places"], places, strict=True):
        bound = max(trace.lower_bound.max() for trace in place.values())
        least = min(trace.objective.min() for trace in place.values())
        for index, trace in zip(at["runs"], place.values(), strict=True):
            expected = (trace.objective - bound) / least
            assert column(told["runs"][index], "above") == pytest.approx(expected, rel=1e-5, abs=1e-9)


@pytest.mark.full
def test_as_many_and_as_long_runs_as_a_page_takes_stay_within_a_megabyte() -> None:
    values = [k / MOST_RUNS for k in range(MOST_RUNS)]
    grid = LabGrid(mv.Recipe.from_words("solvers=level"), (LabKnob("level.lam", values),))
    long = Trace("level", "Level", kernel_names=[f"gauss 2^{k} on column_{k}" for k in range(9)], problem="a problem")
    rng = np.random.default_rng(0)
    for t in range(100):
        bounds = {"objective": 2.0 + rng.random(), "lower_bound": rng.random(), "step": rng.random(), "svm_solves": t}
        long.append(mv.Iterate(weights=rng.random(9), dual=np.zeros(2), **bounds), 0.1 * t)
    page = lab_page(grid, [{"level": copy(long)} for _ in values])
    assert len(page.encode()) < 1_000_000
    with pytest.raises(MklvizError, match="room for the curves of 250 runs"):
        LabGrid(mv.Recipe.from_words("solvers=level"), (LabKnob("level.lam", [*values, 1.0]),))


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ((("level.foo", [1, 2]),), "no option 'foo'"),
        ((("spg.lam", [1, 2]),), "None of the solvers silp, level has this knob"),
        ((("q", [1, 2]),), "no parameter 'q'"),
        ((("C", [-1, 2]),), "positive"),
        ((("C", [1]),), "two values or more"),
        ((("C", [1, 2]), ("C", [3, 4])), "two different ones"),
    ],
)
def test_a_knob_that_does_not_fit_is_refused_in_a_sentence(knobs: Iterable[Any], words: str) -> None:
    with pytest.raises(MklvizError, match=words):
        LabGrid(RECIPE, tuple(LabKnob(*knob) for knob in knobs))


@pytest.mark.parametrize(
    ("knob", "names", "read"),
    [
        ("p", ["1", "1.05"], lambda recipe: getattr(recipe.problem.regularizer, "p", 1.0)),
        ("tol", ["0.1", "0.03"], lambda recipe: dict(recipe.solvers[0].options)["svm_tolerance"]),
        ("level.lam", ["0", "0.1"], lambda recipe: dict(recipe.solvers[1].options)["lam"]),
    ],
)
def test_knobs_without_values_have_the_positions_of_the_tab_and_solvers_that_show_them_best(
    knob: str, names: list[str], read: Callable[[mv.Recipe], float]
) -> None:
    made = LabKnob(knob)
    assert made.names[:2] == names
    assert [read(recipe) for recipe in LabGrid(RECIPE, (made,)).recipes] == list(made.values)
    assert [choice.name for choice in usual_solvers([LabKnob("level.lam")])] == ["level", "silp"]
    assert [choice.name for choice in usual_solvers([LabKnob("epsilon", [1, 2])])] == ["spg"]


@pytest.mark.full
def test_the_command_writes_a_page_and_repeats_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "--data", "two_moons", "--kernels", "gauss:1,2@all", "--max-iter", "5", "--store", str(tmp_path)]
    words += ["--solvers", "level", "--knob", "C=1,10", "--output", str(tmp_path / "lab.html")]
    assert main(words) == 0
    first = (tmp_path / "lab.html").read_text()
    assert [place["runs"] for place in numbers(first)["places"]] == [[0], [1]]
    capfd.readouterr()
    assert main(words) == 0
    out, err = capfd.readouterr()
    assert "2 there before" in err
    assert "2 positions" in out
    assert (tmp_path / "lab.html").read_text() == first


# -- the gallery


def test_the_gallery_is_written_into_a_folder_and_its_laboratories_can_be_turned_to_their_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "gallery_pages", lambda store: {"index.html": "Index", "b.html": f"From {store}"})
    index, page = save_gallery(tmp_path / "new" / "pages", store="none")
    assert (index.name, index.read_text(), page.read_text()) == ("index.html", "Index", "From none")
    for name, words, knob, picture, value in LABORATORIES:
        grid = LabGrid(mv.Recipe.from_words(words), (LabKnob(knob),))
        assert value in grid.knobs[0].values, name
        assert len(grid.sweep) <= 20, name  # quick to solve
        assert picture in gallery.PICTURES, name
        assert name == name.lower()


def test_recorded_races_of_claims_are_those_that_show_them() -> None:
    races = claim_races()
    answers = [answer.claim.name for race in races for answer in race.answers]
    testable = [name for name, answer in recorded_answers().answers.items() if not answer.claim.untestable]
    assert sorted(answers) == sorted(testable)
    for race in races:
        for trace in race.traces.values():
            made = mv.Recipe.from_json(trace.recipe)
            renew = f"python .ci/recordings.py claims: {race.name}"
            assert replace(made, solvers=race.recipe.solvers) == race.recipe, renew
    assert {path.stem for path in (FOLDER / "claims").glob("*.zip")} == {race.name.split("/")[1] for race in races}
