"""Paths from a start that is dragged: they begin there, come to the same optimum, and give way to the newest start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from _problems import blobs, random_grams
from _waits import wait_for

from mklviz.analysis.own_weights import GOAL, STEPS, DraggedPaths, PathsFrom, paths_from, why_no_start
from mklviz.contract import Iterate, Solver
from mklviz.engine import make_solver
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, LpBall, Problem, Simplex
from mklviz.solvers.level import Level


class BeginsAnew(Level):
    """A solver that begins at equal weights whatever it is given, as stochastic ones do."""

    label = "Begins anew"

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        yield from super().iterates(problem)


def three(n: int = 24) -> Problem:
    _, y = blobs(n, 0.3, seed=3)
    return Problem(KernelBank.from_grams(random_grams(3, n, seed=1)), y, Hinge(10.0), Simplex())


def made(*names: str) -> dict[str, Solver]:
    return {name: make_solver(name) for name in names}


def silent(fraction: float, sentence: str = "") -> None:
    """Tell nobody."""


@pytest.mark.parametrize("start", [(0.2, 0.3, 0.5), (1.0, 0.0, 0.0), (0.5, 0.5, 0.0)], ids=str)
def test_every_path_begins_at_the_start_and_ends_at_the_optimum(start: tuple[float, ...]) -> None:
    found = paths_from(three(), made("silp", "level", "spg"), np.array(start), 60.0, silent)
    assert set(found.traces) == {"silp", "level", "spg"}
    assert found.ended
    assert not found.missing
    best = min(trace.best.objective for trace in found.traces.values())
    for trace in found.traces.values():
        assert trace[0].weights == pytest.approx(start)
        assert trace.best.objective == pytest.approx(best, rel=2 * GOAL)  # each is within the goal of the optimum
        assert len(trace) <= STEPS + 1


def test_a_path_that_the_time_cuts_short_says_so() -> None:
    found = paths_from(three(), made("level", "spg"), np.array([0.1, 0.1, 0.8]), 0.0, silent)
    assert not found.ended
    assert set(found.traces) | set(found.missing) == {"level", "spg"}


def test_a_solver_that_begins_elsewhere_is_left_out_with_a_sentence() -> None:
    solvers = {**made("level"), "anew": BeginsAnew()}
    found = paths_from(three(), solvers, np.array([0.1, 0.1, 0.8]), 60.0, silent)
    assert list(found.traces) == ["level"]
    assert found.missing == {"anew": "Begins anew does not begin at weights that are given."}


def test_the_newest_start_wins() -> None:
    paths = DraggedPaths(three(), made("silp", "level", "spg"))
    starts = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    for start in starts:
        paths.ask(start)
    assert awaited(paths).start == pytest.approx(starts[-1])


def test_there_is_no_start_where_weights_follow_from_the_functions() -> None:
    posed = three()
    assert not why_no_start(posed)
    balls = Problem(posed.bank, posed.y, posed.loss, LpBall(2.0))
    assert "no start" in why_no_start(balls)


def awaited(paths: DraggedPaths) -> PathsFrom:
    wait_for(lambda: paths.task.ended, "the paths")
    drawn = paths.task.take()
    assert drawn is not None, paths.task.fault
    return drawn
