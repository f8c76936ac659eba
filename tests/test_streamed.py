"""Kernels that are computed when needed are the kernels they stand for, and take no memory."""

from collections.abc import Callable

import numpy as np
import pytest

from mklviz.context import interruptible
from mklviz.engine import solve
from mklviz.errors import Interrupted
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import Hinge, LpBall, Problem

RNG = np.random.default_rng(3)
X = RNG.normal(size=(70, 6)) * [1.0, 1.0, 5.0, 0.1, 1.0, 1.0]
Y = np.where(RNG.random(70) < 0.5, 1.0, -1.0)
FAMILIES = {
    "the papers' widths": Gaussian(on="all+each"),
    "widths in any order": Gaussian(widths=(1.0, 4.0, 0.25, 2.0, 0.5), on="random:40"),
    "a finer series": Gaussian(widths=tuple(0.5 * 2.0 ** (k / 2.0) for k in range(6)), on=[2, 3]),
    "one width, far too narrow": Gaussian(widths=(1e-3,), on="all"),
}


def banks(family: Gaussian, normalize: str = "trace") -> tuple[KernelBank, KernelBank]:
    """The same kernels, computed when needed and kept."""
    kept = KernelBank.build(X, [family], normalize)
    room = 400 * len(kept)  # bytes: for the kernels' names alone
    return KernelBank.build(X, [family], normalize, max_bytes=room), kept


@pytest.mark.parametrize("normalize", ["trace", "diagonal", "none"])
@pytest.mark.parametrize("name", FAMILIES)
def test_answers_are_those_of_the_kernels_that_are_kept(name: str, normalize: str) -> None:
    streamed, kept = banks(FAMILIES[name], normalize)
    assert "on the fly" in streamed.backend
    assert "on the fly" not in kept.backend
    assert streamed.names == kept.names
    weights, v, two = RNG.random(len(kept)), RNG.normal(size=70), RNG.normal(size=(70, 2))
    v[::3] = 0.0
    weights[1::2] = 0.0
    # squarings lose about a digit each beyond the first three; factors of low rank are exact to 1e-13 of the trace
    close = {"rtol": 1e-11, "atol": 1e-11 * float(kept.combine(weights).max() + 1e-300)}
    np.testing.assert_allclose(streamed.combine(weights), kept.combine(weights), **close)
    np.testing.assert_allclose(streamed.quad(v), kept.quad(v), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(streamed.quad(two), kept.quad(two), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(streamed.apply(weights, v), kept.apply(weights, v), rtol=1e-9, atol=1e-11)
    which = np.array([0, len(kept) - 1])
    np.testing.assert_allclose(streamed.products(v, which), kept.products(v, which), rtol=1e-9, atol=1e-11)
    new = np.vstack([X[:3], 30.0 * X[3:5]])  # some far from all samples
    np.testing.assert_allclose(streamed.cross(new).combine(weights), kept.cross(new).combine(weights), **close)
    some = np.flatnonzero(weights)[-3:]
    parts = [bank.part(some, np.arange(20, 50)).cross(new).combine(np.ones(len(some))) for bank in (streamed, kept)]
    np.testing.assert_allclose(parts[0], parts[1], **close)


@pytest.mark.parametrize("columns", [[4], [0, 1, 2], [0, 1, 2, 3, 4], list(range(6))])
def test_every_kernel_value_is_right_to_rounding(columns: list[int]) -> None:
    widths = tuple(2.0**k for k in range(-3, 8))  # eleven: twice five and one more
    bank = KernelBank.build(X, [Gaussian(widths=widths, on=columns)], "none", max_bytes=400 * len(widths))
    squares = ((X[:, None, columns] - X[None, :, columns]) ** 2).sum(2)
    for k, width in enumerate(widths):
        value = bank.combine(np.eye(len(widths))[k])
        # a squaring doubles the error of exp, which then falls as the square does: 22 of them leave some units
        np.testing.assert_allclose(value, np.exp(-0.5 * squares / width**2), rtol=0.0, atol=2e-15)


@pytest.mark.usefixtures("streamed_in_pieces")
def test_pieces_done_in_any_order_give_the_same_bits() -> None:
    def backwards(piece: Callable[[int], None], pieces: int) -> None:
        for k in reversed(range(pieces)):
            piece(k)

    streamed, _ = banks(FAMILIES["the papers' widths"])
    weights, v = RNG.random(len(streamed)), RNG.normal(size=70)
    told: list[tuple[str, float]] = []
    with interruptible(lambda: None, lambda *report: told.append(report), backwards):
        turned = streamed.combine(weights), streamed.quad(v), streamed.cross(X[:5]).combine(weights)
    in_order = streamed.combine(weights), streamed.quad(v), streamed.cross(X[:5]).combine(weights)
    for one, other in zip(turned, in_order, strict=True):
        np.testing.assert_array_equal(one, other)
    slopes = [fraction for what, fraction in told if what == "computing the slopes of 70 kernels"]
    assert sorted(slopes) == [k / 7 for k in range(8)]  # subset by subset
    assert ("adding 70 kernels", 1.0) in told


def test_only_what_does_not_fit_is_computed_on_the_fly() -> None:
    families = [Polynomial(degrees=(1, 2), on="all"), Gaussian(on="random:60")]
    allowed = 1_000_000
    bank = KernelBank.build(X, families, max_bytes=allowed)
    assert bank.backend == "600 on the fly, 2 packed"
    m, size = KernelBank.check_size(70, 6, families, allowed)
    assert m == len(bank) == 602
    assert bank.nbytes <= size <= allowed < KernelBank.estimate(70, 6, families)[1]


def test_solvers_find_the_same_optimum_on_either() -> None:
    ends = []
    for bank in banks(FAMILIES["widths in any order"]):
        problem = Problem(bank, Y, Hinge(10.0), LpBall(4.0 / 3.0))
        ends.append(solve(problem, "closed-form", gap=1e-6))
    assert [end.status for end in ends] == ["converged", "converged"]
    np.testing.assert_allclose(ends[0].best.weights, ends[1].best.weights, rtol=1e-5, atol=1e-9)
    assert ends[0].best.objective == pytest.approx(ends[1].best.objective, rel=1e-8)


def test_a_long_computation_can_be_left_in_its_middle() -> None:
    asked = []

    def stop() -> None:
        asked.append(True)
        if len(asked) > 1:
            raise Interrupted("enough")

    streamed, _ = banks(FAMILIES["the papers' widths"])
    with pytest.raises(Interrupted), interruptible(stop):
        streamed.quad(np.ones(70))
    assert len(asked) == 2
    assert streamed.quad(np.ones(70)).shape == (70,)  # whoever comes next is not interrupted
