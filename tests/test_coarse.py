"""A start from a quarter of the samples: the same kernels on fewer samples, feasible duals, the same optimum."""

from pathlib import Path

import numpy as np
import pytest
from _problems import blobs, problem

from mklviz.engine import make_solver, solve
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Polynomial
from mklviz.problem import EpsilonInsensitive, Hinge, MulticlassHinge, Problem
from mklviz.solvers.level import GAP, SHARE, coarse_solution, some_samples

N = 60
KEEP = np.array([0, 3, 4, 17, 40, 58, 59])
MIXED = [Gaussian(widths=(0.5, 1.0), on="all+each"), Polynomial(degrees=(2,), on="each"), Laplacian(on="all")]


def bank_of(way: str, folder: Path) -> KernelBank:
    X, _ = blobs(N, 0.2, seed=1)
    X[:, 0] = (
        np.round(4.0 * X[:, 0]) / 4.0
    )  # a kernel of factors on its different values, of which there are more than 7
    if way == "on the fly":
        return KernelBank.build(X, [Gaussian(widths=(0.5, 1.0, 2.0), on="each")], max_bytes=4000)
    if way == "mapped":
        K = KernelBank.build(X, MIXED).combine(np.ones(len(KernelBank.build(X, MIXED))))
        np.save(folder / "one.npy", K)
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
def test_a_coarse_start_ends_at_the_same_optimum_and_its_solves_count(name: str) -> None:
    given = problem(name)
    plain, coarse = solve(given, "level", gap=1e-4), solve(given, "level", gap=1e-4, coarse_start=True)
    assert plain.status == coarse.status == "converged"
    assert coarse.best.objective == pytest.approx(plain.best.objective, rel=2e-4)  # two gaps of 1e-4
    begun = coarse_solution(given, make_solver("level"))
    assert begun.gap <= GAP  # of the few
    assert coarse[0].svm_solves == begun.svm_solves + 1
    assert coarse.options["coarse_start"]


def test_a_start_that_is_given_comes_before_a_coarse_one() -> None:
    given = problem("sonar")
    known = solve(given, "level", gap=1e-4).best
    again = solve(given, "level", gap=1e-4, start=known, coarse_start=True)
    assert again[0].svm_solves == 1
