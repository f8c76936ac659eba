"""What line searches tried, as their facts tell it: where, how high, and what it was compared with."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from test_geometry import few

from mklviz.analysis.steps import facts_of, step_of
from mklviz.analysis.weight_map import Slice
from mklviz.contract import Iterate
from mklviz.engine import solve
from mklviz.inner.oracle import SvmOracle
from mklviz.record import Trace
from mklviz.solvers._words import MOST_TRIALS

SETTINGS = {
    "SPG": ("spg", {}),
    "SPG as in the paper": ("spg", {"preset": "paper"}),
    "PGD": ("pgd", {}),
    "PGD+N": ("pgd", {"nonmonotone": True}),
    "PGD+S": ("pgd", {"spectral": True}),
    "PGD+N+S": ("pgd", {"nonmonotone": True, "spectral": True}),
    "SimpleMKL": ("simplemkl", {}),
    "SimpleMKL, Armijo": ("simplemkl", {"variant": "armijo"}),
}
SPECTRAL = [name for name in SETTINGS if "SimpleMKL" not in name]
SUFFICIENT = 1e-4


@cache
def run(name: str, m: int) -> Trace:
    solver, options = SETTINGS[name]
    return solve(few(m), solver, gap=1e-6, max_iter=20, **options)


def moved(name: str, m: int) -> list[tuple[Iterate, Iterate]]:
    """Return the steps that led somewhere, with those before them."""
    trace = run(name, m)
    return [(before, after) for before, after in pairwise(trace) if facts_of(after).trials]


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_trial_is_where_it_says_and_the_last_one_that_counts_is_where_the_step_ended(name: str, m: int) -> None:
    found = moved(name, m)
    assert found
    for before, after in found:
        trials = facts_of(after).trials
        assert any(along == pytest.approx(1.0, abs=1e-5) for along, _ in trials)
        assert len(trials) <= min(after.facts.known()["line_search_trials"], MOST_TRIALS)
        if m > 2:
            continue
        for along, value in trials:  # with two kernels the place is all of the weights
            weights = np.clip(before.weights + along * (after.weights - before.weights), 0.0, 1.0)
            exact = SvmOracle(few(2), 1e-9).solve(weights / weights.sum()).primal
            assert value == pytest.approx(exact, rel=2e-2)  # SPG's SVMs are solved to 0.1 at first


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SPECTRAL)
def test_what_was_taken_came_below_the_threshold_of_the_step_before_and_nothing_else_did(name: str, m: int) -> None:
    problem = few(m)
    assert moved(name, m)
    for before, after in moved(name, m):
        threshold, trials = facts_of(before).reference, facts_of(after).trials
        assert threshold is not None
        gradient = -0.5 * problem.bank.quad(problem.loss.signed(before.dual, problem.y))
        slope = abs(trials[0][0] * float(gradient @ (after.weights - before.weights)))  # of the whole move
        if str(after.facts.known().get("direction", "")) == "averaged":
            continue  # out of a kink the value itself is the threshold
        *refused, (_, taken) = trials
        assert taken <= threshold + 1e-9 * abs(threshold)
        assert all(value > threshold - SUFFICIENT * slope * 1.01 for _, value in refused)


def test_line_searches_refuse_trials_at_all() -> None:
    refused = [len(facts_of(after).trials) - 1 for _, after in moved("PGD", 2)]
    assert max(refused) >= 3


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SPECTRAL)
def test_a_threshold_is_the_average_of_the_values_taken_by_zhang_and_hager(name: str, m: int) -> None:
    # Q+ = eta Q + 1,  C+ = (eta Q C + W+) / Q+, begun anew where the SVMs become more exact
    trace, mass = run(name, m), 1.0
    checked = 0
    for before, after in pairwise(trace):
        known, was, now = after.facts.known(), facts_of(before).reference, facts_of(after).reference
        if before.facts.svm_tolerance != after.facts.svm_tolerance or known.get("direction"):
            mass = 1.0
            continue
        if not facts_of(after).trials:
            continue
        assert was is not None
        memory, value = float(known["memory"]), facts_of(after).trials[-1][1]
        new_mass = memory * mass + 1.0
        assert now == pytest.approx((memory * mass * was + value) / new_mass, rel=1e-8)
        mass, checked = new_mass, checked + 1
    assert checked  # SPG's SVMs become more exact at almost every step


def test_a_method_without_memory_compares_with_its_last_value() -> None:
    assert moved("PGD", 2)
    for _, after in moved("PGD", 2):
        assert facts_of(after).reference == pytest.approx(facts_of(after).trials[-1][1], rel=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_crosses_stand_above_the_threshold_and_rings_below_it(name: str) -> None:
    trace, map_ = run(name, 2), Slice((0, 1), np.eye(2))
    for t in range(1, len(trace)):
        shown = step_of(trace[: t + 1], map_, (), lambda _: None)
        if not facts_of(trace[t]).trials:
            continue
        assert shown.line is not None
        assert all(high > shown.line for _, high in shown.refused)
        assert all(high <= shown.line for _, high in shown.passed)
        assert len(shown.refused) + len(shown.passed) == len(facts_of(trace[t]).trials)
        assert shown.passed[-1][0] == pytest.approx(trace[t].weights[0], abs=1e-6)  # the one that was taken
