"""Cutting planes: the model's linear program, the matrix game, the projection on a level set; SILP and Level on top."""

import itertools
from types import SimpleNamespace
from typing import NoReturn

import numpy as np
import pytest
from _problems import problem

import mklviz as mv
from mklviz.contract import Array, Iterate
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.errors import SolverError
from mklviz.inner.averaging import cut_of
from mklviz.inner.matrix_game import MatrixGame
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.solvers import _cutting_plane
from mklviz.solvers._cutting_plane import CuttingPlaneModel, ModelMinimum
from mklviz.solvers._level_qp import LevelProjection, project_to_level_set
from mklviz.solvers._words import next_tolerance
from mklviz.solvers.level import Level
from mklviz.solvers.silp import Silp

LAMBDAS = (0.0, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)


def filled(cuts: Array) -> CuttingPlaneModel:
    model = CuttingPlaneModel(cuts.shape[1])
    for cut in cuts:
        model.add(cut)
    return model


def random_instance(J: int, m: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    cuts = rng.normal(size=(J, m)) * 10.0 ** rng.uniform(-3, 6)
    return rng.dirichlet(np.full(m, rng.choice([0.05, 1.0, 50.0]))), cuts


def level_at(d0: Array, cuts: Array, lam: float) -> float:
    """Return the level at lambda between the model's minimum and its value at d0 (or a little more)."""
    low, high = filled(cuts).minimize().theta, float((cuts @ d0).max())
    if high - low <= 1e-9 * np.abs(cuts).max():
        high = low + 1e-3 * float(np.abs(cuts).max())
    return lam * high + (1.0 - lam) * low


def assert_optimal(d0: Array, cuts: Array, level: float, found: LevelProjection) -> None:
    """Check the optimality conditions by themselves: they are sufficient, whatever other solvers can do."""
    d, mu = found.weights, found.multipliers
    rows = cuts - level
    # distances of points in the simplex are at most sqrt 2; rows are compared with their largest entry
    slack = (rows @ d) / np.maximum(np.abs(rows).max(axis=1), np.finfo(float).tiny)
    assert not found.empty
    assert mu.min() >= 0.0
    assert slack.max() <= 1e-9
    assert np.abs(slack[mu > 0.0]).max(initial=0.0) <= 1e-9
    np.testing.assert_allclose(d, Simplex().project(d0 - rows.T @ mu), atol=1e-9)


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize(("J", "m"), [(1, 1), (1, 2), (1, 30), (3, 1), (4, 3), (10, 50), (40, 10), (150, 60)])
def test_projections_are_optimal_for_every_lambda(J: int, m: int, lam: float) -> None:
    for seed in range(3):
        d0, cuts = random_instance(J, m, seed)
        level = level_at(d0, cuts, lam)
        found = project_to_level_set(d0, cuts, level)
        if lam == 0.0 and found.empty:  # the model's minimum is known up to 1e-9 only
            assert found.bound - level <= 1e-8 * np.abs(cuts).max()
        else:
            assert_optimal(d0, cuts, level, found)


@pytest.mark.parametrize("lam", LAMBDAS[1:])
def test_duplicate_and_nearly_parallel_cuts_do_no_harm(lam: float) -> None:
    rng = np.random.default_rng(0)
    d0, cuts = random_instance(6, 20, seed=1)
    parallel = np.repeat(cuts[:1], 30, axis=0) * (1.0 + 1e-7 * rng.normal(size=(30, 20)))
    for rows in (np.repeat(cuts, 10, axis=0), parallel, np.vstack([cuts, parallel])):
        level = level_at(d0, rows, lam)
        assert_optimal(d0, rows, level, project_to_level_set(d0, rows, level))


@pytest.mark.parametrize("below", [1e-6, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("J", "m"), [(1, 1), (1, 30), (4, 3), (10, 50), (40, 10), (100, 20)])
def test_an_empty_level_set_is_proved_empty(J: int, m: int, below: float) -> None:
    for seed in range(4):
        d0, cuts = random_instance(J, m, seed)
        low, scale = filled(cuts).minimize().theta, float(np.abs(cuts).max())
        found = project_to_level_set(d0, cuts, low - below * scale)
        assert found.empty
        assert found.bound > low - below * scale
        w = found.multipliers / found.multipliers.sum()
        assert float((w @ cuts).min()) == pytest.approx(found.bound, abs=1e-9 * scale)
        assert found.bound <= low + 1e-8 * scale


def test_a_point_inside_stays_where_it_is_and_a_warm_start_leads_to_the_same_point() -> None:
    d0, cuts = random_instance(12, 30, seed=3)
    found = project_to_level_set(d0, cuts, float((cuts @ d0).max()))
    np.testing.assert_allclose(found.weights, d0, atol=1e-15)
    assert found.newton_steps == 0
    assert found.bound == -np.inf
    d0, cuts = random_instance(20, 40, seed=4)
    level = level_at(d0, cuts, 0.4)
    cold = project_to_level_set(d0, cuts, level)
    for start in (cold.multipliers, 100.0 * cold.multipliers, cold.multipliers[::-1].copy()):
        warm = project_to_level_set(d0, cuts, level, start)
        np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-10)
    assert project_to_level_set(d0, cuts, level, cold.multipliers).newton_steps <= 1


def path(solver: Level | Silp, name: str, count: int) -> list[Iterate]:
    return list(itertools.islice(solver.iterates(problem(name)), count))


NAMES = ["noisy blobs, C = 10", "random Gram matrices", "pima", "four identical kernels"]


def assert_promises(steps: list[Iterate], promised: list[float], slack: float = 0.0) -> None:
    """Lower bounds that a model promises never fall, and come within a hundredth of the objective."""
    best = min(iterate.objective for iterate in steps)
    assert np.all(np.diff(promised) >= 0.0)
    assert max(promised) <= best * (1.0 + slack)
    assert best - max(promised) <= 1e-2 * best


@pytest.mark.each_value
@pytest.mark.parametrize("lam", [0.0, 0.1, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("name", NAMES)
def test_level_encloses_the_optimum_for_every_lambda(name: str, lam: float) -> None:
    steps = path(Level(lam=lam), name, 250)
    upper = np.array([iterate.facts.upper_bound for iterate in steps[1:]])
    assert np.all(np.diff(upper) <= 0.0)
    assert_promises(steps, [iterate.facts.model_lower_bound for iterate in steps[1:]], slack=1e-10)


def test_lambda_zero_goes_where_silp_goes_and_at_one_the_run_ends_with_a_sentence() -> None:
    """Where the model has one minimizer, the nearest one is that one; a hair of room above it is left."""
    for name in ("random Gram matrices", "many random Gram matrices"):
        level, silp = path(Level(lam=0.0, svm_tolerance=1e-9), name, 6), path(Silp(svm_tolerance=1e-9), name, 6)
        for one, other in zip(level, silp, strict=True):
            np.testing.assert_allclose(one.weights, other.weights, atol=1e-2)
    trace = mv.solve(problem("random Gram matrices"), "level", lam=1.0, gap=1e-9, max_iter=50)
    assert (len(trace), trace.final.svm_solves, trace.status) == (2, 1, "limit")
    np.testing.assert_array_equal(trace.final.weights, trace[0].weights)
    assert trace.reason.startswith("At λ = 1 the level is the best objective so far")


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no linear program be solved."""
    unsolved = SimpleNamespace(linprog=lambda **_: SimpleNamespace(status=4, message="it was not asked"))
    for where, name, instead in ((CuttingPlaneModel, "_play", lambda _: None), (_cutting_plane, "optimize", unsolved)):
        monkeypatch.setattr(where, name, instead)


@pytest.mark.usefixtures("no_program")
def test_without_a_linear_program_level_carries_on_and_silp_keeps_the_weights_and_ends_the_run() -> None:
    steps = path(Level(), "random Gram matrices", 150)
    assert min(iterate.gap for iterate in steps) <= 1e-2
    steps = path(Silp(), "random Gram matrices", 5)
    assert len(steps) == 2
    np.testing.assert_array_equal(steps[1].weights, steps[0].weights)
    assert "could not be solved" in steps[1].end.reason
    assert "failed" in Silp().narrate(steps[0], steps[1])


@pytest.mark.parametrize("lam", [0.0, 0.9])
def test_level_goes_on_to_a_small_gap_and_ends_by_itself_where_rounding_begins(lam: float) -> None:
    steps = path(Level(lam=lam, svm_tolerance=1e-1), "three random Gram matrices", 400)
    assert steps[-1].gap <= 1e-6
    assert steps[-1].facts.svm_tolerance < 1e-6
    if steps[-1].end is not None:
        assert steps[-1].step == 0.0


def test_level_sets_that_rounding_leaves_empty_end_a_run_with_a_sentence_and_are_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def empty(d: Array, *_: object, **__: object) -> LevelProjection:
        return real(d, np.full((1, len(d)), 1.0), 0.0, np.zeros(1))

    real = project_to_level_set
    monkeypatch.setattr("mklviz.solvers.level.project_to_level_set", empty)
    trace = mv.solve(problem("blobs, C = 1"), "level", gap=1e-9)
    assert trace.status == "limit"
    assert "too close for rounding" in trace.reason


def test_a_larger_lambda_takes_shorter_steps_and_the_switch_raises_it_near_the_end() -> None:
    def travelled(lam: float) -> float:
        return sum(iterate.step for iterate in path(Level(lam=lam), "random Gram matrices", 30))

    lengths = [travelled(lam) for lam in (0.0, 0.5, 0.9, 0.99)]
    assert lengths == sorted(lengths, reverse=True)
    used = [iterate.facts.lam for iterate in path(Level(switch=True), "noisy blobs, C = 10", 40)[1:]]
    assert used[0] == 0.8
    assert used[-1] == 0.99


def test_of_a_parabola_silp_tries_the_end_and_level_a_near_point() -> None:
    """Minimize x^2 on [-4, 4] from -3, a cut being its values at both ends. Level paper, section 3.1."""
    ends, start = np.array([-4.0, 4.0]), np.array([7.0, 1.0]) / 8.0
    model = CuttingPlaneModel(2)
    model.add(9.0 - 6.0 * (ends + 3.0))
    theta, d, _ = model.minimize()
    assert (theta, float(ends @ d)) == (-33.0, 4.0)
    level = 0.9 * 9.0 + 0.1 * theta
    near = project_to_level_set(start, model.cuts, level)
    assert level == pytest.approx(4.8)
    assert float(ends @ near.weights) == pytest.approx(-2.3)


def random_cuts(J: int, m: int, seed: int) -> Array:
    """Return cuts as kernels give them: a common intercept each, less what the kernel explains."""
    rng = np.random.default_rng(seed)
    return rng.uniform(1.0, 3.0, (J, 1)) - rng.exponential(size=(J, m))


def test_purging_keeps_the_binding_cuts_and_the_monotone_bound() -> None:
    model = CuttingPlaneModel(20, purge=True)
    kept_all = CuttingPlaneModel(20)
    found = []
    for cut in random_cuts(300, 20, seed=9):
        model.add(cut)
        kept_all.add(cut)
        found.append(model.minimize().theta)
    assert len(model) <= 101  # at most 20 cuts bind
    assert np.all(np.diff(found) >= 0.0)
    assert found[-1] <= kept_all.minimize().theta + 1e-9


def test_a_cut_that_is_not_finite_is_refused_and_a_model_without_cuts_has_no_minimum() -> None:
    model = CuttingPlaneModel(3)
    with pytest.raises(SolverError, match="3 finite numbers"):
        model.add(np.array([1.0, np.nan, 2.0]))
    with pytest.raises(SolverError, match="no cut yet"):
        model.minimize()


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
def test_a_cut_lies_below_the_objective_however_rough_the_svm(tol: float) -> None:
    posed = problem("noisy blobs, C = 10")
    rng = np.random.default_rng(0)
    oracle = SvmOracle(posed, tol)
    cut = cut_of(oracle.solve(posed.regularizer.start(posed.m)))
    for d in rng.dirichlet(np.ones(posed.m), size=5):
        assert float(cut @ d) <= oracle.solve(d, 1e-10).primal


def test_the_svm_is_tightened_when_its_error_is_as_large_as_the_gap_of_the_model() -> None:
    posed = problem("noisy blobs, C = 10")
    point = SvmOracle(posed, 1e-1).solve(posed.regularizer.start(posed.m))
    error = point.primal - point.value
    assert error > 0.0
    assert next_tolerance(point, 5.0 * error) == pytest.approx(1e-2)
    assert next_tolerance(point, 20.0 * error) == 1e-1


@pytest.mark.parametrize("name", NAMES)
def test_silp_promises_lower_bounds_that_never_fall_and_meet_the_objective(name: str) -> None:
    steps = path(Silp(), name, 200)
    assert_promises(steps, [iterate.facts.lp_value for iterate in steps[1:]])


def units(cuts: Array) -> Array:
    return np.maximum(np.abs(cuts).max(axis=1), 1e-300)


def assert_solved(cuts: Array, d: Array, w: Array, accuracy: float = 1e-12) -> None:
    """Both sides of the game agree: no d is better against w, and no w against d."""
    assert min(d.min(), w.min()) >= -accuracy
    assert d.sum() == pytest.approx(1.0, abs=1e-12)
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (cuts @ d).max() - (w @ cuts).min() <= accuracy * np.abs(cuts).max() * len(cuts)


@pytest.mark.parametrize("case", ["every row twice", "every column twice", "few values", "parallel rows", "one value"])
def test_ties_and_repeated_rows_end_at_the_minimum_all_the_same(case: str) -> None:
    rng = np.random.default_rng(5)
    cuts = rng.normal(size=(30, 20))
    cuts = {
        "every row twice": np.repeat(cuts, 2, axis=0),
        "every column twice": np.repeat(cuts, 2, axis=1),
        "few values": np.round(cuts),
        "parallel rows": cuts[:1] * (1.0 + 1e-9 * rng.normal(size=(30, 1))),
        "one value": np.ones((30, 20)),
    }[case]
    model = CuttingPlaneModel(cuts.shape[1])
    for cut in cuts:
        model.add(cut)
        theta, d, w = model.minimize()
        assert model.value(d) - theta <= 1e-8 * np.abs(cuts).max()
        assert model.bound(w) <= theta
        assert d.min() >= 0.0


class Played(CuttingPlaneModel):
    """A model whose program HiGHS does not solve."""

    def ask_highs(self) -> NoReturn:
        raise SolverError("It was not asked.")


def assert_solved_by_the_game(cuts: Array) -> None:
    """Check that theta is the minimum of the model, which the vertex reaches and the multipliers prove, at each cut."""
    model, scale = Played(cuts.shape[1]), float(np.abs(cuts).max())
    for j, cut in enumerate(cuts):
        model.add(cut)
        theta, d, w = model.minimize()
        assert_solved(cuts[: j + 1], d, w, 1e-10)
        for value in ((cuts[: j + 1] @ d).max(), model.value(d), model.bound(w)):
            assert value == pytest.approx(theta, rel=1e-8, abs=1e-8 * scale)


@pytest.mark.parametrize(("J", "m"), [(1, 1), (1, 7), (7, 1), (5, 3), (20, 40), (60, 20), (30, 200)])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_theta_is_the_minimum_of_the_model_after_every_cut(J: int, m: int, size: float) -> None:
    for seed in range(3):
        assert_solved_by_the_game(size * random_cuts(J, m, seed))
    assert_solved_by_the_game(size * np.random.default_rng(J + m).normal(size=(J, m)))


def test_real_cuts_are_played_without_highs() -> None:
    train, _ = load_dataset("heart").split(train=0.5, seed=0)
    posed = Problem(paper_bank(train.X), train.y, Hinge(C=100.0))
    trace = solve(posed, "silp", gap=None, max_iter=60)
    duals = [(posed.loss.dual_value(one.dual, posed.y), posed.loss.signed(one.dual, posed.y)) for one in trace]
    assert_solved_by_the_game(np.array([value - 0.5 * posed.bank.quad(signed) for value, signed in duals]))


def test_highs_takes_over_where_the_game_is_lost_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = np.random.default_rng(7).normal(size=(12, 9))
    solve = MatrixGame.solve

    def lost(self: MatrixGame, rows: Array, sizes: Array) -> tuple[Array, Array] | None:
        return None if 4 <= len(rows) <= 8 else solve(self, rows, sizes)

    monkeypatch.setattr(MatrixGame, "solve", lost)
    asked: list[int] = []

    class Asking(CuttingPlaneModel):
        def ask_highs(self) -> ModelMinimum:
            asked.append(len(self))
            return super().ask_highs()

    model = Asking(9)
    for j, cut in enumerate(cuts):
        model.add(cut)
        theta, _, _ = model.minimize()
        reference = solve(MatrixGame(), cuts[: j + 1], units(cuts[: j + 1]))
        assert reference is not None
        assert theta == pytest.approx((cuts[: j + 1] @ reference[0]).max(), abs=1e-8)  # HiGHS's tolerance is 1e-9
    assert asked == [4, 5, 6, 7, 8]


def test_a_row_that_is_deleted_is_forgotten() -> None:
    cuts = np.random.default_rng(9).normal(size=(20, 15))
    game = MatrixGame()
    found = game.solve(cuts, units(cuts))
    assert found is not None
    idle = next(j for j in range(20) if j not in game.rows)
    bound_to = game.rows.copy()
    game.forget(idle)
    np.testing.assert_array_equal(game.rows, bound_to - (bound_to > idle))
    again = game.solve(np.delete(cuts, idle, axis=0), units(np.delete(cuts, idle, axis=0)))
    assert again is not None
    np.testing.assert_allclose(again[0], found[0], atol=1e-14)
    game.forget(int(game.rows[0]))
    assert len(game.rows) == 0
