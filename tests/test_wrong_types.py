"""Whatever is given for a number, a solver or data: a sentence says what is wrong with it, and nothing breaks down."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import param
import pytest
from _problems import blobs

import mklviz as mv
from mklviz.engine import Race, Run, make_solver, path_values, solve, solver_classes, with_parameter
from mklviz.engine.stop import KKT, Gap, MaxIter, MaxSeconds, ProjectedGradient, WeightChange
from mklviz.errors import MklvizError
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Linear, NystromBank, Polynomial, ProductBank
from mklviz.problem import loss_families, regularizer_families
from mklviz.recipe.prepared import standard_targets

X, Y = blobs(12)
BANK = KernelBank.build(X, [Gaussian(widths=(1.0, 2.0))])
PROBLEM = mv.Problem(BANK, Y, mv.Hinge(10.0))
PRICED = mv.Problem(BANK, Y, mv.Hinge(10.0), mv.BlockL1(0.1))
EQUAL, NOTHING = np.full(2, 0.5), np.zeros(12)

NO_NUMBERS: list[Any] = ["3", "x", "", True, [1.0], (), {}, 1j, np.array([1.0, 2.0]), float("nan"), float("inf"), -1.0]
NEITHER = [*NO_NUMBERS, None]
NO_COUNTS = [*NO_NUMBERS, 2.5, 0, float("-inf"), 10**400]
NO_SWITCH = ["yes", 1, None, []]

NO_WIDTHS: list[Any] = [2.0, "12", None, 1j, [], {}, ["1"], [1.0, None], [True], [2j], [0.0], [1.0, -1.0], [1e200]]
NO_WIDTHS += [[1e-200], [float("nan")], [float("inf")]]
NOWHERE: list[Any] = [3, 3.5, None, "foo", "", "random:0", "random:x", [], [0.5], [True, "x"], np.array(3), {0.5}]
MASKED = np.ma.masked_greater(X, float(np.sort(X[:, 0])[-2]))


def sentence(call: Callable[[], object]) -> str:
    """What the call says, which must be one of mklviz's own errors, a sentence or two."""
    with pytest.raises(MklvizError) as caught:
        call()
    said = str(caught.value)
    assert said[0].isupper() or said.split()[0].islower() or said.split("=")[0].isidentifier(), said
    assert said.endswith((".", ")", "?")), said
    assert "Traceback" not in said
    return said


Refusal = tuple[str, Callable[[Any], object], list[Any]]  # what is asked for, how, and what is given that will not do


def check_refusals(*refusals: Refusal) -> None:
    for name, call, things in refusals:
        for given in things:
            try:
                sentence(partial(call, given))
            except BaseException as wrong:
                raise AssertionError(f"{name} = {given!r:.60} is not refused in a sentence.") from wrong


PARAMETERS = [
    (f"{part.__name__}.{field.name}", lambda given, part=part, name=field.name: part(**{name: given}))
    for part in [*loss_families().values(), *regularizer_families().values()]
    for field in fields(part)
    if field.init and field.name != "bias"
]
OPTIONAL = {"GroupSquaredPlusL1.p"}


def test_parameters_of_losses_and_regularizers() -> None:
    check_refusals(*((name, call, NO_NUMBERS if name in OPTIONAL else NEITHER) for name, call in PARAMETERS))
    kinds = mv.Hinge, mv.Squared
    check_refusals(*((kind.__name__, lambda given, kind=kind: kind(bias=given), NO_SWITCH) for kind in kinds))


KERNELS: list[Refusal] = [
    *[
        (f"widths of {kind.__name__}", lambda given, kind=kind: kind(widths=given), NO_WIDTHS)
        for kind in (Gaussian, Laplacian)
    ],
    ("degrees", lambda given: Polynomial(degrees=given), ["12", 2, [2.5], [None], [0]]),
    ("offset", lambda given: Polynomial(offset=given), NEITHER),
    ("on", lambda given: KernelBank.build(X, [Gaussian(on=given)]), [*NOWHERE, "random:", [7], [-1], [0, 0], ["x9"]]),
    *[
        (f"on of {kind.__name__}", lambda given, kind=kind: kind(on=given), NOWHERE)
        for kind in (Gaussian, Laplacian, Linear, Polynomial)
    ],
    *[
        (f"{name} with a mask", call, [MASKED])
        for name, call in (
            ("X", lambda given: KernelBank.build(given, [Gaussian()])),
            ("landmarks", lambda given: NystromBank.build(given, [Gaussian()], landmarks=3)),
            ("product", ProductBank.build),
            ("cross", BANK.cross),
            ("grams", lambda given: KernelBank.from_grams([np.ma.array(np.eye(12), mask=np.eye(12) > 0.0)])),
            ("y", lambda given: mv.Problem(BANK, given[:, 0])),
            ("sample_weight", lambda given: mv.Problem(BANK, Y, sample_weight=given[:, 0])),
        )
    ],
    ("X", lambda given: KernelBank.build(given, [Gaussian()]), [*NEITHER, X + 1j, X * np.nan, X[:, 0], [[1, 2], [3]]]),
    ("families", lambda given: KernelBank.build(X, given), [None, 3, "zebra", ["zebra"], [Gaussian], []]),
    ("normalize", lambda given: KernelBank.build(X, [Gaussian()], normalize=given), [None, "unit", 1, ["trace"]]),
    ("precision", lambda given: KernelBank.build(X, [Gaussian()], precision=given), [None, "half", 32]),
    ("cache_mb", lambda given: KernelBank.build(X, [Gaussian()], cache_mb=given), [*NEITHER, 0]),
    ("max_bytes", lambda given: KernelBank.build(X, [Gaussian()], max_bytes=given), NEITHER),
    ("names", lambda given: KernelBank.build(X, [Gaussian()], feature_names=given), [3, ["a"], "ab"]),
    ("grams", KernelBank.from_grams, [*NEITHER, "K", np.eye(3), [np.eye(3) + 1j], [np.eye(3), np.eye(2)]]),
    ("landmarks", lambda given: NystromBank.build(X, [Gaussian()], landmarks=given), [*NO_NUMBERS, 2.5, 0, None]),
    ("nystrom seed", lambda given: NystromBank.build(X, [Gaussian()], seed=given), [*NEITHER, 2.5]),
    ("product", ProductBank.build, [*NEITHER, X + 1j]),
    ("cross", BANK.cross, [*NEITHER, X + 1j, X * np.nan, X[:, :2]]),
]

POSED: list[Refusal] = [
    ("bank", lambda given: mv.Problem(given, Y), [None, X, "bank", [np.eye(12)]]),
    ("y", lambda given: mv.Problem(BANK, given), [None, "y", 3, Y + 1j, Y[:5], ["a"] * 12, Y * np.nan]),
    ("loss", lambda given: mv.Problem(BANK, Y, loss=given), [None, "hinges", mv.Hinge, 10.0]),
    ("regularizer", lambda given: mv.Problem(BANK, Y, regularizer=given), [None, "simplexes", mv.Simplex, 2.0]),
    *[
        (name, call, [None, "x", 0.5, EQUAL[:1], EQUAL + 1j, EQUAL * np.nan, [[0.5, 0.5]], ["a", "b"]])
        for name, call in (
            ("weights of gap", lambda given: PROBLEM.gap(given, NOTHING)),
            ("weights of objective", lambda given: PROBLEM.objective(given, NOTHING)),
            ("weights of predictor", lambda given: PROBLEM.predictor(given, NOTHING)),
            ("weights of equivalents", lambda given: mv.equivalents(PROBLEM, given, NOTHING)),
        )
    ],
    *[
        (name, call, [None, "x", 0.5, NOTHING[:3], NOTHING + 1j, NOTHING * np.nan, NOTHING[:, None]])
        for name, call in (
            ("duals of gap", lambda given: PROBLEM.gap(EQUAL, given)),
            ("duals of objective", lambda given: PROBLEM.objective(EQUAL, given)),
            ("duals of bound", PROBLEM.lower_bound),
            ("duals of predictor", lambda given: PROBLEM.predictor(EQUAL, given)),
            ("duals of equivalents", lambda given: mv.equivalents(PROBLEM, EQUAL, given)),
        )
    ],
]

RUNS: list[Refusal] = [
    ("problem", lambda given: solve(given, "level"), [None, BANK, "problem"]),
    ("solver", lambda given: solve(PROBLEM, given), [3, "levle", make_solver, ["level"]]),
    ("gap", lambda given: solve(PROBLEM, "level", gap=given), [*NO_NUMBERS, 0.0]),
    ("max_iter", lambda given: solve(PROBLEM, "level", max_iter=given), NO_COUNTS),
    ("max_seconds", lambda given: solve(PROBLEM, "level", max_seconds=given), [*NO_NUMBERS, 0]),
    ("seed", lambda given: solve(PROBLEM, "level", seed=given), [*NEITHER, 2.5]),
    ("stop", lambda given: solve(PROBLEM, "level", stop=given), [1e-2, "gap", [1e-2], None, ["gap"], [Gap]]),
    ("rule", lambda given: mv.replay(solve(PROBLEM, "level", max_iter=1), given), ["gap", MaxIter, None]),
    ("start", lambda given: solve(PROBLEM, "level", start=given), [1.5, "x", 3, True, EQUAL, PROBLEM]),
    ("threads", lambda given: solve(PROBLEM, "level", threads=given), [*NO_COUNTS, None]),
    ("projected", lambda given: solve(ODD, "spg", projected_gradient=given), [*NO_NUMBERS, 0.0]),
    ("projected, convex", lambda given: solve(PROBLEM, "level", projected_gradient=given), [*NO_NUMBERS, 0.0]),
    ("gap, not convex", lambda given: solve(ODD, "spg", gap=given), [*NO_NUMBERS, 0.0]),
    ("progress", lambda given: solve(PROBLEM, "level", progress=given), [3, "x", []]),
    ("race", lambda given: mv.race(PROBLEM, given), [None, 3, [], [3], [None], "levle", ["levle"]]),
    ("race problem", lambda given: mv.race(given, ["level"]), [None, BANK]),
    ("race gap", lambda given: mv.race(PROBLEM, ["level"], gap=given), NO_NUMBERS),
    ("race max_iter", lambda given: mv.race(PROBLEM, ["level"], max_iter=given), NO_COUNTS),
    ("race seed", lambda given: mv.race(PROBLEM, ["level"], seed=given), NEITHER),
    ("pace", lambda given: mv.race(PROBLEM, ["level"], pace=given), NEITHER),
    ("Race", lambda given: Race(PROBLEM, given), ["level", None, []]),
    ("Run", lambda given: Run(PROBLEM, given), ["level", None]),
    ("Run start", lambda given: Run(PROBLEM, make_solver("level"), start=given), [1.5, 2, "x"]),
    ("path C", lambda given: mv.path(PROBLEM, "level", C=given), ["3", None, {}, 1j, -1.0, [], [1j], [None], [np.nan]]),
    ("path p", lambda given: mv.path(PROBLEM, "level", p=given), [[2.0]]),
    ("path start", lambda given: mv.path(PROBLEM, "level", start=given), [1.5]),
    ("path gap", lambda given: mv.path(PROBLEM, "level", gap=given, C=[1.0]), NO_NUMBERS),
    ("path solver", lambda given: mv.path(PROBLEM, given, C=[1.0]), [3, "levle", ["level"]]),
    ("path progress", lambda given: mv.path(PROBLEM, "level", progress=given, C=[1.0]), [3, "x", []]),
    ("path checkpoint", lambda given: mv.path(PROBLEM, "level", checkpoint=given, C=[1.0]), [3, "x", []]),
    ("path problem", lambda given: mv.path(given, "level", C=[1.0]), [None, BANK]),
    ("count", lambda given: path_values(PRICED, "lam", count=given), [*NO_COUNTS, None]),
    ("ratio", lambda given: path_values(PRICED, "lam", ratio=given), [*NO_NUMBERS, 0.0, 1.0]),
    ("parameter", lambda given: path_values(PRICED, given), [None, 3, "p", "x"]),
    ("lambda_max", mv.lambda_max, [None, BANK, PROBLEM]),
    ("value", lambda given: with_parameter(PRICED, "lam", given), NEITHER),
    *[(rule.__name__, rule, [*NEITHER, 0.0]) for rule in (Gap, MaxSeconds, WeightChange, KKT, ProjectedGradient)],
    ("MaxIter", MaxIter, [*NO_COUNTS, None]),
]
ODD = mv.Problem(ProductBank.build(X), Y, mv.Hinge(10.0), mv.L1Penalty(1.0))

OPTIONS: list[Refusal] = [
    *(
        (f"{name}.{key}", lambda given, name=name, key=key: make_solver(name, **{key: given}), things)
        for name, kind in solver_classes().items()
        for key, option in kind.param.objects().items()
        if key != "name"
        for things in [["x", [1.0], {}, 1j, *([float("nan"), True] if isinstance(option, param.Number) else [])]]
    )
]


@pytest.mark.parametrize("refusal", [*KERNELS, *POSED, *RUNS, *OPTIONS], ids=lambda refusal: refusal[0])
def test_whatever_is_given_to_kernels_problems_runs_and_solvers(refusal: Refusal) -> None:
    check_refusals(refusal)


@pytest.mark.parametrize(
    ("regularizer", "weights"),
    [
        *((mv.Simplex(), weights) for weights in ([0.7, 0.7], [1.5, -0.5], [0.0, 0.0])),
        *((kind(1.0, 1.0), [0.5, -0.1]) for kind in (mv.ElasticNet, mv.GroupSquaredPlusL1)),
        (mv.L1Penalty(1.0), [0.5, -0.1]),
    ],
    ids=str,
)
def test_weights_outside_the_regularizers_set_have_no_finite_objective(regularizer: Any, weights: list[float]) -> None:
    posed = mv.Problem(BANK, Y, mv.Hinge(10.0), regularizer)
    assert posed.objective(weights, NOTHING) == posed.gap(weights, NOTHING) == np.inf


def test_nothing_is_predicted_with_weights_below_zero_and_masks_without_a_masked_entry_are_no_matter() -> None:
    assert "below zero, but number 1 is -0.5" in sentence(lambda: PROBLEM.predictor([1.5, -0.5], NOTHING))
    PROBLEM.predictor([1.0, -1e-17], NOTHING)  # rounding
    whole = KernelBank.build(np.ma.array(X, mask=False), [Gaussian(widths=(1.0, 2.0))])
    np.testing.assert_array_equal(whole.combine(EQUAL), BANK.combine(EQUAL))


@pytest.mark.full
@pytest.mark.parametrize("C", [3, np.int64(3), np.float32(3.0), 3.0])
def test_numbers_of_every_type_will_do(C: float) -> None:
    posed = mv.Problem(BANK, list(Y), mv.Hinge(C))
    assert solve(posed, "level", gap=np.float32(1e-2), max_iter=np.int64(50)).status == "converged"


HUGE = 1e200 * blobs(20, seed=0)[0]
LABELS = blobs(20, seed=0)[1]
BUILT: dict[str, Callable[[Any], Any]] = {
    "bank": lambda X: KernelBank.build(X, [Laplacian(widths=(1.0,))]),
    "paper bank": mv.paper_bank,
    "nystrom": lambda X: NystromBank.build(X, [Gaussian(widths=(1.0,))], landmarks=5),
    "product": lambda X: ProductBank.build(X),
    "parametric": lambda X: mv.ParametricBank.build(X, mv.LearnedGaussian()),
    "classifier": lambda X: mv.MKLClassifier().fit(X, LABELS),
    "search": lambda X: mv.MKLClassifierCV(Cs=[1.0]).fit(X, LABELS),
    "regressor": lambda X: mv.MKLRegressor().fit(X, LABELS),
    "transformer": lambda X: mv.KernelTransformer().fit(X, LABELS),
}


@pytest.mark.parametrize("name", BUILT)
def test_features_whose_squares_overflow_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(MklvizError, match=r"X reaches \d\.\de\+200, whose squares are no numbers: standardize"):
        BUILT[name](HUGE / abs(HUGE).max() * 2.3e200)


@pytest.mark.parametrize("loss", [mv.Squared(), mv.EpsilonInsensitive()])
def test_targets_whose_squares_overflow_are_refused_in_a_sentence(loss: Any) -> None:
    bank = mv.paper_bank(blobs(20, seed=0)[0])
    for large, small in ((1e200, -3e150), (1e-200, 0.0)):
        with pytest.raises(MklvizError, match=rf"Targets reach {large:.2g}".replace("+", r"\+") + ".*use another unit"):
            solve(mv.Problem(bank, np.where(LABELS > 0, large, small), loss))


@pytest.mark.parametrize(
    ("folds", "said"),
    [
        ([], "There is no fold"),
        ([(np.arange(20), np.arange(0))], "A fold has no test sample"),
        ([(np.arange(0), np.arange(20))], "A fold has no training sample of class"),
        ([(np.flatnonzero(LABELS > 0), np.arange(20))], "A fold has no training sample of class"),
    ],
    ids=["none", "empty test", "empty training", "one class"],
)
def test_folds_in_which_nothing_can_be_learned_or_tried_are_said(folds: Any, said: str) -> None:
    with pytest.raises(MklvizError, match=said):
        mv.MKLClassifierCV(Cs=[1.0], cv=folds).fit(blobs(20, seed=0)[0], LABELS)


def test_huge_targets_are_standardized_without_an_overflow() -> None:
    X = blobs(40, seed=0)[0]
    plain, huge = (mv.Dataset("d", X, size * X[:, 0], task="regression") for size in (1.0, 2.0**650))
    for one, other in zip(standard_targets(plain, plain), standard_targets(huge, huge), strict=True):
        assert np.allclose(one.y, other.y)
