"""Races over products of kernels and over polynomials: described, on the command line, by `mv.race` and on screen."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from _problems import ran
from _shown import html_of
from _ticks import tick
from bokeh.models import LinearScale, LogScale

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.engine import Gap, ProjectedGradient
from mklviz.errors import KernelError, ProblemError, UnknownName, UnsupportedProblem
from mklviz.kernels import ParametricBank, ProductBank
from mklviz.problem import Hinge, L1Penalty, LogDet
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.scenarios import load_scenario
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.sidebar import Sidebar

PRODUCT = Recipe(
    data=DataChoice("liver"),
    kernels=KernelChoice(combination="product"),
    problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
    solvers=(SolverChoice("spg"), SolverChoice("spg", {"random_start": 1}), SolverChoice("pgd", {"spectral": True})),
)
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


def test_what_makes_no_product_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(UnknownName, match=r"a sum, a product or a polynomial, not .ratio."):
        PRODUCT.changed(combination="ratio")
    wrong = replace(PRODUCT, solvers=(SolverChoice("level"),))
    prepared = wrong.prepare()
    with pytest.raises(UnsupportedProblem, match="Level needs a sum of kernels"):
        wrong.race(prepared)
    file = tmp_path / "own.npz"
    np.savez(file, grams=np.array([np.eye(20), np.ones((20, 20))]), y=np.tile([-1.0, 1.0], 10))
    with pytest.raises(ProblemError, match="brings Gram matrices"):
        PRODUCT.prepare(mv.read_dataset(file))


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


SQUARE = Recipe(
    data=DataChoice("liver"),
    kernels=KernelChoice(combination="polynomial"),
    problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
    solvers=(SolverChoice("spg"), SolverChoice("pgd", {"spectral": True})),
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


def test_what_makes_no_polynomial_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(KernelError, match="whole number from 1 on"):
        SQUARE.changed(degrees=(0,))
    with pytest.raises(ProblemError, match="No degrees"):
        SQUARE.changed(degrees=())
    with pytest.raises(ProblemError, match="A polynomial of weighted features cannot be approximated"):
        SQUARE.changed(approximation=mv.Nystrom(20))
    file = tmp_path / "own.npz"
    np.savez(file, grams=np.array([np.eye(20), np.ones((20, 20))]), y=np.tile([-1.0, 1.0], 10))
    with pytest.raises(ProblemError, match="A polynomial of weighted features is made of features"):
        SQUARE.prepare(mv.read_dataset(file))


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


def test_the_controls_offer_degrees_in_the_place_of_families():
    sidebar = Sidebar("silp-oscillates")
    panel = sidebar.kernels
    assert not panel.degrees.box.visible
    panel.combination.value = "polynomial"
    assert panel.degrees.box.visible
    assert not panel.normalize.visible
    assert not panel.add.visible
    assert "parameters of the kernel" in panel.about.object
    assert panel.size.object.startswith("34 parameters · 175 points")
    panel.degrees.box.value = "1, 2, 3"
    assert sidebar.kernels.chosen == KernelChoice("polynomial", degrees=(1, 2, 3))
    assert panel.size.object.startswith("102 parameters")
    panel.degrees.box.value = "1.5"
    assert "whole number" in sidebar.blocked
    panel.combination.value = "sum"
    assert not panel.degrees.box.visible
    assert panel.size.object.startswith("442 kernels")


def test_the_page_speaks_of_parameters_and_says_why_there_is_no_gap() -> None:
    race, view = SQUARE.race(SQUARE.prepare()), RaceView()
    view.show(race)
    ran(race)
    tick(view)
    page = view.page
    assert "Parameters of the kernel, six largest" in page.weights_title.object
    assert "constant" in page.weights_title.object
    assert "Parameters in use" in page.titles["active"].object
    assert "A problem in the parameters of a kernel is not convex" in page.titles["gap"].object
    assert "Parameters kept" in page.table.object
    assert "nan" not in page.table.object


def test_an_objective_that_may_be_negative_is_drawn_on_a_linear_axis():
    """1'd - log det(K_d + eps I) of a polynomial, whose values exceed one, falls far below zero."""
    described = SCENARIO.changed(regularizer=LogDet(), max_iter=20, solvers=(SolverChoice("spg"),))
    race, view = described.race(described.prepare()), RaceView()
    view.show(race)
    ran(race)
    tick(view)
    assert race.runs["spg"].trace.best.objective < 0.0
    assert view.charts is not None
    assert isinstance(view.charts.objective.y_scale, LinearScale)
    assert isinstance(view.charts.gap.y_scale, LogScale)
