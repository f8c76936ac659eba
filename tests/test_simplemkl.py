"""SimpleMKL: the reduced gradient goes down inside the simplex, by golden section or by Armijo's rule."""

from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from _problems import problem

from mklviz.contract import Iterate
from mklviz.engine import solve
from mklviz.solvers.simplemkl import SimpleMkl, _ReducedDescent, golden_section

# so that the objective shown is J itself but for rounding
EXACT = {"svm_tolerance": 1e-10}


def run(name: str, count: int, **options: Any) -> list[Iterate]:
    return list(islice(SimpleMkl(**EXACT, **options).iterates(problem(name)), count))


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["blobs, C = 100", "random Gram matrices", "pima"])
@pytest.mark.parametrize("variant", ["toolbox", "armijo"])
def test_the_objective_never_rises(name: str, variant: str) -> None:
    values = [iterate.objective for iterate in run(name, 25, variant=variant)]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(values))
    assert values[-1] < values[0]


@pytest.mark.full
def test_reusing_points_saves_svms_and_finds_the_same_optimum() -> None:
    saving = solve(problem("random Gram matrices"), "simplemkl", gap=1e-5, max_iter=2000, reuse=True, **EXACT)
    wasting = solve(problem("random Gram matrices"), "simplemkl", gap=1e-5, max_iter=2000, reuse=False, **EXACT)
    assert saving.status == wasting.status == "converged"
    assert saving.final.svm_solves < wasting.final.svm_solves
    assert abs(saving.best.objective - wasting.best.objective) <= 2e-5 * saving.best.objective


@pytest.mark.parametrize(("reuse", "solved"), [(True, 11), (False, 20)])
def test_golden_section_finds_the_lowest_point_of_a_parabola(reuse: bool, solved: int) -> None:
    steps: list[float] = []

    def parabola(step: float) -> Any:
        steps.append(step)
        return SimpleNamespace(value=(step - 0.3) ** 2, step=step)

    near, far = SimpleNamespace(value=0.09, step=0.0), SimpleNamespace(value=0.49, step=1.0)
    best: Any = golden_section(parabola, near, far, 1.0, 0.01, reuse)  # type: ignore[arg-type]
    assert abs(best.step - 0.3) <= 0.01
    # 0.618^10 < 0.01: ten rounds, of one SVM each but for the first if points are reused, else of two
    assert len(steps) == solved


def test_golden_section_keeps_a_far_end_that_is_best() -> None:
    def falling(step: float) -> Any:
        return SimpleNamespace(value=1.0 - step, step=step)

    far = falling(1.0)
    assert golden_section(falling, falling(0.0), far, 1.0, 0.1, True) is far


def test_the_armijo_variant_leaves_no_weight_between_zero_and_a_thousandth() -> None:
    for iterate in run("random Gram matrices", 30, variant="armijo")[1:]:
        used = iterate.weights[iterate.weights > 0]
        assert used.min() >= 1e-3


@pytest.mark.full
def test_the_search_grows_more_precise_only_where_nothing_moved() -> None:
    iterates = run("random Gram matrices", 400)
    precisions = [iterate.facts.search_precision for iterate in iterates]
    for (_, before), (after, now) in pairwise(zip(iterates, precisions, strict=True)):
        assert now == 0.1 if after.step > 1e-8 else now <= before


@pytest.mark.parametrize("finer_than", [0.02, 0.0])
def test_a_search_that_moved_a_weight_is_relaxed_and_one_that_never_does_ends_with_a_sentence(
    finer_than: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The authors' program forgets to relax it; no search finds anything here before it is `finer_than` that."""
    search = _ReducedDescent.exact_step
    monkeypatch.setattr(
        _ReducedDescent, "exact_step", lambda self: search(self) if self.precision < finer_than else (0, 0)
    )
    iterates = run("random Gram matrices", 20)
    precisions = [iterate.facts.search_precision for iterate in iterates]
    assert any(now > before for before, now in pairwise(precisions)) == (finer_than > 0.0)
    if not finer_than:
        assert "weight moves" in iterates[-1].end.reason
        assert precisions[-1] == pytest.approx(1e-8)


@pytest.mark.parametrize("name", ["one kernel", "four identical kernels"])
@pytest.mark.parametrize("variant", ["toolbox", "armijo"])
def test_where_nothing_can_be_gained_it_ends_with_a_sentence(name: str, variant: str) -> None:
    iterates = run(name, 60, variant=variant)
    assert iterates[-1].end.reason.endswith(".")
    assert iterates[-1].gap <= 1e-8


@pytest.mark.parametrize(("share", "trials"), [(0.9e-4, 2), (1.1e-4, 1)])
def test_armijo_s_rule_asks_for_a_ten_thousandth_of_the_linear_decrease(share: float, trials: int) -> None:
    """The longest step lowers J by `share` of what the slope foretells, all others by all of it."""
    solved: list[Any] = []

    def solve(weights: np.ndarray) -> Any:
        step = float(weights[0] - 0.5)
        value = 7.0 - 2.0 * step * (share if step == 0.5 else 1.0)
        solved.append(SimpleNamespace(weights=weights, value=value))
        return solved[-1]

    here = SimpleNamespace(weights=np.full(2, 0.5), value=7.0, gradient=np.array([-1.0, 1.0]))
    state: Any = SimpleNamespace(
        point=here,
        problem=SimpleNamespace(m=2),
        oracle=SimpleNamespace(solve=solve, solves=0),
        _direction=lambda: np.array([1.0, -1.0]),
        _settle=lambda *args: None,
        _leave=lambda: None,
        _try=solve,
    )
    _ReducedDescent.armijo_step(state)
    assert len(solved) == trials
    assert state.point is solved[-1]
