"""Units do not matter: kernels, C, targets and prices times powers of two give the same steps, scaled.

Powers of two multiply without rounding, so that nothing but a constant with a unit can make a difference; square
roots and powers still round, which the last digits of the bounds show.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from _problems import blobs, dense, small_bank
from _units import LOSSES, REGULARIZERS, Units, in_units

from mklviz.engine import make_solver, solve
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import BlockL1, Problem, Squared
from mklviz.record.trace import Trace

OTHERS = {
    "kernels": Units(kernels=2.0**20),
    "small kernels": Units(kernels=2.0**-20),
    "targets": Units(targets=2.0**14),
    "objective": Units(objective=2.0**-16),
}
METHODS = {
    "SPG": ("spg", {}),
    "SPG, paper": ("spg", {"preset": "paper"}),
    "SPG, code": ("spg", {"preset": "code"}),
    "PGD": ("pgd", {}),
    "PGD+N": ("pgd", {"nonmonotone": True}),
    "PGD+S": ("pgd", {"spectral": True}),
    "PGD+N+S": ("pgd", {"nonmonotone": True, "spectral": True}),
    "PGD, exact": ("pgd", {"exact": True}),
    "SimpleMKL": ("simplemkl", {}),
    "SpicyMKL": ("spicymkl", {}),
    "SMO-MKL": ("smo-mkl", {}),
    "UFO-MKL": ("ufo", {}),
    "OBSCURE": ("obscure", {}),
    "Newton": ("newton", {}),
    "Level": ("level", {}),
    "SILP": ("silp", {}),
    "Closed form": ("closed-form", {}),
}
STEPS = 6
SLOPES = ("SPG, paper", "SPG, code", "PGD", "PGD+N", "PGD+S", "PGD+N+S")
POWERS = ("squared 1.1-norm", "power", "block power")  # steep near zero: who follows the slope multiplies the rounding


@cache
def bank() -> KernelBank:
    X, _ = blobs(24, 0.1)
    return KernelBank.from_grams(24.0 * dense(small_bank(X))[::3])


def posed(loss: str, regularizer: str) -> Problem:
    found, (_, labels) = LOSSES[loss], blobs(24, 0.1)
    y = labels + 0.3 * np.sin(np.arange(24)) if found.regression else labels
    if found.multiclass:
        _, y = np.unique(np.where(np.arange(24) % 3 == 2, 0.0, labels), return_inverse=True)
    return Problem(bank(), y, found, REGULARIZERS[regularizer])


def taken(problem: Problem, method: str) -> Trace:
    solver, options = METHODS[method]
    return solve(problem, solver, gap=1e-4, max_iter=STEPS, **options)


def cases() -> list[tuple[str, str, str, str]]:
    """Every method with what it takes, and units for that: all regularizers with one loss, some with all."""
    pairs = [("squared", r) for r in REGULARIZERS] + [("hinge", "squared 1.1-norm")]
    pairs += [
        (loss, r)
        for loss in LOSSES
        for r in ("simplex", "linear penalty", "block 1-norm", "group norm and 1-norm", "group norm")
    ]
    problems = {pair: posed(*pair) for pair in dict.fromkeys(pairs)}
    units = {pair: {other.of(problem): name for name, other in OTHERS.items()} for pair, problem in problems.items()}
    return [
        (method, *pair, name)
        for method, (solver, _) in METHODS.items()
        for pair, problem in problems.items()
        if not make_solver(solver).refusal(problem)
        for other, name in units[pair].items()
        if other != Units()
    ]


@pytest.mark.pairwise
@pytest.mark.parametrize(("method", "loss", "regularizer", "other"), cases())
def test_other_units_give_the_same_steps(method: str, loss: str, regularizer: str, other: str) -> None:
    problem = posed(loss, regularizer)
    units = OTHERS[other].of(problem)
    trace, found = taken(problem, method), taken(in_units(problem, units), method)
    if method in SLOPES and regularizer in POWERS:
        assert abs(found.final.svm_solves - trace.final.svm_solves) <= 0.1 * trace.final.svm_solves + 2
        return
    assert [it.svm_solves for it in found] == [it.svm_solves for it in trace]
    assert found.status == trace.status
    # line searches multiply the last digits, where powers and logarithms round
    np.testing.assert_allclose(found.objective / units.objective, trace.objective, rtol=1e-6)


def test_powers_of_ten_change_counts_by_no_more_than_rounding() -> None:
    problem = posed("squared", "block 1-norm")
    for units in (Units(kernels=1e6), Units(targets=1e-3), Units(objective=1e5), Units(1e3, 1e-3, 1e-4)):
        counts = [len(solve(p, "spg", gap=1e-4, max_iter=100)) for p in (problem, in_units(problem, units))]
        # one step more or less where a gap ends at its limit up to rounding
        assert abs(counts[0] - counts[1]) <= 1


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_kernel_takes_spg_few_steps_whatever_the_loss_and_the_price(loss: str, C: float) -> None:
    X, labels = blobs(30, 0.1)
    one = KernelBank.build(X, [Gaussian(widths=(1.0,))], normalize="none")
    kind = type(LOSSES[loss])
    made = kind(C) if loss == "multiclass" else kind(C, bias=LOSSES[loss].bias)
    y = X @ np.array([1.0, 2.0, 0.5]) if made.regression else labels
    if made.multiclass:
        _, y = np.unique(np.where(np.arange(30) % 3 == 2, 0.0, labels), return_inverse=True)
    for regularizer in (*REGULARIZERS.values(), BlockL1(0.1)):
        problem = Problem(one, y, made, regularizer)
        if make_solver("spg").refusal(problem):
            continue
        trace = solve(problem, "spg", gap=1e-4, max_iter=60)
        assert trace.status == "converged", f"{regularizer}: {trace.reason}"


def test_a_wrongly_scaled_start_no_longer_takes_a_thousand_steps() -> None:
    X, _ = blobs(40, 0.1)
    problem = Problem(
        KernelBank.build(X, [Gaussian(widths=(1.0,))]), X @ np.array([1.0, -2.0, 0.5]), Squared(1.0), BlockL1(0.1)
    )
    assert len(solve(problem, "spg", gap=1e-4, max_iter=60)) <= 51
