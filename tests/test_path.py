"""A path solves the same problems as single solves do, in fewer SVMs; it begins where all functions are zero."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
from _problems import FORMULATIONS, blobs, formulate, small_bank
from _shown import html_of

import mklviz as mv
from mklviz.contract import Iterate
from mklviz.engine import make_solver, parameters, solve, solver_classes, with_parameter
from mklviz.errors import Interrupted, MklvizError, ProblemError, SolverError, UnsupportedProblem
from mklviz.problem import Regularizer
from mklviz.solvers.level import Level

X, LABELS = blobs(40, 0.2)
BANK = small_bank(X)
RARE = np.where(np.random.default_rng(0).permutation(40) < 9, 1.0, -1.0)
GAP = 1e-3
SOLVERS = list(solver_classes())


def posed(kind: str) -> mv.Problem:
    return formulate(kind, BANK, LABELS, 10.0)


FIRST = {s: next(k for k in FORMULATIONS if not make_solver(s).refusal(posed(k))) for s in SOLVERS}

EXACT = [name for name in SOLVERS if make_solver(name).converges and not make_solver(name).stochastic]


@pytest.mark.parametrize("solver", EXACT)
def test_warm_and_cold_paths_have_the_same_objectives_and_warm_ones_cost_less(solver: str) -> None:
    values = np.geomspace(30.0, 1.0, 8)
    warm, cold = (
        mv.path(posed(FIRST[solver]), solver, warm=warm, gap=GAP, max_iter=3000, C=values) for warm in (True, False)
    )
    for found in (warm, cold):
        assert [trace.status for _, trace in found] == ["converged"] * 8
        assert found.gap.max() <= GAP
    # both optima lie between the certified bounds of either
    assert (warm.lower_bound <= cold.objective * (1.0 + 1e-9)).all()
    assert (cold.lower_bound <= warm.objective * (1.0 + 1e-9)).all()
    no_svm = solver in {"smo-mkl", "ogaprox"}
    work = (lambda found: found.iterations) if no_svm else (lambda found: found.svm_solves)
    assert work(warm).sum() <= work(cold).sum()
    assert work(warm)[0] == work(cold)[0]


@pytest.mark.parametrize(("kind", "solver"), [("hinge, simplex", "silp"), ("hinge, squared norm", "closed-form")])
def test_a_path_without_a_solver_takes_the_recommended_one(kind: str, solver: str) -> None:
    found = mv.path(posed(kind), C=[10.0, 3.0])
    assert [trace.solver for _, trace in found] == [solver, solver]
    assert mv.recommend(posed(kind)) == solver


@pytest.mark.parametrize(
    ("regularizer", "name", "values"),
    [
        (mv.BlockL1(1.0), "lam", [3.0, 1.0, 0.3]),
        (mv.L1Penalty(1.0), "sigma", [3.0, 1.0]),
        (mv.LpPenalty(2.0, 1.0), "p", [4.0, 2.0, 1.5]),
        (mv.ElasticNet(1.0, 1.0), "l2", [0.1, 1.0]),
        (mv.Simplex(), "C", [100.0, 1.0]),
    ],
)
def test_any_number_of_the_problem_may_vary(regularizer: Regularizer, name: str, values: list[float]) -> None:
    base = replace(posed("hinge, simplex"), regularizer=regularizer)
    found = mv.path(base, "closed-form", gap=GAP, **{name: values})
    np.testing.assert_array_equal(found.values, values)
    for value, trace in found:
        alone = with_parameter(base, name, value)
        last = trace.best
        assert alone.objective(last.weights, last.dual) == pytest.approx(last.objective, rel=1e-9)
        assert trace.best_bound.lower_bound <= solve(alone, "closed-form", gap=GAP).best.objective * (1.0 + 1e-9)


def test_a_path_has_one_row_per_value_in_every_column_and_is_saved_and_read_again(tmp_path: FilePath) -> None:
    found = mv.path(posed("hinge, simplex"), "level", C=[30.0, 10.0, 3.0])
    assert found.weights.shape == (3, 20)
    for column in (found.objective, found.gap, found.svm_solves, found.seconds, found.active, found.iterations):
        assert column.shape == (3,)
    frame = found.to_frame()
    assert frame["C"].tolist() == [30.0, 10.0, 3.0]
    np.testing.assert_array_equal(frame[BANK.names].to_numpy(), found.weights)
    assert "3 values of C from 30 to 3, warm starts" in repr(found)
    assert html_of(found).count("<tr>") == 4
    found.save(tmp_path / "path.zip")
    again = mv.Path.load(tmp_path / "path.zip")
    assert (again.parameter, again.warm, again.complete) == ("C", True, True)
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again[1][1].weights, found[1][1].weights)
    with pytest.raises(MklvizError, match="no file"):
        mv.Path.load(tmp_path / "other.zip")
    (tmp_path / "broken.zip").write_bytes(b"PK")
    with pytest.raises(MklvizError, match="not a path"):
        mv.Path.load(tmp_path / "broken.zip")


def test_progress_is_told_after_every_step_and_a_checkpoint_ends_the_path() -> None:
    lengths: list[int] = []
    mv.path(posed("hinge, simplex"), "level", C=[30.0, 10.0], progress=lambda found: lengths.append(len(found)))
    assert lengths == sorted(lengths)
    assert set(lengths) == {1, 2}

    calls = 0

    def give_up() -> None:
        nonlocal calls
        calls += 1
        if calls > 30:
            raise Interrupted("enough")

    found = mv.path(posed("hinge, simplex"), "level", gap=1e-6, C=np.geomspace(100.0, 1.0, 50), checkpoint=give_up)
    assert not found.complete
    assert 0 < len(found.values) < 50
    assert len(found.weights) == len(found.values)


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        ("hinge, simplex", {}, r"exactly one parameter.*none was given"),
        ("hinge, simplex", {"C": [1.0], "lam": [1.0]}, r"exactly one parameter.*C, lam were given"),
        ("hinge, simplex", {"lam": [1.0]}, "no parameter 'lam': a path can vary C"),
        ("hinge, simplex", {"C": []}, "at least one value"),
        ("hinge, simplex", {"C": ["many"]}, "must be numbers"),
        ("hinge, simplex", {"C": [1.0, -1.0]}, "positive"),
        ("hinge, block 1-norm", {"C": [1.0]}, "simplex"),
    ],
)
def test_what_varies_must_be_one_number_that_the_problem_has(kind: str, values: dict[str, Any], says: str) -> None:
    with pytest.raises(UnsupportedProblem if "block" in kind else ProblemError, match=says):
        mv.path(posed(kind), "level", **values)


def test_path_values_fall_from_lambda_max_and_of_c_there_are_a_hundred_as_in_the_paper_of_simplemkl() -> None:
    base = replace(posed("hinge, simplex"), regularizer=mv.BlockL1(0.7))
    values = mv.path_values(base, "lam", count=5, ratio=1e-2)
    assert values[0] == pytest.approx(mv.lambda_max(base))
    np.testing.assert_allclose(values[1:] / values[:-1], 10.0**-0.5)
    values = mv.path_values(posed("hinge, simplex"), "C")
    assert len(values) == 100
    assert values[[0, -1]] == pytest.approx([1000.0, 0.01])
    assert parameters(formulate("epsilon-insensitive, simplex", BANK, LABELS, 3.0)) == {"C": 3.0, "epsilon": 0.2}


@pytest.mark.parametrize(
    "regularizer",
    [mv.BlockL1(1.0), mv.L1Penalty(1.0), mv.ElasticNet(1.0, 1.0), mv.GroupSquaredPlusL1(1.0, 1.0)],
    ids=repr,
)
def test_values_of_c_rise_from_where_the_first_kernel_gets_weight(regularizer: Regularizer) -> None:
    base = mv.Problem(BANK, RARE, mv.Hinge(3.0), regularizer)
    first = mv.path_values(base, "C", count=3)[0]
    price = getattr(regularizer, regularizer.price_name)
    assert mv.lambda_max(with_parameter(base, "C", first)) == pytest.approx(price, rel=1e-5)


def test_a_path_broken_off_from_the_keyboard_keeps_what_it_found() -> None:
    seen: list[mv.Path] = []

    def break_off(found: mv.Path) -> None:
        seen.append(found)
        if len(found) == 2 and len(found[-1][1]) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        mv.path(posed("hinge, simplex"), "level", gap=1e-6, warm=False, C=[100.0, 10.0, 1.0], progress=break_off)
    assert stop.value.found is seen[-1]  # type: ignore[attr-defined]
    assert [trace.status for _, trace in seen[-1]] == ["converged", "stopped"]


class Frail(Level):
    """Breaks down at the third step of its second run."""

    runs = 0
    breaks: Exception

    def iterates(self, problem: mv.Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield what Level yields, for a while."""
        self.runs += 1
        for step, iterate in enumerate(super().iterates(problem, start)):
            if self.runs == 2 and step == 3:
                raise self.breaks
            yield iterate


@pytest.mark.parametrize("error", [SolverError("The step became negative."), ZeroDivisionError("0/0")], ids=repr)
def test_a_path_or_a_solve_on_which_the_solver_breaks_down_is_carried_by_the_error(error: Exception) -> None:
    solver = Frail()
    solver.breaks = error
    with pytest.raises(SolverError) as caught:
        mv.path(posed("hinge, simplex"), solver, C=[100.0, 10.0, 1.0], gap=1e-9)
    found = caught.value.found
    assert str(error) in str(caught.value)
    assert found.values.tolist() == [100.0, 10.0]
    assert not found.complete
    assert [len(trace) for _, trace in found][1] == 3
    assert found[1][1].status == "failed"
    assert str(error) in found[1][1].reason
    assert found.gap[0] == found[0][1].gap[-1]
    assert list(found.to_frame()["status"]) == [found[0][1].status, "failed"]
    solver.runs = 1
    with pytest.raises(SolverError, match=str(error)) as caught:
        solve(posed("hinge, simplex"), solver)
    assert len(caught.value.found) == 3
    assert caught.value.found.status == "failed"
