"""Approximate kernels: never more than the exact ones, errors told truly, and chosen and seen on screen."""

import pickle
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from _problems import blobs, dense, left_at, ran
from _shown import html_of
from _ticks import tick

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.engine import available_solvers, solve
from mklviz.errors import BankTooLarge, KernelError, ProblemError
from mklviz.kernels import Gaussian, KernelBank, KernelFamily, Laplacian, Linear, Nystrom, NystromBank, Polynomial
from mklviz.problem import Hinge, LpBall, LpPenalty, Problem
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice
from mklviz.scenarios import load_scenario
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.sidebar import Sidebar

N, FEATURES = 60, 3
X, Y = blobs(N, noise=0.1, features=FEATURES)
FAMILIES: Sequence[KernelFamily] = (
    Gaussian(widths=(0.5, 1.0, 4.0), on="all+each"),
    Polynomial(degrees=(1, 2), on="all"),
    Laplacian(widths=(2.0,), on="all"),
    Linear(on=[0, 2]),
)
WEIGHTS = np.random.default_rng(1).random(16)
WEIGHTS[3:6] = 0.0


def bank(landmarks: int, **options: object) -> NystromBank:
    return NystromBank.build(X, FAMILIES, landmarks, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", ["kmeans++", "leverage"])
@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal", "diagonal", "none"])
def test_with_every_point_a_landmark_the_kernels_are_exact(choice: str, normalize: str) -> None:
    exact = KernelBank.build(X, FAMILIES, normalize)
    same = bank(N, choice=choice, normalize=normalize)
    v, new = np.random.default_rng(2).normal(size=N), np.random.default_rng(3).normal(size=(7, FEATURES))
    assert same.names == exact.names
    # pivots stop at 1e-10 of the largest diagonal entry
    np.testing.assert_allclose(same.quad(v), exact.quad(v), rtol=1e-7, atol=1e-7 * exact.quad(v).max())
    np.testing.assert_allclose(same.apply(WEIGHTS, v), exact.apply(WEIGHTS, v), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(same.combine(WEIGHTS), exact.combine(WEIGHTS), rtol=1e-6, atol=1e-8)
    which = np.array([0, 5, 14])
    np.testing.assert_allclose(same.products(v, which), exact.products(v, which), rtol=1e-6, atol=1e-7)
    # a new point may have a share that no sample has, in which both are zero
    scale = np.abs(exact.cross(new).combine(WEIGHTS)).max()
    found, wanted = (each.cross(new).combine(WEIGHTS) for each in (same, exact))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-5 * scale)
    assert same.trace_errors.max() < 1e-8
    assert same.frobenius_errors.max() < 1e-8


@pytest.mark.parametrize("choice", ["kmeans++", "leverage"])
def test_no_approximate_kernel_is_larger_than_the_exact_one_and_its_errors_are_told(choice: str) -> None:
    exact, few = KernelBank.build(X, FAMILIES), bank(6, choice=choice)
    for k, (K, near) in enumerate(zip(dense(exact), dense(few), strict=True)):
        rest = K - near
        assert np.linalg.eigvalsh(rest)[0] > -1e-10  # of unit trace
        assert few.trace_errors[k] == pytest.approx(np.trace(rest), abs=1e-9)
        # there are fewer points than are sampled, so that the sample is everything
        assert few.frobenius_errors[k] == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(K), abs=1e-9)
    worst, mean = few.error(WEIGHTS)
    assert worst == few.trace_errors[WEIGHTS > 0.0].max()
    assert mean == pytest.approx(1.0 - np.trace(few.combine(WEIGHTS)) / np.trace(exact.combine(WEIGHTS)))
    assert few.trace_errors.max() > 0.1


def test_the_optimum_falls_to_the_exact_one_as_landmarks_become_all_points() -> None:
    families = [Gaussian(widths=(0.5, 1.0), on="all+each")]

    def optimum(bank: KernelBank | NystromBank) -> tuple[float, float]:
        final = solve(Problem(bank, Y, Hinge(10.0), LpBall(2.0)), "closed-form", gap=1e-6).best
        return final.lower_bound, final.objective

    exact = optimum(KernelBank.build(X, families))
    above = [optimum(NystromBank.build(X, families, landmarks)) for landmarks in (4, 16, N)]
    # an approximate kernel is smaller, so the quadratic term is, and what is left to maximise is larger
    assert all(high >= exact[0] for _, high in above)
    assert above[0][0] > 1.01 * exact[1]
    assert above[-1] == pytest.approx(exact, rel=2e-6)


def test_the_function_learned_needs_one_point_instead_of_all_samples() -> None:
    problem = Problem(bank(10), Y, Hinge(5.0))
    final = solve(problem, "spg", gap=1e-3).best
    predictor, new = problem.predictor(final.weights, final.dual), np.random.default_rng(3).normal(size=(9, FEATURES))
    cross = problem.bank.cross(new)
    by_samples = cross.combine(final.weights) @ (final.dual * Y) + predictor.bias
    np.testing.assert_allclose(predictor.decision_values(new), by_samples, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cross.apply(final.weights, final.dual * Y) + predictor.bias, by_samples, rtol=1e-9)
    at_samples = problem.bank.apply(final.weights, final.dual * Y) + predictor.bias
    np.testing.assert_allclose(predictor.decision_values(X), at_samples, rtol=1e-9, atol=1e-12)
    back = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(back.decision_values(new), predictor.decision_values(new))
    assert len(back.function.part.rows) == 1


def test_landmarks_are_shared_points_that_repeat_are_one_low_ranks_get_few_columns_and_seeds_differ() -> None:
    few = bank(20)
    marks = {subset.columns: id(subset.landmarks) for subset in few.maps.subsets}
    assert all(marks[subset.columns] == id(subset.landmarks) for subset in few.maps.subsets)
    linear = few.maps.subsets[-1].roots[0]
    assert len(linear.pivots) == 2  # a linear kernel on two features
    assert few.trace_errors[-1] < 1e-12
    twice = np.repeat(X[:5], 4, axis=0)
    same = NystromBank.build(twice, [Gaussian(widths=(1.0,))], landmarks=20)
    assert len(same.maps.subsets[0].landmarks) == 5
    assert same.trace_errors[0] < 1e-12
    first, again, other = (bank(8, seed=seed).factors(WEIGHTS)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_large_factors_are_kept_in_single_precision() -> None:
    double = bank(10)
    single = bank(10, max_bytes=4 * N * 160)
    assert double.factors(WEIGHTS)[0].dtype == np.float64
    assert single.factors(WEIGHTS)[0].dtype == np.float32
    v = np.random.default_rng(2).normal(size=N)
    np.testing.assert_allclose(single.quad(v), double.quad(v), rtol=1e-4)  # sums cancel a few digits
    np.testing.assert_allclose(single.apply(WEIGHTS, v), double.apply(WEIGHTS, v), atol=1e-5)
    assert solve(Problem(single, Y, Hinge(5.0)), "level", gap=1e-4).gap[-1] <= 1e-4


@pytest.mark.parametrize("name", available_solvers())
def test_a_solver_reaches_the_optimum_of_the_same_exact_bank_or_says_why_not(name: str) -> None:
    families = [Gaussian(widths=(0.5, 2.0), on="all+each")]
    regularizer = LpPenalty(1.5, 1.0) if name == "smo-mkl" else LpBall(1.5)
    same = Problem(NystromBank.build(X, families, N), Y, Hinge(2.0), regularizer)
    if name not in available_solvers(same):
        return
    exact = Problem(KernelBank.build(X, families), Y, Hinge(2.0), regularizer)
    trace = solve(same, name, gap=1e-4, max_iter=3000)
    final = trace.best
    assert trace.gap[-1] <= 1e-4
    assert final.objective == pytest.approx(solve(exact, name, gap=1e-4, max_iter=3000).best.objective, rel=2e-4)
    assert final.facts.approximation_error < 1e-8


def test_building_tells_how_far_it_is_and_stops_when_asked() -> None:
    told: list[float] = []
    bank(10, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    with left_at(1):
        bank(10)
    ready = bank(10)
    with left_at(1):
        ready.quad(np.ones(N))


def test_a_bank_that_needs_too_much_memory_is_refused_before_it_is_built() -> None:
    assert NystromBank.check_size(500_000, 54, [Gaussian(widths=(1, 2))], Nystrom(100)) == (2, 4 * 200 * 500_000)
    with pytest.raises(BankTooLarge, match=r"2 kernels of 500,000 samples by 9,000 landmarks each need about 33.5 GB"):
        NystromBank.check_size(500_000, 54, [Gaussian(widths=(1, 2))], Nystrom(9000))


def test_words_say_what_is_exact_and_what_is_not() -> None:
    few = bank(6)
    assert "approximated by 6 landmarks; objective and gap are exact for the approximate kernels" in few.words()
    assert "averaged by the weights of SPG" in few.words(WEIGHTS, "SPG")
    assert "less than 0.001 %" in bank(N).words()
    assert "approximated by 60 landmarks" in bank(100_000).words()
    assert "approximated by Nyström" in few.backend
    assert "largest error of a trace" in html_of(few)
    assert repr(few).startswith("NystromBank(16 kernels, 60 samples")


SMALL = Recipe(
    data=DataChoice("two_moons"),
    kernels=KernelChoice(families=(Gaussian(widths=(0.5, 1.0), on="all+each"),), approximation=Nystrom(10)),
    problem=ProblemChoice(loss=Hinge(10.0)),
    solvers=(SolverChoice("closed-form"),),
)
RUN = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1@all", "--C", "10", "--solvers", "spg"]


def test_a_recipe_reads_the_approximation_it_asks_for_and_builds_its_bank() -> None:
    asked = {"15": Nystrom(15), "15:leverage": Nystrom(15, "leverage"), "none": None}
    assert {text: Recipe.from_words(f"nystrom={text}").kernels.approximation for text in asked} == asked
    prepared = SMALL.prepare()
    bank = prepared.problem.bank
    assert isinstance(bank, NystromBank)
    assert bank.approximation == Nystrom(10)
    trace = ran(SMALL.race(prepared)).runs["closed-form"].trace
    assert trace.gap[-1] <= 1e-2
    assert 0.0 < trace.best.facts.approximation_error < 1.0
    assert prepared.score(trace.best) > 0.75  # two moons, ten landmarks
    keys = [SMALL.changed(approximation=one).bank_key for one in (None, Nystrom(10), Nystrom(11))]
    assert len(set(keys)) == 3  # banks of either kind are kept apart


def test_only_sums_of_kernels_on_points_are_approximated() -> None:
    with pytest.raises(ProblemError, match="A product of kernels cannot be approximated"):
        SMALL.changed(combination="product")
    ds = mv.load_dataset("two_moons", n=20)
    grams = replace(ds, grams=(ds.X @ ds.X.T)[None])
    with pytest.raises(ProblemError, match="brings Gram matrices"):
        SMALL.prepare(grams)


def test_a_run_in_the_terminal_says_what_is_approximate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--nystrom", "12:leverage"]) == 0
    out = capsys.readouterr().out
    assert "approximated by 12 landmarks; objective and gap are exact for the approximate kernels" in out
    assert "averaged by the weights of SPG" in out
    assert main(RUN) == 0
    assert "approximate" not in capsys.readouterr().out


def test_a_product_has_nothing_to_approximate() -> None:
    sidebar = Sidebar()
    sidebar.load(SMALL)
    sidebar.kernels.combination.value = "product"
    assert not sidebar.kernels.precision.kind.visible
    assert sidebar.kernels.chosen.approximation is None
    sidebar.kernels.combination.value = "sum"
    assert sidebar.recipe.kernels.approximation == Nystrom(10)


def test_the_controls_say_how_large_an_approximate_bank_would_be_and_when_it_is_too_large() -> None:
    sidebar = Sidebar("half-a-million")
    assert sidebar.blocked == ""
    assert sidebar.kernels.size.object.startswith("5 kernels · 522,910 points · approximate · at most 1.9 GB")
    sidebar.kernels.precision.landmarks.value = "5000"
    assert "use fewer landmarks" in sidebar.blocked
    sidebar.kernels.precision.landmarks.value = "none"
    assert "landmarks" in sidebar.blocked
    sidebar.kernels.precision.landmarks.value = "200"
    assert sidebar.blocked == ""


def test_the_page_says_beside_the_gap_what_is_approximate() -> None:
    view, words = RaceView(), "approximated by 10 landmarks"
    race = SMALL.race(SMALL.prepare())
    view.show(race)
    assert words in view.page.precision.object
    ran(race)
    tick(view)
    assert "averaged by the weights of Closed form" in view.page.precision.object
    exact = SMALL.changed(approximation=None)
    view.show(exact.race(exact.prepare()))
    assert not view.page.precision.visible
    view.clear()
    assert not view.page.precision.visible


def test_the_scenario_of_half_a_million_points_is_small_in_everything_but_points() -> None:
    recipe = load_scenario("half-a-million").recipe
    few = mv.load_dataset("covertype_like", n=2000)
    prepared = recipe.changed(approximation=Nystrom(20)).prepare(few)
    assert len(prepared.problem.bank) == 5
    with pytest.raises(KernelError, match="landmarks"):
        Nystrom(-1)


def test_solvers_are_asked_about_the_kernels_as_they_will_be_kept() -> None:
    sidebar = Sidebar("silp-is-fine")
    assert not sidebar.solvers.chips["spicymkl"].disabled
    sidebar.kernels.precision.set(Nystrom(10))
    sidebar.kernels.touched()
    assert sidebar.solvers.chips["spicymkl"].disabled
    assert "kernel matrix" in sidebar.solvers.chips["spicymkl"].description
    assert not sidebar.solvers.chips["level"].disabled
    sidebar = Sidebar("letter-sum")  # of so many samples that kernels come row by row
    assert sidebar.kernels.access(sidebar.data.shape) == "rows"
    assert sidebar.solvers.chips["spicymkl"].disabled
    assert sidebar.blocked == ""
