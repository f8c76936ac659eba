"""The objective as it is drawn: convex, above every cut and every certified bound, and as fine as the picture."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mklviz as mv
from mklviz.analysis.landscape import FLAT, RESOLUTION, Landscape
from mklviz.analysis.steps import Cuts
from mklviz.analysis.weight_map import SIDE, Slice
from mklviz.contract import Array
from mklviz.inner.oracle import SvmOracle

TWO = (mv.Gaussian(widths=(2.0,)), mv.Polynomial(degrees=(2,)))
THREE = tuple(mv.Gaussian(widths=(1.0,), on=[feature]) for feature in (2, 4, 7))
HINGES = [(name, mv.Hinge(C)) for name in ("ionosphere", "heart", "sonar", "pima") for C in (1.0, 100.0, 10_000.0)]
OTHERS = [
    ("heart", mv.Logistic(10.0)),
    ("heart", mv.Hinge(100.0, bias=False)),
    ("diabetes", mv.EpsilonInsensitive(10.0)),
    ("diabetes", mv.Squared(10.0)),
    ("wine", mv.MulticlassHinge(10.0)),
]


@cache
def posed(name: str, loss: mv.Loss, kernels: tuple[mv.KernelFamily, ...] = TWO) -> mv.Problem:
    data = mv.load_dataset(name).split(train=0.5, seed=0)[0]
    y = (data.y - data.y.mean()) / data.y.std() if data.task == "regression" else data.y
    return mv.Problem(mv.KernelBank.build(data.X, kernels), y, loss)


def unseen(heights: Array) -> float:
    """Return what a height may be off: a share of the range, or of the least range that is drawn."""
    return RESOLUTION * max(float(np.ptp(heights)), FLAT * float(np.abs(heights).max()))


@pytest.mark.parametrize(("name", "loss"), [*HINGES, *OTHERS])
def test_the_objective_over_two_kernels_is_convex_and_above_all_that_is_proved(name: str, loss: mv.Loss) -> None:
    problem, ends = posed(name, loss), np.eye(2)
    x, _, z = Landscape(problem, Slice((0, 1), ends)).finest()
    shares, heights = x[0], z[0]
    assert np.diff(heights, 2).min() >= -4.0 * unseen(heights)  # of three heights, one of them twice
    trace, cuts = mv.solve(problem, "level", gap=1e-5, max_iter=15), Cuts(problem, ends)
    for step in trace:
        at_one, at_zero = cuts.of(step.dual)
        assert (heights >= (shares * at_one + (1.0 - shares) * at_zero) * (1.0 - 1e-12)).all()  # rounding
    assert heights.min() >= trace.best_bound.lower_bound * (1.0 - 1e-12)
    exact = SvmOracle(problem, 1e-10)
    for share, height in zip(shares[::8], heights[::8], strict=True):
        truth = exact.solve(np.array([share, 1.0 - share]))
        assert truth.value - 1e-12 * height <= height <= truth.primal + unseen(heights)


@pytest.mark.parametrize(("name", "C"), [("heart", 100.0), ("sonar", 10_000.0), ("ionosphere", 1.0)])
def test_over_three_kernels_it_is_convex_along_every_line_of_nodes(name: str, C: float) -> None:
    land = Landscape(posed(name, mv.Hinge(C), THREE), Slice((0, 1, 2), np.eye(3)))
    land.finest()
    off = unseen(np.array(list(land.heights.values())))
    for (i, j), height in land.heights.items():
        for di, dj in ((1, 0), (0, 1), (1, -1)):
            around = [land.heights.get((i + sign * di, j + sign * dj)) for sign in (-1, 1)]
            if None not in around:
                assert sum(around) - 2.0 * height >= -4.0 * off
    assert len(land.heights) == (SIDE + 1) * (SIDE + 2) // 2
