"""Matrices from elsewhere: what is not quite a kernel is repaired as Chen et al. (2009) do, distances make kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _samples import saved
from scipy.sparse import csr_matrix

import mklviz as mv
from mklviz.errors import KernelError, MklvizError
from mklviz.kernels import ChiSquared, Gaussian, KernelBank, Laplacian, Polynomial
from mklviz.kernels.families._family import manhattan_distances, squared_distances
from mklviz.learn._function import Function, from_plain, to_plain
from mklviz.typing import Array

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 4))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
SMOOTH = np.exp(-0.01 * squared_distances(X, X))
SIGMOID = np.tanh(0.2 * X @ X.T)
TRAIN, TEST = slice(0, 40), slice(40, 60)
ONE = np.ones(1)


def spectrum(repair: str) -> tuple[Array, Array]:
    """Return the training matrix with its eigenvalues repaired, and what new rows are multiplied by."""
    values, U = np.linalg.eigh(SIGMOID[TRAIN, TRAIN])
    changed = {"clip": np.maximum(values, 0.0), "flip": np.abs(values), "shift": values - values.min()}[repair]
    rows = {"clip": (U * (values >= 0)) @ U.T, "flip": (U * np.sign(values)) @ U.T, "shift": np.eye(len(U))}[repair]
    return (U * changed) @ U.T, rows


@pytest.mark.parametrize(
    ("matrix", "note"),
    [
        (SMOOTH.round(4), "as rounding leaves, set to zero: 1 of 1 Gram matrix."),
        (SMOOTH.astype(np.float16), "as rounding leaves, set to zero"),
        (SMOOTH + 1e-4 * RNG.uniform(-1.0, 1.0, SMOOTH.shape), "Averaged with their transposes"),
        (np.triu(SMOOTH), "Mirrored, as one triangle was given"),
        (csr_matrix(SMOOTH), ""),
    ],
    ids=["four decimals", "half precision", "not quite symmetric", "upper triangle", "sparse"],
)
def test_matrices_that_are_kernels_but_for_rounding_are_taken(matrix: Any, note: str) -> None:
    bank = KernelBank.from_grams([matrix])
    assert np.abs(bank.combine(ONE) - SMOOTH).max() < 2e-3  # what rounding to four decimals, or eleven bits, changes
    assert note in " ".join(bank.notes)


@pytest.mark.parametrize("repair", ["clip", "flip", "shift"])
def test_a_repaired_machine_is_that_of_scikit_learn_on_the_repaired_matrix(repair: str) -> None:
    svm = pytest.importorskip("sklearn.svm")
    bank, (matrix, rows) = KernelBank.from_grams([SIGMOID[TRAIN, TRAIN]], repair=repair), spectrum(repair)
    assert np.allclose(bank.combine(ONE), matrix, atol=1e-10)
    cross = bank.cross(SIGMOID[None, TEST, TRAIN])
    assert np.allclose(cross.combine(ONE), SIGMOID[TEST, TRAIN] @ rows, atol=1e-10)
    problem = mv.Problem(bank, Y[TRAIN], loss=mv.Hinge(C=1.0))
    best = mv.solve(problem, "silp", gap=1e-8).best
    machine = svm.SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(matrix, Y[TRAIN])
    theirs = machine.decision_function(SIGMOID[TEST, TRAIN] @ rows)
    ours = problem.predictor(best.weights, best.dual).decision_values(cross)
    assert np.allclose(ours, theirs, atol=1e-2)  # two solvers, both accurate to about 1e-4
    assert f'repaired by "{repair}"' in " ".join(bank.notes)


def test_what_is_no_kernel_is_refused_with_its_least_eigenvalue_and_a_way_on() -> None:
    least = np.linalg.eigvalsh(SIGMOID)[0]
    with pytest.raises(KernelError, match=rf"smallest eigenvalue is {least:.3g}.*choose a repair: \"clip\""):
        KernelBank.from_grams([SIGMOID])
    with pytest.raises(KernelError, match="looks like distances"):
        KernelBank.from_grams([np.sqrt(squared_distances(X, X))])
    with pytest.raises(KernelError, match="repair is"):
        KernelBank.from_grams([SIGMOID], repair="square")


def test_parts_of_a_repaired_bank_want_the_rows_of_all_its_samples() -> None:
    bank = KernelBank.from_grams([SMOOTH[TRAIN, TRAIN], SIGMOID[TRAIN, TRAIN]], repair="flip")
    whole, some = np.stack([SMOOTH, SIGMOID])[:, TEST, TRAIN], np.array([3, 17, 31])
    part = bank.part(np.array([1]), some)
    expected = bank.cross(whole).combine(np.array([0.0, 1.0]))[:, some]
    assert np.allclose(part.cross(whole).combine(ONE), expected)
    function = Function(part, ONE, np.array([1.0, -2.0, 0.5]), 0.25)
    assert np.allclose(from_plain(to_plain(function))(whole), function(whole))
    with pytest.raises(KernelError, match=r"new points need an array of shape \(2, n_new, 40\)"):
        part.cross(whole[1:, :, some])


def test_kernels_of_distances_are_those_of_the_points_they_are_between() -> None:
    euclidean, taxi = np.sqrt(squared_distances(X, X)), manhattan_distances(X, X)  # whose Gaussians are no kernels
    half = np.sqrt(squared_distances(X[:, :2], X[:, :2]))
    families = [Gaussian(widths=(1.0, 2.0)), Laplacian(widths=(3.0,))]
    bank = KernelBank.from_distances([half[TRAIN, TRAIN], euclidean[TRAIN, TRAIN]], families, names=["h", "e"])
    on_all = [Gaussian(widths=(1.0, 2.0))]
    points = KernelBank.build(X[TRAIN], on_all)
    assert bank.names == [f"{name} of {of}" for of in "he" for name in ("gauss 2⁰", "gauss 2¹", "laplace 3")]
    ours, theirs = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 0.0]), np.array([1.0, 2.0])
    assert np.allclose(bank.combine(ours), points.combine(theirs))
    cross = bank.cross(np.stack([half, euclidean])[:, TEST, TRAIN])
    assert np.allclose(cross.combine(ours), points.cross(X[TEST]).combine(theirs))
    taxi_bank = KernelBank.from_distances([taxi[TRAIN, TRAIN]], [Laplacian(widths=(3.0,))])
    assert np.allclose(taxi_bank.combine(ONE), KernelBank.build(X[TRAIN], [Laplacian(widths=(3.0,))]).combine(ONE))
    with pytest.raises(KernelError, match="not positive semidefinite"):
        KernelBank.from_distances([taxi], [Gaussian(widths=(2.0,))])
    with pytest.raises(KernelError, match="no function of a distance"):
        KernelBank.from_distances([euclidean], [Polynomial()])
    with pytest.raises(KernelError, match="zeros on its diagonal"):
        KernelBank.from_distances([SMOOTH], families)
    assert np.array_equal(ChiSquared().from_distances(taxi), taxi)


def test_distances_in_a_file_are_recognised_and_divided_by_their_mean() -> None:
    distances = np.sqrt(squared_distances(X, X))
    data = mv.read_dataset(saved(grams=distances, y=Y))
    assert data.distances
    assert "they are distances" in " ".join(data.notes)
    prepared = mv.Recipe.from_words("kernels=laplacian:0.5,1").on(data).prepare()
    train = prepared.train.grams
    assert train is not None
    assert train.mean() == pytest.approx(1.0)
    assert np.allclose(prepared.problem.bank.combine(np.array([0.0, 1.0])) * 30, np.exp(-train[0]))  # of unit trace
    assert "Gram" not in repr(data)
    usual = mv.Recipe().on(data).prepare()  # of the papers' kernels those that are functions of a distance
    assert {name.partition(" ")[0] for name in usual.problem.bank.names} == {"gauss"}


def test_a_recipe_repairs() -> None:
    data = mv.read_dataset(saved(grams=SIGMOID, y=Y))
    recipe = mv.Recipe.from_words("repair=clip").on(data)
    assert "repair=clip" in recipe.to_words()
    assert mv.Recipe.from_json(recipe.to_json()) == recipe
    bank = recipe.prepare().problem.bank
    assert isinstance(bank, KernelBank)
    assert 'repaired by "clip"' in " ".join(bank.notes)
    with pytest.raises(MklvizError, match="repair is"):
        mv.Recipe.from_words("repair=shave")


def test_ranges_of_columns_are_written_as_they_are_read() -> None:
    words = 'data=ionosphere; kernels=linear@0...7 gaussian:1,2@8...30,2 polynomial:2@"a, b",5,6'
    recipe = mv.Recipe.from_words(words)
    assert recipe.kernels.families[0].on == tuple(range(8))
    assert recipe.to_words() == words
    for wrong in ("linear@7...0", "linear@0...9999999"):
        with pytest.raises(MklvizError, match="no range of columns"):
            mv.Recipe.from_words(f"kernels={wrong}")


def test_columns_by_number_are_those_of_the_whole_table_though_constant_ones_are_left_out() -> None:
    table = np.column_stack([X[:, 0], np.ones(60), X[:, 1:]])
    data = mv.read_dataset(saved(X=table, y=Y, feature_names=np.array(["a", "b", "c", "d", "e"])))
    bank = mv.Recipe.from_words("kernels=linear@1...2 linear@4").on(data).prepare().problem.bank
    assert list(bank.names) == ["linear on c", "linear on e"]
    with pytest.raises(MklvizError, match="constant in the training part"):
        mv.Recipe.from_words("kernels=linear@1").on(data).prepare()


def test_each_view_has_kernels_of_its_own() -> None:
    data = mv.read_dataset(saved(sound=X, picture=X**2, y=Y))
    bank = mv.Recipe.from_words("kernels=linear@views gauss:1@views").on(data).prepare().problem.bank
    assert list(bank.names) == ["linear on sound", "linear on picture", "gauss 2⁰ on sound", "gauss 2⁰ on picture"]
    plain = KernelBank.build(X, [Gaussian(widths=(1.0,), on="views")])
    assert list(plain.names) == ["gauss 2⁰ on all"]


def test_estimators_repair_precomputed_kernels_as_scikit_learns_machine_wants_them() -> None:
    svm = pytest.importorskip("sklearn.svm")
    matrix, rows = spectrum("flip")
    ours = mv.MKLClassifier("precomputed", C=1.0, normalize="none", repair="flip", tol=1e-6)
    ours.fit(SIGMOID[TRAIN, TRAIN], Y[TRAIN])
    theirs = svm.SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(matrix, Y[TRAIN])
    apart = ours.decision_function(SIGMOID[TEST, TRAIN]) - theirs.decision_function(SIGMOID[TEST, TRAIN] @ rows)
    assert np.abs(apart).max() < 1e-2
    with pytest.raises(KernelError, match="choose a repair"):
        mv.MKLClassifier("precomputed").fit(SIGMOID[TRAIN, TRAIN], Y[TRAIN])
