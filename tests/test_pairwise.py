"""Pairwise and away-step Frank-Wolfe: which weights a step changes, what it drops, and the gap that comes free."""

from itertools import pairwise

import numpy as np
import pytest
from _conic import optimum
from _problems import problem

from mklviz.contract import Iterate
from mklviz.engine import make_solver, solve
from mklviz.record import Trace
from mklviz.solvers.pairwise import PairwiseFacts

WHERE = "blobs, C = 100"
NAMES = problem(WHERE).bank.names


def facts(iterate: Iterate) -> PairwiseFacts:
    return PairwiseFacts.of(iterate)


def run(gap: float = 1e-6, **options: str) -> Trace:
    return solve(problem(WHERE), "pairwise", gap=gap, max_iter=2000, **options)


def steps(direction: str) -> list[tuple[Iterate, Iterate]]:
    """Return what is before and after each step of a kind, from equal weights."""
    trace = run(first="equal", variant=direction)
    found = [(before, after) for before, after in pairwise(trace) if facts(after).direction == direction]
    assert found
    return found


@pytest.mark.parametrize("first", ["corner", "equal"])
@pytest.mark.parametrize("variant", ["pairwise", "away"])
def test_either_step_from_either_start_ends_at_the_optimum(variant: str, first: str) -> None:
    trace = run(1e-7, variant=variant, first=first)
    assert trace.status in {"converged", "precision"}
    assert trace.best.objective == pytest.approx(optimum(WHERE), rel=1e-6)


def test_a_pairwise_step_changes_two_weights() -> None:
    for before, after in steps("pairwise"):
        changed = np.flatnonzero(np.abs(after.weights - before.weights) > 1e-12)  # the sum is made one again
        assert {NAMES[k] for k in changed} <= {facts(after).gainer, facts(after).giver}


def test_a_step_away_leaves_the_proportions_of_the_others() -> None:
    for before, after in steps("away"):
        others = np.flatnonzero((np.array(NAMES) != facts(after).giver) & (before.weights > 0.0))
        ratios = after.weights[others] / before.weights[others]
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
        assert ratios[0] > 1.0


def test_from_equal_weights_a_step_drops_one_kernel_at_most_and_the_corner_drops_all_but_one() -> None:
    assert max(facts(after).dropped for _, after in steps("pairwise")) == 1.0
    corner = run()[1]
    assert facts(corner).direction == "corner"
    assert corner.active == 1


def test_the_promise_of_the_best_corner_is_the_duality_gap_of_an_exact_svm() -> None:
    """And never more than the certified one, which knows the SVM's error as well."""
    made = make_solver("pairwise", svm_tolerance=1e-10)
    for iterate in solve(problem(WHERE), made, gap=1e-5):
        # of the objective, at a tolerance of 1e-10 beside dual variables of 100
        assert facts(iterate).frank_wolfe_gap == pytest.approx(iterate.gap, rel=1e-6, abs=1e-8)
