"""A recorded laboratory: a page of the runs at every position of a knob, to single precision, within a megabyte."""

import base64
from collections.abc import Callable, Iterable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_export import numbers

import mklviz as mv
from mklviz.analysis.knob_grid import MOST_RUNS, LabGrid, LabKnob, usual_solvers
from mklviz.cli.commands import main
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.views.export.lab_page import lab_page

RECIPE = mv.Recipe.from_words("data=two_moons; kernels=gauss:0.5,1,2@all poly:1@each; C=10; solvers=silp,level")
LAM, C = LabKnob("level.lam", [0.0, 0.5, 0.9]), LabKnob("C", [1.0, 10.0])


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
def test_knobs_without_values_have_the_positions_of_the_tab(
    knob: str, names: list[str], read: Callable[[mv.Recipe], float]
) -> None:
    made = LabKnob(knob)
    assert made.names[:2] == names
    assert [read(recipe) for recipe in LabGrid(RECIPE, (made,)).recipes] == list(made.values)


def test_where_no_solver_is_named_the_tab_says_which_show_it_best() -> None:
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
