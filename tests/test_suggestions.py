"""Which names are suggested for one that does not exist: those that are really near, and none otherwise."""

import pytest

from mklviz.datasets import list_datasets
from mklviz.engine import solver_classes
from mklviz.errors import MklvizError
from mklviz.kernels.families import kernel_families
from mklviz.problem.losses import loss_families
from mklviz.problem.regularizers import regularizer_families
from mklviz.quoting import ALIASES, cell, hint, suggestions
from mklviz.recipe import Recipe

KINDS = {
    "kernel": list(kernel_families()),
    "loss": list(loss_families()),
    "regularizer": list(regularizer_families()),
    "solver": list(solver_classes()),
    "data": list(list_datasets()),
}


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("kernel", "rbf", ["gaussian"]),
        ("kernel", "gausian", ["gaussian"]),
        ("kernel", "Lap", ["laplacian"]),
        ("loss", "svc", ["hinge"]),
        ("loss", "l2", ["squared"]),
        ("regularizer", "l1", ["simplex", "l1-penalty"]),
        ("regularizer", "l2", ["lp-ball"]),
        ("regularizer", "lp_ball", ["lp-ball"]),
        ("solver", "levle", ["level"]),
        ("solver", "LEVEL", ["level"]),
        ("solver", "foo", []),
        ("data", "two-moons", ["two_moons"]),
        ("data", "sonra", ["sonar"]),
        ("data", "iono", ["ionosphere"]),
        ("data", "nosuch", []),
        ("data", "nowhere", []),
        ("data", "test", []),
        ("data", "", []),
        ("data", "ionosphere" * 1000, []),
    ],
)
def test_names_are_suggested_that_are_really_near(kind: str, name: str, meant: list[str]) -> None:
    assert suggestions(name, KINDS[kind]) == meant


def test_what_others_call_a_thing_leads_to_names_that_exist() -> None:
    known = {name for names in KINDS.values() for name in names}
    assert {name for names in ALIASES.values() for name in names} <= known
    assert not known & set(ALIASES)


def test_without_a_suggestion_all_names_are_listed() -> None:
    assert hint("rbf", KINDS["kernel"]) == "did you mean gaussian?"
    assert hint("nosuch", ["a", "b"]) == "there are a, b."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kernels=rbf", "There is no kernel family 'rbf'; did you mean gaussian?"),
        ("loss=svc", "There is no loss 'svc'; did you mean hinge?"),
        ("regularizer=lasso", "There is no regularizer 'lasso'; did you mean simplex or l1-penalty?"),
        ("data=nosuch", "There is no data set 'nosuch'; there are adult, australian, "),
    ],
)
def test_recipes_say_which_name_was_meant(words: str, said: str) -> None:
    with pytest.raises(MklvizError, match="There is no") as refused:
        Recipe.from_words(words)
    assert said in str(refused.value)


def test_a_cell_comes_back_as_it_was_unless_a_spreadsheet_would_compute_it() -> None:
    numbers = ["-0,132", "-1.234,5", "+5 %", "-.5", "-1e-5", "-1 234", "word", 2.5]
    assert [cell(value) for value in numbers] == numbers
    formulas = ["=1+1", "-1+2", "+cmd|1", "-2-3", "@sum", "\t=1"]
    assert [cell(value) for value in formulas] == [f"'{value}" for value in formulas]
