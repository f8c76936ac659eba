"""Certificates whose quadratic forms cancel: forms, bounds and verdicts against exact rational arithmetic."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mklviz as mv
from mklviz.check.plugin import exact_bound, exact_form, proves_what_it_says
from mklviz.contract import Solver
from mklviz.engine import available_solvers, make_solver, solve
from mklviz.errors import ProblemError
from mklviz.kernels import Gaussian, KernelBank, Laplacian
from mklviz.kernels.nystrom import NystromBank
from mklviz.problem.proving import prove, prove_if_doubtful
from mklviz.problem.rounding import rounding_bound

N = 20
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))


@cache
def orthogonal() -> np.ndarray:
    """Large dual variables that are nearly orthogonal to the features."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(N), X]))
    v = 1e5 * np.random.default_rng(1).normal(size=N)
    for _ in range(3):
        v = v - basis @ (basis.T @ v)
    return v


def close(found: float, exact: Fraction, size: float) -> bool:
    """Whether a compensated form is as exact as it should be."""
    return abs(found - float(exact)) <= 1e-15 * abs(float(exact)) + 1e-28 * N**2 * size


@pytest.mark.parametrize("precision", ["double", "single"])
def test_forms_of_packed_kernels(precision: str) -> None:
    grams = [1e5 * X[:, :1] @ X[:, :1].T, X @ X.T]
    bank, v = KernelBank.from_grams(grams, precision=precision), orthogonal()
    forms, sizes = bank.quad_compensated(v, np.arange(2))
    for gram, form, size in zip(grams, forms, sizes, strict=True):
        stored = gram.astype(np.float32 if precision == "single" else np.float64).astype(np.float64)
        stored = np.tril(stored) + np.tril(stored, -1).T
        assert size == pytest.approx(np.abs(v) @ np.abs(stored) @ np.abs(v))
        assert close(form, exact_form(stored, v), size)
    if precision == "double":  # the plain sum has no digit right, and says so
        plain = bank.quad(v)
        apart = [
            abs(p - float(exact_form(np.tril(g) + np.tril(g, -1).T, v))) for p, g in zip(plain, grams, strict=True)
        ]
        assert (np.array(apart) <= bank.quad_error(v, plain)).all()
        assert apart[0] > 0.1 * abs(forms[0])


def test_forms_of_kernels_in_files(tmp_path: Path) -> None:
    grams = [X @ X.T + 1e-3 * np.eye(N), X[:, :2] @ X[:, :2].T + np.eye(N)]
    for k, gram in enumerate(grams):
        np.save(tmp_path / f"{k}.npy", gram)
    bank, v = KernelBank.from_files(tmp_path, normalize="diagonal", max_bytes=8 * N * N), orthogonal()
    assert "disk" in bank.backend
    forms, sizes = bank.quad_compensated(v, np.arange(2))
    for gram, form, size in zip(grams, forms, sizes, strict=True):
        c = 1.0 / np.sqrt(np.diag(gram))
        scaled = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(c, v, strict=True)]
        exact = sum(
            Fraction(float(gram[max(i, j), min(i, j)])) * scaled[i] * scaled[j] for i in range(N) for j in range(N)
        )
        assert close(form, Fraction(exact), size)


def test_forms_of_few_different_points() -> None:
    bank, v = KernelBank.build(np.round(X), [Gaussian(on="each", widths=(1.0, 2.0))], normalize="none"), orthogonal()
    forms, sizes = bank.quad_compensated(v, np.arange(len(bank)))
    assert not sizes.any()
    np.testing.assert_allclose(forms, bank.quad(v), rtol=1e-9)
    errors = bank.quad_error(v, bank.quad(v))
    assert (np.abs(forms - bank.quad(v)) <= errors).all()


def banks_that_compute() -> list[KernelBank | NystromBank]:
    """Kernels on the fly, by rows, and approximate ones."""
    families = [Gaussian(on="all", widths=(1.0, 2.0, 4.0, 8.0))]
    room = KernelBank.estimate(N, 3, families)[1] // 2
    rows = [Gaussian(on="all", widths=(1.0, 3.0)), Laplacian(on="all", widths=(2.0,))]
    few = NystromBank.build(X, [Gaussian(on="all", widths=(1.0, 3.0))], 10)
    return [KernelBank.build(X, families, max_bytes=room), KernelBank.build(X, rows, rows=True), few, few.narrowed()]


@pytest.mark.parametrize("which", range(4), ids=["on the fly", "by rows", "approximate", "approximate, single"])
def test_forms_of_kernels_that_are_computed(which: int) -> None:
    bank, v = banks_that_compute()[which], orthogonal()
    both = np.column_stack([v, v[::-1]])
    for given in (v, both):
        plain = bank.quad(given)
        forms, _ = bank.quad_compensated(given, np.arange(len(bank)))
        assert (np.abs(forms - plain) <= bank.quad_error(given, plain)).all()
        np.testing.assert_allclose(forms, plain, rtol=1e-6)


# bounds and verdicts


def hostile(C: float, sigma: float, scale: float = 1e5) -> mv.Problem:
    """One linear kernel, so large that s cancels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = np.where(x + rng.normal(size=30) > 0, 1.0, -1.0)
    return mv.Problem(KernelBank.from_grams([scale * np.outer(x, x)]), y, mv.Hinge(C=C), mv.L1Penalty(sigma))


def solvers() -> list[type[Solver]]:
    """All that take linear prices."""
    return [type(make_solver(name)) for name in available_solvers(hostile(1.0, 1.0))]


@pytest.mark.parametrize("kind", solvers(), ids=lambda kind: kind.name_)
def test_converged_is_what_exact_arithmetic_says_too(kind: type[Solver]) -> None:
    assert proves_what_it_says(kind) is None  # it raises where that fails


@pytest.mark.parametrize("sigma", [0.01, 1.0])
def test_a_run_that_the_stored_kernel_hides_says_so(sigma: float) -> None:
    trace = solve(hostile(1e5, sigma), "spicymkl", gap=1e-2, max_iter=200)
    if trace.status == "limit":  # as some processors round, the steps end before the bound does
        assert "rounding does not let it come any closer" in trace.reason
        return
    assert trace.status == "precision"
    assert "As exact as the stored kernels allow" in trace.reason
    assert trace.kernel_names[0] in trace.reason
    assert "dual variables up to 1e+05" in trace.reason


def test_a_bound_that_hangs_on_the_stored_kernel_is_not_claimed() -> None:
    posed = hostile(1e5, 0.01)
    doubted = [
        found
        for iterate in solve(posed, "spicymkl", gap=1e-2, max_iter=30)
        if (found := prove_if_doubtful(posed, iterate.dual)) is not None
    ]
    assert doubted
    assert all(found.bound < found.stored for found in doubted)


class Uncompensated(KernelBank):
    def quad_compensated(self, *_: object) -> Any:
        raise AssertionError("an ordinary bound asked for compensated products")


def test_bounds_of_ordinary_problems_are_what_plain_sums_say() -> None:
    bank = Uncompensated.build(X, [Gaussian(on="all+each")])
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    for regularizer in (mv.Simplex(), mv.L1Penalty(1.0), mv.BlockL1(1.0)):
        posed = mv.Problem(bank, y, mv.Hinge(C=100.0), regularizer)
        for name in available_solvers(posed):
            assert solve(posed, name, gap=1e-2, max_iter=20).status in ("converged", "limit"), name


def test_an_s_that_comes_out_too_small_proves_nothing_more() -> None:
    posed = hostile(1e4, 0.01)
    dual = solve(posed, "newton", gap=1e-4).best_dual
    wrong = prove(posed, dual, np.zeros(1))  # what cancellation may leave
    gram = posed.bank.combine(np.ones(1))
    assert wrong.bound <= exact_bound(posed, [gram], dual) * (1.0 + 1e-9)


# other ends of the range


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_an_optimum_of_nothing_is_certified(C: float) -> None:
    features = np.random.default_rng(0).normal(size=(30, 2))
    bank = KernelBank.build(features, [Gaussian(widths=(0.5, 1.0, 2.0), on="all")])
    posed = mv.Problem(bank, 0.05 * features[:, 0], mv.EpsilonInsensitive(C=C, epsilon=0.2), mv.BlockL1(1.0))
    for name in available_solvers(posed):
        trace = solve(posed, name, gap=1e-4)
        assert (trace.status, float(trace.gap[-1])) == ("converged", 0.0), name


@pytest.mark.parametrize("scale", [1e3, 1e5, 1e7])
def test_the_closed_form_finds_its_way_where_kernels_and_prices_are_far_apart(scale: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = np.where(x + rng.normal(size=30) > 0, 1.0, -1.0)
    gram = scale * np.exp(-(np.subtract.outer(x, x) ** 2) / 2)
    posed = mv.Problem(KernelBank.from_grams([gram]), y, mv.Logistic(C=1e5), mv.L1Penalty(0.01))
    trace, other = (solve(posed, name, gap=1e-2, max_iter=20) for name in ("closed-form", "spg"))
    assert trace.status in ("precision", "limit"), trace.reason
    assert trace[1].weights[0] > 100.0 * trace[0].weights[0]
    # K_d beta cancels, the more the larger d is, and in the end it is rounding that says who has the lower objective
    rounding = sum(rounding_bound(posed, best.weights, best.dual) for best in (trace.best, other.best))
    assert trace.best.objective <= 1.2 * other.best.objective + rounding
    # at the largest the inner problem at the next weights is beyond doubles
    assert scale == 1e7 or trace.best.objective < 0.99 * trace[0].objective


@pytest.mark.parametrize("C", [1e-320, 1e-200, 1e200])
@pytest.mark.parametrize("loss", [mv.Hinge, mv.Logistic, mv.Squared])
def test_a_cost_beyond_double_precision_is_refused(loss: type[mv.Hinge], C: float) -> None:
    with pytest.raises(ProblemError, match="between 1e-30 and 1e\\+30"):
        loss(C=C)
