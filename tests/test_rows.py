"""Kernels by rows and on the fly, where no matrix is formed: the same kernels, the same solutions, any cache."""

from collections.abc import Callable

import numpy as np
import pytest
from _problems import blobs, left_at
from sklearn.svm import SVC

from mklviz.cli.arguments import read_recipe
from mklviz.cli.parser import make_parser
from mklviz.context import interruptible
from mklviz.contract import Iterate
from mklviz.datasets import load_dataset
from mklviz.engine import make_solver, solve
from mklviz.errors import BankTooLarge, KernelError, ProblemError
from mklviz.inner import rows as _svm_rows
from mklviz.inner.choice import inner_solver
from mklviz.inner.oracle import SvmOracle
from mklviz.inner.rows import RowCache
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Polynomial, ProductBank
from mklviz.kernels.storage import rows as _rows
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, LpPenalty, Problem, Simplex

FAMILIES = [Gaussian(widths=(0.5, 1.0, 3.0), on="all+each"), Polynomial(degrees=(1, 2), on="all"), Laplacian(on="each")]
N = 90


def build(combination: str, normalize: str = "trace", n: int = N, **options: int):
    X, _ = blobs(n, 0.2, seed=3)
    if combination == "product":
        return ProductBank.build(X, **options)
    return KernelBank.build(X, FAMILIES, normalize, **options)


@pytest.fixture
def no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every matrix be too large to be formed, and tiles and working sets so small that there are several."""
    smaller = {_rows: {"LARGEST_MATRIX": 0, "TILE": 1000}, _svm_rows: {"SMALLEST": 16, "LARGEST": 32, "FEWEST": 8}}
    for module, name, value in ((module, *item) for module, found in smaller.items() for item in found.items()):
        monkeypatch.setattr(module, name, value)


def pair(combination: str, request: pytest.FixtureRequest, normalize: str = "trace"):
    """Return one bank whose matrices are formed and one by rows."""
    dense = build(combination, normalize)
    request.getfixturevalue("no_matrix")
    return dense, build(combination, normalize)


BANKS = [("sum", "trace"), ("sum", "diagonal"), ("sum", "none"), ("product", "none")]


@pytest.mark.parametrize(("combination", "normalize"), BANKS)
def test_rows_are_those_of_the_matrix(combination, normalize, request):
    dense, bank = pair(combination, request, normalize)
    assert (dense.access, bank.access) == ("matrix", "rows")
    weights = np.random.default_rng(0).random(len(bank))
    weights[::3] = 0.0
    K, which = dense.combine(weights), np.array([5, 80, 0])
    kernel = bank.kernel(weights)
    assert kernel.rows(which).dtype == np.float32
    np.testing.assert_allclose(kernel.rows(which), K[which], atol=2e-6 * K.max())  # a few roundings of float32
    keep = np.array([3, 4, 50, 89])
    np.testing.assert_allclose(kernel.only(keep).rows(np.array([2])), K[np.ix_([50], keep)], atol=2e-6 * K.max())


@pytest.mark.parametrize(("combination", "normalize"), BANKS)
def test_products_and_slopes_are_those_of_the_matrix_in_double_precision(combination, normalize, request):
    dense, bank = pair(combination, request, normalize)
    rng = np.random.default_rng(1)
    weights, v = rng.random(len(bank)), rng.normal(size=N)
    v[rng.random(N) < 0.4] = 0.0
    K = dense.combine(weights)
    size = np.abs(K).max() * np.abs(v).sum()
    np.testing.assert_allclose(bank.apply(weights, v), K @ v, atol=1e-12 * size)
    both = np.stack([v, rng.normal(size=N)], axis=1)
    np.testing.assert_allclose(bank.apply(weights, both), K @ both, atol=1e-12 * N * np.abs(K).max())
    expected = dense.slopes(weights, v, K)  # from the matrix
    np.testing.assert_allclose(bank.slopes(weights, v), expected, rtol=1e-9, atol=1e-13 * size)
    new, u = rng.normal(size=(7, 3)), np.abs(v)
    np.testing.assert_allclose(bank.cross(new).apply(weights, u), dense.cross(new).apply(weights, u), rtol=1e-12)
    if combination == "sum":
        some = np.array([1, len(bank) - 1])
        np.testing.assert_allclose(bank.products(v, some), dense.products(v, some), atol=1e-12 * size)


@pytest.mark.usefixtures("no_matrix")
@pytest.mark.parametrize("combination", ["sum", "product"])
def test_the_matrix_is_refused_and_the_back_end_says_what_happens_instead(combination):
    bank = build(combination)
    with pytest.raises(BankTooLarge, match="never formed"):
        bank.combine(np.ones(len(bank)))
    assert "computed on the fly, row by row" in bank.backend
    with pytest.raises(KernelError, match="0 MB"):
        build(combination, cache_mb=0)


def test_twenty_thousand_points_are_welcome_and_a_million_kernels_on_them_are_counted():
    assert ProductBank.check_size(20_000, 16) == (16, ProductBank.estimate(20_000, 16)[1])
    m, size = KernelBank.check_size(20_000, 16, [Gaussian(on="all+each")])
    assert m == 170
    assert size < 2**30
    m, size = KernelBank.check_size(20_000, 16, [Gaussian(on="all+each")], max_bytes=2**24)  # no room for factors
    assert size <= 2**24
    with pytest.raises(BankTooLarge):
        KernelBank.check_size(20_000, 16, [Gaussian(on="all+each")], max_bytes=2**20)


def test_factors_that_do_not_fit_are_left_out(no_matrix):
    X, _ = blobs(200, seed=1)
    family = [Gaussian(widths=(1.0, 4.0), on="each")]
    small = KernelBank.build(X, family, max_bytes=40_000)
    assert small.backend == "6 computed on the fly, row by row"
    assert small.nbytes <= 40_000
    full, weights, v = KernelBank.build(X, family), np.arange(6.0), np.ones(200)
    assert full.backend == "6 factored"
    np.testing.assert_allclose(small.apply(weights, v), full.apply(weights, v), rtol=1e-9)  # precision of factors


class Counted:
    """A kernel that counts which rows it is asked for."""

    def __init__(self, n: int) -> None:
        self.asked: list[int] = []
        self._n = n

    def rows(self, which):
        self.asked += which.tolist()
        return np.repeat(which[:, None], self._n, axis=1).astype(np.float32)


def test_the_rows_used_longest_ago_give_way():
    kernel = Counted(10)
    cache = RowCache(kernel, np.empty((4, 10), np.float32))
    for which in ([0, 1, 2], [3], [0, 5], [5, 0, 3], [1]):
        slots = cache.fetch(np.array(which))
        assert len(set(slots.tolist())) == len(which)
        assert cache.store[slots, 0].tolist() == which
    assert kernel.asked == [0, 1, 2, 3, 5, 1]  # 5 took the place of 1 or 2, 1 that of the other
    assert cache.computed == 6


LOSSES = [Hinge(5.0), Hinge(5.0, bias=False), EpsilonInsensitive(5.0, 0.2), EpsilonInsensitive(5.0, 0.2, bias=False)]


def targets(loss, n: int = N):
    _, y = blobs(n, 0.2, seed=3)
    return y + 0.3 * np.sin(np.arange(n)) if loss.regression else y


@pytest.mark.full
@pytest.mark.parametrize(("combination", "loss"), [*zip(["sum", "product"] * 2, LOSSES, strict=True)], ids=repr)
def test_any_cache_leads_to_the_solution_of_the_matrix(loss, combination, request):
    dense, bank = pair(combination, request, "none")
    y = targets(loss)
    exact, by_rows = inner_solver(loss, y), inner_solver(loss, y, "rows")
    for scale in (1.0, 1.3):  # the second from the solution of the first
        weights = np.full(len(bank), scale / len(bank))
        K, kernel = dense.combine(weights), bank.kernel(weights)
        exact.solve(K, 1e-8, False)
        for rows in (8, 1000):
            kernel.cache_bytes = rows * 4 * N
            by_rows.solve(kernel, 1e-6, scale > 1.0)
            loss.check_dual(loss.dual_from_signed(by_rows.signed, y), y)
            np.testing.assert_allclose(by_rows.scores, K @ by_rows.signed, atol=1e-11 * 5.0 * N)
            assert by_rows.value == pytest.approx(exact.value, rel=1e-6)


def test_libsvm_finds_no_better_value_on_letters():
    """A product of Gaussians at fixed weights is LIBSVM's Gaussian kernel of width one on scaled features."""
    data = load_dataset("letter").split(train=0.1)[0]
    weights = np.linspace(0.02, 0.2, 16)
    X, y, C = data.X * np.sqrt(weights), data.y, 10.0
    svc = SVC(C=C, kernel="rbf", gamma=1.0, tol=1e-3).fit(X, y)
    b = np.zeros(len(y))
    b[svc.support_] = svc.dual_coef_[0]
    inner, kernel = inner_solver(Hinge(C), y, "rows"), ProductBank.build(data.X).kernel(weights)
    inner.solve(kernel, 1e-3, False)
    assert inner.value >= np.abs(b).sum() - 0.5 * b @ kernel.apply(b) - 1e-6 * inner.value
    assert inner.value == pytest.approx(np.abs(b).sum() - 0.5 * b @ kernel.apply(b), rel=1e-5)
    # duals of letters drawn twice are not unique, scores are, about to the root of the gap in value
    np.testing.assert_allclose(inner.scores, kernel.apply(b), atol=0.01)


@pytest.mark.parametrize("families", [FAMILIES, [Polynomial(degrees=(1,), on="each")]], ids=["mixed", "factors"])
def test_rows_on_request_need_no_size_and_the_bank_says_so(families):
    X, _ = blobs(N, 0.2, seed=3)
    dense, bank = KernelBank.build(X, families), KernelBank.build(X, families, rows=True)
    assert (dense.access, bank.access) == ("matrix", "rows")
    assert "never formed" in " ".join(bank.notes)
    assert "never formed" not in " ".join(dense.notes)
    assert bank.nbytes <= dense.nbytes
    with pytest.raises(BankTooLarge, match="90 samples, 0 MB, is never formed"):
        bank.combine(np.ones(len(bank)))
    y = targets(Hinge(10.0))
    one, other = (solve(Problem(b, y, Hinge(10.0)), "level", gap=1e-3).best.objective for b in (dense, bank))
    assert one == pytest.approx(other, rel=1e-3)  # both are within that of the optimum


def test_rows_are_asked_for_by_a_recipe_and_on_the_command_line():
    words = ["run", "--data", "heart", "--by-rows"]
    assert "row by row" in read_recipe(make_parser().parse_args(words)).prepare().problem.bank.backend
    with pytest.raises(ProblemError, match="sum of exact"):
        read_recipe(make_parser().parse_args([*words, "--combination=product"]))


WRAPPERS = ["spg", pytest.param("pgd", marks=pytest.mark.product), "closed-form", "simplemkl", "silp", "level"]


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_methods_find_by_rows_what_they_find_by_matrices(name, request):
    dense, bank = pair("sum", request)
    y, regularizer = targets(Hinge(10.0)), LpPenalty(4 / 3, 1.0) if name in ("spg", "pgd", "closed-form") else Simplex()
    traces = [solve(Problem(one, y, Hinge(10.0), regularizer), name, gap=1e-3, max_iter=60) for one in (dense, bank)]
    for trace in traces:
        assert trace.gap[-1] <= 1e-3
    one, other = (trace.best.objective for trace in traces)
    assert one == pytest.approx(other, rel=1e-3)  # both are within that of the optimum


@pytest.mark.usefixtures("no_matrix")
def test_methods_that_need_the_matrix_say_so_and_so_do_losses():
    y, kinds = targets(Hinge(1.0)), "hinge, ε-insensitive, one-class, one-against-all hinge"
    for name in ("smo-mkl", "spicymkl"):
        assert "never forms" in make_solver(name).refusal(Problem(build("sum"), y, Hinge(1.0), LpPenalty(2.0, 1.0)))
    reason = make_solver("level").refusal(Problem(build("sum"), y, Logistic(1.0), Simplex()))
    assert f"row by row for the losses {kinds}, not for the logistic" in reason


@pytest.mark.usefixtures("no_matrix")
def test_a_solve_by_rows_can_be_left_and_a_warm_start_begins_at_the_better_of_its_dual_variables():
    problem = Problem(build("sum"), targets(Hinge(5.0)), Hinge(5.0), Simplex())
    oracle = SvmOracle(problem, 1e-6)
    cold = oracle.begin(None)
    known = Iterate(cold.weights, cold.dual, cold.primal, cold.lower_bound, 0.0, 1)
    again = SvmOracle(problem, 1e-2).begin(known)
    assert again.value == pytest.approx(cold.value, rel=1e-6)  # a rough solve leaves a good start alone
    inner = inner_solver(Hinge(1.0), targets(Hinge(1.0)), "rows")
    with left_at(1):
        inner.solve(build("product").kernel(np.ones(3)), 1e-6, False)


RNG = np.random.default_rng(3)
X = RNG.normal(size=(70, 6)) * [1.0, 1.0, 5.0, 0.1, 1.0, 1.0]
Y = np.where(RNG.random(70) < 0.5, 1.0, -1.0)
STREAMED = {
    "the papers' widths": Gaussian(on="all+each"),
    "widths in any order": Gaussian(widths=(1.0, 4.0, 0.25, 2.0, 0.5), on="random:40"),
    "a finer series": Gaussian(widths=tuple(0.5 * 2.0 ** (k / 2.0) for k in range(6)), on=[2, 3]),
    "one width, far too narrow": Gaussian(widths=(1e-3,), on="all"),
}


def banks(family: Gaussian, normalize: str = "trace") -> tuple[KernelBank, KernelBank]:
    """The same kernels, computed when needed and kept."""
    kept = KernelBank.build(X, [family], normalize)
    room = 400 * len(kept)  # bytes: for the kernels' names alone
    return KernelBank.build(X, [family], normalize, max_bytes=room), kept


@pytest.mark.parametrize("normalize", ["trace", "diagonal", "none"])
@pytest.mark.parametrize("name", STREAMED)
def test_answers_are_those_of_the_kernels_that_are_kept(name: str, normalize: str) -> None:
    streamed, kept = banks(STREAMED[name], normalize)
    assert "on the fly" in streamed.backend
    assert "on the fly" not in kept.backend
    assert streamed.names == kept.names
    weights, v, two = RNG.random(len(kept)), RNG.normal(size=70), RNG.normal(size=(70, 2))
    v[::3] = 0.0
    weights[1::2] = 0.0
    # squarings lose about a digit each beyond the first three; factors of low rank are exact to 1e-13 of the trace
    close = {"rtol": 1e-11, "atol": 1e-11 * float(kept.combine(weights).max() + 1e-300)}
    np.testing.assert_allclose(streamed.combine(weights), kept.combine(weights), **close)
    np.testing.assert_allclose(streamed.quad(v), kept.quad(v), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(streamed.quad(two), kept.quad(two), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(streamed.apply(weights, v), kept.apply(weights, v), rtol=1e-9, atol=1e-11)
    which = np.array([0, len(kept) - 1])
    np.testing.assert_allclose(streamed.products(v, which), kept.products(v, which), rtol=1e-9, atol=1e-11)
    new = np.vstack([X[:3], 30.0 * X[3:5]])  # some far from all samples
    np.testing.assert_allclose(streamed.cross(new).combine(weights), kept.cross(new).combine(weights), **close)
    some = np.flatnonzero(weights)[-3:]
    parts = [bank.part(some, np.arange(20, 50)).cross(new).combine(np.ones(len(some))) for bank in (streamed, kept)]
    np.testing.assert_allclose(parts[0], parts[1], **close)


@pytest.mark.parametrize("columns", [[4], [0, 1, 2], [0, 1, 2, 3, 4], list(range(6))])
def test_every_kernel_value_is_right_to_rounding(columns: list[int]) -> None:
    widths = tuple(2.0**k for k in range(-3, 8))  # eleven: twice five and one more
    bank = KernelBank.build(X, [Gaussian(widths=widths, on=columns)], "none", max_bytes=400 * len(widths))
    squares = ((X[:, None, columns] - X[None, :, columns]) ** 2).sum(2)
    for k, width in enumerate(widths):
        value = bank.combine(np.eye(len(widths))[k])
        # a squaring doubles the error of exp, which then falls as the square does: 22 of them leave some units
        np.testing.assert_allclose(value, np.exp(-0.5 * squares / width**2), rtol=0.0, atol=2e-15)


@pytest.mark.usefixtures("streamed_in_pieces")
def test_pieces_done_in_any_order_give_the_same_bits() -> None:
    def backwards(piece: Callable[[int], None], pieces: int) -> None:
        for k in reversed(range(pieces)):
            piece(k)

    streamed, _ = banks(STREAMED["the papers' widths"])
    weights, v = RNG.random(len(streamed)), RNG.normal(size=70)
    told: list[tuple[str, float]] = []
    with interruptible(lambda: None, lambda *report: told.append(report), backwards):
        turned = streamed.combine(weights), streamed.quad(v), streamed.cross(X[:5]).combine(weights)
    in_order = streamed.combine(weights), streamed.quad(v), streamed.cross(X[:5]).combine(weights)
    for one, other in zip(turned, in_order, strict=True):
        np.testing.assert_array_equal(one, other)
    slopes = [fraction for what, fraction in told if what == "computing the slopes of 70 kernels"]
    assert sorted(slopes) == [k / 7 for k in range(8)]  # subset by subset
    assert ("adding 70 kernels", 1.0) in told


def test_only_what_does_not_fit_is_computed_on_the_fly() -> None:
    families = [Polynomial(degrees=(1, 2), on="all"), Gaussian(on="random:60")]
    allowed = 1_000_000
    bank = KernelBank.build(X, families, max_bytes=allowed)
    assert bank.backend == "600 on the fly, 2 packed"
    m, size = KernelBank.check_size(70, 6, families, allowed)
    assert m == len(bank) == 602
    assert bank.nbytes <= size <= allowed < KernelBank.estimate(70, 6, families)[1]


def test_a_long_computation_can_be_left_in_its_middle() -> None:
    streamed, _ = banks(STREAMED["the papers' widths"])
    with left_at(2):
        streamed.quad(np.ones(70))
    assert streamed.quad(np.ones(70)).shape == (70,)  # whoever comes next is not interrupted
