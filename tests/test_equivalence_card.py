"""After a race: which other problems its best run has solved, and that solving them afresh agrees."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from _problems import problem as named_problem
from _waits import wait_for

from mklviz.engine import Gap, MaxIter, Race
from mklviz.problem import BlockL1, ElasticNet, Hinge, L1Penalty, LpBall, Problem, Regularizer, Simplex
from mklviz.views.tabs.race import EquivalenceCard


def ended(regularizer: Regularizer, solvers: tuple[str, ...] = ("spg",)) -> Race:
    """A race that has ended near the optimum."""
    posed = named_problem("noisy blobs, C = 10")
    race = Race(Problem(posed.bank, posed.y, posed.loss, regularizer), list(solvers), (Gap(1e-8), MaxIter(500)))
    race.start()
    race.wait()
    return race


def look_until(card: EquivalenceCard, found: Callable[[], bool]) -> None:
    wait_for(found, meanwhile=card.update)


def shown(regularizer: Regularizer) -> EquivalenceCard:
    card = EquivalenceCard()
    card.begin(ended(regularizer))
    look_until(card, lambda: not card.mapping.working)
    return card


@pytest.mark.parametrize("regularizer", [Simplex(), L1Penalty(0.5), BlockL1(1.0), LpBall(1.5)], ids=repr)
def test_the_solution_is_as_good_for_the_problems_listed_as_for_its_own(regularizer: Regularizer) -> None:
    card = shown(regularizer)
    assert card.root.visible
    assert len(card.mapped) >= 3
    # weights and dual variables are right to about the square root of the gap, and so is the C they are mapped with
    assert all(-1e-9 <= mapped.gap <= 1e-3 for mapped in card.mapped)
    assert card.table.object.count("<tr>") == len(card.mapped) + 1
    assert card.check.visible


def test_solving_them_afresh_gives_the_objectives_that_were_carried_over() -> None:
    card = shown(Simplex())
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


def test_where_there_is_no_other_formulation_it_says_why() -> None:
    card = shown(ElasticNet(0.5, 0.5))
    assert card.root.visible
    assert "not a function of one norm" in card.words.object
    assert not card.check.visible
    assert card.table.object == ""


def test_a_solution_without_any_weight_says_so() -> None:
    posed = named_problem("noisy blobs, C = 10")
    race = Race(Problem(posed.bank, posed.y, Hinge(1e-6), L1Penalty(10.0)), ["spicymkl"], (Gap(1e-9), MaxIter(50)))
    race.start()
    race.wait()
    assert not race.traces["spicymkl"].final.weights.any()
    card = EquivalenceCard()
    card.begin(race)
    look_until(card, lambda: not card.mapping.working)
    assert "No kernel has weight" in card.words.object
    assert not card.check.visible
