"""ALIGNF and EasyMKL: their own programs against the optimality conditions, and an end that says what they do."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import dense, problem
from test_trace import changed

from mklviz.contract import Array
from mklviz.engine import make_solver, solve
from mklviz.inner.oracle import dense_kernels
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.record.summary import result_at
from mklviz.record.trace import Trace
from mklviz.solvers._two_stage import TwoStage, TwoStageFacts
from mklviz.solvers.alignf import alignments
from mklviz.solvers.easymkl import nearest_points

NAMES = ["blobs, C = 100", "random Gram matrices", "sonar"]


def centred(grams: np.ndarray) -> np.ndarray:
    n = grams.shape[1]
    H = np.eye(n) - 1.0 / n
    return H @ grams @ H


@pytest.mark.parametrize("name", NAMES)
def test_products_and_targets_are_those_of_centred_kernels(name: str) -> None:
    posed = problem(name)
    K, y = centred(dense(posed.bank)), posed.y
    products, targets = alignments(dense_kernels(posed), y)
    # sums in another order
    np.testing.assert_allclose(products, np.einsum("kij,lij->kl", K, K), rtol=1e-9, atol=1e-12 * products.max())
    np.testing.assert_allclose(targets, np.einsum("kij,i,j->k", K, y, y), rtol=1e-9, atol=1e-12 * np.abs(targets).max())


@pytest.mark.parametrize("name", NAMES)
def test_no_weights_are_better_aligned_than_those_of_alignf(name: str) -> None:
    posed = problem(name)
    products, targets = alignments(dense_kernels(posed), posed.y)
    d = solve(posed, "alignf").final.weights
    v = d * float(d @ targets) / float(d @ products @ d)  # the best multiple
    slopes = products @ v - targets
    assert slopes.min() >= -1e-8 * np.abs(targets).max()
    np.testing.assert_allclose(slopes[d > 0.0], 0.0, atol=1e-8 * np.abs(targets).max())


@pytest.mark.parametrize("share", [0.1, 0.9])
@pytest.mark.parametrize("name", NAMES)
def test_the_points_of_easymkl_are_the_nearest_and_its_weights_their_distances(name: str, share: float) -> None:
    posed = problem(name)
    signed = nearest_points(posed, share)
    K, y = dense(posed.bank), posed.y
    mean = K.mean(axis=0)
    pull = ((1.0 - share) * mean + share * np.trace(mean) / posed.n * np.eye(posed.n)) @ signed
    for sign in (1.0, -1.0):
        held, slopes = sign * signed[y == sign], sign * pull[y == sign]
        assert held.min() >= 0.0
        assert held.sum() == pytest.approx(1.0, abs=1e-12)
        assert slopes[held > 0.0].max() - slopes.min() <= 1e-6 * np.abs(pull).max()  # all equal, none lower
    pulls = np.einsum("kij,i,j->k", K, signed, signed)
    found = solve(posed, "easymkl", share=share).final.weights
    np.testing.assert_allclose(found, pulls / pulls.sum(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["alignf", "easymkl"])
def test_they_end_after_one_step_with_a_certified_gap_say_why_and_others_start_where_they_end(name: str) -> None:
    posed = problem("sonar")
    trace = solve(posed, name)
    assert len(trace) == 2
    assert trace.final.svm_solves == 2
    assert "does not look at the objective" in trace.reason
    assert trace.final.lower_bound <= solve(posed, "newton", gap=1e-6).best.objective <= trace.final.objective
    assert TwoStageFacts.of(trace.final).criterion > 0.0
    first = next(iter(make_solver("level").iterates(posed, trace.final)))
    np.testing.assert_allclose(first.weights, trace.final.weights, rtol=1e-12)


@pytest.mark.parametrize("name", ["alignf", "easymkl"])
def test_kernels_that_tell_nothing_apart_get_equal_weights(name: str) -> None:
    bank = type(problem("sonar").bank).from_grams([np.ones((6, 6)), 2.0 * np.ones((6, 6))])
    posed = Problem(bank, np.array([1.0, -1.0] * 3), Hinge(1.0), Simplex())
    np.testing.assert_allclose(solve(posed, name).final.weights, 0.5)


class Heaviest(TwoStage):
    """All weight on the last kernel, which is far from optimal; a solver of somebody's own."""

    name_ = "heaviest"
    label = "Heaviest"
    by = "its place"

    def weigh(self, problem: Problem) -> tuple[Array, TwoStageFacts]:
        return np.eye(problem.m)[-1], TwoStageFacts(criterion=1.0)


@cache
def worse_than_its_start(gap: float = 1e-2) -> Trace:
    trace = solve(problem("blobs, C = 100"), Heaviest(), gap=gap)
    assert trace[0].objective < trace.final.objective
    return trace


@pytest.mark.parametrize("gap", [1e-2, 0.99, 1e9])
def test_the_solution_is_what_the_method_chose_however_low_the_objective_of_its_start(gap: float) -> None:
    trace = worse_than_its_start(gap)
    assert (len(trace), trace.best_index, trace.best_index_at(0)) == (2, 1, 0)
    assert trace.best is trace.final
    bound = trace.best_bound.lower_bound
    assert trace.gap[-1] == (trace.final.objective - bound) / trace.final.objective
    assert trace.status == ("converged" if trace.gap[-1] <= gap else "limit")
    assert result_at(trace).objective == trace.final.objective
    assert trace.best_start.weights[-1] == 1.0


def test_files_say_that_the_last_iterate_is_the_solution_and_older_ones_are_known_by_their_solver(
    tmp_path: Path,
) -> None:
    def read(**header: Any) -> Trace:
        return Trace.load(changed(worse_than_its_start(), tmp_path / "t", ("descends",), **header))

    assert read(descends=False).best_index == 1
    assert read(descends=True).best_index == 0
    assert [read(solver=name).best_index for name in ("alignf", "easymkl", "smkl", "silp")] == [1, 1, 1, 0]
