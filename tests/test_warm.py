"""A warm start is made to fit, leaves nothing to do at a solution, and may come from a quarter of the samples."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _formulations import LOSSES, REGULARIZERS
from _problems import FORMULATIONS, Array, blobs, formulate, problem, small_bank

from mklviz.check.solvers import certified
from mklviz.contract import Iterate, Solver
from mklviz.engine import Run, make_solver, solve, solver_classes
from mklviz.errors import ProblemError, SolverError
from mklviz.inner.warm import start_duals, start_weights
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Polynomial
from mklviz.problem import EpsilonInsensitive, Hinge, L1Penalty, Loss, MulticlassHinge, Problem, Regularizer, Simplex
from mklviz.solvers import level
from mklviz.solvers.level import SHARE, coarse_solution, some_samples

STOCHASTIC = {"ufo", "obscure"}
TWO_STAGE = {"alignf", "easymkl"}  # whose weights do not depend on where they begin
SOLVERS = [name for name in solver_classes() if name not in STOCHASTIC | TWO_STAGE]
LABELS = blobs(40, 0.2)[1]
BANK = small_bank(blobs(40, 0.2)[0])
GAP = 1e-4


def posed(kind: str, C: float = 10.0) -> Problem:
    return formulate(kind, BANK, LABELS, C)


PAIRS = [(s, k) for s in SOLVERS for k in FORMULATIONS if not make_solver(s).refusal(posed(k))]
FIRST = {solver: next(kind for s, kind in PAIRS if s == solver) for solver in SOLVERS}


def iterate(weights: Array, dual: Array) -> Iterate:
    return Iterate(weights, dual, 0.0, 0.0, 0.0, 0)


@pytest.mark.each_value("release")
@pytest.mark.parametrize(("solver", "kind"), PAIRS)
def test_a_start_at_the_solution_leaves_next_to_nothing_to_do(solver: str, kind: str) -> None:
    there = solve(posed(kind), solver, gap=GAP, max_iter=3000)
    assert there.status == "converged"
    again = solve(posed(kind), solver, gap=GAP, start=there.best_start)
    assert again.status == "converged"
    assert len(again) - 1 <= 2


@pytest.mark.each_value
@pytest.mark.parametrize(("solver", "kind"), PAIRS)
@pytest.mark.parametrize("C", [4.0, 30.0])
def test_a_warm_run_is_certified_and_ends_where_a_cold_one_does(solver: str, kind: str, C: float) -> None:
    start = solve(posed(kind), solver, gap=1e-3, max_iter=1000).best_start
    warm = solve(posed(kind, C), solver, gap=1e-3, max_iter=3000, start=start)
    cold = solve(posed(kind, C), solver, gap=1e-3, max_iter=3000)
    bound, best = cold.best_bound.lower_bound, cold.best.objective  # every bound holds for every iterate
    certified(posed(kind, C), warm, bound - 1e-9 * abs(bound), best + 1e-9 * abs(best))
    if cold.status == "converged":
        assert warm.status == "converged"


@pytest.mark.each_value("release")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("nothing", ["weights", "dual variables", "either"])
def test_a_start_without_weights_or_dual_variables_is_no_obstacle(solver: str, nothing: str) -> None:
    m, n = len(BANK), len(LABELS)
    usual = solve(posed(FIRST[solver]), solver, gap=1e-2).final
    weights = usual.weights if nothing == "dual variables" else np.zeros(m)
    dual = usual.dual if nothing == "weights" else np.zeros(n)
    assert solve(posed(FIRST[solver]), solver, gap=1e-2, start=iterate(weights, dual)).status == "converged"


@pytest.mark.parametrize("solver", sorted(STOCHASTIC))
def test_stochastic_methods_begin_anew(solver: str) -> None:
    kind = next(k for k in FORMULATIONS if not make_solver(solver).refusal(posed(k)))
    cold = solve(posed(kind), solver, gap=None, max_iter=3)
    again = solve(posed(kind), solver, gap=None, max_iter=3, start=cold.best_start)
    np.testing.assert_array_equal(again.dual, cold.dual)


def test_each_run_of_one_solver_has_a_start_of_its_own() -> None:
    solver, given = make_solver("level"), np.zeros(len(BANK))
    given[0] = 1.0
    warm = Run(posed("hinge, simplex"), solver, start=iterate(given, np.zeros(40)))
    cold = Run(posed("hinge, simplex"), solver)
    assert warm.advance()
    assert cold.advance()
    np.testing.assert_array_equal(warm.trace[0].weights, given)
    np.testing.assert_array_equal(cold.trace[0].weights, np.full(len(BANK), 1.0 / len(BANK)))


def test_a_solver_that_takes_no_start_is_told_how_to_write_it() -> None:
    with pytest.raises(SolverError, match=r"^Lazy\.iterates .*: write it as iterates\(self, problem, start=None\), "):

        class Lazy(Solver):
            def iterates(self, problem: Problem) -> Iterator[Iterate]:  # type: ignore[override]
                yield from ()


@pytest.mark.parametrize(
    ("weights", "dual", "says"),
    [
        (np.ones(3), np.zeros(40), r"this problem has \(20,\) and \(40,\)"),
        (np.ones(20), np.zeros(39), r"this problem has \(20,\) and \(40,\)"),
        (np.full(20, np.nan), np.zeros(40), "not finite"),
    ],
    ids=["weights", "dual variables", "no numbers"],
)
def test_a_start_of_another_size_or_of_no_numbers_is_refused(weights: Array, dual: Array, says: str) -> None:
    with pytest.raises(ProblemError, match=says):
        solve(posed("hinge, simplex"), "level", start=iterate(weights, dual))


@pytest.mark.parametrize("regularizer", [price for price in REGULARIZERS if price.weighted], ids=repr)
def test_start_weights_lie_in_the_domain(regularizer: Regularizer) -> None:
    rng = np.random.default_rng(0)
    found = replace(posed("hinge, simplex"), regularizer=regularizer)
    for size in (1e-3, 1.0, 1e3):
        start = iterate(size * rng.exponential(size=20) * (rng.random(20) < 0.5), rng.random(40))
        assert np.isfinite(regularizer.value(start_weights(found, start)))


def test_weights_on_the_simplex_stay_as_they_are_and_others_keep_their_shares() -> None:
    shares = np.random.default_rng(1).dirichlet(np.ones(20))
    kept = start_weights(posed("hinge, simplex"), iterate(7.0 * shares, np.zeros(40)))
    np.testing.assert_allclose(kept, shares, rtol=1e-12)


def test_weights_take_the_scale_that_a_new_price_asks_for() -> None:
    """With one kernel the norm ||f|| barely depends on a small price, so d = ||f|| / sqrt(2 sigma)."""
    found = problem("linear penalty, one kernel")
    start = solve(found, "newton", gap=1e-9).best_start
    cheaper = replace(found, regularizer=L1Penalty(found.regularizer.sigma / 4.0))  # type: ignore[attr-defined]
    np.testing.assert_allclose(start_weights(cheaper, start), 2.0 * start.weights, rtol=1e-4)  # its own gap's root


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name_}, bias {loss.bias}")
def test_dual_variables_of_any_size_become_feasible_for_any_loss(loss: Loss) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        C, old = 10.0 ** rng.uniform(-3, 3, size=2)
        found = Problem(BANK, LABELS, replace(loss, C=C), Simplex())
        dual = np.clip(old * rng.normal(0.5, 1.0, size=40), 0.0, old)  # many at either bound
        for signed in start_duals(found, iterate(np.ones(20), dual)):
            assert found.loss.check_dual(found.loss.dual_from_signed(signed, LABELS), LABELS) is None


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_points_at_the_old_bound_are_moved_to_the_new_one(C: float) -> None:
    """That is one of the starts tried; another has all dual variables in proportion."""
    old = solve(posed("hinge, simplex"), "level", gap=1e-6).best_start
    bounded = old.dual == 10.0
    assert 1 < bounded.sum() < 40
    starts = [signed * LABELS for signed in start_duals(posed("hinge, simplex", C), old)]
    assert any((found[bounded] == C).all() and not np.allclose(found, 0.1 * C * old.dual) for found in starts)
    assert any(np.allclose(found, 0.1 * C * old.dual, rtol=1e-9, atol=1e-12 * C) for found in starts)


def test_the_same_bound_leaves_feasible_dual_variables_as_they_are() -> None:
    old = solve(posed("hinge, simplex"), "level", gap=1e-3).best_start
    (only,) = start_duals(posed("hinge, simplex"), old)
    np.testing.assert_allclose(only * LABELS, old.dual, atol=1e-9)  # balanced again up to rounding


# -- from a quarter of the samples


N = 60
KEEP = np.array([0, 3, 4, 17, 40, 58, 59])
MIXED = [Gaussian(widths=(0.5, 1.0), on="all+each"), Polynomial(degrees=(2,), on="each"), Laplacian(on="all")]


def bank_of(way: str, folder: Path) -> KernelBank:
    X, _ = blobs(N, 0.2, seed=1)
    X[:, 0] = np.round(4.0 * X[:, 0]) / 4.0  # a kernel of factors on its different values, more than 7 of them
    if way == "on the fly":
        return KernelBank.build(X, [Gaussian(widths=(0.5, 1.0, 2.0), on="each")], max_bytes=4000)
    if way == "mapped":
        bank = KernelBank.build(X, MIXED)
        np.save(folder / "one.npy", bank.combine(np.ones(len(bank))))
        return KernelBank.from_files(folder, max_bytes=1000, normalize="trace")
    return KernelBank.build(X, MIXED, precision="single" if way == "single" else "auto", rows=way == "row by row")


@pytest.mark.parametrize("way", ["packed", "single", "row by row", "on the fly", "mapped"])
def test_a_bank_on_fewer_samples_has_the_same_entries(way: str, tmp_path: Path) -> None:
    bank = bank_of(way, tmp_path)
    assert way in bank.backend
    few = bank.only(KEEP)
    assert bank.points is None or len(KEEP) < len(np.unique(bank.points[:, 0])) < N // 2
    rng = np.random.default_rng(0)
    weights, v = rng.random(len(bank)), rng.normal(size=len(KEEP))
    spread = np.zeros(N)
    spread[KEEP] = v
    # double precision in both, whatever the entries are kept in
    np.testing.assert_allclose(few.apply(weights, v), bank.apply(weights, spread)[KEEP], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(few.quad(v), bank.quad(spread), rtol=1e-10, atol=1e-14)
    assert (few.n_samples, few.access, few.names) == (len(KEEP), bank.access, bank.names)
    if bank.points is not None:
        new = rng.normal(size=(5, bank.points.shape[1]))
        expected = bank.cross(new).apply(weights, spread)
        np.testing.assert_allclose(few.cross(new).apply(weights, v), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (Hinge(C=2.0), np.where(np.arange(N) < N - 1, -1.0, 1.0)),  # one sample of its class
        (MulticlassHinge(C=2.0), np.where(np.arange(N) == 31, 1.0, np.where(np.arange(N) < 30, 0.0, 2.0))),
        (EpsilonInsensitive(C=2.0), np.sin(np.arange(N))),
    ],
    ids=lambda given: given.name_ if hasattr(given, "name_") else "y",
)
def test_what_is_handed_back_is_feasible_and_knows_every_class(loss, y) -> None:
    X, _ = blobs(N, 0.2, seed=1)
    whole = Problem(KernelBank.build(X, MIXED), y, loss)
    few = some_samples(whole, seed=0)
    assert N // SHARE <= len(few) <= N // SHARE + 3
    assert loss.regression or set(y[few]) == set(y)
    start = coarse_solution(whole, make_solver("level"))
    loss.check_dual(start.dual, y)
    assert start.weights.min() >= 0.0
    assert start.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert not start.dual[np.setdiff1d(np.arange(N), few)].any()
    assert whole.gap(start.weights, start.dual) >= 0.0


@pytest.mark.parametrize("name", ["sonar", "noisy blobs, C = 10"])
def test_a_coarse_start_ends_at_the_same_optimum_its_solves_count_and_one_that_is_given_comes_first(name: str) -> None:
    given = problem(name)
    plain, coarse = solve(given, "level", gap=1e-4), solve(given, "level", gap=1e-4, coarse_start=True)
    assert plain.status == coarse.status == "converged"
    assert coarse.best.objective == pytest.approx(plain.best.objective, rel=2e-4)  # two gaps of 1e-4
    begun = coarse_solution(given, make_solver("level"))
    assert begun.gap <= level.GAP  # of the few
    assert coarse[0].svm_solves == begun.svm_solves + 1
    assert coarse.options["coarse_start"]
    assert solve(given, "level", gap=1e-4, start=plain.best, coarse_start=True)[0].svm_solves == 1
