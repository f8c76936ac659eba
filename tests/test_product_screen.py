"""Products of kernels on screen: what the controls offer, what the race shows, and where the runs have ended."""

import threading
from typing import Any

import numpy as np
import panel as pn
import pytest
from _problems import blobs, ran
from _ticks import follow, tick
from _waits import PATIENCE

import mklviz as mv
from mklviz.engine import MaxIter, Race, objective_profile
from mklviz.errors import Interrupted, ProblemError
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import ProductBank
from mklviz.problem import GroupSquaredPlusL1, Hinge, L1Penalty, Problem
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.views.chart.columns import distance
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.race.ended_cards import MinimaCard, ends_apart
from mklviz.views.sidebar.problem_panel import example
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.tabs.race import RaceTab

SMALL = Recipe(
    data=DataChoice("liver"),
    kernels=KernelChoice(combination="product"),
    problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
    solvers=(SolverChoice("spg"), SolverChoice("pgd", {"spectral": True})),
)


def ended(*solvers: str, problem: Problem | None = None, **options: Any) -> Race:
    return ran(Race(problem or SMALL.prepare().problem, solvers, **options))


# -- the controls


def test_a_product_offers_neither_families_nor_scales_and_says_why():
    sidebar = Sidebar("silp-oscillates")
    panel = sidebar.kernels
    assert panel.normalize.visible
    assert not panel.about.visible
    panel.combination.value = "product"
    assert not panel.normalize.visible
    assert not panel.families.visible
    assert not panel.add.visible
    assert "no families, widths or scales to choose" in panel.about.object
    assert panel.size.object.startswith("33 kernels · 175 points")
    panel.combination.value = "sum"
    assert panel.normalize.visible
    assert panel.size.object.startswith("442 kernels")


def test_solvers_that_need_a_sum_are_greyed_out_with_their_reason():
    sidebar = Sidebar("products")
    for name, chip in sidebar.solvers.chips.items():
        assert chip.disabled is (name not in ("spg", "pgd"))
        assert ("with a product the problem is not convex" in chip.description) is chip.disabled
    assert not sidebar.blocked
    sidebar.kernels.combination.value = "sum"
    assert not any(sidebar.solvers.chips[name].disabled for name in ("spg", "pgd", "closed-form"))


def test_a_solver_that_is_on_blocks_the_race_until_it_is_switched_off():
    sidebar = Sidebar("silp-oscillates")
    sidebar.kernels.combination.value = "product"
    assert "needs a sum of kernels" in sidebar.blocked
    for name in ("silp", "level"):
        sidebar.solvers.chips[name].value = False
    assert not sidebar.blocked


def test_a_price_on_norms_of_functions_blocks_the_race_in_a_sentence():
    sidebar = Sidebar("products")
    sidebar.problem.weights.value = GroupSquaredPlusL1.name_
    assert "only one function" in sidebar.blocked
    assert all("only one function" in chip.description for chip in sidebar.solvers.chips.values())
    with pytest.raises(ProblemError, match="only one function"):
        example(Hinge(), GroupSquaredPlusL1(), combination="product")


# -- the race


@pytest.mark.full
def test_the_second_figure_shows_the_projected_gradient_where_there_is_no_gap() -> None:
    explorer = Explorer()
    explorer.sidebar.load(SMALL)
    explorer.run()
    follow(explorer, lambda: explorer.state == "finished")
    view = explorer.race_view
    assert all(run.status == "rule" for run in view.race.runs.values())
    title = view.page.titles["gap"].object
    assert "Projected gradient" in title
    assert "not convex" in title
    assert "stop at 0.1 %" in title
    trace = view.race.traces["spg"]
    drawn = [distance(trace, t) for t in range(len(trace))]
    np.testing.assert_allclose(drawn, trace.fact("projected_gradient") / trace.objective)
    tick(view)
    assert np.isfinite(view.figures.readings.feeds["spg"].source.data["gap"]).all()


@pytest.mark.full
def test_the_scenario_shows_several_minima_the_hill_between_the_best_two_and_one_method_far_ahead() -> None:
    explorer = Explorer("products")
    explorer.run()
    tab = explorer.shell.tabs[RaceTab]
    follow(explorer, lambda: bool(tab.cards) and tab.cards[0].profile is not None)
    runs = explorer.race_view.race.runs
    assert len(ends_apart([(key, run.trace.final) for key, run in runs.items()])) == 3
    assert runs["pgd"].trace.final.svm_solves > 4 * runs["spg"].trace.final.svm_solves
    card = tab.cards[0]
    assert card.root.visible
    assert "These 4 runs ended in 3 different places" in card.words.object
    assert "two minima rather than one" in card.between.object
    assert not card.stop.visible
    (pane,) = card.root.select(pn.pane.Bokeh)
    first = pane.object
    card.set_dark(True)
    assert pane.object is not first  # redrawn in the other colours
    explorer.reset()
    assert not card.root.visible


def test_a_convex_race_shows_no_card() -> None:
    X, y = blobs(40, 0.1)
    convex = Problem(mv.KernelBank.build(X, [mv.Gaussian(on="each")]), y, Hinge(10.0))
    card = MinimaCard()
    card.begin(ended("spg", "level", problem=convex))
    assert not card.root.visible


def test_runs_that_agree_need_no_profile():
    card = MinimaCard()
    card.begin(ended("spg", "spg"))
    assert card.root.visible
    assert "All 2 runs ended at the same weights" in card.words.object
    assert card.profile is None
    assert not card.stop.visible


def test_the_profile_says_how_far_it_is_and_is_given_up_with_the_race(monkeypatch):
    held = threading.Event()

    def slow(problem, one, other, points, progress):
        assert held.wait(PATIENCE)
        progress(0.5)

    monkeypatch.setattr("mklviz.views.race.ended_cards.objective_profile", slow)
    card = MinimaCard()
    card.begin(ended("spg", "pgd", rules=[MaxIter(2)]))  # too early to have met
    assert card.stop.visible
    assert card.progress.object == "Solving inner problems on the way between the best two: 0 %."
    card.clear()
    held.set()
    assert not card.stop.visible
    assert not card.task.working


def test_ends_are_grouped_by_weights_and_ordered_by_objective():
    def end(weights, objective):
        return "a run", mv.Iterate(np.array(weights), np.zeros(2), objective, float("nan"), 0.0, 1)

    groups = ends_apart([end([1.0, 0.0], 3.0), end([0.0, 1.0], 2.0), end([0.99, 0.0], 2.9), end([0.0, 0.0], 5.0)])
    assert [[iterate.objective for _, iterate in group] for group in groups] == [[2.0], [2.9, 3.0], [5.0]]


# -- the profile


def test_a_profile_is_the_value_at_each_point_of_the_segment():
    X, y = blobs(40, 0.1)
    problem = Problem(ProductBank.build(X), y, Hinge(10.0), L1Penalty(1.0))
    a, b = np.array([0.1, 0.0, 1.0]), np.array([2.0, 0.5, 0.0])
    profile = objective_profile(problem, a, b, points=5)
    np.testing.assert_array_equal(profile.shares, [0.0, 0.25, 0.5, 0.75, 1.0])
    oracle = SvmOracle(problem, 1e-10)
    expected = [oracle.solve((1 - t) * a + t * b).value + ((1 - t) * a + t * b).sum() for t in profile.shares]
    np.testing.assert_allclose(profile.values, expected, rtol=1e-6)


def test_profiles_that_cannot_be_are_refused_and_long_ones_can_be_given_up():
    X, y = blobs(20)
    problem = Problem(ProductBank.build(X), y, Hinge(10.0), L1Penalty(1.0))
    for wrong in (np.ones(2), np.array([1.0, -1.0, 0.0]), np.array([np.nan, 1.0, 1.0])):
        with pytest.raises(ProblemError, match="two vectors of 3 kernel weights"):
            objective_profile(problem, np.ones(3), wrong)
    with pytest.raises(ProblemError, match="at least 2 points"):
        objective_profile(problem, np.ones(3), np.ones(3), points=1)

    def enough(fraction: float) -> None:
        if fraction > 0.4:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        objective_profile(problem, np.ones(3), np.zeros(3), progress=enough)
