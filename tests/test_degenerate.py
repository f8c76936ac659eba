"""Degenerate input to every solver in every formulation it takes: a right answer or an honest gap, never nan."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from _formulations import LOSSES, MULTICLASS, REGULARIZERS, N, targets_of
from _problems import blobs, random_grams

from mklviz.engine import make_solver, solve, solver_classes
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import BlockPower, GroupSquaredPlusL1, Loss, LpBall, LpPenalty, PowerPenalty, Problem, Regularizer

# with powers of up to a thousand in conjugates and closed forms
NEAR_ONE: list[Regularizer] = [
    LpBall(1.01),
    LpBall(1.001),
    LpPenalty(1.001, 1.0),
    PowerPenalty(1.001, 1.0),
    BlockPower(0.5, 1.001),
    GroupSquaredPlusL1(0.3, 0.0, 1.01),
]
GRAMS = [N * gram for gram in random_grams(3, N, seed=5)]
POINTS = np.vstack([blobs(N // 2, seed=3)[0]] * 2)
BANKS = {
    "one kernel": KernelBank.from_grams(GRAMS[:1]),
    "two kernels": KernelBank.from_grams(GRAMS[:2]),
    "identical kernels": KernelBank.from_grams([GRAMS[1]] * 4),
    "a zero kernel": KernelBank.from_grams([*GRAMS[:2], np.zeros((N, N))]),
    "only zero kernels": KernelBank.from_grams([np.zeros((N, N))] * 2),
    "every point twice": KernelBank.build(
        POINTS, [Gaussian(widths=(1.0,), on="all+each"), Polynomial(degrees=(1,))], normalize="trace"
    ),
}
# a bank and, where it is not the usual one, what becomes of the loss and of the targets of the second half
SITUATIONS: dict[str, tuple[str, float | None, int | None]] = {
    **{bank: (bank, None, None) for bank in ("one kernel", "identical kernels", "a zero kernel", "only zero kernels")},
    "every point twice": ("every point twice", None, 0),
    "every point with two labels": ("every point twice", None, 1),
    "C = 1e-6": ("two kernels", 1e-6, None),
    "C = 1e6": ("two kernels", 1e6, None),
}


def posed_in(situation: str, loss: Loss, regularizer: Regularizer) -> Problem:
    bank, C, turned = SITUATIONS[situation]
    y = targets_of(loss)
    if turned is not None:
        half = y[: N // 2]
        y = np.concatenate([half, np.roll(half, turned) if loss.multiclass or loss.regression else half])
        y = np.where(np.arange(N) < N // 2, y, -y) if turned and not (loss.multiclass or loss.regression) else y
    return Problem(BANKS[bank], y, loss if C is None else replace(loss, C=C), regularizer)


METHODS = {name: make_solver(name) for name in solver_classes()}


def losses_of(solver: str, regularizer: Regularizer) -> list[Loss]:
    """One loss of each kind that the solver takes with this regularizer."""
    kinds: dict[str, Loss] = {}
    for loss in [*LOSSES, *MULTICLASS]:
        if not METHODS[solver].refusal(posed_in("one kernel", loss, regularizer)):
            kinds.setdefault(loss.name_, loss)
    return list(kinds.values())


CASES = [
    pytest.param(solver, loss, regularizer, id=f"{solver}-{loss}-{regularizer}")
    for solver in solver_classes()
    for regularizer in [*REGULARIZERS, *NEAR_ONE]
    for loss in losses_of(solver, regularizer)
]


@pytest.mark.pairwise
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize(("solver", "loss", "regularizer"), CASES)
def test_degenerate_input_is_solved_or_left_with_an_honest_gap(
    solver: str, loss: Loss, regularizer: Regularizer, situation: str
) -> None:
    posed, made = posed_in(situation, loss, regularizer), make_solver(solver)
    if "exact" in made.param:  # where plain slopes would crawl
        made.exact = True
    extreme = SITUATIONS[situation][1] is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # overflow and nan on the way count as well
        trace = solve(posed, made, gap=1e-3, max_iter=4 if extreme else 200)
    assert trace.status in {"converged", "limit"}
    for column in (trace.weights, trace.dual, trace.objective, trace.lower_bound):
        assert np.isfinite(column).all()
    assert trace.gap.min() >= -1e-9  # rounding, where C is huge and the optimum is not
    start = float(trace.objective[0])
    assert trace.objective.min() <= start + 1e-12 * abs(start)
    # samples drawn at random, powers of a thousand and margins a million times as dear as kernels take more steps
    if made.converges and not (made.stochastic or extreme or regularizer in NEAR_ONE):
        assert trace.gap.min() <= 0.05, trace.reason
