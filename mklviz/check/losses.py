"""What every loss promises: C l and its conjugate fit together (Fenchel-Young), and the bias is the best.

value(z) - dual_value(a) >= -beta'z,    with equality where beta = -C l'(z)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mklviz.check.problems import blobs, refuses, require, require_named, small_bank
from mklviz.engine import available_solvers, recommend, solve
from mklviz.problem import Loss, Problem, Simplex
from mklviz.record import SOLVED
from mklviz.typing import Array

C = 7.0
TRIALS = 100
STEP = 1e-6  # of differences


def samples(loss: Loss, n: int = 8) -> Iterator[tuple[Array, Array]]:
    """Yield targets and decisions, drawn at random."""
    rng = np.random.default_rng(4)
    for _ in range(TRIALS):
        if loss.multiclass:
            y = rng.permutation(np.arange(n) % 3).astype(np.float64)
        elif loss.regression:
            y = 3.0 * rng.normal(size=n)
        else:
            y = rng.permutation(np.where(np.arange(n) < 1 + rng.integers(n - 1), 1.0, -1.0))
        yield y, rng.normal(size=loss.dual_shape(y)) * rng.exponential(3.0)


def says_what_it_is(kind: type[Loss]) -> None:
    """The class says what it is, and refuses a C that is not positive."""
    require_named(kind, ("name_", "label"))
    require(kind(C).C == C, "the first argument is not C.")
    for wrong in (0.0, -1.0, float("nan")):
        require(refuses(kind, wrong), f"C={wrong} is accepted: __post_init__ calls super().__post_init__().")


def targets_are_checked(kind: type[Loss]) -> None:
    """Targets that are no numbers are refused in a sentence."""
    loss = kind(C)
    y, _ = next(samples(loss))
    loss.check_targets(y)
    require(refuses(loss.check_targets, np.where(np.arange(len(y)) == 1, np.nan, y)), "check_targets accepts nan.")


def values_are_those_of_a_convex_function(kind: type[Loss]) -> None:
    """The loss is never negative, and convex."""
    loss = kind(C)
    for y, z in samples(loss):
        other = z[::-1]
        ends = loss.value(z, y), loss.value(other, y)
        require(min(ends) >= 0.0, f"value is {min(ends):g} at a point.")
        between = loss.value(0.5 * (z + other), y)
        require(between <= 0.5 * sum(ends) * (1 + 1e-12) + 1e-12, "value lies above its chord: it is not convex.")


def bias_is_the_best(kind: type[Loss]) -> None:
    """No other bias gives a smaller loss."""
    loss = kind(C)
    if not loss.bias:
        return
    rng = np.random.default_rng(5)
    for y, z in samples(loss):
        best = loss.best_bias(z, y)
        total = loss.dual_sum(y)
        value = loss.value(z + best, y) + total * float(np.sum(best))
        for spread in (1e-3, 0.1, 3.0):
            other = best + spread * rng.normal(size=np.shape(best))
            there = loss.value(z + other, y) + total * float(np.sum(other))
            better = there < value - 1e-9 * max(value, 1.0)
            require(not better, f"best_bias is {best!r}, worth {value:g}, but {other!r} is worth {there:g}.")


def signs_go_there_and_back(kind: type[Loss]) -> None:
    """dual_from_signed undoes signed."""
    loss = kind(C)
    for y, z in samples(loss):
        dual = loss.dual_from_signed(slopes(loss, z, y), y)
        again = loss.dual_from_signed(loss.signed(dual, y), y)
        require(np.allclose(again, dual, rtol=1e-9, atol=1e-9 * C), "dual_from_signed(signed(a)) is not a.")


def conjugate_fits(kind: type[Loss]) -> None:
    """dual_value is minus the conjugate: never above value(z) + beta'z, and equal to it at the loss's own slopes."""
    loss = kind(C)
    before: Array | None = None
    for y, z in samples(loss):
        dual = loss.dual_from_signed(slopes(loss, z, y), y)
        value = loss.value(z, y)
        rest = value - loss.dual_value(dual, y) + float(np.vdot(loss.signed(dual, y), z))
        size = value + float(np.abs(dual).sum()) * float(np.abs(z).max() + 1.0)
        # differences are as exact as their step, which may lie across a kink
        tight = abs(rest) <= 10 * STEP * size
        require(tight, f"at the loss's own slopes value(z) - dual_value(a) + beta'z is {rest:g}, and should be zero.")
        if before is not None and not loss.multiclass and before.shape == dual.shape:
            half = 0.5 * (dual + np.clip(before, *loss.box))
            left = value - loss.dual_value(half, y) + float(np.vdot(loss.signed(half, y), z))
            require(left >= -10 * STEP * size, f"value(z) - dual_value(a) + beta'z is negative, {left:g}.")
        before = dual


def slopes(loss: Loss, z: Array, y: Array) -> Array:
    """Return beta = -C l'(z) by differences, inside the box."""
    beta = np.empty_like(z)
    for index in np.ndindex(*z.shape):
        there = np.zeros_like(z)
        there[index] = STEP
        beta[index] = -(loss.value(z + there, y) - loss.value(z - there, y)) / (2 * STEP)
    low, high = loss.box
    if loss.multiclass:
        return beta
    return loss.signed(np.clip(loss.dual_from_signed(beta, y), low, high), y)


def weights_stand_for_repeated_samples(kind: type[Loss]) -> None:
    """Where it takes sample weights, a sample of weight w counts as w samples in value, bias and dual_value."""
    if not kind.weighable:
        return
    rng = np.random.default_rng(6)
    for y, z in samples(kind(C)):
        counts = rng.integers(1, 4, size=len(y))
        often, one, many = np.repeat(np.arange(len(y)), counts), kind(C).for_samples(counts.astype(np.float64)), kind(C)
        pairs = [(one.value(z, y), many.value(z[often], y[often]), "value")]
        if one.bias:
            pairs.append((one.primal(z, y)[0], many.primal(z[often], y[often])[0], "value at best_bias"))
        dual = one.dual_from_signed(slopes(many, z, y), y)
        all_of_it = (dual.T * counts).T
        pairs.append((one.dual_value(all_of_it, y), many.dual_value(dual[often], y[often]), "dual_value"))
        for value, wanted, what in pairs:
            same = abs(value - wanted) <= 1e-9 * max(abs(wanted), C)
            require(same, f"{what} is {value:g} with weights, and {wanted:g} of samples repeated as often.")


def dual_points_are_checked(kind: type[Loss]) -> None:
    """Dual variables that are not feasible are refused."""
    loss = kind(C)
    y, _ = next(samples(loss))
    good = loss.dual_from_signed(loss.full_dual(y), y)
    loss.check_dual(good, y)
    for what, bad in (("of another length", good[:-1]), ("that are nan", good * np.nan)):
        require(refuses(loss.check_dual, bad, y), f"check_dual accepts dual variables {what}.")


def solvers_follow(kind: type[Loss]) -> None:
    """At least one solver can follow it, and certifies a gap of one per cent."""
    X, y = blobs(40, 0.1)
    loss = kind(10.0)
    if loss.multiclass:
        y = (np.arange(len(y)) % 3).astype(np.float64)
    elif loss.regression:
        y = y + 0.3 * np.sin(np.arange(len(y)))
    problem = Problem(small_bank(X), y, loss, Simplex())
    require(
        available_solvers(problem),
        "no solver takes it: say in inner_methods how the problem is solved at fixed weights.",
    )
    trace = solve(problem, recommend(problem), gap=1e-2, max_iter=1000)
    require(trace.status in SOLVED, f"{trace.label} ended as {trace.status}: {trace.reason}")


LOSS_PROMISES: tuple[Callable[[type[Loss]], None], ...] = (
    says_what_it_is,
    targets_are_checked,
    values_are_those_of_a_convex_function,
    bias_is_the_best,
    signs_go_there_and_back,
    conjugate_fits,
    weights_stand_for_repeated_samples,
    dual_points_are_checked,
    solvers_follow,
)
