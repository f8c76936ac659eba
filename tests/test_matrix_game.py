"""The matrix game against optimality conditions, which are sufficient, and HiGHS where rounding is in the way."""

from __future__ import annotations

import numpy as np
import pytest

from mklviz.contract import Array
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.inner.matrix_game import MatrixGame
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.solvers._cutting_plane import CuttingPlaneModel


def units(cuts: Array) -> Array:
    return np.maximum(np.abs(cuts).max(axis=1), 1e-300)


def assert_solved(cuts: Array, d: Array, w: Array, accuracy: float = 1e-12) -> None:
    """Both sides of the game agree: no d is better against w, and no w against d."""
    assert min(d.min(), w.min()) >= -accuracy
    assert d.sum() == pytest.approx(1.0, abs=1e-12)
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (cuts @ d).max() - (w @ cuts).min() <= accuracy * np.abs(cuts).max() * len(cuts)


@pytest.mark.parametrize(("J", "m"), [(1, 1), (1, 7), (7, 1), (5, 3), (20, 40), (60, 20), (30, 200)])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_game_that_grows_row_by_row_is_solved_after_every_row(J: int, m: int, size: float) -> None:
    cuts = size * np.random.default_rng(J + m).normal(size=(J, m))
    game = MatrixGame()
    for j in range(J):
        found = game.solve(cuts[: j + 1], units(cuts[: j + 1]))
        assert found is not None
        assert_solved(cuts[: j + 1], *found)
        assert len(game.rows) == len(game.columns) <= min(j + 1, m)


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


def test_real_cuts_are_played_without_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    train, _ = load_dataset("heart").split(train=0.5, seed=0)
    posed = Problem(paper_bank(train.X), train.y, Hinge(C=100.0))
    trace = solve(posed, "silp", gap=None, max_iter=60)
    duals = [(posed.loss.dual_value(one.dual, posed.y), posed.loss.signed(one.dual, posed.y)) for one in trace]
    cuts = np.array([value - 0.5 * posed.bank.quad(signed) for value, signed in duals])
    monkeypatch.setattr(CuttingPlaneModel, "_run", lambda _: None)
    model = CuttingPlaneModel(cuts.shape[1])
    for j, cut in enumerate(cuts):
        model.add(cut)
        theta, d, w = model.minimize()
        assert_solved(cuts[: j + 1], d, w, 1e-10)
        assert theta == pytest.approx((cuts[: j + 1] @ d).max(), rel=1e-10)


def test_highs_takes_over_where_the_game_is_lost_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = np.random.default_rng(7).normal(size=(12, 9))
    solve = MatrixGame.solve

    def lost(self: MatrixGame, rows: Array, sizes: Array) -> tuple[Array, Array] | None:
        return None if 4 <= len(rows) <= 8 else solve(self, rows, sizes)

    monkeypatch.setattr(MatrixGame, "solve", lost)
    model, asked = CuttingPlaneModel(9), []
    for j, cut in enumerate(cuts):
        model.add(cut)
        before = len(model._scales)
        theta, _, _ = model.minimize()
        asked.append(len(model._scales) > before)
        reference = solve(MatrixGame(), cuts[: j + 1], units(cuts[: j + 1]))
        assert reference is not None
        assert theta == pytest.approx((cuts[: j + 1] @ reference[0]).max(), abs=1e-8)  # HiGHS's tolerance is 1e-9
    assert asked == [4 <= j + 1 <= 8 for j in range(12)]
