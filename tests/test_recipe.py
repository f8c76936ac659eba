"""A recipe is a value: equal, hashable, and read back from its words and its JSON; near names are suggested."""

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from test_regularizers import HalfSquares

import mklviz as mv
from mklviz.datasets import list_datasets, load_dataset
from mklviz.engine import solver_classes
from mklviz.errors import MklvizError, ProblemError
from mklviz.kernels import Gaussian, KernelFamily, Laplacian, Linear, Nystrom, Polynomial
from mklviz.kernels.families import kernel_families
from mklviz.problem import loss_families, regularizer_families
from mklviz.quoting import ALIASES, hint, suggestions
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice
from mklviz.recipe.words import read_kernels, read_solvers, read_words
from mklviz.scenarios import scenarios

NAMES = ["all", "none", "x2", "3", "a;b", 'say "so"', "back\\slash", "größer", "two words", "a,b", "x=y", "1e3", "true"]


def draw(rng: np.random.Generator, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def family(rng: np.random.Generator) -> KernelFamily:
    columns = tuple(dict.fromkeys([draw(rng, NAMES), int(rng.integers(9)), draw(rng, NAMES)]))
    on = draw(rng, ["all", "each", "all+each", "random:12", columns])
    widths = draw(rng, [(0.5, 1.0, 2.0, 4.0), tuple(rng.random(3) + 1e-9), (3.0,), (2.0, 2.0), (1.0, 2.0, 3.0)])
    polynomial = Polynomial(degrees=(1, 2, 3), offset=float(rng.random()), on=on)
    return draw(rng, [Gaussian(widths=widths, on=on), Laplacian(widths=widths, on=on), Linear(on), polynomial])


def chosen(rng: np.random.Generator, families: dict[str, Any]) -> Any:
    """One of the families, with parameters that its bounds allow."""
    found = draw(rng, list(families.values()))
    allowed = {"p": 1.0 + rng.random(), "q": 1.0 + rng.random(), "nu": 1.0 - rng.random()}
    given = {f.name: allowed.get(f.name, float(10.0 ** rng.normal())) for f in fields(found) if f.init}
    if "bias" in given:
        given["bias"] = bool(rng.integers(2))
    return found(**{name: value for name, value in given.items() if rng.random() < 0.7})


def solver(rng: np.random.Generator) -> SolverChoice:
    options = {"pgd": {"spectral": True}, "level": {"lam": 0.1 + 0.8 * rng.random()}, "spg": {"random_start": 3}}
    name = draw(rng, list(solver_classes()))
    return SolverChoice(name, options.get(name, {}) if rng.random() < 0.7 else {})


def recipe(seed: int) -> Recipe:
    rng = np.random.default_rng(seed)
    own = "sha256:" + "".join(draw(rng, "0123456789abcdef") for _ in range(64))
    combination = draw(rng, ["sum", "sum", "product", "polynomial"])
    added = combination == "sum"
    approximation = draw(rng, [None, Nystrom(50, "leverage")]) if added else None
    return Recipe(
        DataChoice(draw(rng, [own, *list_datasets()]), draw(rng, [None, *NAMES])),
        Split(float(rng.uniform(0.01, 0.99)), int(rng.integers(10**9)), bool(rng.integers(2))),
        KernelChoice(
            combination,
            [family(rng) for _ in range(rng.integers(1, 4))],
            draw(rng, ["trace", "diagonal", "none"]),
            draw(rng, [(1,), (1, 2, 3), (4, 2)]),
            approximation,
            int(rng.integers(1, 2000)),
            added and approximation is None and bool(rng.integers(2)),
        ),
        ProblemChoice(chosen(rng, loss_families()), chosen(rng, regularizer_families())),
        [solver(rng) for _ in range(rng.integers(1, 4))],
        StopChoice(*(draw(rng, [None, kind(10.0 ** rng.uniform(0, 3))]) for kind in (float, int, float, float))),
    )


RECIPES = {**{name: scenario.recipe for name, scenario in scenarios().items()}, "plain": Recipe()}


def is_read_back(found: Recipe) -> None:
    for again in (Recipe.from_words(found.to_words()), Recipe.from_json(found.to_json())):
        assert again == found, found.to_words()
        assert hash(again) == hash(found)


@pytest.mark.parametrize("name", RECIPES)
def test_a_scenario_is_read_back_from_its_words_and_its_json(name: str) -> None:
    is_read_back(RECIPES[name])


@pytest.mark.parametrize("block", range(8))
def test_random_recipes_are_read_back_from_their_words_and_their_json(block: int) -> None:
    for seed in range(25 * block, 25 * (block + 1)):
        is_read_back(recipe(seed))


def test_what_a_product_has_no_use_for_makes_no_other_recipe_and_it_begins_with_what_suits_it() -> None:
    product = KernelChoice("product")
    assert KernelChoice("product", [Linear()], "none", (1, 2)) == product
    assert KernelChoice("sum", degrees=(3,)) == KernelChoice()
    found = Recipe.from_words("solvers=pgd; combination=product")
    assert found.problem.regularizer == mv.L1Penalty()
    assert found.solvers == (SolverChoice("pgd"),)
    assert Recipe.from_words("gap=1 %; train=70%").stop.gap == 0.01


def test_words_say_only_what_differs_and_a_part_left_out_of_the_json_has_its_default() -> None:
    assert Recipe().to_words() == "data=ionosphere"
    found = Recipe().changed(source="sonar", loss=mv.EpsilonInsensitive(10.0, epsilon=0.5), regularizer=mv.LpBall(3.0))
    assert found.to_words() == "data=sonar; loss=epsilon-insensitive:C=10,epsilon=0.5; regularizer=lp-ball:p=3"
    assert Recipe.from_json('{"version": 1, "data": {"source": "sonar"}}') == Recipe(DataChoice("sonar"))


@pytest.mark.parametrize(
    "text", ["gauss:2^-3 ... 2^6@each", "gauss:2^-3…2^6@each", "gaussian:2⁻³ … 2⁶@each", "gauss:2**-3 to 2**6@each"]
)
def test_ranges_of_widths_double_wherever_they_are_written(text: str) -> None:
    assert read_kernels(text) == (Gaussian(on="each"),)
    assert read_kernels(f"{text} poly:1 ... 3") == (Gaussian(on="each"), Polynomial(degrees=(1, 2, 3)))


def test_lists_of_numbers_and_options_are_read_with_and_without_blanks() -> None:
    polynomial = Polynomial(degrees=(2, 3), offset=0.5, on=(0, "x2"))
    assert read_kernels("poly:2, 3, offset=0.5@0,x2 linear") == (polynomial, Linear())
    both = SolverChoice("pgd", {"spectral": True, "nonmonotone": True})
    found = read_solvers("silp, pgd:spectral=true, nonmonotone=yes,spg")
    assert found == (SolverChoice("silp"), both, SolverChoice("spg"))


WRONG = {
    "data=nosuch": "There is no data set 'nosuch'; there are adult, australian, ",
    "date=sonar": "did you mean data?",
    "sonar": "KEY=VALUE",
    "train=2": "between 0 and 1",
    "train=half": "must be a number",
    "seed=-1": "at least 0",
    "standardize=maybe": "true or false",
    "combination=quotient": "product",
    "kernels=": "No kernels are given",
    "kernels=rbf": "There is no kernel family 'rbf'; did you mean gaussian?",
    "kernels=gauss:one": "must be a number",
    "kernels=gauss:-1": "positive",
    "kernels=gauss:1 ... 1e9": "too long",
    "kernels=gauss:height=2": "no option 'height'",
    "kernels=linear:2": "take no values",
    'kernels=linear@"x': "quotation mark",
    "normalize=much": "not known",
    "degrees=0": "degree",
    "nystrom=many": "must be a number",
    "nystrom=20:luck": "chosen by",
    "nystrom=0": "at least 1",
    "cache-mb=0": "at least 1",
    "loss=svc": "There is no loss 'svc'; did you mean hinge?",
    "loss=hinge:C=-1": "positive",
    "C=none": "must be a number",
    "regularizer=lasso": "There is no regularizer 'lasso'; did you mean simplex or l1-penalty?",
    "regularizer=lp-ball:p=1": "p = 1 is the simplex",
    "solvers=": "No solver",
    "solvers=levle": "did you mean level?",
    "solvers=level:lam": "NAME:OPTION=VALUE",
    "solvers=level:lamb=1": "no option 'lamb'",
    "solvers=lam=1": "before any solver",
    "gap=0": "positive",
    "max-iter=1.5": "whole number",
    "max-seconds=soon": "must be a number",
    "projected-gradient=-1": "positive",
}


@pytest.mark.parametrize("part", WRONG)
def test_a_bad_part_gives_a_sentence_and_the_rest_is_used(part: str) -> None:
    C = "loss=hinge:C=7" if part.startswith("C") else "C=7"
    found, wrong = read_words(f"{C}; {part}; by-rows=true", Recipe())
    assert (found.problem.loss, found.kernels.by_rows) == (mv.Hinge(7.0), True)
    assert len(wrong) == 1
    assert WRONG[part] in wrong[0]
    assert wrong[0].endswith((".", "?"))
    with pytest.raises(MklvizError):
        Recipe.from_words(part)


def altered(*path: str | int, value: Any) -> str:
    whole = found = json.loads(Recipe().to_json())
    for key in path[:-1]:
        found = found[key]
    found[path[-1]] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recipe", "not JSON"),
        ("[1]", "no version"),
        ("{}", "no version"),
        (altered("version", value=2), "another version than 1"),
        (altered("sauce", value=1), "no part 'sauce'"),
        (altered("data", value="sonar"), "data cannot be used"),
        (altered("data", "source", value=[1]), "by name or by a file's digest"),
        (altered("split", "train", value="0.5"), "split cannot be used: The share to train on"),
        (altered("split", "seed", value=0.5), "whole number"),
        (altered("kernels", "combination", value=["sum"]), "Kernels make"),
        (altered("kernels", "families", value="paper"), "A list is expected"),
        (altered("kernels", "families", 0, "name", value="spline"), "no kernel family 'spline'"),
        (altered("kernels", "families", 0, "height", value=1), "no part 'height'"),
        (altered("kernels", "families", 0, "widths", value="wide"), "Gaussian widths"),
        (altered("kernels", "degrees", value=2), "kernels cannot be used"),
        (altered("kernels", "normalize", value=None), "not known"),
        (altered("problem", "loss", "C", value="big"), "C must be a positive number"),
        (altered("problem", "loss", value=None), "A loss must be an object"),
        (altered("problem", "regularizer", "name", value={}), "no regularizer"),
        (altered("solvers", 0, "name", value="levle"), "did you mean level?"),
        (altered("solvers", 0, "options", value={"speed": 1}), "no option 'speed'"),
        (altered("stop", "gap", value=-1), "stop cannot be used"),
        (altered("stop", "max_iter", value=True), "iterations must be"),
    ],
)
def test_json_of_another_version_or_with_a_bad_part_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(MklvizError) as refused:
        Recipe.from_json(text)
    assert said in str(refused.value)


def test_what_has_no_name_cannot_be_written_and_says_so() -> None:
    own = Recipe().changed(regularizer=HalfSquares())
    for write in (own.to_words, own.to_json):
        with pytest.raises(MklvizError, match="HalfSquares, has no name"):
            write()


def test_a_file_is_known_by_its_digest_has_to_be_there_and_goes_with_no_recipe_for_others() -> None:
    moons, other = load_dataset("two_moons", n=30), Recipe().on(load_dataset("two_moons", n=40))
    found = Recipe().on(moons)
    assert found.data.own
    assert other != found == Recipe().on(load_dataset("two_moons", n=30))
    assert found.changed(positive="upper").load() is moons  # they go along
    is_read_back(found)
    read = Recipe.from_json(found.to_json())
    assert repr(read) == repr(found)
    with pytest.raises(MklvizError, match="open that file"):
        read.prepare()
    for source in ("sonar", other.data.source):
        assert found.changed(source=source).data.dataset is None
    assert found.bank_key[0] == found.data
    assert found.bank_key[0].dataset is None
    with pytest.raises(MklvizError, match="must be a Dataset, but 3 was given"):
        DataChoice("sonar", dataset=3)


def test_classes_of_equal_weight_are_part_of_a_recipe() -> None:
    words = "data=heart; solvers=level; kernels=gauss:1,4@all; C=10"
    plain, found = Recipe.from_words(words), Recipe.from_words(f"{words}; class-weight=balanced")
    assert found == plain.changed(class_weight="balanced") != plain
    assert "class-weight=balanced" in found.to_words()
    is_read_back(found)
    assert found.bank_key == plain.bank_key  # the same kernels
    problem = found.prepare().problem
    sums = [float(problem.sample_weight[problem.y == sign].sum()) for sign in (-1.0, 1.0)]
    assert sums == pytest.approx([0.5 * problem.n] * 2)
    assert plain.prepare().problem.sample_weight is None
    assert found.changed(class_weight=None) == plain
    with pytest.raises(ProblemError, match=r"class_weight is None or .balanced., but 'fair'"):
        Recipe().changed(class_weight="fair")
    with pytest.raises(ProblemError, match="no classes to balance"):
        Recipe().changed(class_weight="balanced", loss=mv.Squared(1.0))


def test_words_of_recipes_are_taken_wherever_their_things_are() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.tile([-1.0, 1.0], 15)
    words: Any = "gauss:1,2@each poly:1"
    for bank in (mv.KernelBank, mv.NystromBank):
        families = [mv.Gaussian(widths=[1.0, 2.0], on="each"), mv.Polynomial(degrees=[1])]
        assert bank.build(X, words).names == bank.build(X, families).names
    loss: Any = "hinge:C=10"
    ball: Any = "lp-ball:p=2"
    problem = mv.Problem(mv.KernelBank.build(X, words), y, loss, ball)
    assert problem.loss == mv.Hinge(C=10.0)
    usual: Any = "hinge:bias=no"
    assert mv.Problem(problem.bank, y, usual).loss == mv.Hinge(bias=False)  # and not with the C of a recipe
    assert problem.regularizer == mv.LpBall(2.0)
    made = (mv.make_solver("level:lam=0.5", seed=3), mv.make_solver("level", lam=0.5, seed=3))
    assert made[0].param.values() == made[1].param.values()
    simplex = mv.Problem(problem.bank, y, problem.loss)
    assert mv.solve(simplex, "level:lam=0.5").best.objective == mv.solve(simplex, "level", lam=0.5).best.objective
    assert mv.race(simplex, ["level:lam=0.5", "spg"]).traces
    with pytest.raises(ValueError, match="names 2"):
        mv.make_solver("level:lam=0.5,spg")
    with pytest.raises(ValueError, match="Matrices are data"):
        mv.KernelBank.build(X, np.eye(3))


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
    assert hint("rbf", KINDS["kernel"]) == "did you mean gaussian?"
    assert hint("nosuch", ["a", "b"]) == "there are a, b."
