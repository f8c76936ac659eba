"""A loss in one file, with an inner solver of its own, and a regularizer in one file: all the rest follows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from _plugins import LOSS, REGULARIZER, Save

import mklviz as mv
import mklviz.problem.losses as losses
import mklviz.problem.regularizers as regularizers
from mklviz.cli.commands import main
from mklviz.inner import choice


@pytest.fixture
def own(save: Save) -> Iterator[None]:
    """Both files in their folders, and gone after the test, also from where their names are kept."""
    from mklviz.views.sidebar.problem_panel import offered_regularizers

    known = dict(choice.METHODS["matrix"])
    offered_regularizers.cache_clear()
    save(losses, "zebra_loss", LOSS)
    save(regularizers, "stripe_penalty", REGULARIZER)
    yield
    offered_regularizers.cache_clear()
    choice.METHODS["matrix"].clear()
    choice.METHODS["matrix"].update(known)


def posed(loss: str, regularizer: str) -> mv.Problem:
    data = mv.load_dataset("two_moons", n=40)
    bank = mv.KernelBank.build(data.X, [mv.Gaussian(widths=(0.5, 1.0, 2.0))])
    formulation = {"hinge": lambda: mv.Hinge(10.0, bias=False), "zebra": lambda: mv.Zebra(10.0)}
    norm = {"stripe": lambda: mv.Stripe(toll=2.0), "power": lambda: mv.PowerPenalty(2.0, 2.0), "simplex": mv.Simplex}
    return mv.Problem(bank, data.y, formulation[loss](), norm[regularizer]())


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("solver", ["level", "simplemkl", "spg", "pgd", "closed-form"])
def test_a_loss_is_solved_by_the_inner_solver_it_registers(solver: str) -> None:
    problem = posed("zebra", "simplex")
    trace = mv.solve(problem, solver, gap=1e-4)
    assert trace.status == "converged"
    best = trace.best
    # the gap is the problem's own, so it proves the optimum whoever solved
    assert problem.gap(best.weights, best.dual) <= 2e-4
    assert best.objective == pytest.approx(mv.solve(problem, "spg", gap=1e-6).best.objective, rel=2e-4)


@pytest.mark.usefixtures("own")
def test_a_solver_made_for_another_loss_says_so() -> None:
    why = mv.make_solver("newton").supports(posed("zebra", "simplex"))
    assert "needs the hinge loss, not the zebra loss" in why
    assert "spicymkl" not in mv.available_solvers(posed("zebra", "simplex"))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("solver", ["spg", "pgd", "closed-form"])
def test_a_regularizer_of_one_file_is_solved_like_its_twin(solver: str) -> None:
    own, twin = (mv.solve(posed("hinge", norm), solver, gap=1e-5).best for norm in ("stripe", "power"))
    assert own.objective == pytest.approx(twin.objective, rel=2e-5)
    np.testing.assert_allclose(own.weights, twin.weights, rtol=2e-2)  # the square root of the gap


@pytest.mark.usefixtures("own")
def test_both_are_in_the_lists_the_help_and_the_words_of_a_recipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    told = capsys.readouterr().out
    assert "zebra-loss" in told
    assert "stripe-penalty" in told
    assert main(["losses"]) == main(["regularizers"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "zebra-loss Squared hinge loss, which has no kinks. zebra-loss:C=1.0" in told
    assert "stripe-penalty Weights that cost half their square, times toll. stripe-penalty:toll=1.0" in told
    recipe = mv.Recipe.from_words("data=two_moons; loss=zebra-loss; regularizer=stripe-penalty:toll=2; C=10")
    assert recipe.problem.loss == mv.Zebra(10.0)
    assert mv.Recipe.from_words(recipe.to_words()) == recipe
    assert mv.Recipe.from_json(recipe.to_json()) == recipe
    words = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1@all", "--solvers", "spg", "--gap", "1e-2"]
    assert main([*words, "--loss", "zebra-loss", "--regularizer", "stripe-penalty:toll=2", "--C", "10"]) == 0
    assert "converged" in capsys.readouterr().out


@pytest.mark.usefixtures("own")
def test_both_can_be_chosen_in_the_sidebar() -> None:
    from mklviz.views.sidebar.problem_panel import ProblemPanel

    panel = ProblemPanel()
    assert panel.loss.options["zebra"] == "zebra-loss"
    assert panel.weights.options["stripe penalty"] == "stripe-penalty"
