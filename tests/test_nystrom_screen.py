"""Approximate kernels where people choose and see them: recipe, command line, controls, page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from _ticks import tick

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.errors import KernelError, ProblemError
from mklviz.kernels import Gaussian, Nystrom, NystromBank
from mklviz.problem import Hinge
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.scenarios import load_scenario
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.sidebar import Sidebar

SMALL = Recipe(
    data=DataChoice("two_moons"),
    kernels=KernelChoice(families=(Gaussian(widths=(0.5, 1.0), on="all+each"),), approximation=Nystrom(10)),
    problem=ProblemChoice(loss=Hinge(10.0)),
    solvers=(SolverChoice("closed-form"),),
)
RUN = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1@all", "--C", "10", "--solvers", "spg"]


def test_an_recipe_builds_the_approximate_bank_it_asks_for() -> None:
    prepared = SMALL.prepare()
    bank = prepared.problem.bank
    assert isinstance(bank, NystromBank)
    assert bank.approximation == Nystrom(10)
    race = SMALL.race(prepared)
    race.start()
    race.wait()
    trace = race.runs["closed-form"].trace
    assert trace.gap[-1] <= 1e-2
    assert 0.0 < trace.best.facts.approximation_error < 1.0
    assert prepared.score(trace.best) > 0.75  # two moons, ten landmarks


def test_only_sums_of_kernels_on_points_are_approximated() -> None:
    with pytest.raises(ProblemError, match="A product of kernels cannot be approximated"):
        SMALL.changed(combination="product")
    ds = mv.load_dataset("two_moons", n=20)
    grams = replace(ds, grams=(ds.X @ ds.X.T)[None])
    with pytest.raises(ProblemError, match="brings Gram matrices"):
        SMALL.prepare(grams)


@pytest.mark.parametrize(
    ("text", "approximation"), [("15", Nystrom(15)), ("15:leverage", Nystrom(15, "leverage")), ("none", None)]
)
def test_the_command_line_reads_an_approximation(text: str, approximation: Nystrom | None) -> None:
    assert Recipe.from_words(f"nystrom={text}").kernels.approximation == approximation


def test_a_run_in_the_terminal_says_what_is_approximate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--nystrom", "12:leverage"]) == 0
    out = capsys.readouterr().out
    assert "approximated by 12 landmarks; objective and gap are exact for the approximate kernels" in out
    assert "averaged by the weights of SPG" in out
    assert main(RUN) == 0
    assert "approximate" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [("many", "The number of landmarks must be a number"), ("0", "must be at least 1"), ("9:best", "not by 'best'")],
)
def test_the_command_line_refuses_what_is_no_approximation(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, "--nystrom", text]) == 2
    assert message in capsys.readouterr().err


def test_a_product_has_nothing_to_approximate() -> None:
    sidebar = Sidebar()
    sidebar.load(SMALL)
    sidebar.kernels.combination.value = "product"
    assert not sidebar.kernels.precision.kind.visible
    assert sidebar.kernels.chosen.approximation is None
    sidebar.kernels.combination.value = "sum"
    assert sidebar.recipe.kernels.approximation == Nystrom(10)


def test_the_controls_say_how_large_an_approximate_bank_would_be_and_when_it_is_too_large() -> None:
    sidebar = Sidebar("half-a-million")
    assert sidebar.blocked == ""
    assert sidebar.kernels.size.object.startswith("5 kernels · 522,910 points · approximate · at most 1.9 GB")
    sidebar.kernels.precision.landmarks.box.value = "5000"
    assert "use fewer landmarks" in sidebar.blocked
    sidebar.kernels.precision.landmarks.box.value = "none"
    assert "landmarks" in sidebar.blocked
    sidebar.kernels.precision.landmarks.box.value = "200"
    assert sidebar.blocked == ""


def test_exact_and_approximate_banks_are_kept_apart() -> None:
    keys = [SMALL.changed(approximation=one).bank_key for one in (None, Nystrom(10), Nystrom(11))]
    assert len(set(keys)) == 3


def test_the_page_says_beside_the_gap_what_is_approximate() -> None:
    view, words = RaceView(), "approximated by 10 landmarks"
    race = SMALL.race(SMALL.prepare())
    view.show(race)
    assert words in view.page.precision.object
    race.start()
    race.wait()
    tick(view)
    assert "averaged by the weights of Closed form" in view.page.precision.object
    exact = SMALL.changed(approximation=None)
    view.show(exact.race(exact.prepare()))
    assert not view.page.precision.visible
    view.clear()
    assert not view.page.precision.visible


def test_the_scenario_of_half_a_million_points_is_small_in_everything_but_points() -> None:
    recipe = load_scenario("half-a-million").recipe
    few = mv.load_dataset("covertype_like", n=2000)
    prepared = recipe.changed(approximation=Nystrom(20)).prepare(few)
    assert len(prepared.problem.bank) == 5
    with pytest.raises(KernelError, match="landmarks"):
        Nystrom(-1)


def test_solvers_are_asked_about_the_kernels_as_they_will_be_kept() -> None:
    sidebar = Sidebar("silp-is-fine")
    assert not sidebar.solvers.chips["newton"].disabled
    sidebar.kernels.precision.set(Nystrom(10))
    sidebar.kernels.touched()
    assert sidebar.solvers.chips["newton"].disabled
    assert "kernel matrix" in sidebar.solvers.chips["newton"].description
    assert not sidebar.solvers.chips["level"].disabled


def test_solvers_are_asked_about_kernels_row_by_row_where_samples_are_many() -> None:
    sidebar = Sidebar("letter-sum")
    assert sidebar.kernels.access(sidebar.data.shape) == "rows"
    assert sidebar.solvers.chips["newton"].disabled
    assert sidebar.blocked == ""
