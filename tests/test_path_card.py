"""A solver followed along C after a race, and the picture of a path: its largest kernels, and what each value cost."""

import threading
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from _problems import blobs, problem, ran, small_bank
from _undrawn import DrawnChart, draw_none
from _waits import PATIENCE, wait_for
from bokeh.document import Document

import mklviz as mv
from mklviz.contract import Iterate
from mklviz.engine import Gap, MaxIter, Race
from mklviz.errors import SolverError
from mklviz.kernels import ProductBank
from mklviz.problem import L1Penalty, Problem
from mklviz.solvers.level import Level
from mklviz.views.chart.description import LineMark
from mklviz.views.chart.race_charts import NAMED, path_charts
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.notebook.race_cell import PathFigure
from mklviz.views.race.ended_cards import VALUES, PathCard

POSED = problem("noisy blobs, C = 10")


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
    race = ran(Race(posed, list(solvers), (Gap(1e-2), MaxIter(50))))
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


@cache
def paths() -> tuple[mv.Path, mv.Path]:
    X, y = blobs(40, 0.2)
    found = mv.Problem(small_bank(X), y, mv.Hinge(10.0), mv.LpBall(2.0))  # all twenty kernels have weight
    warm, cold = (mv.path(found, "closed-form", warm=warm, C=[100.0, 10.0, 1.0]) for warm in (True, False))
    return warm, cold


def drawn(path: mv.Path, cold: mv.Path | None = None) -> list[DrawnChart]:
    """What is drawn of weights, kernels in use and cost."""
    charts, tables = path_charts(path, cold, LIGHT, NAMED)
    return [draw_none(chart, tables) for chart in charts]


def test_the_largest_kernels_are_named_and_the_others_are_grey() -> None:
    path = paths()[0]
    (grey, *named) = drawn(path)[0].of(LineMark)
    by_weight = np.argsort(-path.weights.max(axis=0))
    assert [line.mark.label for line in named] == [path.kernel_names[k] for k in by_weight[:NAMED]]
    assert len(grey.columns["y"]) == 20 - NAMED
    np.testing.assert_array_equal(named[0].columns["y"], path.weights[:, by_weight[0]])


def test_what_the_values_cost_is_compared_with_cold_starts_on_an_axis_that_fits_their_spread() -> None:
    warm, cold = paths()
    told = [line.mark.label for line in drawn(warm, cold)[2].of(LineMark)]
    assert told == [f"warm starts, {warm.svm_solves.sum()} in all", f"cold starts, {cold.svm_solves.sum()} in all"]
    assert len(drawn(warm)[2].of(LineMark)) == 1
    near = mv.path(problem("one kernel"), "level", C=[10.0, 9.0])
    for path, scale in ((warm, "log"), (near, "linear")):
        assert {each.chart.x.scale for each in drawn(path)} == {scale}


def test_the_three_figures_share_their_axis_and_make_one_document_with_every_named_kernel_in_its_legend() -> None:
    shown = mv.path_figure(*paths())
    assert isinstance(shown, PathFigure)
    assert len(shown.weights.legend[0].items) == NAMED
    assert len(shown.cost.legend[0].items) == 2
    assert shown.weights.x_range is shown.active.x_range is shown.cost.x_range
    document = Document()
    document.add_root(shown.layout)
    document.validate()


def test_kernels_of_a_race_keep_their_colours_and_others_are_dashed() -> None:
    path, _ = paths()
    heaviest = np.argsort(-path.weights.max(axis=0), kind="stable")
    coloured = [int(heaviest[1]), int(heaviest[0])]
    (chart, *_), _ = path_charts(path, None, LIGHT, NAMED, coloured)
    found = {mark.label: (mark.colour, mark.dash) for mark in chart.marks if isinstance(mark, LineMark) and mark.label}
    for colour, k in enumerate(coloured):
        assert found[path.kernel_names[k]] == (LIGHT.kernels[colour], "solid")
    assert len(set(found.values())) == len(found) == NAMED
