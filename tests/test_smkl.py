"""SMKL: answers against all supports, the conic optimum at a high price, cycles at a low one, and limits on kernels."""

import itertools

import numpy as np
import pytest
from _formulations import conic_value, targets, tiny_bank
from _problems import problem

from mklviz.engine import make_solver, solve
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import Hinge, Problem, SimplexRidge
from mklviz.record import Trace
from mklviz.solvers.smkl import SmklFacts, best_response

Array = np.ndarray


def tiny(lam: float, C: float = 2.0) -> Problem:
    return Problem(tiny_bank(), targets(False), Hinge(C), SimplexRidge(lam))


def best_by_supports(s: Array, lam: float, k0: int) -> float:
    """Return the least of ``lam ||d||^2 - s'd/2`` on the simplex with k0 weights at most, from every support.

    With weights on all of a support that is ``d = (s/2 + mu) / (2 lam)``, with mu for which they sum to one.
    """
    values = []
    for size in range(1, k0 + 1):
        for support in itertools.combinations(range(len(s)), size):
            half = 0.5 * s[list(support)]
            d = half / (2.0 * lam) + (1.0 - half.sum() / (2.0 * lam)) / size
            if d.min() >= 0.0:
                values.append(float(lam * d @ d - half @ d))
    return min(values)


@pytest.mark.parametrize("lam", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("k0", [1, 2, 3, 0])
def test_an_answer_is_the_best_of_all_supports(k0: int, lam: float) -> None:
    posed = tiny(lam)
    point = SvmOracle(posed, 1e-8).begin(None)
    d = best_response(posed, point, k0)
    assert d.sum() == pytest.approx(1.0, abs=1e-12)
    assert d.min() >= 0.0
    assert (d > 0.0).sum() <= (k0 or posed.m)
    value = lam * float(d @ d) - 0.5 * float(point.s @ d)
    assert value == pytest.approx(best_by_supports(point.s, lam, k0 or posed.m), rel=1e-12, abs=1e-12)


def test_at_a_high_price_the_answers_end_at_the_conic_optimum() -> None:
    posed = tiny(30.0)
    trace = solve(posed, "smkl", gap=1e-8)
    assert trace.status in {"converged", "precision"}
    assert trace.best.objective == pytest.approx(conic_value(posed), rel=1e-6)


@pytest.mark.parametrize("lam", [3.0, 30.0])
def test_answers_to_the_average_come_near_the_optimum_at_any_price(lam: float) -> None:
    trace = solve(tiny(lam), "smkl", gap=1e-3, max_iter=1000, against="average")
    assert trace.status == "converged"
    assert trace.best.objective == pytest.approx(conic_value(tiny(lam)), rel=1e-3)


LOW = Problem(problem("random Gram matrices").bank, problem("random Gram matrices").y, Hinge(100.0), SimplexRidge(10.0))


def cycling(**options: object) -> Trace:
    return solve(LOW, "smkl", gap=1e-3, max_iter=60, **options)


def test_at_a_low_price_answers_to_the_last_move_never_settle_and_say_so_and_those_to_the_average_do() -> None:
    trace, made = cycling(), make_solver("smkl")
    assert trace.status == "limit"
    assert trace.motion.moved > 20.0
    assert "against=average" in trace.reason
    again = [(b, a) for b, a in itertools.pairwise(trace) if SmklFacts.of(a).period > 1.0]
    assert again
    assert all("nothing ends this cycle" in made.narrate(*step) for step in again)
    assert cycling(against="average").gap[-1] < 0.1 * trace.gap[-1]


def test_the_bound_without_a_limit_holds_for_every_choice_of_two_kernels() -> None:
    posed = tiny(3.0)
    of_pairs = []
    for pair in itertools.combinations(range(posed.m), 2):
        grams = [posed.bank.combine(np.eye(posed.m)[k]) for k in pair]
        chosen = Problem(type(posed.bank).from_grams(grams), posed.y, posed.loss, posed.regularizer)
        of_pairs.append(solve(chosen, "spg", gap=1e-6).best.objective)
    trace = solve(posed, "smkl", gap=1e-6, max_iter=50, k0=2)
    assert max(iterate.active for iterate in trace) <= 2
    assert trace.lower_bound.max() <= min(of_pairs) * (1.0 + 1e-6) <= trace.best.objective * (1.0 + 2e-6)


def test_a_limit_and_averages_are_not_mixed() -> None:
    assert "not both" in make_solver("smkl", k0=2, against="average").refusal(tiny(1.0))
