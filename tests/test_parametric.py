"""Kernels with learned parameters: what is refused, the built-in ones, and where PGD and SPG end, by other means."""

import pickle
from typing import Any

import numpy as np
import pytest
from _problems import Array, blobs
from _shown import html_of
from scipy.optimize import minimize
from sklearn.svm import SVC

import mklviz as mv
from mklviz.context import interruptible
from mklviz.engine import available_solvers, solve, solver_classes
from mklviz.engine.run import describe
from mklviz.errors import BankTooLarge, Interrupted, KernelError, ProblemError, UnsupportedProblem
from mklviz.inner.oracle import SvmOracle

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


def wrong(change: dict[str, Any]) -> mv.ParametricKernel:
    return type("Wrong", (Cauchy,), change)()


WRONG = {
    "twice the slope": (
        {"forms": lambda self, *given: 2.0 * Cauchy.forms(self, *given)},
        r"do not fit its values: at d = .*parameter x\d give the slope (-?[\d.e-]+), but its forms say (-?[\d.e-]+)",
    ),
    "a slope forgotten": (
        {"forms": lambda self, *given: Cauchy.forms(self, *given) * [1.0, 1.0, 0.0]},
        "parameter x3 give the slope",
    ),
    "not symmetric": (
        {"values": lambda self, a, b, d: Cauchy.values(self, a, b, d) + 0.1 * a[:, :1]},
        r"not symmetric: entry \(\d+, \d+\) is",
    ),
    "no kernel": (
        {
            "values": lambda self, a, b, d: -Cauchy.values(self, a, b, d),
            "forms": lambda self, *g: -Cauchy.forms(self, *g),
        },
        r"must be positive semidefinite, but has the eigenvalue -\d",
    ),
    "centred": (
        {
            "values": lambda self, a, b, d: (
                Cauchy.values(self, a - a.mean(0), b - b.mean(0), 0.5 * d) * (len(a) + len(b))
            )
        },
        "depends on which points are asked for together",
    ),
    "no sum over pairs": (
        {"forms": lambda self, a, b, d, p: Cauchy.forms(self, a, b, d, p) / len(a)},
        r"sums over pairs of points, but .* add up to",
    ),
    "no number": ({"values": lambda self, a, b, d: np.full((len(a), len(b)), np.nan)}, r"holds nan at \(0, 0\)"),
    "a slope too few": (
        {"forms": lambda self, *given: Cauchy.forms(self, *given)[:2]},
        r"must be 3 .* of shape \(2,\)",
    ),
    "steep at zero": (
        {
            "values": lambda self, a, b, d: Cauchy().values(a, b, np.sqrt(d)),
            "forms": lambda self, a, b, d, p: Cauchy().forms(a, b, np.sqrt(d), p) / (2.0 * np.sqrt(d)),
        },
        "finite numbers, also where parameters are zero",
    ),
    "two of a name": ({"names": lambda self, features: ["d", "d", "e"]}, "names 3, 2 of them different"),
}


@pytest.mark.parametrize("change", WRONG)
@pytest.mark.filterwarnings("ignore:divide by zero")  # one of the kernels is as steep as that
def test_a_kernel_that_does_not_fit_together_is_refused_with_the_numbers(change):
    changed, message = WRONG[change]
    with pytest.raises(KernelError, match=message):
        mv.ParametricBank.build(blobs(40)[0], wrong(changed))


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
    for k, slope in enumerate(bank.slopes(weights, beta)):
        move = 1e-5 * np.eye(len(bank))[k]
        ends = [-0.5 * np.vdot(beta, bank.combine(weights + sign * move) @ beta) for sign in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-7)


def test_the_polynomial_is_its_formula_and_a_sum_has_parameters_of_its_own_for_each_term():
    X, _ = blobs(20)
    rng = np.random.default_rng(0)
    weights, others = rng.exponential(size=4), rng.exponential(size=4)
    np.testing.assert_allclose(mv.ParametricBank.build(X, mv.LearnedPolynomial(3)).combine(weights), cube(X, weights))
    both = mv.ParametricBank.build(X, [mv.LearnedPolynomial(3), mv.LearnedPolynomial(1)], feature_names=["a", "b", "c"])
    line = others[0] + (X * others[1:]) @ X.T
    np.testing.assert_allclose(both.combine(np.append(weights, others)), cube(X, weights) + line, rtol=1e-12)
    assert both.names[:2] == ["constant (polynomial of degree 3)", "a (polynomial of degree 3)"]
    assert both.names[4] == "constant (polynomial of degree 1)"


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
    assert nothing._part.cross(new).combine(weights[[0, 2, 3]]).shape == (20, 0)


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

    ways = (
        lambda: bank.combine(weights),
        lambda: bank.apply(weights, X[:, 0]),
        lambda: bank.slopes(weights, X[:, 0]),
        lambda: bank.cross(X).combine(weights),
        lambda: bank.cross(X).apply(weights, X[:, 0]),
    )
    for way in ways:
        asked.clear()
        with interruptible(stop), pytest.raises(Interrupted):
            way()
        assert len(asked) == 1


# -- the problem and the methods


def test_a_parametric_problem_says_what_it_is():
    X, y = blobs(30)
    problem = mv.Problem(mv.ParametricBank.build(X, Cauchy()), y, mv.Hinge(10.0), mv.L1Penalty(1.0))
    assert not problem.convex
    assert problem.no_bound.startswith("A problem in the parameters of a kernel is not convex")
    assert np.isnan(problem.lower_bound(np.zeros(30)))
    assert describe(problem).startswith("kernel of 3 parameters, 30 samples")
    assert "3, of a kernel" in html_of(problem)
    assert "Cauchy kernel, 3 parameters, 30 samples" in repr(problem.bank)
    assert "<td" in html_of(problem.bank)
    assert available_solvers(problem) == ["pgd", "spg"]
    for name, found in solver_classes().items():
        if name not in ("pgd", "spg"):
            reason = found().refusal(problem)
            assert (
                reason
                == f"{found.label} needs a sum of kernels: with parameters of a kernel the problem is not convex."
            )


def stated_product(X: Array) -> tuple[Any, Any]:
    return mv.ProductBank.build(X), mv.ParametricBank.build(X, mv.LearnedGaussian())


def stated_groups(X: Array) -> tuple[Any, Any]:
    groups = ((0, 2), (1,))
    return mv.ProductBank.build(X, groups), mv.ParametricBank.build(X, mv.LearnedGaussian(groups))


LOSSES = [mv.Hinge(10.0), mv.Logistic(10.0), mv.Squared(10.0), mv.MulticlassHinge(10.0)]


@pytest.mark.each_value
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name_)
@pytest.mark.parametrize("pair", [stated_product, stated_groups])
@pytest.mark.parametrize(("name", "options"), [("spg", {}), ("spg", {"random_start": 2}), ("pgd", {"spectral": True})])
def test_a_product_stated_by_parameters_takes_the_same_steps(pair, name, options, loss):
    """Both kernels agree to 1e-15; what inner problems and ten steps make of that stays below 1e-6.

    Where several classes are told apart only roughly, as in SPG's first steps, rounding decides between ways that
    are as good: there the objectives alone are compared, to what the tolerance of the SVMs leaves open.
    """
    X, y = blobs(30, 0.1)
    rough = loss.multiclass and name == "spg"
    y = np.maximum(y, 0.0) if loss.multiclass else y
    traces = [solve(mv.Problem(bank, y, loss, mv.L1Penalty(1.0)), name, max_iter=10, **options) for bank in pair(X)]
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
