"""Every kernel family gives a kernel: symmetric, positive semidefinite, its own formula, and a name for people."""

import numpy as np
import pytest

import mklviz as mv
from mklviz.errors import KernelError
from mklviz.kernels import kernel_families
from mklviz.kernels.families import KernelFamily

FAMILIES = sorted(kernel_families().items())
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(25, 4))
OTHERS = RNG.normal(size=(7, 4))


def matrix(family: KernelFamily, left: np.ndarray, right: np.ndarray, value: float) -> np.ndarray:
    return family.profile(family.base(left, right), value)


def test_the_families_of_the_folder_are_found_by_name() -> None:
    assert {"gaussian", "laplacian", "linear", "polynomial"} <= set(kernel_families())
    for name, family in FAMILIES:
        assert family.name_ == name
        assert family.label


def test_formulas_point_by_point_and_equal_points_at_distance_zero_even_far_from_the_origin() -> None:
    for i in range(5):
        for j in range(5):
            x, z = POINTS[i], OTHERS[j]
            pairs = {
                np.exp(-((x - z) ** 2).sum() / (2 * 0.7**2)): (mv.Gaussian(), 0.7),
                np.exp(-np.abs(x - z).sum() / 1.5): (mv.Laplacian(), 1.5),
                np.exp(-((x - z) ** 2 / (np.abs(x) + np.abs(z))).sum() / 1.5): (mv.ChiSquared(), 1.5),
                x @ z / np.sqrt(x @ x * (z @ z)): (mv.Cosine(), 1.0),
                np.minimum(np.abs(x), np.abs(z))[x * z > 0.0].sum(): (mv.Intersection(), 1.0),
                abs(x[0] + z[0]): (
                    mv.FunctionKernel(function=lambda X, Z: np.abs(np.add.outer(X[:, 0], Z[:, 0]))),
                    1.0,
                ),
                float(x @ z): (mv.Linear(), 1.0),
                (1.0 + x @ z) ** 3: (mv.Polynomial(), 3),
                (0.5 + x @ z) ** 2: (mv.Polynomial(offset=0.5), 2),
            }
            for expected, (family, value) in pairs.items():
                found = matrix(family, POINTS, OTHERS, value)[i, j]
                assert found == pytest.approx(expected, rel=1e-12)
    far = POINTS + 1e4
    assert (np.diag(mv.Gaussian().base(far, far)) == 0.0).all()
    assert (mv.Gaussian().base(far, far) >= 0.0).all()


@pytest.mark.parametrize("family", [family for _, family in FAMILIES if family.of_differences])
def test_kernels_of_differences_lose_nothing_far_from_the_origin(family: type[KernelFamily]) -> None:
    near, others = (np.round(1024.0 * points) / 1024.0 for points in (POINTS, OTHERS))
    away, weights, v = 2.0**20, np.ones(1), RNG.normal(size=25)
    kernels = [family(widths=[1.0])]
    banks = [
        (
            mv.KernelBank.build(points, kernels),
            mv.KernelBank.build(points, kernels, rows=True),
            mv.NystromBank.build(points, kernels, landmarks=25),
        )
        for points in (near, near + away)
    ]
    for here, there in zip(*banks, strict=True):
        np.testing.assert_allclose(there.apply(weights, v), here.apply(weights, v), atol=1e-12)
        across = [bank.cross(new).combine(weights) for bank, new in ((here, others), (there, others + away))]
        np.testing.assert_allclose(across[1], across[0], atol=1e-12)
    rows = [by_rows.kernel(weights).rows(np.arange(25)) for _, by_rows, _ in banks]
    np.testing.assert_allclose(rows[1], rows[0], atol=1e-7)


@pytest.mark.parametrize(
    ("family", "value", "name"),
    [
        (mv.Gaussian(), 0.5, "gauss 2⁻¹"),
        (mv.Gaussian(), 1.0, "gauss 2⁰"),
        (mv.Gaussian(), 64.0, "gauss 2⁶"),
        (mv.Gaussian(), 0.3, "gauss 0.3"),
        (mv.Laplacian(), 2.0, "laplace 2¹"),
        (mv.Linear(), 1.0, "linear"),
        (mv.Polynomial(), 3.0, "poly 3"),
    ],
)
def test_names_are_written_as_the_papers_write_them(family: KernelFamily, value: float, name: str) -> None:
    assert family.describe(value) == name


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("all", [("all", (0, 1, 2))]),
        ("each", [("a", (0,)), ("b", (1,)), ("c", (2,))]),
        ("all+each", [("all", (0, 1, 2)), ("a", (0,)), ("b", (1,)), ("c", (2,))]),
        ([2, 0], [("c, a", (2, 0))]),
        (["b"], [("b", (1,))]),
        (np.array([0, 1]), [("a, b", (0, 1))]),
        ([*range(5)], [("a, b, … (5 columns)", (0, 1, 2, 3, 4))]),
    ],
)
def test_on_says_which_features(on: object, expected: object) -> None:
    features = "abcdef" if isinstance(on, list) and len(on) > 3 else "abc"
    assert mv.Gaussian(on=on).subsets(len(features), [*features]) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "features"), [(15, 4), (9, 4), (1, 1), (300, 20)])
def test_random_subsets_are_as_many_as_asked_for_and_all_different(count: int, features: int) -> None:
    names = [f"x{j}" for j in range(features)]
    found = [columns for _, columns in mv.Gaussian(on=f"random:{count}").subsets(features, names)]
    assert len(set(found)) == len(found) == count
    assert all(1 <= len(columns) <= 8 and columns == tuple(sorted(set(columns))) for columns in found)
    assert {j for columns in found for j in columns} == set(range(features))
    assert found == [columns for _, columns in mv.Linear(on=f"random:{count}").subsets(features, names)]


def test_for_histograms_the_kernels_are_those_of_scikit_learn() -> None:
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    X, ones = np.random.default_rng(1).gamma(1.0, size=(20, 5)), np.ones(1)
    for family, matrix in (
        (mv.ChiSquared(widths=(2.0,)), pairwise.chi2_kernel(X, gamma=0.5)),
        (mv.Cosine(), pairwise.cosine_similarity(X)),
        (mv.FunctionKernel(function=pairwise.chi2_kernel), pairwise.chi2_kernel(X)),
    ):
        bank = mv.KernelBank.build(X, [family], normalize="none")
        assert np.allclose(bank.combine(ones), matrix)
        assert np.allclose(bank.cross(X[:3]).combine(ones), matrix[:3])


def test_what_gives_no_matrix_of_numbers_is_refused_by_name() -> None:
    with pytest.raises(KernelError, match=r"must return \(\d, \d\) finite numbers"):
        mv.KernelBank.build(np.ones((5, 2)), [mv.FunctionKernel(function=lambda X, Z: X)])
    with pytest.raises(KernelError, match="as a function"):
        mv.FunctionKernel()
    with np.errstate(over="ignore"), pytest.raises(KernelError, match="poly 300 on all overflows"):
        mv.KernelBank.build(1e3 * POINTS, [mv.Polynomial(degrees=(300,))])
