"""The inner SVM finds the optimum of max y'b - b'K b / 2 over sum b = 0 and the box, whatever the kernel."""

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest
from _problems import left_at
from numba.core.dispatcher import Dispatcher
from scipy.optimize import brentq, linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mklviz.datasets import load_dataset
from mklviz.inner import svm_newton, svm_state, svm_steps
from mklviz.inner.svm import OVERHEAD, InnerSvm
from mklviz.kernels import KernelBank, Polynomial

ROOT = Path(__file__).resolve().parent.parent


def points(n, seed=0, features=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5 + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y


KERNELS = {
    "unit-trace gaussian": lambda X: rbf_kernel(X, gamma=0.1) / len(X),
    "narrow gaussian": lambda X: rbf_kernel(X, gamma=1.0),
    "wide gaussian": lambda X: rbf_kernel(X, gamma=0.01),
    "polynomial": lambda X: (1.0 + X @ X.T) ** 3,
    "low-rank linear": lambda X: X[:, :3] @ X[:, :3].T,
    "near-duplicate points": lambda X: rbf_kernel(
        np.vstack([X[: len(X) // 2], X[: len(X) - len(X) // 2] + 1e-7]), gamma=0.1
    ),
    "zero": lambda X: np.zeros((len(X), len(X))),
}


def assert_feasible(svm):
    low, high = np.minimum(0.0, svm.y * svm.C), np.maximum(0.0, svm.y * svm.C)
    assert np.all(svm.b >= low)
    assert np.all(svm.b <= high)
    assert abs(svm.b.sum()) <= 1e-9 * svm.C


def violation_of(svm, K):
    """In longer numbers."""
    f = (svm.y - K.astype(np.longdouble) @ svm.b).astype(np.float64)
    grow, shrink = svm.b < np.maximum(0.0, svm.y * svm.C), svm.b > np.minimum(0.0, svm.y * svm.C)
    return max(f[grow].max() - f[shrink].min(), 0.0)


@pytest.mark.pairwise
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_optimality_conditions_hold_to_the_tolerance(name, n, C):
    X, y = points(n)
    K = KERNELS[name](X)
    svm = InnerSvm.of_labels(y, C)
    for tol in (1e-3, 1e-6):
        result = svm.solve(K, tol, warm=False)
        assert_feasible(svm)
        assert result.violation <= tol
        rounding = 1e-13 * (1.0 + np.abs(K).max() * np.abs(svm.b).sum())
        assert violation_of(svm, K) <= tol + rounding
        assert result.value == pytest.approx(y @ svm.b - 0.5 * svm.b @ K @ svm.b, rel=1e-10)


@pytest.mark.each_value
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [60, 300])
def test_value_and_decisions_agree_with_libsvm(name, n):
    X, y = points(n)
    C = 1.0 if name in ("polynomial", "low-rank linear") else 100.0  # LIBSVM is too slow on those otherwise
    K = KERNELS[name](X)
    other = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
    b = np.zeros(n)
    b[other.support_] = other.dual_coef_[0]
    svm = InnerSvm.of_labels(y, C)
    result = svm.solve(K, 1e-9)
    # a violation e leaves at most e sum|b| of the value; LIBSVM also keeps K in single precision
    assert result.value == pytest.approx(y @ b - 0.5 * b @ K @ b, rel=1e-6)
    assert result.value >= (y @ b - 0.5 * b @ K @ b) * (1.0 - 1e-10)
    if name != "zero":  # where every intercept in [-1, 1] is as good
        np.testing.assert_allclose(K @ svm.b + result.bias, other.decision_function(K), atol=2e-3)


@pytest.mark.parametrize("name", KERNELS)
def test_a_warm_start_reaches_the_value_of_a_cold_one(name):
    X, y = points(200)
    K = KERNELS[name](X)
    cold = InnerSvm.of_labels(y, 10.0).solve(K, 1e-9)
    svm = InnerSvm.of_labels(y, 10.0)
    rng = np.random.default_rng(1)
    for _ in range(3):
        svm.set_dual(rng.normal(scale=20.0, size=y.size))
        assert_feasible(svm)
        warm = svm.solve(K, 1e-9)
        # concave: both lie within violation * sum|b| of the optimum
        assert warm.value == pytest.approx(cold.value, rel=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_compaction_leaves_the_optimum_where_it_is(name):
    X, y = points(200)
    K = KERNELS[name](X)
    whole = InnerSvm.of_labels(y, 10.0).solve(K, 1e-9)
    svm = InnerSvm.of_labels(y, 10.0)
    svm.compact_from = 16
    compacted = svm.solve(K, 1e-9)
    assert_feasible(svm)
    assert compacted.violation <= 1e-9
    assert compacted.value == pytest.approx(whole.value, rel=1e-8)  # violation * sum|b| at most, as above
    np.testing.assert_allclose(svm.f, y - K @ svm.b, atol=1e-9 * (1.0 + np.abs(K).max()))


def test_rounding_is_reached_in_about_one_newton_step_more():
    X, y = points(300)
    K = rbf_kernel(X, gamma=0.1) / 300
    svm = InnerSvm.of_labels(y, 3000.0)
    rough = svm.solve(K, 1e-3)
    fine = svm.solve(K, 1e-12)
    assert fine.violation <= 1e-12
    assert fine.newton_steps <= 4
    assert fine.smo_steps <= rough.smo_steps + 2 * 300


@pytest.mark.pairwise
@pytest.mark.parametrize("C", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("tol", [1e-3, 1e-12, 0.0])
@pytest.mark.parametrize("name", KERNELS)
def test_no_size_of_C_or_tolerance_loops_or_breaks(name, C, tol):
    X, y = points(80)
    svm = InnerSvm.of_labels(y, C)
    K = KERNELS[name](X)
    result = svm.solve(K, tol)
    assert_feasible(svm)
    assert np.isfinite([result.value, result.bias, result.violation]).all()
    # products K b are known to about n eps |K| C
    rounding = 80 * np.finfo(float).eps * np.abs(K).max() * C
    assert result.violation <= max(tol, 1e-11, 100.0 * rounding)


@pytest.mark.parametrize(
    ("K", "C", "expected"),
    [
        (np.zeros((2, 2)), 5.0, 5.0),
        (np.ones((2, 2)), 5.0, 5.0),
        (np.eye(2), 5.0, 1.0),
        (np.eye(2), 0.25, 0.25),
        (1e-30 * np.eye(2), 5.0, 5.0),
        (1e12 * np.eye(2), 5.0, 1e-12),
    ],
)
def test_two_points_have_the_solution_known_by_hand(K, C, expected):
    svm = InnerSvm.of_labels(np.array([1.0, -1.0]), C)
    result = svm.solve(K, 1e-12)
    # the pair's curvature carries a ridge of 1e-12
    np.testing.assert_allclose(svm.b, [expected, -expected], rtol=2e-12)
    assert result.bias == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_an_interrupted_solve_leaves_a_start_to_go_on_from(calls):
    X, y = points(700)
    K = rbf_kernel(X, gamma=0.02)
    svm = InnerSvm.of_labels(y, 100.0)
    with left_at(calls):
        svm.solve(K, 1e-6)
    assert_feasible(svm)
    result = svm.solve(K, 1e-6)
    assert result.violation <= 1e-6
    assert result.value == pytest.approx(InnerSvm.of_labels(y, 100.0).solve(K, 1e-6).value, rel=1e-8)


def test_the_start_is_scaled_into_the_box_and_to_sum_zero():
    svm = InnerSvm.of_labels(np.array([1.0, 1.0, -1.0]), 2.0)
    svm.set_dual(np.array([1.0, 5.0, -0.5]))
    np.testing.assert_allclose(svm.b, [1.0 / 6.0, 2.0 / 6.0, -0.5])
    svm.set_dual(np.array([-1.0, np.nan, -2.0]))
    np.testing.assert_array_equal(svm.b, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_bent_step_is_the_projection_onto_the_box_and_the_hyperplane(seed):
    """b + p - nu, clipped, where nu leaves the sum of b as it was; of all such steps it comes nearest to p."""
    rng = np.random.default_rng(seed)
    S = np.zeros((8, 12))
    S[svm_state.LO], S[svm_state.HI] = -rng.uniform(0.1, 2.0, 12), rng.uniform(0.1, 2.0, 12)
    S[svm_state.B] = 0.8 * rng.uniform(S[svm_state.LO], S[svm_state.HI])
    low, high = S[svm_state.LO] - S[svm_state.B], S[svm_state.HI] - S[svm_state.B]
    p = rng.normal(seed - 2.0, 1.0, 12)  # mostly down, mostly up, and about as much of either
    moved = svm_newton._bent(S, np.arange(12), p)
    nu = brentq(lambda shift: np.clip(p - shift, low, high).sum(), p.min() - 4.0, p.max() + 4.0, xtol=1e-14)
    np.testing.assert_allclose(moved, np.clip(p - nu, low, high), atol=1e-10)
    assert abs(moved.sum()) <= 1e-12


def test_the_rounding_of_the_sum_goes_to_the_point_farthest_from_its_bounds():
    K, S = np.cov(np.random.default_rng(0).normal(size=(4, 9))), np.zeros((9, 4))
    S[svm_state.LO], S[svm_state.HI] = -1.0, [1.0, 1.0, 3.0, 1.0]
    S[svm_state.B] = before = np.array([-0.9, 0.75, 0.5, -0.35 + 1e-9])
    S[svm_state.F] = -K @ before
    svm_state.balance(K, S, 0.0)
    assert np.flatnonzero(S[svm_state.B] != before).tolist() == [2]
    assert abs(S[svm_state.B].sum()) <= 1e-15
    np.testing.assert_allclose(S[svm_state.F], -K @ S[svm_state.B], atol=1e-15)


def compiled_files():
    files = [file for folder in ("solvers", "mklviz") for file in (ROOT / folder).rglob("*.py")]
    return sorted(file for file in files if "njit" in file.read_text(encoding="utf-8"))


def test_compiled_functions_are_found_where_they_are():
    found = {file.relative_to(ROOT).as_posix() for file in compiled_files()}
    assert {"solvers/_level_steps.py", "mklviz/inner/svm_newton.py", "mklviz/kernels/storage/factored.py"} <= found


def is_compiled(node):
    return isinstance(node, ast.FunctionDef) and any(
        "njit" in ast.unparse(mark) or "jit(" in ast.unparse(mark) for mark in node.decorator_list
    )


def imported_from_the_house(tree):
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("mklviz")):
            names |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.startswith("mklviz")]
            names |= {(alias.asname or alias.name).split(".")[0]: alias.name for alias in ours}
    return names


@pytest.mark.parametrize("file", compiled_files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_compiled_functions_are_cached_with_what_they_use_and_release_the_interpreter(file):
    """The cache looks at files that a compiled function is imported from: other constants would stay as they were.

    Without nogil a solver thread stops the screen; jitclass and parallel=True are never right here.
    """
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    foreign = imported_from_the_house(tree)
    noticed = {module for name, module in foreign.items() if is_dispatcher(module, name)}
    for function in filter(is_compiled, ast.walk(tree)):
        used = {node.id for node in ast.walk(ast.Module(function.body, [])) if isinstance(node, ast.Name)}
        unnoticed = {name for name in used & foreign.keys() if foreign[name] not in noticed}
        assert not unnoticed, f"{file.name}: {function.name} uses {unnoticed}"
        marks = " ".join(ast.unparse(mark) for mark in function.decorator_list)
        assert "cache=True" in marks, f"{file.name}: {function.name}"
        assert "nogil=True" in marks, f"{file.name}: {function.name}"
    assert "parallel=True" not in text
    assert "jitclass" not in text


def is_dispatcher(module, name):
    return isinstance(getattr(importlib.import_module(module), name, None), Dispatcher)


def raw(name):
    return load_dataset(name).split(train=0.3, seed=0, standardize=False)[0]


def of_rank_one(case):
    """Labels, z and a kernel, a multiple of zz', that is hard."""
    if case == "drawn":
        z = np.random.default_rng(3).normal(size=(13, 2))[:, 0]
        return np.where(np.arange(13) % 3 > 0, 1.0, -1.0), z, 1e8 * np.outer(z, z)
    name, feature = case
    part = raw(name)
    z = part.X[:, feature]
    return part.y, z, np.outer(z, z)


def assert_solved(svm, K, tol, result):
    """To the tolerance, or to what the docstring of SvmResult promises."""
    assert_feasible(svm)
    rounding = 2.0 * np.finfo(float).eps * (1.0 + np.diag(K).max() * np.abs(svm.b).sum())
    assert violation_of(svm, K) <= max(tol, rounding) + rounding
    assert result.violation <= max(tol, rounding)


def best_of_equal(y, z, lower, upper):
    """The largest value of points with z'b = 0."""
    return -linprog(-y, A_eq=[np.ones(y.size), z / np.abs(z).max()], b_eq=[0, 0], bounds=np.c_[lower, upper]).fun


HARD = [("drawn", 1e3), (("heart", 7), 1e5), (("wdbc", 3), 1e3), (("wdbc", 3), 1e5), (("wdbc", 23), 1e5)]
HARD += [(("pima", 4), 1e3), (("pima", 4), 1e5)]  # with zeros, which are points without any curvature


@pytest.mark.parametrize(("case", "C"), HARD, ids=str)
def test_a_large_kernel_of_rank_one_is_solved(case, C):
    """Steps bent back into the box led from nowhere to nowhere, thirty million times: the bound is a twentieth of that.

    The number depends on rounding: kernels that differ in their last digits take 50 to 3,600 steps a sample.
    """
    y, z, K = of_rank_one(case)
    svm = InnerSvm.of_labels(y, C)
    for tol in (1e-2, 1e-4):
        result = svm.solve(K, tol, warm=False)
        assert_solved(svm, K, tol, result)
        assert result.smo_steps + 16 * result.newton_steps <= 6000 * (y.size + 16)
        # points with z'b = 0 are some of the feasible ones, and no other has a value above this by concavity
        equal = best_of_equal(y, z, C * (y - 1) / 2, C * (y + 1) / 2)
        assert result.value + result.violation * np.abs(svm.b).sum() >= equal * (1.0 - 1e-7)
        assert result.value == pytest.approx(equal, rel=1e-3)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("name", ["heart", "pima"])
def test_polynomials_of_raw_data_are_solved_however_loosely_one_asks(name, tol):
    """b is some 1e-7 there, and C = 100: what is nothing beside C is much beside b."""
    part = raw(name)
    bank = KernelBank.build(part.X, [Polynomial(on="all+each")], normalize="none")
    K, svm = bank.combine(np.full(len(bank.names), 1.0 / len(bank.names))), InnerSvm.of_labels(part.y, 100.0)
    result = svm.solve(K, tol)
    assert_solved(svm, K, tol, result)
    assert result.smo_steps + 16 * result.newton_steps <= 1500 * (part.y.size + 16)


def test_a_violation_that_bounds_hid_is_seen():
    """All b were so near to zero, beside C, that they were put there, and f stayed as it was: it looked solved."""
    y, X = np.where(np.arange(5) % 3 > 0, 1.0, -1.0), np.random.default_rng(5).normal(size=(5, 4)) * [1, 10, 100, 1000]
    K, svm = sum((1.0 + X @ X.T) ** k for k in (1, 2, 3)), InnerSvm.of_labels(y, 1e3)
    result = svm.solve(K, 1e-2)
    assert_solved(svm, K, 1e-2, result)
    assert result.value > 0.0


def test_of_hard_kernels_each_point_may_have_a_bound_of_its_own():
    y, z, K = of_rank_one("drawn")
    costs = np.random.default_rng(0).uniform(0.0, 1e3, 13)
    lower, upper = np.minimum(y * costs, 0.0), np.maximum(y * costs, 0.0)
    svm = InnerSvm(y, lower, upper, costs.max())
    result = svm.solve(K, 1e-2)
    assert result.violation <= 1e-2
    assert np.all((lower <= svm.b) & (svm.b <= upper))
    assert result.value == pytest.approx(best_of_equal(y, z, lower, upper), rel=1e-3)


class OnlyByBounds(InnerSvm):
    """Leaves out the other way, which may solve a hard kernel or not, as the processor rounds."""

    chunk = 13 + OVERHEAD  # of so many points: a look at the interrupt after every step

    def _climb(self, *given):
        return super()._climb(*given) if self.chunk == InnerSvm.chunk else None


@pytest.mark.parametrize("calls", [1, 2])
def test_a_hard_kernel_may_be_interrupted(calls):
    """On its way from bound to bound."""
    y, _, K = of_rank_one("drawn")
    svm = OnlyByBounds.of_labels(y, 1e3)
    with left_at(calls):
        svm.solve(K, 1e-2)
    assert_feasible(svm)
    svm.chunk = InnerSvm.chunk
    assert svm.solve(K, 1e-2).violation <= 1e-2


@pytest.mark.parametrize("upper", [True, False])
def test_a_variable_that_rounding_keeps_off_its_bound_is_put_on_it(upper):
    state = np.zeros((9, 2))
    state[svm_state.HI] = 1.0
    state[svm_state.B] = (1.0 - 1e-15, 0.5) if upper else (0.5, 1e-15)
    assert svm_steps._snapped(state, 0, 1, 1e-14)
    assert state[svm_state.B].tolist() == ([1.0, 0.5] if upper else [0.5, 0.0])
    assert not svm_steps._snapped(state, 0, 1, 1e-14)  # both are where they belong
