"""Races over a product of kernels, described, on the command line and by `mv.race`."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from _problems import ran
from _shown import html_of

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.errors import ProblemError, UnknownName, UnsupportedProblem
from mklviz.kernels import ProductBank
from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernels", "paper"], "Kernel families are for a sum of kernels"),
        (["--solvers", "silp"], "SILP needs a sum of kernels"),
        (["--regularizer", "group-squared:lam=1"], "only one function"),
    ],
)
def test_the_command_line_says_what_does_not_go_with_a_product(capsys, words, message):
    assert main([*WORDS, *words]) == 2
    assert message in capsys.readouterr().err
