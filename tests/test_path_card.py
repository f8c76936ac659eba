"""After a race: one of its solvers followed along C, drawn as far as it went."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from _problems import problem as named_problem
from _waits import PATIENCE, wait_for

from mklviz.contract import Iterate
from mklviz.engine import Gap, MaxIter, Race
from mklviz.errors import SolverError
from mklviz.kernels import ProductBank
from mklviz.problem import L1Penalty, Problem
from mklviz.solvers.level import Level
from mklviz.views.look.palette import DARK
from mklviz.views.race.ended_cards import VALUES, PathCard

POSED = named_problem("noisy blobs, C = 10")


class Frail(Level):
    """Breaks down in its third run: that of the race comes first."""

    runs = 0

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield what Level yields."""
        type(self).runs += 1
        if self.runs == 3:
            raise SolverError("The step became negative.")
        yield from super().iterates(problem, start)


class Held(Level):
    """Waits in its second run until it may go on."""

    runs, go = 0, threading.Event()

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield what Level yields."""
        type(self).runs += 1
        for iterate in super().iterates(problem, start):
            if self.runs > 1:
                self.go.wait(PATIENCE)
            yield iterate


def offered(*solvers: str | Level, posed: Problem = POSED) -> PathCard:
    """The card after a race of these solvers."""
    race = Race(posed, list(solvers), (Gap(1e-2), MaxIter(50)))
    race.start()
    race.wait()
    card = PathCard()
    card.begin(race)
    return card


def look_until(card: PathCard, found: Callable[[], bool]) -> None:
    wait_for(found, meanwhile=card.update)


def walked(card: PathCard) -> PathCard:
    card.start.param.trigger("clicks")
    assert card.stop.visible
    assert not card.start.visible
    look_until(card, lambda: not card.task.working)
    assert card.start.visible
    return card


def test_a_solver_of_the_race_is_followed_along_c_and_drawn() -> None:
    card = offered("level", "spg")
    assert card.root.visible
    assert list(card.solver.options) == ["Level", "SPG"]
    card.solver.value = "spg"
    walked(card)
    found = card.walk.path
    assert found.label == "SPG"
    assert found.complete
    assert len(found.values) == VALUES
    assert found.gap.max() <= 1e-2
    assert "20 of the values reached the gap" in card.words.object
    assert not card.progress.visible
    before = card.figures[0]
    card.set_dark(True)
    assert card.figures[0] is not before
    assert card.figures[0].object.children[0].background_fill_color == DARK.card
    card.clear()
    assert not card.root.visible
    assert not len(card.figures)


def test_a_solver_that_breaks_down_leaves_the_path_until_then_and_says_why() -> None:
    Frail.runs = 0
    card = walked(offered(Frail()))
    assert card.progress.object == "The step became negative."
    assert len(card.walk.path.values) == 1
    assert len(card.figures) == 1


def test_a_path_that_is_stopped_is_kept_as_far_as_it_went() -> None:
    Held.runs = 0
    Held.go.clear()
    card = offered(Held())
    card.start.param.trigger("clicks")
    look_until(card, lambda: "solved" in card.progress.object)
    card.stop.param.trigger("clicks")
    Held.go.set()
    look_until(card, lambda: not card.task.working)
    assert card.progress.object == "Stopped by hand."
    assert not card.walk.path.complete
    assert len(card.walk.path) < VALUES


def test_problems_without_a_gap_have_no_path() -> None:
    bank = ProductBank.build([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    posed = Problem(bank, [1.0, -1.0, 1.0, -1.0], POSED.loss, L1Penalty(1.0))
    assert not offered("spg", posed=posed).root.visible
