"""Long computations in one piece are cut where someone may want them to stop, and their results stay the same."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import LinAlgError, cho_solve

from mklviz.context import interruptible
from mklviz.errors import Interrupted
from mklviz.inner import blocked as _blocked
from mklviz.inner import matrix_game as _matrix_game
from mklviz.inner.blocked import cholesky, scaled_copy
from mklviz.solvers._cutting_plane import CuttingPlaneModel

RNG = np.random.default_rng(0)


def definite(n: int) -> np.ndarray:
    half = RNG.normal(size=(n, n))
    return half @ half.T + n * np.eye(n)


def giving_up(after: int) -> Callable[[], None]:
    calls = itertools.count(1)

    def check() -> None:
        if next(calls) > after:
            raise Interrupted("enough")

    return check


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SMALL": 5, "WIDTH": 7, "WORK": 1, "COPIED": 10}.items():
        monkeypatch.setattr(_blocked, name, value)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [1, 5, 6, 7, 60])
def test_the_factor_by_blocks_solves_the_system(n: int) -> None:
    A, right = definite(n), RNG.normal(size=(n, 2))
    solved = cho_solve(cholesky(A.copy()), right)
    np.testing.assert_allclose(A @ solved, right, atol=1e-12 * np.abs(right).max())  # the condition is at most five


@pytest.mark.usefixtures("small_blocks")
def test_a_matrix_that_is_not_definite_is_refused_in_any_block() -> None:
    for place in (0, 20, 59):
        A = definite(60)
        A[place, place] = -1.0
        with pytest.raises(LinAlgError):
            cholesky(A)


@pytest.mark.usefixtures("small_blocks")
def test_a_factorisation_and_a_copy_can_be_left() -> None:
    A = definite(60)
    np.testing.assert_allclose(scaled_copy(A, None, 2.0), A + 2.0 * np.eye(60))
    scale = RNG.random(60)
    np.testing.assert_allclose(scaled_copy(A, scale, 1.0), scale[:, None] * A * scale + np.eye(60))
    for work in (lambda: cholesky(A.copy()), lambda: scaled_copy(A, None, 1.0)):
        with pytest.raises(Interrupted), interruptible(giving_up(5)):
            work()


def model(purge: bool = False) -> CuttingPlaneModel:
    made = CuttingPlaneModel(30, purge)
    for cut in 5.0 + np.random.default_rng(1).normal(size=(40, 30)):
        made.add(cut)
    return made


def test_the_linear_program_stops_between_pivots_and_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = model().minimize()
    monkeypatch.setattr(_matrix_game, "_CHUNK", 1)
    piecewise = model().minimize()
    assert piecewise.theta == pytest.approx(whole.theta, rel=1e-12)
    np.testing.assert_allclose(piecewise.weights, whole.weights, atol=1e-10)
    with pytest.raises(Interrupted), interruptible(giving_up(3)):
        model().minimize()
