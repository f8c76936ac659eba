"""Losses by their mathematics: conjugates by Fenchel-Young, biases by brute force, dual values at the box's ends."""

from contextlib import nullcontext
from decimal import Decimal, localcontext

import numpy as np
import pytest

import mklviz as mv
from mklviz.errors import ProblemError
from mklviz.problem import Loss, loss_families

LOSSES: list[Loss] = [
    mv.Hinge(7.0),
    mv.Logistic(7.0),
    mv.Squared(7.0),
    mv.EpsilonInsensitive(7.0, 0.4),
    mv.EpsilonInsensitive(7.0, 0.0),
]
SEVERAL = [mv.MulticlassHinge(7.0), mv.OneAgainstAllHinge(7.0), mv.OneAgainstAllHinge(7.0, bias=False)]
IDS = [repr(loss) for loss in LOSSES]


def sample(loss: Loss, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and scores; of several classes there are three, all of them."""
    if loss.multiclass:
        return rng.permutation(np.arange(n) % 3).astype(float), rng.normal(size=(n, 3)) * rng.exponential(3.0)
    y = rng.normal(size=n) * 3.0 if loss.regression else rng.choice([-1.0, 1.0], size=n)
    if not loss.regression:
        y[:2] = -1.0, 1.0
    return y, rng.normal(size=n) * rng.exponential(3.0)


def dual_at(loss: Loss, y: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Minus C times a derivative of the loss at the decisions, as dual variables."""
    match loss:
        case mv.Hinge():
            return loss.C * (y * decisions < 1.0)
        case mv.Logistic():
            return loss.C / (1.0 + np.exp(y * decisions))
        case mv.Squared():
            return loss.C * (y - decisions)
        case mv.EpsilonInsensitive(epsilon=epsilon):
            return loss.C * np.sign(y - decisions) * (np.abs(y - decisions) > epsilon)
        case mv.MulticlassHinge():
            own = np.eye(3)[y.astype(int)]
            rival = np.where(own, -np.inf, decisions)
            missed = 1.0 + rival.max(axis=1) - (own * decisions).sum(axis=1) > 0.0
            return loss.C * (rival == rival.max(axis=1, keepdims=True)) * missed[:, None]
        case mv.OneAgainstAllHinge():
            return loss.C * ((2.0 * np.eye(3)[y.astype(int)] - 1.0) * decisions < 1.0)
    raise AssertionError(loss)


def test_every_loss_is_found_by_name() -> None:
    several = {"multiclass-hinge", "one-against-all"}
    assert set(loss_families()) >= {"hinge", "logistic", "squared", "epsilon-insensitive"} | several
    for loss in loss_families().values():
        assert loss.label


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
@pytest.mark.parametrize("seed", range(12))
def test_the_best_bias_beats_a_fine_grid(loss: Loss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, scores = sample(loss, int(rng.integers(2, 30)), rng)
    if seed % 3 == 0:
        y, scores = (y if not loss.regression else np.round(y)), np.round(scores)  # ties
    value, bias = loss.primal(scores, y)
    assert value == pytest.approx(loss.value(scores + bias, y), rel=1e-14)
    span = np.abs(scores).max() + np.abs(y).max() + 5.0
    grid = np.concatenate([np.linspace(-span, span, 2001), bias + np.array([-1e-3, -1e-6, 1e-6, 1e-3])])
    assert value <= min(loss.value(scores + b, y) for b in grid) * (1 + 1e-12)


@pytest.mark.parametrize("scores", [np.zeros(9), np.linspace(-800.0, 800.0, 9), np.full(9, 1e8), np.arange(9) * 1e-9])
@pytest.mark.parametrize("n_plus", [1, 4, 8])
def test_the_logistic_bias_balances_the_errors_to_rounding(scores: np.ndarray, n_plus: int) -> None:
    y = np.where(np.arange(9) < n_plus, 1.0, -1.0)
    decisions = scores + mv.Logistic().best_bias(scores, y)
    errors = 1.0 / (1.0 + np.exp(np.clip(y * decisions, -700.0, 700.0)))
    # a decision can be no more exact than the scores' own rounding
    assert abs(y @ errors) <= 1e-14 + 9 * np.finfo(float).eps * np.abs(scores).max()


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_without_bias_the_loss_is_taken_as_it_is(loss: Loss) -> None:
    rng = np.random.default_rng(3)
    y, scores = sample(loss, 12, rng)
    plain = type(loss)(**{**vars(loss), "bias": False})
    assert plain.primal(scores, y) == (loss.value(scores, y), 0.0)
    unbalanced = np.full(12, 0.5)
    plain.check_dual(unbalanced, y)
    y[:] = np.abs(y)
    with pytest.raises(ProblemError, match="dual variables must"):
        loss.check_dual(unbalanced, y)


@pytest.mark.parametrize("loss", [*LOSSES, *SEVERAL], ids=repr)
def test_fenchel_young(loss: Loss) -> None:
    """value(z) - dual_value(beta) >= -beta'z, with equality at beta = -C l'(z)."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        y, z = sample(loss, 6, rng)
        low, high = np.clip(loss.box, -30.0, 30.0)
        dual = rng.uniform(low, high, size=z.shape)
        dual[0] = rng.choice([low, high])
        if isinstance(loss, mv.MulticlassHinge):  # the classes of a sample share C
            dual = np.where(np.eye(3)[y.astype(int)], 0.0, dual) / rng.uniform(2.0, 5.0)
        signed = loss.signed(dual, y)
        size = loss.value(z, y) + np.abs(signed * z).sum() + 1.0
        assert loss.value(z, y) - loss.dual_value(dual, y) >= -np.vdot(signed, z) - 1e-12 * size
        best = dual_at(loss, y, z)
        tight = loss.value(z, y) - loss.dual_value(best, y) + np.vdot(loss.signed(best, y), z)
        assert abs(tight) <= 1e-12 * (size + np.abs(best).sum() * np.abs(z).max())
        if loss.multiclass:
            np.testing.assert_array_equal(loss.dual_from_signed(loss.signed(best, y), y), best)


@pytest.mark.parametrize("share", [1e-12, 1e-6, 0.3, 1.0 - 1e-6])
def test_the_entropy_of_the_logistic_loss_keeps_its_digits_at_both_ends(share: float) -> None:
    with localcontext(prec=50):
        u = Decimal(share)
        exact = -(u * u.ln() + (1 - u) * (1 - u).ln())
    assert mv.Logistic(3.0).dual_value(np.full(1, 3.0 * share), np.ones(1)) == pytest.approx(
        3.0 * float(exact), rel=4e-15
    )


def test_the_entropy_of_the_logistic_loss_vanishes_at_both_ends_and_beyond_by_rounding() -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0])
    loss = mv.Logistic(3.0)
    assert loss.dual_value(np.array([0.0, 3.0, 0.0, 3.0]), y) == 0.0
    assert loss.dual_value(np.array([-1e-17, 3.0 + 1e-15, 0.0, 0.0]), y) == 0.0
    assert loss.dual_value(np.full(4, 1.5), y) == pytest.approx(3.0 * 4 * np.log(2.0), rel=1e-15)


def test_every_class_gets_the_bias_of_its_own_hinge_loss() -> None:
    y, z = sample(SEVERAL[1], 15, np.random.default_rng(2))
    value, bias = mv.OneAgainstAllHinge(3.0).primal(z, y)
    machines = [mv.Hinge(3.0).primal(z[:, k], np.where(y == k, 1.0, -1.0)) for k in range(3)]
    np.testing.assert_array_equal(bias, [found[1] for found in machines])
    assert value == pytest.approx(sum(found[0] for found in machines), rel=1e-14)


TWO, NUMBERS = (mv.Hinge, mv.Logistic), (mv.Squared, mv.EpsilonInsensitive)
CLASSES = (mv.MulticlassHinge, mv.OneAgainstAllHinge)
TARGETS: list[tuple[tuple[type[Loss], ...], list[float], str]] = [
    (TWO, [1.0, -1.0], ""),
    (TWO, [0.0, 1.0], "labels -1 and"),
    (TWO, [1.0, 1.0], "both classes"),
    (TWO, [1.0, np.nan], "labels -1 and"),
    (NUMBERS, [0.1, 1e9, -3.0], ""),
    (NUMBERS, [2.0, 2.0], "All targets are 2"),
    (NUMBERS, [1.0, np.inf], "1 are nan or inf"),
    (CLASSES, [0.0, 2.0, 1.0], ""),
    (CLASSES, [0.0, 1.5, 1.0], "whole numbers such as 0, 1, 2, …, but the label of sample 1 is 1.5"),
    (CLASSES, [0.0, np.nan, 1.0], "the label of sample 1 is nan"),
    (CLASSES, [*np.arange(10_001.0)], "10,001 different labels"),
    (CLASSES, [2.0, 2.0, 2.0], "All labels are 2"),
]


@pytest.mark.parametrize(("kinds", "y", "said"), TARGETS)
def test_targets_of_another_kind_are_refused(kinds: tuple[type[Loss], ...], y: list[float], said: str) -> None:
    for kind in kinds:
        with pytest.raises(ProblemError, match=said) if said else nullcontext():
            kind().check_targets(np.array(y))
