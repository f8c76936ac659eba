"""Products of kernels and polynomials: described, on the command line, by `mv.race`, and on screen."""

import csv
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import panel as pn
import pytest
from _problems import blobs, ran
from _samples import saved
from _shown import html_of
from _ticks import follow, tick
from _waits import PATIENCE
from bokeh.models import LinearScale, LogScale

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.engine import Gap, MaxIter, ProjectedGradient, Race, objective_profile
from mklviz.errors import Interrupted, KernelError, ProblemError, UnknownName, UnsupportedProblem
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import ParametricBank, ProductBank
from mklviz.problem import GroupSquaredPlusL1, Hinge, L1Penalty, LogDet, Problem
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.scenarios import load_scenario
from mklviz.views.chart.columns import distance
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.race.ended_cards import MinimaCard, ends_apart
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.problem_panel import example
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.tabs.race import RaceTab

PRODUCT = Recipe(
    data=DataChoice("liver"),
    kernels=KernelChoice(combination="product"),
    problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
    solvers=(SolverChoice("spg"), SolverChoice("spg", {"random_start": 1}), SolverChoice("pgd", {"spectral": True})),
)
GRAMS = saved(grams=np.array([np.eye(20), np.ones((20, 20))]), y=np.tile([-1.0, 1.0], 10))
WORDS = ["run", "--data", "liver", "--combination", "product", "--C", "10"]


def test_a_described_product_has_a_kernel_per_feature_and_stops_on_the_projected_gradient():
    prepared = PRODUCT.prepare()
    bank = prepared.problem.bank
    assert isinstance(bank, ProductBank)
    assert bank.names == [f"distance in {name}" for name in prepared.train.feature_names]
    race = ran(PRODUCT.race(prepared))
    assert list(race.runs) == ["spg", "SPG, start 1", "pgd"]
    for run in race.runs.values():
        assert run.status == "rule"
        last = run.trace.best
        assert np.isnan(last.gap)
        assert last.facts.projected_gradient <= 1e-3 * last.objective
        assert 0.5 < prepared.score(last) <= 1.0
        assert "nan" not in repr(run.trace)
        assert "nan" not in html_of(run.trace)
        assert "not convex" in html_of(run.trace)


def test_the_rule_of_the_projected_gradient_can_be_set_or_left_out():
    prepared = PRODUCT.prepare()
    loose, strict, none = (
        PRODUCT.changed(projected_gradient=tol, max_iter=30).race(prepared) for tol in (1e-1, 1e-3, None)
    )
    for race in (loose, strict, none):
        ran(race)
    steps = [len(race.traces["spg"]) for race in (loose, strict, none)]
    assert steps[0] < steps[1] < steps[2] == 31
    assert none.runs["spg"].status == "limit"


def test_the_command_line_races_a_product_by_the_solvers_that_can(capsys, tmp_path):
    table = tmp_path / "steps.csv"
    assert main([*WORDS, "--solvers", "spg,pgd", "--csv", str(table)]) == 0
    out = capsys.readouterr().out
    assert "SPG: The projected gradient, " in out
    assert "PGD: " in out
    assert "nan" not in out
    with table.open() as file:
        steps = list(csv.DictReader(file))
    assert {step["solver"] for step in steps} == {"spg", "pgd"}
    assert float(steps[0]["projected_gradient"]) > 0.0


SQUARE = PRODUCT.changed(
    combination="polynomial", solvers=(SolverChoice("spg"), SolverChoice("pgd", {"spectral": True}))
)
SCENARIO = load_scenario("polynomials").recipe
OF_SQUARES = ["race", "--data", "liver", "--combination", "polynomial", "--C", "10"]


def test_a_described_polynomial_has_a_parameter_per_feature_and_stops_on_the_projected_gradient():
    prepared = SQUARE.prepare()
    bank = prepared.problem.bank
    assert isinstance(bank, ParametricBank)
    assert bank.names == ["constant", *prepared.train.feature_names]
    race = ran(SQUARE.race(prepared))
    for run in race.runs.values():
        assert run.status == "rule"
        assert 0.5 < prepared.score(run.trace.best) <= 1.0
        assert "kernel of 7 parameters" in run.trace.problem
    both = SQUARE.changed(degrees=(1, 3)).prepare().problem.bank
    assert both.names[7] == "constant (polynomial of degree 3)"
    assert both.n_samples == bank.n_samples


@pytest.mark.full
def test_what_the_scenario_says_of_its_race_is_so():
    prepared = SCENARIO.prepare()
    race = ran(SCENARIO.race(prepared))
    spg, again, spectral, pgd = race.traces.values()
    assert spg.best.objective == pytest.approx(again.best.objective, rel=1e-4)  # one minimum
    assert (spg.best.active, len(spg.best.weights)) == (38, 61)
    assert pgd.final.svm_solves > 3 * spg.final.svm_solves
    assert spectral.final.svm_solves < 1.5 * spg.final.svm_solves


def test_the_log_determinant_takes_the_gap_from_a_sum_of_kernels_as_well():
    described = Recipe(
        data=DataChoice("liver"), problem=ProblemChoice(regularizer=LogDet(0.1)), solvers=(SolverChoice("spg"),)
    )
    assert not described.convex
    race = described.race(described.prepare())
    rules = race.runs["spg"].rules
    assert any(isinstance(rule, ProjectedGradient) for rule in rules)
    assert not any(isinstance(rule, Gap) for rule in rules)


def test_what_makes_no_product_and_no_polynomial_is_refused_in_a_sentence():
    with pytest.raises(UnknownName, match=r"a sum, a product or a polynomial, not .ratio."):
        PRODUCT.changed(combination="ratio")
    wrong = replace(PRODUCT, solvers=(SolverChoice("level"),))
    with pytest.raises(UnsupportedProblem, match="Level needs a sum of kernels"):
        wrong.race(wrong.prepare())
    for recipe, said in ((PRODUCT, "brings Gram matrices"), (SQUARE, "of weighted features is made of features")):
        with pytest.raises(ProblemError, match=said):
            recipe.prepare(mv.read_dataset(GRAMS))
    with pytest.raises(KernelError, match="whole number from 1 on"):
        SQUARE.changed(degrees=(0,))
    with pytest.raises(ProblemError, match="No degrees"):
        SQUARE.changed(degrees=())
    with pytest.raises(ProblemError, match="A polynomial of weighted features cannot be approximated"):
        SQUARE.changed(approximation=mv.Nystrom(20))


@pytest.mark.full
def test_the_command_line_learns_polynomials_of_several_degrees_with_any_price(capsys):
    assert main([*OF_SQUARES, "--degrees", "1,2", "--regularizer", "log-det:sigma=0.1"]) == 0
    out = capsys.readouterr().out
    assert "14 parameters" in out
    assert "SPG: The projected gradient, " in out
    assert "PGD: " in out
    assert "nan" not in out


@pytest.mark.parametrize(
    ("given", "words", "message"),
    [
        (WORDS, ["--kernels", "paper"], "Kernel families are for a sum of kernels"),
        (WORDS, ["--solvers", "silp"], "SILP needs a sum of kernels"),
        (WORDS, ["--regularizer", "group-squared:lam=1"], "only one function"),
        (OF_SQUARES, ["--kernels", "paper"], "a polynomial learns a weight for each feature"),
        (OF_SQUARES, ["--solvers", "silp"], "with parameters of a kernel the problem is not convex"),
        (OF_SQUARES, ["--degrees", "0"], "whole number from 1 on"),
        (OF_SQUARES, ["--regularizer", "log-det:price=0"], "ever larger weights"),
    ],
)
def test_the_command_line_says_what_does_not_go_with_a_product_or_a_polynomial(capsys, given, words, message):
    assert main([*given, *words]) == 2
    assert message in capsys.readouterr().err


# -- on screen


def shown(described: Recipe) -> RaceView:
    race, view = described.race(described.prepare()), RaceView()
    view.show(race)
    ran(race)
    tick(view)
    return view


def test_the_page_speaks_of_parameters_and_says_why_there_is_no_gap() -> None:
    page = shown(SQUARE).page
    assert "Parameters of the kernel, six largest" in page.weights_title.object
    assert "constant" in page.weights_title.object
    assert "Parameters in use" in page.titles["active"].object
    assert "A problem in the parameters of a kernel is not convex" in page.titles["gap"].object
    assert "Parameters kept" in page.table.object
    assert "nan" not in page.table.object


def test_an_objective_that_may_be_negative_is_drawn_on_a_linear_axis():
    """1'd - log det(K_d + eps I) of a polynomial, whose values exceed one, falls far below zero."""
    described = SCENARIO.changed(regularizer=LogDet(), max_iter=20, solvers=(SolverChoice("spg"),))
    view = shown(described)
    assert view.race.runs["spg"].trace.best.objective < 0.0
    assert isinstance(view.charts.objective.y_scale, LinearScale)
    assert isinstance(view.charts.gap.y_scale, LogScale)


SMALL = replace(PRODUCT, solvers=SQUARE.solvers)


def ended(*solvers: str, problem: Problem | None = None, **options: Any) -> Race:
    return ran(Race(problem or SMALL.prepare().problem, solvers, **options))


@pytest.mark.parametrize(
    ("combination", "about", "size"),
    [
        ("product", "no families, widths or scales to choose", "33 kernels · 175 points"),
        ("polynomial", "parameters of the kernel", "34 parameters · 175 points"),
    ],
)
def test_what_is_no_sum_offers_neither_families_nor_scales_and_says_why(combination, about, size):
    panel = Sidebar("silp-oscillates").kernels
    assert panel.normalize.visible
    assert not panel.about.visible
    panel.combination.value = combination
    assert not any(part.visible for part in (panel.normalize, panel.families, panel.add))
    assert panel.degrees.visible is (combination == "polynomial")
    assert about in panel.about.object
    assert panel.size.object.startswith(size)
    panel.combination.value = "sum"
    assert panel.normalize.visible
    assert not panel.degrees.visible
    assert panel.size.object.startswith("442 kernels")


def test_the_controls_offer_degrees_of_a_polynomial():
    sidebar = Sidebar("silp-oscillates")
    panel = sidebar.kernels
    panel.combination.value = "polynomial"
    panel.degrees.value = "1, 2, 3"
    assert panel.chosen == KernelChoice("polynomial", degrees=(1, 2, 3))
    assert panel.size.object.startswith("102 parameters")
    panel.degrees.value = "1.5"
    assert "whole number" in sidebar.blocked


def test_solvers_that_need_a_sum_are_greyed_out_with_their_reason():
    sidebar = Sidebar("products")
    for name, chip in sidebar.solvers.chips.items():
        assert chip.disabled is (name not in ("spg", "pgd"))
        assert ("with a product the problem is not convex" in chip.description) is chip.disabled
    assert not sidebar.blocked
    sidebar.kernels.combination.value = "sum"
    assert not any(sidebar.solvers.chips[name].disabled for name in ("spg", "pgd", "closed-form"))


def test_a_price_on_norms_of_functions_blocks_the_race_in_a_sentence():
    sidebar = Sidebar("products")
    sidebar.problem.weights.value = GroupSquaredPlusL1.name_
    assert "only one function" in sidebar.blocked
    assert all("only one function" in chip.description for chip in sidebar.solvers.chips.values())
    with pytest.raises(ProblemError, match="only one function"):
        example(Hinge(), GroupSquaredPlusL1(), combination="product")


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


def test_a_convex_race_shows_no_card_and_runs_that_agree_need_no_profile() -> None:
    X, y = blobs(40, 0.1)
    convex = Problem(mv.KernelBank.build(X, [mv.Gaussian(on="each")]), y, Hinge(10.0))
    card = MinimaCard()
    card.begin(ended("spg", "level", problem=convex))
    assert not card.root.visible
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
