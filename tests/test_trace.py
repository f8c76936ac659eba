"""Traces: columns, verdicts, saving and loading."""

import json
import math
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import formulate, problem, recorded
from _samples import saved

from mklviz.contract import End, Facts, Iterate
from mklviz.engine import KKT, Gap, MaxIter, StopRule, WeightChange, solve
from mklviz.errors import MklvizError, SolverError
from mklviz.record import Trace

SCALARS = ["objective", "lower_bound", "gap", "iterate_gap", "step", "svm_solves", "seconds", "active"]
COLUMNS = ["weights", "dual", *SCALARS]


@dataclass(frozen=True, kw_only=True)
class Told(Facts):
    """What a method of one's own may know."""

    cuts: float = math.nan
    lp: float = math.nan
    said: str = ""


def iterate(
    weights: list[float] | np.ndarray, objective: float = 2.0, bound: float = 1.0, **facts: float | str
) -> Iterate:
    return Iterate(np.array(weights, dtype=float), np.zeros(4), objective, bound, 0.1, 3, Told(**facts))


def along(path: list[list[float]] | np.ndarray) -> Trace:
    return recorded(*map(iterate, path))


@pytest.fixture(scope="module")
def solved() -> Trace:
    return solve(problem("blobs, C = 100"), "spg", gap=1e-5)


def test_columns_and_frames_have_one_row_per_iterate_and_frames_have_the_numeric_facts(solved: Trace) -> None:
    for name in COLUMNS:
        assert len(getattr(solved, name)) == len(solved)
    assert solved.weights.shape == (len(solved), 20)
    assert solved.dual.shape == (len(solved), 40)
    assert (np.diff(solved.seconds) >= 0).all()
    for t, found in enumerate(solved):
        np.testing.assert_array_equal(solved.weights[t], found.weights)
        assert solved.iterate_gap[t] == found.gap
        assert solved.active[t] == (found.weights > 1e-8).sum()
    assert solved.final is solved[-1]
    assert list(solved)[2:4] == solved[2:4]
    frame = solved.to_frame()
    assert list(frame["iteration"]) == list(range(len(solved)))
    for name in SCALARS:
        np.testing.assert_array_equal(frame[name], getattr(solved, name))
    np.testing.assert_array_equal(frame["svm_tolerance"], solved.fact("svm_tolerance"))
    assert all(dtype.kind in "if" for dtype in frame.dtypes)


def test_a_trace_tells_what_was_solved_by_whom(solved: Trace) -> None:
    assert (solved.solver, solved.label, solved.status) == ("spg", "SPG", "converged")
    assert solved.reason.endswith("is at most 1e-05.")
    assert solved.options["seed"] == 0
    assert solved.kernel_names == problem("blobs, C = 100").bank.names
    assert solved.problem == "20 kernels, 40 samples, hinge loss with C = 100, simplex (ℓ₁)"
    assert "SPG: converged after" in repr(solved)


def test_facts_are_columns_with_nan_where_a_step_has_none() -> None:
    trace = recorded(iterate([1.0], cuts=2.0, said="yes"), iterate([1.0]))
    np.testing.assert_array_equal(trace.fact("cuts"), [2.0, np.nan])
    np.testing.assert_array_equal(trace.fact("said"), [np.nan, np.nan])
    np.testing.assert_array_equal(trace.fact("unheard of"), [np.nan, np.nan])
    assert list(trace.to_frame().columns[-2:]) == ["active", "cuts"]


class Growing(Told):
    """Facts that let the trace grow whenever they are looked at, as another thread might."""

    def known(self) -> dict[str, float | str]:
        GROWING.append(iterate([0.5, 0.5], cuts=2.0), 0.0)
        return super().known()


GROWING = Trace()


def test_frames_and_files_can_be_made_while_a_trace_grows(tmp_path: Path) -> None:
    trace = GROWING
    trace.append(Iterate(np.ones(2), np.zeros(4), 2.0, 1.0, 0.1, 3, Growing(cuts=1.0)), 0.0)
    assert len(trace.to_frame()) == 1
    assert len(trace) == 2
    trace.save(tmp_path / "t")
    assert len(Trace.load(tmp_path / "t")) == 2


def test_a_saved_trace_comes_back_the_same(solved: Trace, tmp_path: Path) -> None:
    solved.save(tmp_path / "run.npz")
    loaded = Trace.load(str(tmp_path / "run.npz"))
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(solved, name))
    assert [facts.known() for facts in loaded.facts] == [facts.known() for facts in solved.facts]
    assert [facts.svm_tolerance for facts in loaded.facts] == [facts.svm_tolerance for facts in solved.facts]
    for name in ("solver", "label", "options", "kernel_names", "problem", "status", "reason"):
        assert getattr(loaded, name) == getattr(solved, name)
    loaded.save(tmp_path / "again")  # no ending is added
    assert (tmp_path / "again").exists()


def test_nan_infinity_words_and_dual_variables_of_several_classes_survive_a_file(tmp_path: Path) -> None:
    trace = Trace("α", "β", {"c": None, "d": [1, 2]}, ["gauss 2⁻¹ on x"], "p")
    trace.append(iterate([1.0], objective=np.inf, bound=np.nan, lp=float("-inf"), said="naïve"), 0.5)
    trace.save(tmp_path / "t")
    loaded = Trace.load(tmp_path / "t")
    assert loaded.solver == "α"
    assert loaded.kernel_names == ["gauss 2⁻¹ on x"]
    assert loaded.final.facts.known() == {"lp": float("-inf"), "said": "naïve"}
    assert loaded.final.objective == np.inf
    assert np.isnan(loaded.final.lower_bound)
    plain = problem("blobs, C = 1")
    trace = solve(formulate("multiclass hinge, simplex", plain.bank, plain.y, 1.0), "spg", gap=1e-3)
    assert trace.dual.shape == (len(trace), 40, 3)
    trace.save(tmp_path / "t")
    np.testing.assert_array_equal(Trace.load(tmp_path / "t").dual, trace.dual)


def test_the_end_of_a_method_survives_a_file_as_files_have_always_said_it(tmp_path: Path) -> None:
    ended = replace(iterate([1.0], cuts=3.0), end=End("Nothing is left to gain."))
    trace = recorded(iterate([1.0], cuts=2.0), ended)
    trace.save(tmp_path / "t")
    loaded = Trace.load(tmp_path / "t")
    assert [step.end for step in loaded] == [None, End("Nothing is left to gain.")]
    assert loaded.final.facts.known() == {"cuts": 3.0}
    with np.load(tmp_path / "t") as archive:
        assert b'{"cuts": 3.0, "end": "Nothing is left to gain."}' in archive["header"].tobytes()


def test_facts_in_a_mapping_are_refused_in_a_sentence() -> None:
    with pytest.raises(SolverError, match=r"derived from mklviz\.contract\.Facts, not \{'cuts': 2\}\.$"):
        Iterate(np.ones(2), np.ones(2), 1.0, 1.0, 1.0, 1, {"cuts": 2})  # type: ignore[arg-type]


def test_a_trace_carries_its_seed_its_recipe_and_its_versions_into_files(solved: Trace, tmp_path: Path) -> None:
    assert set(solved.versions) == {"mklviz", "python", "numpy", "scipy", "numba"}
    assert solved.versions["numpy"] == np.__version__
    trace = Trace("spg", "SPG", recipe='{"data": "iris"}', versions={"mklviz": "0.0.1"})
    for kept, seed in ((solved, 0), (trace, None)):
        kept.save(tmp_path / "t")
        loaded = Trace.load(tmp_path / "t")
        assert (loaded.recipe, loaded.versions, loaded.seed) == (kept.recipe, kept.versions, seed)
    assert (solved.recipe, trace.recipe) == ("", '{"data": "iris"}')


def changed(trace: Trace, path: Path, drop: tuple[str, ...] = (), **header: Any) -> Path:
    """Save a trace with another header."""
    trace.save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    kept = {name: value for name, value in json.loads(arrays["header"].tobytes()).items() if name not in drop}
    path.write_bytes(saved(**arrays | {"header": np.array(json.dumps(kept | header))}))
    return path


def test_files_from_before_have_no_recipe_and_no_versions(solved: Trace, tmp_path: Path) -> None:
    loaded = Trace.load(changed(solved, tmp_path / "old", ("recipe", "versions")))
    assert (loaded.recipe, loaded.versions, loaded.seed) == ("", {}, 0)
    np.testing.assert_array_equal(loaded.weights, solved.weights)


class Bomb:
    """Unpickling this would raise the alarm."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("the pickle was run",)


GARBAGE = {
    "nothing": b"",
    "text": b"iteration,objective\n0,1\n",
    "a pickle": pickle.dumps(Bomb()),
    "a pickled array": saved(header=np.array([Bomb()], dtype=object)),
    "another archive": saved(x=np.zeros(3)),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_a_file_that_is_no_trace_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(GARBAGE[kind])
    said = "is not a run saved by mklviz" + r" \(it has no header\)" * (kind == "another archive")
    with pytest.raises(MklvizError, match=said):
        Trace.load(tmp_path / "run")


def test_files_of_other_versions_and_missing_files_are_told_apart(solved: Trace, tmp_path: Path) -> None:
    with pytest.raises(MklvizError, match="another version of mklviz"):
        Trace.load(changed(solved, tmp_path / "run", format=99))
    with pytest.raises(MklvizError, match="There is no file"):
        Trace.load(tmp_path / "nowhere")
    with pytest.raises(MklvizError):
        Trace.load(tmp_path)


NARROW = iterate([1.0], objective=100.0, bound=98.0)
JUDGED: dict[str, tuple[StopRule, Trace, str]] = {
    "a gap above": (Gap(0.01), recorded(NARROW), ""),
    "the gap": (Gap(0.02), recorded(NARROW), "converged"),
    "no bound": (Gap(0.5), recorded(iterate([1.0], bound=np.nan)), ""),
    "a start, which is no step": (MaxIter(1), along([[1.0]]), ""),
    "a step": (MaxIter(1), along([[1.0], [1.0]]), "limit"),
    "no change yet": (WeightChange(0.1), along([[0.5, 0.5]]), ""),
    "a change": (WeightChange(0.1), along([[0.5, 0.5], [0.7, 0.3]]), ""),
    "a small change": (WeightChange(0.1), along([[0.5, 0.5], [0.7, 0.3], [0.75, 0.25]]), "rule"),
    "no residual": (KKT(0.05), along([[1.0]]), ""),
    "a residual": (KKT(0.05), recorded(iterate([1.0], kkt_residual=0.2)), ""),
    "a small residual": (KKT(0.2), recorded(iterate([1.0], kkt_residual=0.2)), "rule"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_rule_judges_what_it_measures(name: str) -> None:
    rule, trace, status = JUDGED[name]
    found = rule.check(trace)
    assert (found.status if found else "") == status
    assert found is None or found.reason.endswith(".")


def test_a_gap_is_of_the_best_bounds_so_far_never_rises_and_is_that_of_an_iterates_own_dual_variables() -> None:
    bounds = [(100.0, 50.0), (90.0, 20.0), (200.0, 80.0), (np.inf, np.nan), (89.0, 70.0)]
    trace = recorded(*(iterate([1.0], objective, bound) for objective, bound in bounds))
    np.testing.assert_allclose(trace.gap, [0.5, 40 / 90, 10 / 90, 10 / 90, 9 / 89], rtol=1e-15)
    assert [trace.gap_at(t) for t in range(5)] == list(trace.gap)
    assert trace.iterate_gap[2] == 0.6
    assert (trace.best_index, trace.best) == (4, trace[4])
    assert trace.best_bound is trace[2]
    assert trace.final is trace[4]
    trace = recorded(iterate([1.0], 1.0, -1.0), iterate([1.0], 0.1, -0.5))  # relative to 0.1 that would be 6
    np.testing.assert_array_equal(trace.gap, [2.0, 2.0])
    found = replace(iterate([1.0], objective=2.0, bound=1.9), dual_bound=1.0, certificate=np.ones(4))
    assert found.gap == 0.5
    assert recorded(found).gap[0] == pytest.approx(0.05)


def test_the_zero_function_is_no_solution_once_it_is_left() -> None:
    nothing, something = iterate([1.0], objective=1.0, bound=0.0), iterate([1.0], objective=5.0, bound=-3.0)
    something = replace(something, dual=something.dual + 1.0)
    later = [replace(something, objective=objective) for objective in (4.0, 4.5)]
    trace = recorded(nothing, nothing, something, *later)
    assert [trace.best_index_at(t) for t in range(5)] == [0, 0, 2, 3, 3]
    np.testing.assert_array_equal(trace.gap, np.ones(5))  # nothing is proved


def test_limits_count_steps_and_a_further_rule_may_stop_a_solve() -> None:
    assert len(solve(problem("blobs, C = 100"), "spg", gap=None, max_iter=7)) == 8
    trace = solve(problem("blobs, C = 100"), "spg", gap=1e-12, stop=[WeightChange(0.5)])
    assert trace.status == "rule"
    assert trace.reason == "No kernel weight moved by more than 0.5, which proves nothing."
