"""ALIGNF and EasyMKL: their own programs against the optimality conditions, and an end that says what they do."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import dense, problem

from mklviz.engine import make_solver, solve
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.solvers._dense import dense_kernels
from mklviz.solvers._two_stage import TwoStageFacts
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
def test_they_end_after_one_step_with_a_certified_gap_and_say_why(name: str) -> None:
    posed = problem("sonar")
    trace = solve(posed, name)
    assert len(trace) == 2
    assert trace.final.svm_solves == 2
    assert "does not look at the objective" in trace.reason
    assert trace.final.lower_bound <= solve(posed, "newton", gap=1e-6).best.objective <= trace.final.objective
    assert TwoStageFacts.of(trace.final).criterion > 0.0


@pytest.mark.parametrize("name", ["alignf", "easymkl"])
def test_others_start_where_they_end(name: str) -> None:
    posed = problem("sonar")
    there = solve(posed, name).final
    first = next(iter(make_solver("level").iterates(posed, there)))
    np.testing.assert_allclose(first.weights, there.weights, rtol=1e-12)


@pytest.mark.parametrize("name", ["alignf", "easymkl"])
def test_kernels_that_tell_nothing_apart_get_equal_weights(name: str) -> None:
    bank = type(problem("sonar").bank).from_grams([np.ones((6, 6)), 2.0 * np.ones((6, 6))])
    posed = Problem(bank, np.array([1.0, -1.0] * 3), Hinge(1.0), Simplex())
    np.testing.assert_allclose(solve(posed, name).final.weights, 0.5)
