"""Races over polynomials of weighted features: described, on the command line, and on screen."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import ran
from _ticks import tick
from bokeh.models import LinearScale, LogScale

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.engine import Gap, ProjectedGradient
from mklviz.errors import KernelError, ProblemError
from mklviz.kernels import ParametricBank
from mklviz.problem import Hinge, L1Penalty, LogDet
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.scenarios import load_scenario
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.sidebar import Sidebar

SQUARE = Recipe(
    data=DataChoice("liver"),
    kernels=KernelChoice(combination="polynomial"),
    problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
    solvers=(SolverChoice("spg"), SolverChoice("pgd", {"spectral": True})),
)
SCENARIO = load_scenario("polynomials").recipe
WORDS = ["race", "--data", "liver", "--combination", "polynomial", "--C", "10"]


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


def test_the_command_line_learns_polynomials_of_several_degrees_with_any_price(capsys):
    assert main([*WORDS, "--degrees", "1,2", "--regularizer", "log-det:sigma=0.1"]) == 0
    out = capsys.readouterr().out
    assert "14 parameters" in out
    assert "SPG: The projected gradient, " in out
    assert "PGD: " in out
    assert "nan" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernels", "paper"], "a polynomial learns a weight for each feature"),
        (["--solvers", "silp"], "SILP needs a sum of kernels: with parameters of a kernel the problem is not convex"),
        (["--degrees", "0"], "whole number from 1 on"),
        (["--regularizer", "log-det:price=0"], "ever larger weights"),
    ],
)
def test_the_command_line_says_what_does_not_go_with_a_polynomial(capsys, words, message):
    assert main([*WORDS, *words]) == 2
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
