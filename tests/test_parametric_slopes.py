"""Parametric kernels of one's own: wrong derivatives are refused, in any unit, and what breaks down gets a sentence."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from _problems import Array, blobs

import mklviz as mv
import mklviz.datasets
from mklviz.engine import solve
from mklviz.errors import KernelError, SolverError
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import Gaussian, KernelBank, LearnedGaussian, LearnedPolynomial, ParametricBank, ParametricKernel
from mklviz.problem import Hinge, L1Penalty, Problem
from mklviz.solvers._spectral import Units, Valued

TABLES = [card.name for card in mklviz.datasets.describe_datasets() if card.kind == "table"]


def groupings(width: int) -> list[Sequence[Sequence[int]] | None]:
    """Each feature by itself, all, two halves, and every third."""
    columns, half = range(width), width // 2
    return [None, [columns], [columns[:half], columns[half:]], [columns[k::3] for k in range(3)]]


@pytest.mark.full
@pytest.mark.each_value("release")
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("standardize", [True, False])
def test_the_built_in_kernels_pass_on_every_table(name: str, standardize: bool) -> None:
    """Widths at which only the diagonal is left, and data of any size, are no mistakes of the kernel."""
    X = mv.load_dataset(name).split(train=0.6, seed=0, standardize=standardize)[0].X[:1000]  # of Adult no more fit
    for groups in groupings(X.shape[1]):
        bank = ParametricBank.build(X, LearnedGaussian(groups=groups))
        assert len(bank) == (X.shape[1] if groups is None else len(groups))  # and no refusal before that
    for degree in (1, 3):
        ParametricBank.build(X, [LearnedPolynomial(degree), LearnedGaussian()])


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "standardize"), [("sonar", True), ("heart", True), ("wdbc", False)])
@pytest.mark.parametrize("width", [1e-3, 0.1, 1.0, 10.0])
def test_the_slopes_of_a_narrow_gaussian_do_not_cancel(name: str, standardize: bool, width: float) -> None:
    """Beside the sum over pairs in longer numbers: with data in the thousands rounding of exponents leaves 1e-10."""
    X = mv.load_dataset(name).split(train=0.6, seed=0, standardize=standardize)[0].X[:120]
    groups = groupings(X.shape[1])[2]
    assert groups is not None
    weights, v = width * np.array([1.0, 0.7]), np.random.default_rng(0).normal(size=len(X))
    squares = [((X[:, None, list(g)] - X[None][:, :, list(g)]) ** 2).sum(-1).astype(np.longdouble) for g in groups]
    charged = np.outer(v, v) * np.exp(-weights[0] * squares[0] - weights[1] * squares[1])
    told = LearnedGaussian(groups=groups).forms(X, X, weights, np.outer(v, v))
    for slope, square in zip(told, squares, strict=True):
        assert abs(slope + (charged * square).sum()) <= 1e-8 * (np.abs(charged) * square).sum()


class InUnits(ParametricKernel):
    """exp(-unit sum_k d_k (x_k - z_k)^2), with derivatives off by a factor."""

    label = "Gaussian in other units"

    def __init__(self, unit: float, factor: float = 1.0, kind: Any = np.float64) -> None:
        self.unit, self.factor, self.kind = unit, factor, kind

    def names(self, features: Any) -> Any:
        return features

    def squares(self, left: Array, right: Array) -> Array:
        return np.asarray(self.unit * (left[:, None] - right[None]) ** 2)

    def values(self, left: Array, right: Array, weights: Array) -> Any:
        return np.exp(-self.squares(left, right) @ weights).astype(self.kind)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        charges *= self.values(left, right, weights)  # which it may overwrite
        return -self.factor * np.einsum("ij,ijk->k", charges, self.squares(left, right))


HEART = mv.load_dataset("heart").split(train=0.6, seed=0)[0].X


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3, 1e6, 1e9])
def test_derivatives_are_compared_in_any_unit_of_the_parameters(unit):
    ParametricBank.build(HEART, InUnits(unit))
    for factor in (1.001, 0.999, 2.0, -1.0, 0.0):
        with pytest.raises(KernelError, match="do not fit its values"):
            ParametricBank.build(HEART, InUnits(unit, factor))


class Line(ParametricKernel):
    """sum_k d_k x_k z_k with the derivative in one parameter doubled."""

    label = "line"

    def __init__(self, wrong: int) -> None:
        self.wrong = wrong

    def names(self, features: Any) -> Any:
        return features

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        return np.asarray((left * weights) @ right.T)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        told = ((charges.T @ left) * right).sum(0)
        told[self.wrong] *= 2.0
        return np.asarray(told)


@pytest.mark.parametrize("wrong", [0, 199])
def test_one_wrong_derivative_among_two_hundred_is_found_and_named(wrong):
    X = np.random.default_rng(0).normal(size=(50, 200))
    with pytest.raises(KernelError, match=rf"in the parameter x{wrong + 1} give the slope"):
        ParametricBank.build(X, Line(wrong))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_single_precision_gets_a_sentence_of_its_own(kind):
    with pytest.raises(KernelError, match=r"must be given in double precision \(float64\), but float(32|16) was given"):
        ParametricBank.build(blobs(40)[0], InUnits(1.0, kind=kind))


def wide(**change: Any) -> Any:
    return type("Changed", (InUnits,), change)(1.0)


class Logarithm(ParametricKernel):
    """exp(-d |x - z|^2) with its derivative as k log k / d, which is nan where k has become zero."""

    label = "Gaussian of one width"

    def names(self, features: Any) -> Any:
        return ["inverse width"]

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        return np.asarray(np.exp(-weights[0] * ((left[:, None] - right[None]) ** 2).sum(-1)))

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        if weights[0] == 0.0:
            return np.array([-(charges * ((left[:, None] - right[None]) ** 2).sum(-1)).sum()])
        k = self.values(left, right, weights)
        return np.array([(charges * k * np.log(k)).sum() / weights[0]])


@pytest.mark.parametrize(("name", "options"), [("spg", {}), ("pgd", {"spectral": True})])
@pytest.mark.filterwarnings("ignore:divide by zero")  # by the kernel
def test_a_derivative_that_becomes_nan_ends_the_run_with_a_sentence(name, options):
    """Labels without a rule drive the width down until values underflow."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.0, 1.0, size=(80, 2)), rng.choice([-1.0, 1.0], 80)
    bank = ParametricBank.build(X, Logarithm())
    problem = Problem(bank, y, Hinge(100.0), L1Penalty(1e-4))
    with pytest.raises(
        KernelError, match=r"in the parameter inverse width is nan at d = \(\d+.*, where a solver looked"
    ):
        solve(problem, name, max_iter=200, **options)


@pytest.mark.parametrize("slope", [np.nan, np.inf])
def test_no_step_follows_a_gradient_that_is_no_number(slope):
    class Steep(L1Penalty):
        def gradient(self, weights: Array) -> Array:
            return np.full(len(weights), slope)

    X, y = blobs(20)
    problem = Problem(KernelBank.build(X, [Gaussian(on="each")]), y, Hinge(1.0), Steep(1.0))
    point = SvmOracle(problem, 1e-6).solve(np.ones(problem.m))
    with pytest.raises(SolverError, match=r"The gradient of the objective is (nan|inf) for “gauss"):
        Valued(problem, point).reachable(1.0, Units.of(problem, point))


def larger(method: Callable[..., Array]) -> Callable[..., Array]:
    """What loses its last entry in blocks of more points than are looked at when a bank is built."""
    return lambda self, left, *given: method(self, left, *given)[: -1 if len(left) > 40 else None]


def test_a_shape_that_is_wrong_in_larger_blocks_alone_gets_a_sentence():
    X, _ = blobs(60)
    beta = X[:, 0]
    with pytest.raises(KernelError, match=r"must have shape \(60, 60\), .* but has \(59, 60\)"):
        ParametricBank.build(X, wide(values=larger(InUnits.values))).combine(np.ones(3))
    with pytest.raises(KernelError, match=r"must be 3 finite numbers, one for each parameter that .* of shape \(2,\)"):
        ParametricBank.build(X, wide(forms=larger(InUnits.forms))).slopes(np.ones(3), beta)


MISTAKES = {
    "names too few": ({"names": lambda self, features: features[:2]}, r"of 3 features and 2 parameters, raised Value"),
    "names too many": (
        {"names": lambda self, features: [*features, "x"]},
        r"and 4 parameters, raised .* must be as many as",
    ),
    "names None": ({"names": lambda self, features: None}, "must be a list of texts, .* but None was given"),
    "names a text": ({"names": lambda self, features: "abc"}, r"but 'abc' was given: write it as \['abc'\] where"),
    "names broken": ({"names": lambda self, features: features[7]}, "given those of 3 features, raised IndexError"),
    "none": ({"names": lambda self, features: []}, "it names 0, 0 of them different"),
    "a matrix": (
        {"values": lambda self, *given: np.asmatrix(InUnits.values(self, *given))},
        r"a numpy.matrix was given, .* return numpy.asarray",
    ),
    "a column of matrices": (
        {"forms": lambda self, *given: np.asmatrix(InUnits.forms(self, *given))},
        "The derivatives .* a numpy.matrix was given",
    ),
    "nothing": ({"values": lambda self, *given: None}, r"must have shape \(32, 32\), .* but has \(\)"),
    "values broken": ({"values": lambda self, *given: 1 / 0}, "The values of .* raised ZeroDivisionError: division by"),
    "forms broken": ({"forms": lambda self, *given: np.ones(3) @ np.ones(4)}, "The forms of .* raised ValueError: mat"),
    "complex": ({"values": lambda self, *given: InUnits.values(self, *given) + 0j}, "must hold numbers only"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.filterwarnings("ignore:the matrix subclass")  # which is what is refused
def test_mistakes_of_a_kernel_get_sentences_alone_and_in_a_sum(mistake, several):
    change, message = MISTAKES[mistake]
    with pytest.raises(KernelError, match=message):
        ParametricBank.build(blobs(40)[0], [wide(**change), wide(**change)] if several else wide(**change))


def test_terms_of_one_kind_are_numbered():
    X, _ = blobs(20)
    bank = ParametricBank.build(X, [LearnedPolynomial(2), LearnedGaussian(), LearnedPolynomial(2)])
    assert bank.names[0] == "constant (polynomial of degree 2, term 1)"
    assert bank.names[4] == "distance in x1 (Gaussian)"
    assert bank.names[7] == "constant (polynomial of degree 2, term 3)"
    assert len(ParametricBank.build(X, [LearnedGaussian(), LearnedGaussian(groups=((0,), (1,), (2,)))])) == 6
