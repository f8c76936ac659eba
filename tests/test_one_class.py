"""The one-class SVM with learned kernel weights, beside LIBSVM and a conic solver."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _formulations import conic_value
from _problems import REGULARIZERS, dense
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.datasets import DataError
from mklviz.engine import available_solvers
from mklviz.engine.kinds import ProblemFacts
from mklviz.errors import ProblemError, SolverError
from mklviz.learn.table import model_of
from mklviz.problem import OneClass, Problem, Regularizer, Simplex
from mklviz.recipe import Recipe

N = 40


def points(seed: int, n: int = N) -> np.ndarray:
    """Return a cloud with a few points far from it."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n - n // 8, 2)), rng.uniform(-5.0, 5.0, size=(n // 8, 2))])


def one_class(seed: int, loss: OneClass, regularizer: Regularizer, weights: np.ndarray | None = None) -> Problem:
    """Return a problem on centred kernels, so that no width is best by being wide."""
    X = points(seed)
    families = [mv.Gaussian(widths=(0.3, 1.0), on="all+each"), mv.Polynomial(degrees=(2,))]
    grams = dense(mv.KernelBank.build(X, families))
    centre = np.eye(N) - 1.0 / N
    centred = [centre @ K @ centre for K in grams]
    bank = mv.KernelBank.from_grams([K * N / np.trace(K) + 1e-3 * np.eye(N) for K in centred])
    return Problem(bank, np.ones(N), loss, regularizer, weights)


@pytest.mark.parametrize("nu", [0.04, 0.1, 0.37, 0.9])
@pytest.mark.parametrize("C", [1.0, 1e-3, 1e4])
def test_at_fixed_weights_it_is_libsvms(nu: float, C: float) -> None:
    problem = one_class(0, OneClass(C, nu), Simplex())
    trace = mv.solve(problem, "spg", gap=1e-8)
    d, dual = trace.best.weights, trace.best.dual
    K = problem.bank.combine(d)
    svm = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(K)
    a = np.zeros(N)
    a[svm.support_] = svm.dual_coef_[0]
    assert trace.best.objective == pytest.approx(-0.5 * C**2 * a @ K @ a, rel=1e-6)
    predictor = problem.predictor(d, dual)
    scores, free = K @ dual, (a > 1e-6) & (a < 1.0 - 1e-6)
    assert np.abs(scores + predictor.bias)[free].max(initial=0.0) <= 1e-3 * scores.max()
    assert (scores + predictor.bias < -1e-3 * scores.max()).mean() <= nu


@pytest.mark.parametrize("seed", range(3))
def test_the_whole_problem_agrees_with_a_conic_solver(seed: int) -> None:
    problem = one_class(seed, OneClass(1.0, (0.05, 0.2, 0.6)[seed]), Simplex())
    best = conic_value(problem)
    for solver in available_solvers(problem):
        trace = mv.solve(problem, solver, gap=1e-4, max_iter=500)
        assert trace.status == "converged", (solver, trace.reason)
        slack = 1e-6 * abs(best)
        assert trace.best_bound.lower_bound <= best + slack
        assert best - slack <= trace.best.objective <= best + 1.1e-4 * abs(best)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_every_regularizer_gives_a_certificate_or_says_why_it_cannot(regularizer: Regularizer) -> None:
    if regularizer.linear:
        with pytest.raises(ProblemError, match="has no best weights"):
            one_class(1, OneClass(1.0, 0.2), regularizer)
        return
    problem = one_class(1, OneClass(1.0, 0.2), regularizer)
    bounds, objectives = [], []
    for solver in available_solvers(problem):
        trace = mv.solve(problem, solver, gap=1e-3, max_iter=500)
        bounds.append(trace.best_bound.lower_bound)
        objectives.append(trace.best.objective)
        assert trace.status in ("converged", "limit"), (solver, trace.reason)
    assert max(bounds) <= min(objectives) + 1e-9 * abs(min(objectives))
    assert min(objectives) - max(bounds) <= 1e-3 * abs(min(objectives)) + 1e-12  # zero where the price is too high


def test_a_penalty_that_costs_next_to_nothing_is_solved_as_far_as_numbers_go() -> None:
    assert mv.solve(one_class(0, OneClass(1e3), mv.PowerPenalty(1.1, 1e-2)), "closed-form").status == "converged"
    with pytest.raises(SolverError, match=r"PowerPenalty.* costs too little beside OneClass.*: raise its price"):
        mv.solve(one_class(0, OneClass(1e9), mv.PowerPenalty(1.1, 1e-3)), "closed-form")


def test_kernels_may_come_row_by_row() -> None:
    X = points(3)
    families = [mv.Gaussian(widths=(0.5, 1.0), on="all")]
    banks = [mv.KernelBank.build(X, families), mv.KernelBank.build(X, families, rows=True)]
    found = [mv.solve(Problem(bank, np.ones(N), OneClass(1.0, 0.2)), "spg", gap=1e-4).best.objective for bank in banks]
    assert found[0] == pytest.approx(found[1], rel=2e-4)


@pytest.mark.parametrize("C", [1.0, 1e-3, 1e4])
def test_kernels_may_come_by_factors(C: float) -> None:
    """At the weights learned it is LIBSVM's, and the optimum that of the dense kernels."""
    families = [mv.Gaussian(widths=(0.3, 1.0), on="all+each")]
    bank = mv.NystromBank.build(points(3), families, landmarks=15)
    loss = OneClass(C, 0.2)
    problem = Problem(bank, np.ones(N), loss)
    best = mv.solve(problem, "spg", gap=1e-7, max_iter=500).best
    K = bank.combine(best.weights)
    svm = OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-10).fit(K)
    a = svm.dual_coef_[0]
    theirs = -0.5 * C**2 * a @ K[np.ix_(svm.support_, svm.support_)] @ a
    assert best.objective == pytest.approx(theirs, rel=1e-6)
    assert best.lower_bound <= best.objective <= best.lower_bound + 1e-6 * abs(theirs)
    formed = Problem(mv.KernelBank.from_grams(dense(bank)), np.ones(N), loss)
    assert best.objective == pytest.approx(mv.solve(formed, "spg", gap=1e-7, max_iter=500).best.objective, rel=1e-6)


def test_an_estimator_of_many_samples_takes_factors() -> None:
    X = points(3)
    model = mv.MKLOneClass("gauss:1,2@all", nu=0.2, approximation=mv.Nystrom(landmarks=N)).fit(X)
    exact = mv.MKLOneClass("gauss:1,2@all", nu=0.2, approximation=None).fit(X)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=2e-2)
    assert (model.predict(X) == -1).mean() <= 0.2 + 1e-9


def test_newton_ends_by_rows_where_a_kernel_sees_no_samples_apart() -> None:
    """Of centred samples the linear kernel leaves slopes that single precision does not see."""
    X = np.random.default_rng(0).normal(size=(150, 3))
    families = [mv.Gaussian("all", (0.5, 1.0)), mv.Polynomial("all", (1,))]
    rows, formed = (
        mv.solve(
            Problem(mv.KernelBank.build(X - X.mean(0), families, rows=rows), np.ones(150), OneClass(1.0, 0.5)),
            "newton",
            gap=1e-6,
            max_iter=30,
        )
        for rows in (True, False)
    )
    assert (rows.status, formed.status) == ("converged", "converged")
    assert rows.best.objective == pytest.approx(formed.best.objective, rel=2e-6)


def test_its_objectives_are_drawn_on_an_axis_that_goes_below_zero() -> None:
    assert ProblemFacts.of(one_class(0, OneClass(), Simplex())).signed


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, float("nan"), "half"])
def test_shares_that_are_none_are_refused(nu: object) -> None:
    with pytest.raises(ProblemError, match="nu, a share of the samples, must lie above 0"):
        OneClass(1.0, nu)  # type: ignore[arg-type]


def test_it_is_told_what_to_give_for_labels() -> None:
    with pytest.raises(ProblemError, match=r"y is None: .* numpy\.ones\(n\) where none is used"):
        Problem(mv.KernelBank.build(points(0), "gauss:1"), None, OneClass())  # type: ignore[arg-type]


def test_of_two_classes_a_race_learns_the_positive_one_and_is_scored_on_both() -> None:
    recipe = Recipe().changed(source="ionosphere", loss=OneClass(1.0, 0.2))
    posed = recipe.prepare()
    assert (posed.problem.sample_weight == (posed.train.y > 0.0)).all()
    best = mv.solve(posed.problem, "spg", gap=1e-2).best
    assert not best.dual[posed.train.y < 0.0].any()
    assert posed.score(best) > 0.6


def test_the_estimator_is_that_of_scikit_learn_with_one_kernel() -> None:
    X = points(4)
    ours = mv.MKLOneClass("gauss:1@all", nu=0.2, tol=1e-9).fit(X)
    theirs = OneClassSVM(gamma=0.5, nu=0.2, tol=1e-10).fit(X)
    new = points(5)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-4)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), atol=1e-4)
    sure = np.abs(theirs.decision_function(new)) > 1e-3
    assert (ours.predict(new) == theirs.predict(new))[sure].all()
    assert (ours.fit_predict(X) == -1).mean() <= 0.2 + 1e-9
    with pytest.raises(ProblemError, match="needs labels"):
        mv.MKLOneClass(loss="hinge").fit(X)


def test_a_table_without_labels_is_learned_from_and_predicted_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model, out = (str(tmp_path / name) for name in ("usual.csv", "model.skops", "out.csv"))
    table = pd.DataFrame(points(0), columns=["one", "two"])
    table.to_csv(file, index=False)
    words = ["fit", file, "--loss", "one-class:nu=0.2", "--kernels", "gauss:1", "--out", model]
    assert main(words) == 2
    assert "say that its target is nothing" in capsys.readouterr().err
    assert main([*words, "--target", "nothing"]) == 0
    assert "40 rows, 2 features; no target" in capsys.readouterr().out
    assert main(["predict", model, file, "--out", out]) == 0
    X = StandardScaler().fit_transform(table)
    detector = mv.MKLOneClass("gauss:1", loss="one-class:nu=0.2").fit(X)
    assert list(pd.read_csv(out)["predicted inlier"]) == list(detector.predict(X))
    race = ["run", "--data", file, "--target", "nothing", "--loss", "one-class", "--kernels", "gauss:1", "--no-store"]
    assert main(race) == 0
    assert main(["run", "--data", file, "--target", "nothing", "--no-store"]) == 2
    assert "the hinge loss needs samples of both classes" in capsys.readouterr().err


def test_a_table_without_labels_has_the_columns_of_its_file_and_no_file_of_labels(tmp_path: Path) -> None:
    table = pd.DataFrame(points(0), columns=["one", "two"])
    read = mv.Dataset.from_frame(table, target="nothing")
    assert [name for name, _, _ in read.table.columns] == ["one", "two"]
    assert (set(read.table.targets), len(read.table.first[0])) == ({"one", "two"}, 2)
    with pytest.raises(DataError, match='no column "nothing"'):
        mv.Dataset.from_frame(table, target="nothing", leave_out="nothing")
    files = [tmp_path / name for name in ("X.csv", "y.csv")]
    for file, part in zip(files, (table, pd.DataFrame({"label": ["a", "b"] * (N // 2)})), strict=True):
        part.to_csv(file, index=False)
    with pytest.raises(DataError, match="a file of labels, but its target is nothing"):
        mv.read_dataset(files, target="nothing")
    K = np.exp(-np.square(points(0)[:, None] - points(0)).sum(2))
    pairs = pd.DataFrame([(i, j, K[i, j]) for i in range(N) for j in range(i, N)], columns=["i", "j", "value"])
    kernel = mv.Dataset.from_frame(pairs, target="nothing")
    assert (kernel.n_samples, kernel.n_features, len(kernel.grams)) == (N, 0, 1)  # type: ignore[arg-type]


def test_a_column_that_is_called_nothing_is_a_target_as_any_other() -> None:
    table = pd.DataFrame(points(0), columns=["one", "two"]).assign(nothing=np.repeat(["a", "b"], [N - 4, 4]))
    read = mv.Dataset.from_frame(table, target="nothing")
    assert read.classes == ("a", "b")
    assert all(set(read.split(0.5, seed)[1].y) == {-1.0, 1.0} for seed in range(20))  # both classes in every part


def test_of_a_table_with_two_classes_a_model_learns_the_positive_one_and_is_compared_with_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model = str(tmp_path / "mine.csv"), str(tmp_path / "model.skops")
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [5.0]], 30, axis=0)
    table = pd.DataFrame(X, columns=["one", "two"]).assign(kind=np.repeat(["odd", "usual"], 30))
    table.to_csv(file, index=False)
    words = ["fit", file, "--loss", "one-class:nu=0.1", "--kernels", "gauss:1", "--out", model, "--test", file]
    assert main([*words, "--class-weight", "balanced"]) == 2
    assert "none to balance" in capsys.readouterr().err
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "the target is kind: odd, usual; the 30 of usual were learned" in said
    assert float(said.split("accuracy ")[1].split()[0]) > 85.0
    with pytest.raises(ProblemError, match="set one class against the rest"):
        model_of(mv.load_dataset("iris"), loss="one-class")
