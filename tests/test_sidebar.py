"""The controls stand for one recipe: what is loaded is read back, and what cannot be used says why."""

import asyncio
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache, partial

import numpy as np
import pytest
from _samples import saved

from mklviz.engine import solver_classes
from mklviz.errors import ProblemError
from mklviz.kernels import Gaussian, Laplacian, Linear, Polynomial
from mklviz.problem import Hinge, L1Penalty, LpBall, LpPenalty, Simplex, loss_families, regularizer_families
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice, parsing
from mklviz.scenarios import scenarios
from mklviz.views.sidebar.data_panel import OWN_FILE
from mklviz.views.sidebar.problem_panel import example, explanation, offered_regularizers, parameter_fields
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.sidebar.solver_panel import EntryEditor, option_control, option_value, set_option

SPG, SILP = SolverChoice("spg"), SolverChoice("silp")
TABLE = b"a,b,class\n" + b"".join(b"%d,%d,%s\n" % (i, i * i % 7, b"yes" if i % 2 else b"no") for i in range(40))


@pytest.fixture
def sidebar() -> Sidebar:
    return Sidebar()


@cache
def used_sidebar() -> Sidebar:
    """One for all who bring its controls to what they need: whatever it was used for before must not show."""
    return Sidebar()


def upload(sidebar: Sidebar, content: bytes, name: str) -> None:
    async def receive() -> None:
        sidebar.data.file.filename = name
        await sidebar.data.receive(content, name)

    asyncio.run(receive())


DOUBLING = tuple(2.0**k for k in range(-3, 7))
READ = {
    **dict.fromkeys(["2^-3 … 2^6", "2⁻³ … 2⁶", "2^-3...2^6", "2**-3 to 2**6", "2^-3..2^6"], DOUBLING),
    "1 … 3": (1.0, 2.0, 3.0),  # whole numbers count
    "0.5, 1; 2  7e-1": (0.5, 1.0, 2.0, 0.7),
}
SPANS = {"2^-1...2^2": (0.5, 1, 2, 4), "1...3": (1, 2, 3), "1,2": (1, 2), "0.5,1,3": (0.5, 1, 3)}
SHOWN = {"4/3": 4 / 3, "-2/7": -2 / 7, "1.5": 1.5, "0.30000000000000004": 0.1 + 0.2}  # ratios where there is no end
SHOWN |= {"1e-7": 1e-7, "2.5e9": 2.5e9, "1e-12": 1e-12, "100": 100.0}  # and no zeros in front


def test_values_and_numbers_are_read_as_they_are_written_and_shown() -> None:
    assert {text: parsing.values(text, "Widths") for text in READ} == READ
    assert {parsing.write_values(numbers): numbers for numbers in SPANS.values()} == SPANS
    for numbers in ((1, 2, 3), (1, 2), (0.5, 1, 2, 4, 8), (0.3, 7), (5,), (1 / 3, 2 / 3), (4, 2, 1)):
        assert parsing.values(parsing.show_values(numbers), "Widths") == numbers
    assert {parsing.show_number(value): value for value in SHOWN.values()} == SHOWN
    for value in (*SHOWN.values(), 0.01, 1 / 3):
        assert parsing.number(parsing.show_number(value), "x") == value
    for value in (0.5, 0.01, 0.003, 1e-4, 0.9):
        found = parsing.percent(parsing.show_percent(value), "x")
        assert found == pytest.approx(value, rel=1e-12)  # one division by 100
    assert parsing.show_percent(1e-9) == "1e-7 %"
    assert parsing.show_percent(1e-20) == "1e-18 %"
    assert [parsing.optional(parsing.percent)(text, "The gap") for text in ("  ", "1 %")] == [None, 0.01]


REFUSED = {
    **{"": "enter at least one", "wide": "must be a number", "1 … 2.5": "powers of two", "3 … 1": "backwards"},
    **{"0.5, -1": "must be positive", "1, 1": "twice", "1 … 1000": "at most 100", "1..2..3": "one range"},
    "1 … 1e300": "too long",
}


@pytest.mark.parametrize("text", REFUSED)
def test_values_that_cannot_be_used_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ProblemError, match=REFUSED[text]) as caught:
        parsing.values(text, "Gaussian widths")
    assert str(caught.value).startswith("Gaussian widths")


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (partial(parsing.bounded, low=0.0, high=1.0), "2", "at least 0 and at most 1"),
        (partial(parsing.bounded, low=0.0, high=None, open_low=True), "0", "above 0"),
        (parsing.whole, "2.5", "whole number"),
        (parsing.number, "inf", "finite"),
        (parsing.number, "1/0", "must be a number"),
    ],
)
def test_bounds_are_named_when_they_are_left(read: Callable[[str, str], object], text: str, said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        read(text, "C")


@pytest.mark.parametrize("name", scenarios())
def test_a_scenario_is_read_back_from_the_controls(name: str) -> None:
    sidebar = used_sidebar()
    sidebar.scenario.choice.value = name
    sidebar.scenario.restore()  # it may have been the one chosen before, and changed
    assert sidebar.recipe.same_race(scenarios()[name].recipe)
    assert not sidebar.scenario.changed
    assert sidebar.blocked == ""


def test_any_recipe_is_read_back_from_the_controls(sidebar: Sidebar) -> None:
    widths, degrees = Gaussian(widths=(0.3, 7.0), on=(0, 2)), Polynomial(degrees=(2,), offset=0.5)
    families = (widths, degrees, Linear(), Laplacian())
    recipe = Recipe(
        data=DataChoice("planted"),
        split=Split(train=0.3, seed=7, standardize=False),
        kernels=KernelChoice(families=families, normalize="none", cache_mb=64, by_rows=True),
        problem=ProblemChoice(loss=Hinge(0.1), regularizer=L1Penalty(2.5)),
        solvers=(SPG, SolverChoice("pgd", {"spectral": True}), SolverChoice("pgd")),
        stop=StopChoice(gap=None, max_iter=None, max_seconds=3.5),
    )
    sidebar.load(recipe)
    assert sidebar.recipe == recipe


@pytest.mark.full
def test_a_changed_control_is_owned_up_to_and_can_be_restored(sidebar: Sidebar) -> None:
    for text, changed in (("10", True), ("1e2", False), ("10", True)):
        sidebar.problem.C.value = text
        assert sidebar.scenario.changed == changed
    sidebar.scenario.restore()
    assert sidebar.recipe.problem.loss.C == 100.0
    assert not sidebar.scenario.changed


@pytest.mark.parametrize("text", ["", "0", "-1", "many"])
def test_a_text_that_is_no_value_blocks_the_race_and_says_so_at_its_field(text: str) -> None:
    sidebar = used_sidebar()
    sidebar.load(Recipe())
    sidebar.problem.C.value = text
    assert sidebar.problem.C.helper_text
    assert sidebar.blocked == sidebar.problem.C.helper_text != ""
    assert sidebar.recipe is None
    sidebar.problem.C.value = "5"
    assert not sidebar.problem.C.helper_text
    assert sidebar.blocked == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda sidebar: sidebar.problem.C.param.update(value="7"),
        lambda sidebar: sidebar.problem.C.param.update(value="many"),
        lambda sidebar: sidebar.problem.loss.param.update(value="squared"),
        lambda sidebar: sidebar.kernels.combination.param.update(value="product"),
        lambda sidebar: sidebar.kernels.precision.kind.param.update(value="approximate"),
        lambda sidebar: sidebar.solvers.chips["silp"].param.update(value=False),
        lambda sidebar: sidebar.data.choice.param.update(value="sonar"),
        lambda sidebar: sidebar.data.new_seed.param.trigger("clicks"),
        lambda sidebar: upload(sidebar, TABLE, "mine.csv"),
        lambda sidebar: sidebar.scenario.choice.param.update(value="products"),
    ],
)
def test_a_change_of_a_control_sets_the_recipe_once(change: Callable[[Sidebar], None]) -> None:
    sidebar = used_sidebar()
    sidebar.load(Recipe().changed(source="iris", loss=Hinge(3.0), positive="setosa", solvers=[SPG, SILP]))
    before, found = sidebar.recipe, []
    sidebar.param.watch(found.append, "recipe")
    change(sidebar)
    assert len(found) == 1
    assert found[0].old is before
    assert sidebar.recipe is found[0].new != before


def only(sidebar: Sidebar, solver: str) -> Recipe:
    """Leave one solver chosen; return the recipe."""
    for name, chip in sidebar.solvers.chips.items():
        if chip.value != (name == solver):
            chip.value = name == solver
    return sidebar.recipe


@pytest.mark.each_value
@pytest.mark.parametrize("loss", loss_families())
@pytest.mark.parametrize("name", offered_regularizers())
def test_every_loss_with_every_regularizer_is_read_back_from_the_controls(loss: str, name: str) -> None:
    sidebar = used_sidebar()
    options = {"epsilon": 0.25} if loss == "epsilon-insensitive" else {}
    family = offered_regularizers()[name]
    regularizer = family(**{field.name: {"p": 1.5, "q": 1.25}.get(field.name, 0.3) for field in fields(family)})
    if loss == "one-class" and family.linear:
        with pytest.raises(ProblemError, match="has no best weights"):
            example(loss_families()[loss](5.0), regularizer)
        return
    solvers = tuple(
        SolverChoice(found)
        for found, solver in solver_classes().items()
        if not solver().refusal(example(loss_families()[loss](5.0), regularizer))
    )
    dataset = "three_groups" if loss_families()[loss].multiclass else "ionosphere"
    chosen = loss_families()[loss](5.0, **options)
    recipe = Recipe().changed(source=dataset, loss=chosen, regularizer=regularizer, solvers=solvers)
    sidebar.load(recipe)
    assert sidebar.recipe == recipe
    assert sidebar.blocked == ""


def test_without_intercept_methods_that_know_none_can_be_chosen(sidebar: Sidebar) -> None:
    sidebar.problem.weights.value = "group-squared"
    assert sidebar.solvers.chips["ufo"].disabled
    sidebar.problem.bias.value = False
    assert not sidebar.solvers.chips["ufo"].disabled
    recipe = only(sidebar, "ufo")
    assert recipe.problem.loss == Hinge(recipe.problem.loss.C, bias=False)
    sidebar.load(recipe.changed(loss=Hinge(100.0), solvers=(SolverChoice("level"),), regularizer=Simplex()))
    assert sidebar.problem.bias.value
    sidebar.problem.loss.value = "multiclass-hinge"
    assert not sidebar.problem.bias.visible


def test_classes_of_equal_weight_are_a_choice_with_losses_for_classes(sidebar: Sidebar) -> None:
    assert sidebar.recipe.problem.class_weight is None
    sidebar.problem.balanced.value = True
    assert sidebar.recipe.problem.class_weight == "balanced"
    sidebar.problem.weights.value, sidebar.problem.bias.value = "group-squared", False
    sidebar.problem.parameters["group-squared"]["alpha"].value = "0"
    assert "no weights of them" in sidebar.solvers.chips["obscure"].description
    sidebar.problem.balanced.value = False
    assert not sidebar.solvers.chips["obscure"].disabled
    sidebar.load(only(sidebar, "obscure").changed(class_weight="balanced", solvers=(SolverChoice("ufo"),)))
    assert sidebar.problem.balanced.value
    sidebar.problem.loss.value = "squared"
    assert not sidebar.problem.balanced.visible


def test_a_regularizer_that_no_solver_follows_is_left_out_of_the_menu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(offered_regularizers()) <= set(regularizer_families())
    monkeypatch.setattr(
        "mklviz.views.sidebar.problem_panel.solver_classes", lambda: {"smo-mkl": solver_classes()["smo-mkl"]}
    )
    assert list(offered_regularizers.__wrapped__()) == ["lp-penalty"]


@pytest.mark.parametrize("family", [*loss_families().values(), *offered_regularizers().values()])
def test_every_choice_is_explained_and_every_parameter_has_a_field_with_default_and_meaning(family: type) -> None:
    assert explanation(family).endswith(".")
    assert "(row" not in explanation(family)
    parameters = parameter_fields(family)
    assert list(parameters) == [field.name for field in fields(family) if field.name != "bias"]
    for name, field in parameters.items():
        assert field.parsed == getattr(family(), name)
        assert field.description != ""


def test_only_the_parameters_of_what_is_chosen_are_shown_and_the_others_keep_their_values(sidebar: Sidebar) -> None:
    def shown() -> set[str]:
        entries = [*sidebar.problem.loss_parameters.items(), *sidebar.problem.parameters.items()]
        return {f"{family}.{name}" for family, found in entries for name, f in found.items() if f.visible}

    assert shown() == set()
    sidebar.problem.loss.value, sidebar.problem.weights.value = "epsilon-insensitive", "lp-penalty"
    assert shown() == {"epsilon-insensitive.epsilon", "lp-penalty.p", "lp-penalty.sigma"}
    sidebar.problem.parameters["lp-penalty"]["p"].value = "4"
    sidebar.problem.weights.value = "lp-ball"
    assert sidebar.problem.regularizer == LpBall(2.0)
    sidebar.problem.weights.value = "lp-penalty"
    assert sidebar.problem.regularizer == LpPenalty(4.0, 1.0)


def test_kernels_are_added_and_removed_and_too_many_block_the_race_with_the_banks_sentence(sidebar: Sidebar) -> None:
    sidebar.kernels.add_family("Linear")
    assert sidebar.recipe.kernels.families[-1] == Linear()
    for row in list(sidebar.kernels.rows):
        row.remove.param.trigger("clicks")
    assert "add at least one kernel family" in sidebar.blocked
    hundred = Gaussian(widths=tuple(1.0 + k / 100 for k in range(100)))
    sidebar.load(Recipe().changed(source="german", train=0.99, families=(hundred,) * 36))
    assert "GB are allowed" in sidebar.blocked


def test_every_solver_found_has_a_chip_in_its_own_colour(sidebar: Sidebar) -> None:
    assert list(sidebar.solvers.chips) == list(solver_classes())
    for dark in (False, True):
        sidebar.set_dark(dark)
        colours = [chip.colour for chip in sidebar.solvers.chips.values()]
        assert len(set(colours)) == len(colours)


def test_a_chip_switches_its_solver_off_and_on_with_its_options_and_it_may_race_against_itself() -> None:
    sidebar, spectral = used_sidebar(), SolverChoice("pgd", {"spectral": True})
    sidebar.load(replace(Recipe(), solvers=(spectral, SPG)))
    sidebar.solvers.chips["pgd"].value = False
    assert sidebar.recipe.solvers == (SPG,)
    sidebar.solvers.chips["pgd"].value = True
    assert sidebar.recipe.solvers == (SPG, spectral)
    sidebar.solvers.chips["pgd"].value = sidebar.solvers.chips["spg"].value = False
    assert "No solver is chosen" in sidebar.blocked
    sidebar.load(replace(Recipe(), solvers=(SolverChoice("pgd"),)))
    sidebar.solvers.add_variant(sidebar.solvers.entries[0])
    assert len({entry.title.object for entry in sidebar.solvers.entries}) == 2
    set_option(sidebar.solvers.entries[1].controls["spectral"], True)
    assert sidebar.recipe.solvers == (SolverChoice("pgd"), spectral)
    sidebar.solvers.remove(sidebar.solvers.entries[0])
    assert sidebar.recipe.solvers == (spectral,)


def test_a_solver_that_cannot_solve_the_problem_is_not_offered_and_says_why() -> None:
    sidebar = used_sidebar()
    sidebar.load(replace(Recipe(), solvers=(SolverChoice("spg"),)))
    sidebar.problem.weights.value = L1Penalty.name_
    refusing = [name for name, chip in sidebar.solvers.chips.items() if chip.disabled]
    assert refusing
    for name in refusing:
        assert sidebar.solvers.chips[name].description in sidebar.solvers.others.items
    assert f"{len(refusing)} solvers cannot follow" in sidebar.solvers.others.summary
    assert not sidebar.solvers.why_not.visible  # spg, the chosen one, can
    assert sidebar.solvers.chips["level"].disabled
    sidebar.problem.weights.value = "simplex"
    assert not sidebar.solvers.chips["level"].disabled


def test_a_chosen_solver_that_the_problem_rules_out_blocks_the_race_until_it_is_switched_off() -> None:
    sidebar = used_sidebar()
    sidebar.load(replace(Recipe(), solvers=(SolverChoice("silp"), SolverChoice("spg"))))
    sidebar.problem.weights.value = L1Penalty.name_
    assert sidebar.blocked
    assert "SILP" in sidebar.solvers.why_not.object
    sidebar.solvers.drop.answer({"click": True})
    assert sidebar.blocked == ""
    assert [choice.name for choice in sidebar.recipe.solvers] == ["spg"]
    assert not sidebar.solvers.drop.visible
    sidebar.problem.weights.value = "simplex"
    sidebar.solvers.chips["silp"].value = True
    sidebar.problem.weights.value = L1Penalty.name_
    sidebar.solvers.chips["silp"].value = False
    assert sidebar.blocked == ""
    assert not sidebar.solvers.why_not.visible


@pytest.mark.parametrize("name", solver_classes())
def test_every_option_of_every_solver_has_a_control_that_shows_its_default(name: str) -> None:
    found = solver_classes()[name]
    editor = EntryEditor(SolverChoice(name), lambda _: None, lambda _: None)
    assert set(editor.controls) == set(found.param) - {"name", "seed"}
    assert editor.choice == SolverChoice(name)
    for option, control in editor.controls.items():
        assert option_value(control) == found.param[option].default


def test_what_is_out_of_its_bounds_is_refused_by_its_control_in_the_words_of_what_has_it(sidebar: Sidebar) -> None:
    control = option_control(solver_classes()["level"], "svm_tolerance")
    control.value = "-1"
    with pytest.raises(ProblemError):
        _ = option_value(control)
    assert control.helper_text
    sidebar.load(sidebar.recipe.changed(solvers=(SPG,), regularizer=LpBall(2.0)))
    box = sidebar.problem.parameters["lp-ball"]["p"]
    box.value = "1"
    assert "p = 1 is the simplex" in box.helper_text
    assert sidebar.blocked == box.helper_text


def test_more_than_two_classes_need_a_loss_for_them_or_one_class_against_the_rest() -> None:
    sidebar = used_sidebar()
    sidebar.load(replace(Recipe(), solvers=(SolverChoice("spg"),)))
    assert not sidebar.data.positive.visible
    sidebar.data.choice.value = "iris"
    assert sidebar.data.positive.visible
    assert "more than two classes, and the hinge loss tells two apart" in sidebar.blocked
    sidebar.problem.loss.value = "multiclass-hinge"
    assert sidebar.blocked == ""
    sidebar.data.positive.value = "virginica"
    assert "has two classes, which the hinge loss tells apart" in sidebar.blocked
    sidebar.problem.loss.value = "hinge"
    assert sidebar.blocked == ""
    assert sidebar.recipe.data.positive == "virginica"
    sidebar.data.choice.value = "ionosphere"  # whose classes are two already
    assert sidebar.recipe.data.positive is None
    assert not sidebar.data.positive.visible


def test_an_uploaded_table_becomes_the_data_and_a_file_that_cannot_be_used_is_refused(sidebar: Sidebar) -> None:
    upload(sidebar, TABLE, "mine.csv")
    before = sidebar.recipe.data.dataset
    assert before.title == "mine"
    assert sidebar.data.choice.value == OWN_FILE
    assert (sidebar.data.shape.n_train, sidebar.data.shape.n_features) == (20, 2)
    assert sidebar.blocked == ""
    assert sidebar.scenario.changed
    huge = b"x" * (10 * 2**20 + 1)
    for content, said in ((b"a,b,class\n1,x,yes\n2,no\n", "bad.csv"), (b"", "empty"), (huge, "at most 10 MB")):
        upload(sidebar, content, "bad.csv")
        assert sidebar.data.refusal.visible
        assert said in sidebar.data.refusal.object
        assert sidebar.recipe.data.dataset is before


def test_a_repair_is_one_click_for_gram_matrices_and_distances_have_families(sidebar: Sidebar) -> None:
    kernels, y = sidebar.kernels, np.arange(8) % 2
    assert not kernels.repair.visible
    exact, kernels.precision.kind.value = kernels.precision.kind.value, "approximate"
    upload(sidebar, saved(grams=np.eye(8)[None], y=y), "grams.npz")
    assert sidebar.recipe.kernels.approximation is None  # there is nothing to approximate
    assert sidebar.blocked == ""
    kernels.precision.kind.value = exact
    assert kernels.repair.visible
    assert not kernels.families.visible
    kernels.repair.value = "flip"
    assert sidebar.recipe.kernels.repair == "flip"
    away = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    upload(sidebar, saved(D=away, y=y), "distances.npz")
    assert kernels.families.visible
    assert kernels.size.object == "10 kernels of 1 distance matrix"
    assert sidebar.blocked == ""


def test_views_are_offered_where_the_data_have_some(sidebar: Sidebar) -> None:
    rng, y = np.random.default_rng(0), np.arange(20) % 2
    upload(sidebar, saved(sound=rng.normal(size=(20, 2)), picture=rng.normal(size=(20, 3)), y=y), "views.npz")
    (row, *_) = sidebar.kernels.rows
    assert "each view" in row.on.options
    row.on.value = "views"
    assert sidebar.recipe.kernels.families[0].on == "views"
    upload(sidebar, TABLE, "mine.csv")
    assert sidebar.kernels.rows[0].on.value == "views"  # chosen: it stays, as one view of all
