"""Kernels with learned parameters: what is refused, the built-in ones, and where PGD and SPG end, by other means."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from _problems import Array, blobs
from _shown import html_of
from scipy.optimize import minimize
from sklearn.svm import SVC

import mklviz as mv
import mklviz.datasets
from mklviz.context import interruptible
from mklviz.engine import solve
from mklviz.engine.run import describe
from mklviz.errors import BankTooLarge, Interrupted, KernelError, ProblemError, SolverError, UnsupportedProblem
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import (
    Bank,
    Gaussian,
    KernelBank,
    LearnedGaussian,
    LearnedPolynomial,
    ParametricBank,
    ParametricKernel,
)
from mklviz.problem import Hinge, L1Penalty, Problem
from mklviz.solvers._spectral import Units, Valued

BUILT_IN: dict[str, mv.ParametricKernel | list[mv.ParametricKernel]] = {
    "line": mv.LearnedPolynomial(1),
    "square": mv.LearnedPolynomial(2),
    "fifth power": mv.LearnedPolynomial(5),
    "polynomials": [mv.LearnedPolynomial(p) for p in (1, 2, 3)],
    "Gaussian": mv.LearnedGaussian(),
    "groups": mv.LearnedGaussian(groups=((0, 2), (1,))),
    "both": [mv.LearnedPolynomial(2), mv.LearnedGaussian()],
}


class Cauchy(mv.ParametricKernel):
    """1 / (1 + sum_k d_k (x_k - z_k)^2), as a user might write it."""

    label = "Cauchy kernel"

    def names(self, features: Any) -> Any:
        return features

    def squares(self, left: Array, right: Array) -> Array:
        return np.asarray((left[:, None] - right[None]) ** 2)

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        return np.asarray(1.0 / (1.0 + self.squares(left, right) @ weights))

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        slopes = -charges * self.values(left, right, weights) ** 2
        return np.asarray(np.einsum("ij,ijk->k", slopes, self.squares(left, right)))


def cube(points: Array, weights: Array) -> Array:
    """(d_0 + sum_k d_k x_k z_k)^3, from the definition."""
    return np.asarray((weights[0] + (points * weights[1:]) @ points.T) ** 3)


# -- what is refused, with the numbers


def wrong(**methods: Any) -> mv.ParametricKernel:
    return type("Wrong", (Cauchy,), methods)()


values, forms = Cauchy.values, Cauchy.forms
WRONG = {
    "twice the slope": (
        wrong(forms=lambda *given: 2.0 * forms(*given)),
        r"do not fit its values: at d = .*parameter x\d give the slope (-?[\d.e-]+), but its forms say (-?[\d.e-]+)",
    ),
    "a slope forgotten": (wrong(forms=lambda *given: forms(*given) * [1.0, 1.0, 0.0]), "parameter x3 give the slope"),
    "not symmetric": (
        wrong(values=lambda self, a, b, d: values(self, a, b, d) + 0.1 * a[:, :1]),
        r"not symmetric: entry \(\d+, \d+\) is",
    ),
    "no kernel": (
        wrong(values=lambda *given: -values(*given), forms=lambda *given: -forms(*given)),
        r"must be positive semidefinite, but has the eigenvalue -\d",
    ),
    "centred": (
        wrong(values=lambda self, a, b, d: values(self, a - a.mean(0), b - b.mean(0), 0.5 * d) * (len(a) + len(b))),
        "depends on which points are asked for together",
    ),
    "no sum over pairs": (
        wrong(forms=lambda self, a, *given: forms(self, a, *given) / len(a)),
        r"sums over pairs of points, but .* add up to",
    ),
    "no number": (wrong(values=lambda self, a, b, d: np.full((len(a), len(b)), np.nan)), r"holds nan at \(0, 0\)"),
    "a slope too few": (wrong(forms=lambda *given: forms(*given)[:2]), r"must be 3 .* of shape \(2,\)"),
    "steep at zero": (
        wrong(
            values=lambda self, a, b, d: values(self, a, b, np.sqrt(d)),
            forms=lambda self, a, b, d, p: forms(Cauchy(), a, b, np.sqrt(d), p) / (2.0 * np.sqrt(d)),
        ),
        "finite numbers, also where parameters are zero",
    ),
    "two of a name": (wrong(names=lambda self, features: ["d", "d", "e"]), "names 3, 2 of them different"),
    "names too few": (
        wrong(names=lambda self, features: features[:2]),
        r"of 3 features and 2 parameters, raised Value",
    ),
    "names too many": (wrong(names=lambda self, features: [*features, "x"]), r"and 4 parameters, raised .* as many as"),
    "names None": (wrong(names=lambda self, features: None), "must be a list of texts, .* but None was given"),
    "names a text": (wrong(names=lambda self, features: "abc"), r"but 'abc' was given: write it as \['abc'\] where"),
    "names broken": (wrong(names=lambda self, features: features[7]), "given those of 3 features, raised IndexError"),
    "none": (wrong(names=lambda self, features: []), "it names 0, 0 of them different"),
    "a matrix": (wrong(values=lambda *given: np.asmatrix(values(*given))), "a numpy.matrix .* return numpy.asarray"),
    "a column of matrices": (
        wrong(forms=lambda *given: np.asmatrix(forms(*given))),
        "derivatives .* a numpy.matrix was",
    ),
    "nothing": (wrong(values=lambda *given: None), r"must have shape \(32, 32\), .* but has \(\)"),
    "values broken": (wrong(values=lambda *given: 1 / 0), "The values of .* raised ZeroDivisionError: division by"),
    "forms broken": (wrong(forms=lambda *given: np.ones(3) @ np.ones(4)), "The forms of .* raised ValueError: mat"),
    "complex": (wrong(values=lambda *given: values(*given) + 0j), "must hold numbers only"),
}


@pytest.mark.parametrize("change", WRONG)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.filterwarnings("ignore:divide by zero")  # one of the kernels is as steep as that
@pytest.mark.filterwarnings("ignore:the matrix subclass")  # which is what is refused
def test_a_kernel_that_does_not_fit_together_is_refused_with_the_numbers_alone_and_in_a_sum(change, several):
    kernel, message = WRONG[change]
    with pytest.raises(KernelError, match=message):
        mv.ParametricBank.build(blobs(40)[0], [kernel, kernel] if several else kernel)


def test_banks_that_cannot_be_are_refused():
    X, _ = blobs(20)
    for kernel in ([], "polynomial", [mv.LearnedPolynomial(), mv.Gaussian()]):
        with pytest.raises(KernelError, match="takes a ParametricKernel"):
            mv.ParametricBank.build(X, kernel)
    for degree in (0, 1.5, -1, True):
        with pytest.raises(KernelError, match="whole number from 1 on"):
            mv.LearnedPolynomial(degree)
    with pytest.raises(KernelError, match="Group 1 must list columns"):
        mv.ParametricBank.build(X, mv.LearnedGaussian(groups=((3,),)))
    with pytest.raises(KernelError, match="must be a table"):
        mv.ParametricBank.build(X[0], mv.LearnedPolynomial())
    with pytest.raises(BankTooLarge, match="use fewer samples"):
        mv.ParametricBank.check_size(100_000, 10)
    bank = mv.ParametricBank.build(X, mv.LearnedPolynomial())
    for ask in (lambda: bank.quad(np.ones(20)), lambda: bank.products(np.ones(20), np.array([0]))):
        with pytest.raises(UnsupportedProblem, match="sum of kernels"):
            ask()
    with pytest.raises(KernelError, match="need 3 columns"):
        bank.cross(X[:, :2])
    with pytest.raises(KernelError, match="finite in every entry"):
        bank.cross(np.full((2, 3), np.nan))
    with pytest.raises(KernelError, match=r"not finite at d = \(1e\+200"):
        bank.combine(np.full(4, 1e200))
    with pytest.raises(ProblemError, match="kernel with parameters has only one function"):
        mv.Problem(bank, np.sign(X[:, 0]), mv.Hinge(1.0), mv.GroupSquaredPlusL1())


# -- the built-in ones and the bank


def slope_by_differences(bank: Bank, weights: Array, beta: Array, k: int) -> float:
    """The derivative of -1/2 beta'K_d beta in the weight k, by central differences."""
    move = 1e-5 * np.eye(len(bank))[k]
    ends = [-0.5 * np.vdot(beta, bank.combine(weights + sign * move) @ beta) for sign in (1, -1)]
    return float(ends[0] - ends[1]) / 2e-5


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr("mklviz.kernels.parametric.TILE", 60)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("small", [False, True])
def test_slopes_are_the_derivatives_of_the_quadratic_form_however_it_is_cut(name, small, request):
    """-1/2 beta'K_d beta by central differences, whose error of second order is below 1e-7 at this step."""
    if small:
        request.getfixturevalue("small_tiles")
    X, _ = blobs(20)
    bank = mv.ParametricBank.build(X, BUILT_IN[name])
    rng = np.random.default_rng(1)
    weights, beta = 0.1 + rng.exponential(size=len(bank)) / len(bank), rng.normal(size=(20, 2))
    beta[rng.random(20) < 0.3] = 0.0  # samples that are no support vectors
    K = bank.combine(weights)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(bank.apply(weights, beta), K @ beta, rtol=1e-12, atol=1e-12)
    slopes = [slope_by_differences(bank, weights, beta, k) for k in range(len(bank))]
    np.testing.assert_allclose(bank.slopes(weights, beta), slopes, rtol=1e-6, atol=1e-7)


def test_the_polynomial_is_its_formula_and_a_sum_has_parameters_of_its_own_for_each_term_numbered_if_alike():
    X, _ = blobs(20)
    rng = np.random.default_rng(0)
    weights, others = rng.exponential(size=4), rng.exponential(size=4)
    np.testing.assert_allclose(mv.ParametricBank.build(X, mv.LearnedPolynomial(3)).combine(weights), cube(X, weights))
    both = mv.ParametricBank.build(X, [mv.LearnedPolynomial(3), mv.LearnedPolynomial(1)], feature_names=["a", "b", "c"])
    line = others[0] + (X * others[1:]) @ X.T
    np.testing.assert_allclose(both.combine(np.append(weights, others)), cube(X, weights) + line, rtol=1e-12)
    assert both.names[:2] == ["constant (polynomial of degree 3)", "a (polynomial of degree 3)"]
    assert both.names[4] == "constant (polynomial of degree 1)"
    bank = ParametricBank.build(X, [LearnedPolynomial(2), LearnedGaussian(), LearnedPolynomial(2)])
    assert bank.names[0] == "constant (polynomial of degree 2, term 1)"
    assert bank.names[4] == "distance in x1 (Gaussian)"
    assert bank.names[7] == "constant (polynomial of degree 2, term 3)"
    assert len(ParametricBank.build(X, [LearnedGaussian(), LearnedGaussian(groups=((0,), (1,), (2,)))])) == 6


def test_new_points_meet_the_samples_as_samples_do_and_parts_need_only_their_parameters():
    X, _ = blobs(30)
    weights = np.array([0.3, 1.0, 0.0, 0.2])
    bank = mv.ParametricBank.build(X, mv.LearnedPolynomial(2))
    np.testing.assert_allclose(bank.cross(X[:5]).combine(weights), bank.combine(weights)[:5], atol=1e-13)
    part = bank.part(np.array([0, 1, 3]), np.array([4, 7]))
    np.testing.assert_allclose(part.cross(X).combine(weights[[0, 1, 3]]), bank.combine(weights)[:, [4, 7]], atol=1e-13)
    assert len(bank.cross(X[:0]).combine(weights)) == 0


def test_predictions_are_those_of_the_kernel_written_out():
    """scikit-learn's SVM on the explicit kernel; both SVMs are exact to about 1e-6."""
    X, y = blobs(60, 0.1)
    old, new, y = X[:40], X[40:], y[:40]
    weights = np.array([0.5, 0.0, 1.0, 0.2])
    problem = mv.Problem(mv.ParametricBank.build(old, mv.LearnedPolynomial(3)), y, mv.Hinge(10.0), mv.L1Penalty(1.0))
    point = SvmOracle(problem, 1e-10).solve(weights)
    machine = SVC(C=10.0, kernel="precomputed", tol=1e-10).fit(cube(old, weights), y)
    expected = machine.decision_function((weights[0] + (new * weights[1:]) @ old.T) ** 3)
    predictor = pickle.loads(pickle.dumps(problem.predictor(weights, point.dual)))
    np.testing.assert_allclose(predictor.decision_values(new), expected, atol=1e-5)
    cross = problem.bank.cross(new)
    np.testing.assert_allclose(problem.decision_values(weights, point.dual, cross), expected, atol=1e-5)
    assert f"3 of 4 parameters, {len(predictor.support)} of 40 samples" in repr(predictor)
    nothing = problem.predictor(weights, np.zeros(40))  # no support vectors: the bias alone
    np.testing.assert_array_equal(nothing.decision_values(new), nothing.bias)
    assert nothing.function.part.cross(new).combine(weights[[0, 2, 3]]).shape == (20, 0)


@pytest.mark.usefixtures("small_tiles")
def test_a_long_evaluation_is_left_between_two_tiles():
    """Stop acts after one tile, whatever is asked for."""
    X, _ = blobs(60)
    weights, asked = np.ones(4), []

    class Counted(mv.LearnedPolynomial):
        def values(self, *given):  # type: ignore[no-untyped-def]
            asked.append("values")
            return super().values(*given)

        def forms(self, *given):  # type: ignore[no-untyped-def]
            asked.append("forms")
            return super().forms(*given)

    bank = mv.ParametricBank.build(X, Counted(2))

    def stop() -> None:
        if asked:
            raise Interrupted("stopped")

    for way in (
        lambda: bank.combine(weights),
        lambda: bank.apply(weights, X[:, 0]),
        lambda: bank.slopes(weights, X[:, 0]),
        lambda: bank.cross(X).combine(weights),
        lambda: bank.cross(X).apply(weights, X[:, 0]),
    ):
        asked.clear()
        with interruptible(stop), pytest.raises(Interrupted):
            way()
        assert len(asked) == 1


# -- the problem and the methods


def test_a_parametric_problem_says_what_it_is():
    X, y = blobs(30)
    problem = mv.Problem(mv.ParametricBank.build(X, Cauchy()), y, mv.Hinge(10.0), mv.L1Penalty(1.0))
    assert problem.no_bound.startswith("A problem in the parameters of a kernel is not convex")
    assert describe(problem).startswith("kernel of 3 parameters, 30 samples")
    assert "3, of a kernel" in html_of(problem)
    assert "Cauchy kernel, 3 parameters, 30 samples" in repr(problem.bank)
    assert "<td" in html_of(problem.bank)


LOSSES = [mv.Hinge(10.0), mv.Logistic(10.0), mv.Squared(10.0), mv.MulticlassHinge(10.0)]


@pytest.mark.each_value
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name_)
@pytest.mark.parametrize("groups", [None, ((0, 2), (1,))], ids=["each feature", "groups"])
@pytest.mark.parametrize(("name", "options"), [("spg", {}), ("spg", {"random_start": 2}), ("pgd", {"spectral": True})])
def test_a_product_stated_by_parameters_takes_the_same_steps(groups, name, options, loss):
    """Both kernels agree to 1e-15; what inner problems and ten steps make of that stays below 1e-6.

    Where several classes are told apart only roughly, as in SPG's first steps, rounding decides between ways that
    are as good: there the objectives alone are compared, to what the tolerance of the SVMs leaves open.
    """
    X, y = blobs(30, 0.1)
    rough = loss.multiclass and name == "spg"
    y = np.maximum(y, 0.0) if loss.multiclass else y
    banks = mv.ProductBank.build(X, groups), mv.ParametricBank.build(X, mv.LearnedGaussian(groups))
    traces = [solve(mv.Problem(bank, y, loss, mv.L1Penalty(1.0)), name, max_iter=10, **options) for bank in banks]
    if rough:
        assert traces[0].best.objective == pytest.approx(traces[1].best.objective, rel=1e-2)
        return
    assert len(traces[0]) == len(traces[1])
    np.testing.assert_array_equal(traces[0].svm_solves, traces[1].svm_solves)
    np.testing.assert_allclose(traces[0].weights, traces[1].weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(traces[0].objective, traces[1].objective, rtol=1e-8)


def libsvm(K: Array, y: Array, C: float) -> tuple[float, Array]:
    """J of an SVM with the kernel K and its signed dual variables, from scikit-learn's LIBSVM."""
    machine = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K, y)
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    return float(np.abs(beta).sum() - 0.5 * beta @ K @ beta), beta


def reference_minima(written: Any, m: int, y: Array, C: float, starts: int = 4) -> list[float]:
    """Minima of J + 1'd that L-BFGS-B finds from equal parameters and random ones, least first.

    The slopes are those of beta'K_d beta at LIBSVM's dual variables, by central differences of the kernel.
    """

    def value(d: Array) -> tuple[float, Array]:
        J, beta = libsvm(written(d), y, C)
        slopes = [beta @ (written(d + 1e-5 * e) - written(d - 1e-5 * e)) @ beta / 2e-5 for e in np.eye(m)]
        return J + float(d.sum()), 1.0 - 0.5 * np.array(slopes)

    rng = np.random.default_rng(0)
    begins = [np.full(m, 1.0 / m), *(rng.exponential(size=m) / m for _ in range(starts - 1))]
    search = {"method": "L-BFGS-B", "jac": True, "bounds": [(0.0, None)] * m, "options": {"ftol": 1e-12}}
    return sorted(float(minimize(value, begin, **search).fun) for begin in begins)


WRITTEN_OUT = {
    "square": (mv.LearnedPolynomial(2), lambda X, d: (d[0] + (X * d[1:]) @ X.T) ** 2, 4),
    "two powers": (
        [mv.LearnedPolynomial(1), mv.LearnedPolynomial(2)],
        lambda X, d: d[0] + (X * d[1:4]) @ X.T + (d[4] + (X * d[5:]) @ X.T) ** 2,
        8,
    ),
    "groups": (
        mv.LearnedGaussian(groups=((0, 2), (1,))),
        lambda X, d: np.exp(-(((X[:, None] - X[None]) ** 2) @ d[[0, 1, 0]])),
        2,
    ),
    "of one's own": (Cauchy(), lambda X, d: 1.0 / (1.0 + ((X[:, None] - X[None]) ** 2) @ d), 3),
}


@pytest.mark.each_value
@pytest.mark.parametrize("name", WRITTEN_OUT)
@pytest.mark.parametrize("solver", ["spg", "pgd"])
def test_the_best_of_several_starts_is_the_best_that_another_optimiser_finds_with_libsvm(name, solver):
    """Where the projected gradient is 1e-5 of W, W is flat to 1e-4 of it; L-BFGS-B stops at kinks a little above."""
    kernel, written, m = WRITTEN_OUT[name]
    X, y = blobs(30, 0.15)
    problem = mv.Problem(mv.ParametricBank.build(X, kernel), y, mv.Hinge(5.0), mv.L1Penalty(1.0))
    least = reference_minima(lambda d: written(X, d), m, y, 5.0)[0]
    options = {"spectral": True} if solver == "pgd" else {}
    ends = [solve(problem, solver, projected_gradient=1e-5, random_start=k, **options).best for k in range(4)]
    best = min(end.objective for end in ends)
    assert best <= least * (1.0 + 1e-5)
    assert best == pytest.approx(least, rel=2e-3)
    for end in ends:  # and what they report is the objective there, by LIBSVM
        value = libsvm(written(X, end.weights), y, 5.0)[0] + end.weights.sum()
        assert end.objective == pytest.approx(value, rel=1e-4)
        assert end.objective >= value * (1.0 - 1e-7)


# -- kernels of one's own: wrong derivatives are refused, in any unit, and what breaks down gets a sentence


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
    weights, v = width * np.array([1.0, 0.7]), np.random.default_rng(0).normal(size=len(X))
    squares = [((X[:, None, list(g)] - X[None][:, :, list(g)]) ** 2).sum(-1).astype(np.longdouble) for g in groups]
    charged = np.outer(v, v) * np.exp(-weights[0] * squares[0] - weights[1] * squares[1])
    told = LearnedGaussian(groups=groups).forms(X, X, weights, np.outer(v, v))
    for slope, square in zip(told, squares, strict=True):
        assert abs(slope + (charged * square).sum()) <= 1e-8 * (np.abs(charged) * square).sum()


class InUnits(Cauchy):
    """exp(-unit sum_k d_k (x_k - z_k)^2), with derivatives off by a factor."""

    label = "Gaussian in other units"

    def __init__(self, unit: float, factor: float = 1.0, kind: Any = np.float64) -> None:
        self.unit, self.factor, self.kind = unit, factor, kind

    def squares(self, left: Array, right: Array) -> Array:
        return self.unit * super().squares(left, right)

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


@pytest.mark.parametrize("place", [0, 199])
def test_one_wrong_derivative_among_two_hundred_is_found_and_named(place):
    X, doubled = np.random.default_rng(0).normal(size=(50, 200)), 1.0 + np.eye(200)[place]
    with pytest.raises(KernelError, match=rf"in the parameter x{place + 1} give the slope"):
        ParametricBank.build(X, wrong(forms=lambda *given: forms(*given) * doubled))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_single_precision_gets_a_sentence_of_its_own(kind):
    with pytest.raises(KernelError, match=r"must be given in double precision \(float64\), but float(32|16) was given"):
        ParametricBank.build(blobs(40)[0], InUnits(1.0, kind=kind))


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
        ParametricBank.build(X, wrong(values=larger(values))).combine(np.ones(3))
    with pytest.raises(KernelError, match=r"must be 3 finite numbers, one for each parameter that .* of shape \(2,\)"):
        ParametricBank.build(X, wrong(forms=larger(forms))).slopes(np.ones(3), beta)
