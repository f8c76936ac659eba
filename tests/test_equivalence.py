"""One solution under many names: the equivalent problems are solved by it, and after a race its best run says which."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from _formulations import LOSSES, targets, tiny_bank, tiny_problem
from _problems import problem as named_problem
from _problems import ran
from _waits import wait_for

import mklviz as mv
from mklviz.engine import Gap, MaxIter, Race, solve
from mklviz.errors import ProblemError
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import BlockL1, ElasticNet, Hinge, L1Penalty, Loss, LpBall, Problem, Regularizer, Simplex, Squared
from mklviz.views.tabs.race import EquivalenceCard

LINEAR: list[Regularizer] = [mv.Simplex(), mv.L1Penalty(0.3), mv.BlockL1(0.7), mv.LpPenalty(1.0, 2.0)]
POWERS: list[Regularizer] = [mv.LpBall(1.5), mv.LpPenalty(1.5, 0.5), mv.PowerPenalty(1.5, 0.5), mv.BlockPower(0.6, 1.2)]


def solved(problem: mv.Problem) -> tuple[np.ndarray, np.ndarray]:
    trace = solve(problem, "spg", gap=1e-11, max_iter=2000)
    return trace.best.weights, trace.best.dual


def function(problem: mv.Problem, weights: np.ndarray, dual: np.ndarray) -> np.ndarray:
    scores = problem.bank.apply(weights, problem.loss.signed(dual, problem.y))
    return scores + problem.loss.primal(scores, problem.y)[1]


@pytest.mark.each_value
@pytest.mark.parametrize("regularizer", [*LINEAR, *POWERS], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_solution_solves_the_equivalent_problems(loss: Loss, regularizer: Regularizer) -> None:
    posed = tiny_problem(loss, regularizer)
    weights, dual = solved(posed)
    found = mv.equivalents(posed, weights, dual)
    kinds = {type(other.problem.regularizer) for other in found}
    family = {*map(type, LINEAR)} if regularizer in LINEAR else {*map(type, POWERS), mv.GroupSquaredPlusL1}
    assert kinds == family - {type(regularizer)}
    for other in found:
        # the new C is right to about the square root of the gap it was solved to, which kinks pass on
        assert other.problem.gap(other.weights, other.dual) <= 1e-4
        assert other.sentence.endswith(".")
        assert f"{other.problem.loss.C:.4g}" in other.sentence
        np.testing.assert_allclose(
            function(other.problem, other.weights, other.dual), function(posed, weights, dual), rtol=1e-3, atol=1e-3
        )


def test_formulations_of_no_single_norm_have_no_equivalents_and_a_solution_without_weights_calibrates_nothing() -> None:
    dual, weights = np.zeros(16), np.full(4, 0.25)
    for regularizer in (mv.ElasticNet(), mv.Entropy(), mv.GroupSquaredPlusL1(1.0, 0.1)):
        assert mv.equivalents(tiny_problem(LOSSES[0], regularizer), weights, dual) == ()
    with pytest.raises(ProblemError, match="No kernel has weight"):
        mv.equivalents(tiny_problem(LOSSES[0], mv.L1Penalty(1.0)), np.zeros(4), dual)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("loss", [Hinge(2.0), Squared(0.5)], ids=repr)
def test_the_formula_for_its_weights_ends_at_our_optimum(loss: Loss, mu: float) -> None:
    y = targets(loss.regression)
    oracle = SvmOracle(Problem(tiny_bank(), y, loss, Simplex()), 1e-10)
    d = np.full(4, 0.25)
    for _ in range(2000):  # a kernel that the optimum leaves out only fades
        weights = d / (mu + (1.0 - mu) * d)
        point = oracle.solve(weights)
        norms = weights * np.sqrt(np.maximum(point.s, 0.0))
        d = norms / norms.sum()
    total = float(norms.sum())
    value = 0.5 * mu * total**2 + 0.5 * (1.0 - mu) * float(norms @ norms) + loss.primal(point.scores, y)[0]
    ours = solve(Problem(tiny_bank(), y, loss, ElasticNet(mu * total, 1.0 - mu)), "spg", gap=1e-8, max_iter=3000)
    # l1 S is twice the half squared sum that it stands for
    assert ours.best.objective == pytest.approx(value + 0.5 * mu * total**2, rel=1e-6)
    # weights are as exact as the root of a gap of 1e-8
    np.testing.assert_allclose(ours.best.weights, d / (mu + (1.0 - mu) * d), atol=2e-3)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0 - 1e-9])
def test_a_step_of_enmkl_is_that_of_an_elastic_net_with_the_price_of_the_present_norms(mu: float) -> None:
    norms = np.random.default_rng(0).exponential(size=20)
    total = float(norms.sum())
    shares = norms / (np.sqrt(mu) * total)
    published = 1.0 / (np.sqrt(mu) / shares + (1.0 - mu))
    np.testing.assert_allclose(ElasticNet(mu * total, 1.0 - mu).weights_from_norms(norms), published, rtol=1e-12)


def ended(regularizer: Regularizer, loss: Loss | None = None, solver: str = "spg") -> Race:
    """A race that has ended near the optimum."""
    posed = named_problem("noisy blobs, C = 10")
    rules = (Gap(1e-8), MaxIter(500))
    return ran(Race(Problem(posed.bank, posed.y, loss or posed.loss, regularizer), [solver], rules))


def look_until(card: EquivalenceCard, found: Callable[[], bool]) -> None:
    wait_for(found, meanwhile=card.update)


def shown(race: Race) -> EquivalenceCard:
    card = EquivalenceCard()
    card.begin(race)
    look_until(card, lambda: not card.mapping.working)
    return card


@pytest.mark.parametrize("regularizer", [Simplex(), L1Penalty(0.5), BlockL1(1.0), LpBall(1.5)], ids=repr)
def test_the_solution_is_as_good_for_the_problems_listed_as_for_its_own(regularizer: Regularizer) -> None:
    card = shown(ended(regularizer))
    assert card.root.visible
    assert len(card.mapped) >= 3
    # weights and dual variables are right to about the square root of the gap, and so is the C they are mapped with
    assert all(-1e-9 <= mapped.gap <= 1e-3 for mapped in card.mapped)
    assert card.table.object.count("<tr>") == len(card.mapped) + 1
    assert card.check.visible


def test_solving_them_afresh_gives_the_objectives_that_were_carried_over() -> None:
    card = shown(ended(Simplex()))
    card.check.param.trigger("clicks")
    assert card.stop.visible
    assert not card.check.visible
    look_until(card, lambda: not card.task.working)
    assert len(card.solved) == len(card.mapped)
    for mapped, solved in zip(card.mapped, card.solved, strict=True):
        # either may be above the optimum by its own gap
        assert solved.objective == pytest.approx(mapped.objective, rel=2e-4 + mapped.gap)
    differences = re.findall(r"[+-]\d+\.\d{3} %", card.table.object)
    assert len(differences) == len(card.mapped)


def test_where_there_is_no_other_formulation_or_no_weight_it_says_why() -> None:
    card = shown(ended(ElasticNet(0.5, 0.5)))
    assert card.root.visible
    assert "not a function of one norm" in card.words.object
    assert not card.check.visible
    assert card.table.object == ""
    race = ended(L1Penalty(10.0), Hinge(1e-6), "spicymkl")
    assert not race.traces["spicymkl"].final.weights.any()
    card = shown(race)
    assert "No kernel has weight" in card.words.object
    assert not card.check.visible
