"""The estimators do what mklviz does, in scikit-learn's manner."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import re
import warnings
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _problems import dense
from _shown import html_of
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import mklviz as mv
from mklviz.contract import ACTIVE_WEIGHT
from mklviz.errors import KernelError, ProblemError

WORDS = "gauss:0.5,2@all+each poly:1,2"
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
FAMILIES = (mv.Gaussian(widths=(0.5, 2.0), on="all+each"), mv.Polynomial(degrees=(1, 2)))


@cache
def data(name: str = "liver", n: int = 120) -> tuple[Any, Any]:
    found = mv.load_dataset(name)
    chosen = np.random.default_rng(0).permutation(len(found.y))[:n]
    return StandardScaler().fit_transform(found.X[chosen]), found.y[chosen]


X, y = data()


@cache
def fitted() -> mv.MKLClassifier:
    return mv.MKLClassifier(WORDS, C=10.0).fit(*data())


def test_a_classifier_finds_what_solve_finds() -> None:
    bank = mv.KernelBank.build(X, FAMILIES, "diagonal")
    problem = mv.Problem(bank, y, mv.Hinge(C=10.0))
    trace, found = mv.solve(problem, "auto", gap=1e-2), fitted()
    assert mv.path(problem, "auto", C=[1.0]).label == mv.path(problem, C=[1.0]).label
    np.testing.assert_array_equal(found.weights_, trace.best.weights)
    assert found.kernel_names_ == list(bank.names)
    assert found.n_iter_ == len(trace)
    assert found.trace_.status == "converged"
    predictor = problem.predictor(trace.best.weights, trace.best.dual)
    np.testing.assert_array_equal(found.support_, predictor.support)
    np.testing.assert_array_equal(found.decision_function(X), predictor.decision_values(X))
    kernel = bank.combine(found.weights_)[:, found.support_]
    by_hand = kernel @ found.dual_coef_[0] + found.intercept_[0]
    np.testing.assert_allclose(by_hand, found.decision_function(X), rtol=0, atol=1e-9)  # sums in another order


@pytest.mark.parametrize("loss", [mv.Hinge(bias=False), mv.Logistic(bias=False), mv.MulticlassHinge()])
def test_where_all_decisions_are_zero_estimator_and_predictor_name_the_first_class(loss: mv.Loss) -> None:
    X, y = data("wine" if loss.multiclass else "liver")
    dear = mv.GroupSquaredPlusL1(lam=1.0, alpha=1e9)  # no kernel is worth its price
    model = mv.MKLClassifier("gauss:1@all poly:1", loss=loss, regularizer=dear, C=1.0, solver="ufo").fit(X, y)
    assert not model.decision_function(X).any()
    assert set(model.predict(X)) == {model.classes_[0]}
    targets = np.unique(y, return_inverse=True)[1].astype(float) if loss.multiclass else y
    bank = mv.KernelBank.build(X, [mv.Gaussian(widths=(1.0,)), mv.Polynomial(degrees=(1,))])
    problem = mv.Problem(bank, targets, loss, dear)
    best = mv.solve(problem, "ufo").best
    assert set(problem.predictor(best.weights, best.dual).predict(X)) == {targets.min()}


def test_c_counts_as_for_an_svm_whose_kernel_has_a_diagonal_of_one() -> None:
    ours = mv.MKLClassifier("gauss:1", tol=1e-9).fit(X, y)
    theirs = SVC(gamma=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    ("kernels", "scaled"),
    [("gauss:1 poly:1", "diagonal"), ("gauss:1 linear", "mean-diagonal"), ("poly:2,offset=0", "mean-diagonal")],
)
def test_kernels_that_are_zero_at_the_origin_are_scaled_by_their_mean_diagonal(kernels: str, scaled: str) -> None:
    auto, named = (mv.MKLClassifier(kernels, **given).fit(X, y) for given in ({}, {"normalize": scaled}))
    np.testing.assert_array_equal(auto.decision_function(X), named.decision_function(X))
    nothing = mv.MKLClassifier("linear").fit(X * (np.arange(len(y)) > 0)[:, None], y)  # a sample of zeros
    assert np.isfinite(nothing.decision_function(0.0 * X)).all()


KEPT: list[dict[str, Any]] = [
    *({"normalize": scaled} for scaled in ("trace", "mean-diagonal", "diagonal")),
    *({"normalize": "none", "C": 0.1}, {"approximation": mv.Nystrom(20)}),
]


@pytest.mark.parametrize("options", KEPT, ids=str)
def test_what_is_pickled_decides_bit_for_bit_as_before(options: dict[str, Any]) -> None:
    found = mv.MKLClassifier("poly:1,2@all+each gauss:2@all", **{"C": 10.0, **options}).fit(X, y)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_array_equal(again.decision_function(X), found.decision_function(X))
        np.testing.assert_array_equal(again.trace_.objective, found.trace_.objective)
        assert again.trace_.reason == found.trace_.reason
    assert bool(found.notes_) == ("approximation" in options)


@pytest.mark.parametrize("normalize", ["trace", "diagonal"])
def test_what_release_0_2_pickled_decides_bit_for_bit_as_then(normalize: str) -> None:
    found = mv.MKLClassifier("gauss:1,4@all+each", normalize=normalize).fit(X, y)
    now = found.__getstate__()["_function"]
    part, specs = now["part"], now["part"]["kernels"]
    as_then = {
        **{name: now[name] for name in ("weights", "signed", "bias")},
        **{name: part[name] for name in ("points", "normalize", "which", "samples", "scales")},
        "families": [{"name": "gaussian", "options": {"widths": (1.0, 4.0)}}],
        "family": [0] * len(specs),
        **{f"{name}s": [spec[name] for spec in specs] for name in ("value", "name")},
        "columns": [spec["columns"] for spec in specs],
        "shape": part["bank_shape"],
        "repairs": [],
    }
    again = mv.MKLClassifier()
    again.__setstate__({**found.__getstate__(), "_function": as_then})
    np.testing.assert_array_equal(again.decision_function(X), found.decision_function(X))


@pytest.mark.full
@pytest.mark.parametrize("landmarks", [None, 20])
def test_files_of_skops_need_trust_in_the_estimator_alone(landmarks: int | None) -> None:
    io = pytest.importorskip("skops.io", reason="skops is not installed, which the extra “test” brings")
    model = mv.MKLClassifier(WORDS, C=10.0, approximation=landmarks and mv.Nystrom(landmarks)).fit(X, y)
    written = io.dumps(model.set_params(approximation="auto"))  # as it is where samples are too many for exact kernels
    assert io.get_untrusted_types(data=written) == ["mklviz.learn.classifier.MKLClassifier"]
    again = io.loads(written, trusted=["mklviz.learn.classifier.MKLClassifier"])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.trace_.reason == model.trace_.reason


def test_several_classes_are_named_as_they_were_given() -> None:
    X, y = data("iris", 150)
    names = np.array(["setosa", "versicolor", "virginica"])[np.unique(y, return_inverse=True)[1]]
    for loss in ("auto", "one-against-all"):
        found = mv.MKLClassifier("gauss:1,4@each poly:1", loss=loss).fit(X, names)
        assert found.score(X, names) > 0.9  # almost linearly separable
        assert found.decision_function(X).shape == (150, 3)
        assert found.dual_coef_.shape == (3, len(found.support_))
        assert found.classes_.tolist() == sorted(set(names))
    with pytest.raises(ValueError, match="by the logistic loss, but there are 3 classes"):
        mv.MKLClassifier(loss="logistic").fit(X, names)


def test_probabilities_are_the_logistic_loss_s_alone() -> None:
    found = mv.MKLClassifier(WORDS, loss="logistic", C=10.0).fit(X, y)
    shares = found.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(shares[:, 1] > 0.5, found.decision_function(X) > 0.0)
    np.testing.assert_array_equal(found.classes_[shares.argmax(axis=1)], found.predict(X))
    assert not hasattr(fitted(), "predict_proba")
    with pytest.raises(AttributeError) as refused:
        _ = fitted().predict_proba
    assert "logistic" in str(refused.value.__cause__)


def test_a_regressor_follows_the_scale_of_its_targets() -> None:
    X, _ = data()
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    found, larger = (mv.MKLRegressor(WORDS, tol=1e-6).fit(X, scale * y) for scale in (1.0, 1000.0))
    assert found.score(X, y) > 0.9
    # the squared loss makes the problem homogeneous; both are solved to 1e-6
    np.testing.assert_allclose(larger.predict(X), 1000.0 * found.predict(X), rtol=0, atol=1000.0 * 1e-2)
    tube = mv.MKLRegressor(WORDS, loss="epsilon-insensitive:epsilon=0.3", C=1000.0).fit(X, y)
    assert len(tube.support_) < len(X)
    for regressor in (mv.MKLRegressor, mv.MKLRegressorCV):
        with pytest.raises(ValueError, match="hinge loss tells classes apart"):
            regressor(loss="hinge").fit(X, y)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dask.dataframe"])
def test_columns_are_known_by_their_names(library: str) -> None:
    frames = pytest.importorskip(library, reason=f"{library} is not installed, which the extra “test” brings")
    names = [f"marker {j}" for j in range(X.shape[1])]
    made = getattr(frames, "DataFrame", None) or frames.table
    if library == "dask.dataframe":
        made = lambda columns: frames.from_pandas(pd.DataFrame(columns), npartitions=3)  # noqa: E731
    table, turned = (made({name: X[:, j] for j, name in enumerate(order)}) for order in (names, names[::-1]))
    found = mv.MKLClassifier('gauss:1@"marker 2" poly:1@each').fit(table, y)
    assert found.feature_names_in_.tolist() == names
    assert found.kernel_names_[0].endswith("marker 2")
    np.testing.assert_array_equal(found.predict(table), mv.MKLClassifier("gauss:1@2 poly:1@each").fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(turned)
    assert mv.KernelTransformer('gauss:1@"marker 2"').fit(table).kernel_names_ == found.kernel_names_[:1]
    if library == "polars":
        with pytest.raises(KernelError, match=r"lazy table, which holds no values yet: collect\(\)"):
            mv.MKLClassifier().fit(table.lazy(), y)


def test_gram_matrices_take_the_place_of_features_and_one_after_the_other_are_told_a_way_out() -> None:
    train, test = np.arange(80), np.arange(80, 120)
    bank = mv.KernelBank.build(X, FAMILIES, normalize="none")
    grams = np.stack(dense(bank), axis=-1)
    by_grams = mv.MKLClassifier("precomputed").fit(grams[np.ix_(train, train)], y[train])
    by_points = mv.MKLClassifier(FAMILIES, normalize="mean-diagonal").fit(X[train], y[train])
    between = grams[np.ix_(test, train)]
    expected = by_points.decision_function(X[test])
    scale = np.abs(expected).max()
    # both within 1 % of the same optimum, by kernels that differ by rounding
    np.testing.assert_allclose(by_grams.decision_function(between), expected, rtol=0, atol=0.1 * scale)
    again = pickle.loads(pickle.dumps(by_grams))
    np.testing.assert_array_equal(again.predict(between), by_grams.predict(between))
    by_hand = by_grams.kernel(between)[:, by_grams.support_] @ by_grams.dual_coef_[0] + by_grams.intercept_[0]
    np.testing.assert_allclose(by_hand, by_grams.decision_function(between))
    with pytest.raises(ProblemError, match="a new point with itself"):
        by_grams.kernel.diag(between)
    with pytest.raises(AttributeError, match="keep no points"):
        _ = by_grams.support_vectors_
    with pytest.raises(ValueError, match="80 columns for each kernel"):
        mv.MKLClassifier("precomputed").fit(np.ones((80, 81)), y[train])
    grams = [X @ X.T, (1.0 + X @ X.T) ** 2]
    for model in (mv.MKLClassifier("precomputed"), mv.MKLOneClass("precomputed")):
        with pytest.raises(KernelError, match=r"2 matrices were given: numpy\.stack\(matrices, axis=-1\)"):
            model.fit(grams, y)
    assert len(mv.MKLClassifier("precomputed").fit(np.stack(grams, axis=-1), y).weights_) == 2
    with pytest.raises(KernelError, match='for kernel values: kernels="precomputed"'):
        mv.MKLClassifier().fit(np.stack(grams, axis=-1), y)


def test_columns_become_kernels_of_different_kinds_in_a_pipeline() -> None:
    table = pd.DataFrame(X, columns=list("abcdef"))
    parts = [
        ("smooth", mv.KernelTransformer("gauss:1,4"), ["a", "b"]),
        ("line", mv.KernelTransformer("poly:1"), ["c", "d"]),
    ]
    model = make_pipeline(ColumnTransformer(parts), mv.MKLClassifier("precomputed")).fit(table, y)
    assert len(model[-1].weights_) == 3
    families = [mv.Gaussian(widths=(1.0, 4.0), on=(0, 1)), mv.Polynomial(degrees=(1,), on=(2, 3))]
    same = mv.MKLClassifier(families, normalize="mean-diagonal")
    np.testing.assert_allclose(model[-1].weights_, same.fit(X, y).weights_, atol=0.02)  # within 1 % of one optimum
    names = model[0].get_feature_names_out()
    assert len(names) == 3 * len(y)
    assert names[0] == "smooth__gauss 2⁰ on all, point 0"
    grid = {"mklclassifier__C": [1.0, 100.0], "columntransformer__smooth__kernels": ["gauss:1"]}
    assert 0.0 < GridSearchCV(model, grid, cv=2).fit(table, y).best_score_ <= 1.0


def test_kernels_keep_the_names_of_their_columns_and_are_chosen_by_them_behind_a_column_transformer() -> None:
    table = pd.DataFrame(X[:, :3], columns=["width", "height", "age"])
    steps = [
        ("size", make_pipeline(StandardScaler(), mv.KernelTransformer("gauss:1@each")), ["width", "height"]),
        ("line", mv.KernelTransformer("poly:1"), ["age"]),
    ]
    named = ColumnTransformer(steps).set_output(transform="pandas")
    model = make_pipeline(named, mv.MKLClassifier("precomputed")).fit(table, y)
    expected = ["size__gauss 2⁰ on width", "size__gauss 2⁰ on height", "line__poly 1 on all"]
    assert model[-1].kernel_names_ == expected
    out = ColumnTransformer(steps).fit(table).get_feature_names_out()  # arrays inside, whose names are handed on
    assert [name.removesuffix(", point 0") for name in out[:: len(y)]] == expected
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        mv.KernelTransformer("gauss:1").fit(table).get_feature_names_out(["a", "b", "c"])
    columns = ColumnTransformer([("num", StandardScaler(), ["width", "height"]), ("rest", "passthrough", ["age"])])
    model = make_pipeline(columns, mv.MKLClassifier(mv.Gaussian(widths=[1.0], on=["width", "age"])))
    model.set_output(transform="pandas").fit(table, y)
    assert model[-1].kernel_names_ == ["gauss 2⁰ on num__width, rest__age"]


def test_a_kernel_to_which_no_two_samples_are_alike_is_told() -> None:
    with pytest.warns(UserWarning, match="standardize the features"):
        found = mv.MKLClassifier("gauss:1").fit(1000.0 * X, y)
    assert "no two samples alike" in found.notes_[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mv.MKLClassifier("gauss:1").fit(X, y)


def test_folds_keep_groups_together() -> None:
    groups = np.arange(len(y)) % 4
    found = mv.MKLClassifierCV(WORDS, Cs=[1.0, 10.0], cv=GroupKFold(4)).fit(X, y, None, groups)
    grid = GridSearchCV(mv.MKLClassifier(WORDS), {"C": [10.0, 1.0]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
    # warm starts end elsewhere within the gap, where a sample or two may fall on the other side
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=0.02)
    with pytest.raises(ValueError, match="groups"):
        mv.MKLClassifierCV(WORDS, cv=GroupKFold(4)).fit(X, y)


def test_a_fit_that_comes_to_its_limit_warns_and_a_warm_start_begins_where_the_last_one_ended() -> None:
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        mv.MKLClassifier(WORDS, solver="spg", max_iter=1, tol=1e-9).fit(*data())
    helps = r"Raise tol above the gap, [^ ]+\. Another solver may come closer\.$"  # more steps would not
    with pytest.warns(ConvergenceWarning, match=helps):
        mv.MKLClassifier(WORDS, solver="alignf", tol=1e-9).fit(*data())
    warm = mv.MKLClassifier(WORDS, warm_start=True, solver="spg", tol=1e-4).fit(X, y)
    cold = len(warm.trace_)
    assert len(warm.fit(X, y).trace_) < cold
    assert len(warm.fit(X[:60], y[:60]).trace_) > 0  # fewer samples: anew


@pytest.mark.usefixtures("fifty_exact")
@pytest.mark.parametrize("between", ["nothing", "a pipeline", "a search"])
def test_warnings_point_to_the_line_of_whoever_fits(between: str) -> None:
    alone = mv.MKLClassifier("gauss:1", solver="spg", max_iter=1, tol=1e-12)
    models = {"nothing": alone, "a pipeline": make_pipeline(StandardScaler(), alone)}
    model = models.get(between, GridSearchCV(models["a pipeline"], {"mklclassifier__C": [1.0]}, cv=2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data())
    ours = [found for found in caught if "kernels are approximated" in str(found.message)]
    assert ours
    assert {found.filename for found in [*ours, *caught]} == {__file__}


@pytest.mark.usefixtures("fifty_exact")
def test_many_samples_are_approximated_and_it_says_so_where_a_solver_follows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.warns(UserWarning, match="On 120 samples, more than 50, kernels are approximated"):
        found = mv.MKLClassifier(WORDS).fit(X, y)
    assert "landmarks" in found.notes_[1]
    with pytest.warns(UserWarning, match="kernels are approximated") as told:  # once, whatever its folds
        mv.MKLClassifierCV("gauss:1", Cs=[1.0], cv=5, verbose=1).fit(np.vstack([X, X]), np.tile(y, 2))
    assert sum("approximated" in str(one.message) for one in told) == 1
    assert "approximated" not in capsys.readouterr().out
    mv.MKLClassifier(WORDS, approximation=mv.Nystrom(20), verbose=1).fit(X, y)
    assert "approximated by 20 landmarks" in capsys.readouterr().out
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not mv.MKLClassifier(WORDS, approximation=None).fit(X, y).notes_
    model = mv.MKLRegressor("gauss:1", loss="epsilon-insensitive").fit(X, X[:, 0])
    assert not model.notes_
    exact = mv.MKLRegressor("gauss:1", loss="epsilon-insensitive", approximation=None).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"kernels": "sigmoid"}, "no kernel family"),
        ({"kernels": 3}, 'in words, "gauss:1 linear", as families'),
        ({"loss": mv.Hinge}, "words"),
        ({"regularizer": mv.Simplex}, "words"),
        ({"solver": 3}, "by its name"),
        ({"loss": "hinges"}, "no loss .*did you mean hinge"),
        ({"regularizer": "l0"}, "no regularizer"),
        ({"solver": "levels"}, "no solver called .*did you mean level"),
        ({"solver": "level:lam=x"}, "cannot take lam='x'"),
        ({"normalize": "norm"}, "is not known: use"),
        ({"kernels": "gauss@nobody"}, "no column 'nobody'"),
        ({"solver": "spg,level"}, "One solver"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"class_weight": {1.0: -1}}, "from 0 upwards for each class"),
        ({"class_weight": "equal"}, 'None, "balanced", or a number'),
        ({"class_weight": {"yes": 2.0}}, r"names 'yes', but the classes are -1\.0, 1\.0\."),
        ({"kernels": [np.eye(3), np.eye(3)]}, "Matrices are data"),
        ({"kernels": [len, 3]}, "or in a list of these"),
        ({"approximation": 200}, "Nystrom"),
        ({"loss": "multiclass-hinge"}, "two classes"),
        ({"loss": "one-class"}, "tells no classes apart"),
        ({"repair": "foo"}, 'repair is "clip", "flip", "shift" or None'),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as refused:  # as scikit-learn's users expect
        mv.MKLClassifier(**wrong).fit(*data())
    assert str(refused.value).endswith((".", "?"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_verbose_fits_say_how_they_ended(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mv.MKLClassifier(WORDS, verbose=0).fit(*data())
    assert capsys.readouterr().out == ""
    mv.MKLClassifier(WORDS, verbose=1).fit(*data())
    (said,) = capsys.readouterr().out.splitlines()  # in a file one line, in a terminal redrawn
    assert said.startswith("MKLClassifier: SILP")
    assert "gap" in said
    mv.MKLClassifierCV(WORDS, Cs=[1.0, 10.0], cv=2, verbose=1).fit(*data())
    chosen, _ = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"MKLClassifierCV: C = 10?, the best of 2 by a mean score of 0\.\d+", chosen)
    monkeypatch.setattr("mklviz.streams.REFRESH_SECONDS", 0.0)
    with contextlib.redirect_stdout(Terminal()) as terminal:
        mv.MKLClassifier(WORDS, verbose=1).fit(*data())
    lines = terminal.getvalue().split("\r")
    assert any("kernels are built" in line for line in lines)
    assert any("kernels in use" in line for line in lines)
    assert max(map(len, lines)) < 200


def test_the_picture_shows_the_largest_weights() -> None:
    shown = html_of(fitted())
    best = fitted().kernel_names_[fitted().weights_.argmax()]
    assert best in shown
    assert "kernels have weight" in shown
    assert "kernels have weight" not in html_of(mv.MKLClassifier())
    wrong: Any = mv.MKLClassifier
    for unfit in (mv.MKLClassifier(loss="hinges"), mv.MKLTransformer(wrong)):  # which only fit refuses
        assert "pipeline" in html_of(make_pipeline(unfit))


SEARCHES: dict[str, tuple[Any, Any, tuple[Any, Any], Any, str, float]] = {
    "classifier": (mv.MKLClassifierCV, mv.MKLClassifier, data(), FOLDS, "gauss:1,8", 1e-6),
    "regressor": (mv.MKLRegressorCV, mv.MKLRegressor, data("diabetes", 60), KFold(3), "gauss:1,8 linear", 1e-8),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_c_is_chosen_on_folds_as_a_grid_would_choose_it(name: str) -> None:
    search, estimator, (X, y), folds, kernels, tol = SEARCHES[name]
    tight = {"tol": tol, "max_iter": 2000}
    Cs, slack = [0.1, 10.0, 1000.0], 0.0 if name == "classifier" else 1e-3  # two starts, one optimum
    found = search(kernels, Cs=Cs, cv=3 if folds is FOLDS else folds, **tight).fit(X, y)
    grid = GridSearchCV(estimator(kernels, **tight), {"C": Cs}, cv=folds).fit(X, y)
    order = np.argsort(found.cv_results_["param_C"])
    scores = found.cv_results_["mean_test_score"][order]
    np.testing.assert_allclose(scores, grid.cv_results_["mean_test_score"], rtol=0.0, atol=slack)
    assert found.best_score_ == pytest.approx(grid.best_score_, rel=0.0, abs=slack)
    assert found.C_ in Cs
    assert found.predict(X).shape == y.shape
    alone = estimator(kernels, C=found.C_, **tight).fit(X, y)
    np.testing.assert_array_equal(found.weights_, alone.weights_)


@pytest.mark.parametrize("make", [mv.MKLClassifierCV, mv.MKLRegressorCV])
def test_folds_by_number_are_shuffled_alike_in_every_fit(make: Any) -> None:
    order = np.argsort(y, kind="stable")  # as many tables come: one class after the other
    kind = StratifiedKFold if make is mv.MKLClassifierCV else KFold
    for cv, random_state in ((None, 0), (3, 0), (3, 7)):
        given: dict[str, Any] = {"kernels": "gauss:1", "Cs": [1.0], "random_state": random_state}
        folds = kind(cv or 5, shuffle=True, random_state=random_state)
        by_number, named, again = (make(cv=chosen, **given).fit(X[order], y[order]) for chosen in (cv, folds, cv))
        for found in (named, again):
            np.testing.assert_array_equal(
                found.cv_results_["split0_test_score"], by_number.cv_results_["split0_test_score"]
            )


def test_a_number_of_values_of_c_spans_those_of_scikit_learn_and_a_score_that_is_no_number_comes_last() -> None:
    found = mv.MKLClassifierCV("gauss:1", Cs=5, cv=2).fit(X, y)
    np.testing.assert_allclose(np.sort(found.cv_results_["param_C"]), LogisticRegressionCV(Cs=5).fit(X, y).Cs_)
    for wrong in (0, -3, 2.5, True, "5", None):
        with pytest.raises(ValueError, match="Cs are the values of C to choose from, or how many from 1 on, not"):
            mv.MKLClassifierCV("gauss:1", Cs=wrong, cv=2).fit(X, y)
    differ = lambda model, X, _: float("nan") if len(set(model.predict(X))) < 2 else 0.0  # noqa: E731
    found = mv.MKLClassifierCV("gauss:1", Cs=[1e-6, 100.0], cv=2, scoring=differ).fit(X, y)
    assert found.cv_results_["rank_test_score"].tolist() == [1, 2]
    assert found.C_ == 100.0


@pytest.mark.parametrize(
    ("ps", "Cs"), [([1.0, 1.5, 3.0], [1.0, 100.0]), ([1.5, 3.0], [10.0]), ([1.0, 2, 2.0], [1, 1.0])]
)
def test_p_is_chosen_as_well_and_the_best_estimator_is_the_one_fitted_at_both(ps: list[float], Cs: list[float]) -> None:
    found = mv.MKLClassifierCV("gauss:1,8", Cs=Cs, ps=ps, cv=2, n_jobs=1).fit(X, y)
    tried = set(zip(found.cv_results_["param_p"], found.cv_results_["param_C"], strict=True))
    assert tried == {(p, C) for p in ps for C in Cs}
    assert len(found.cv_results_["params"]) == len(tried)
    assert found.p_ in ps
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    best = found.best_estimator_
    assert type(best) is mv.MKLClassifier
    assert best.C == found.C_
    np.testing.assert_array_equal(best.decision_function(X), found.decision_function(X))
    np.testing.assert_array_equal(best.classes_, found.classes_)
    np.testing.assert_array_equal(copy.deepcopy(best).fit(X, y).weights_, best.weights_)
    assert mv.MKLRegressorCV("gauss:1", Cs=Cs, ps=ps, cv=KFold(3)).fit(X, X[:, 0]).p_ in ps
    with pytest.raises(ValueError, match="from 1, the simplex, upwards"):
        mv.MKLClassifierCV(ps=[0.5]).fit(X, y)


@pytest.mark.full
def test_folds_are_worked_on_in_processes_with_the_same_scores() -> None:
    alone, shared = (mv.MKLClassifierCV("gauss:1", Cs=[1.0, 10.0], cv=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    for name, found in alone.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(shared.cv_results_[name], found)


def both_scores(model: Any, X: Any, y: Any) -> dict[str, float]:
    return {"accuracy": model.score(X, y), "roc_auc": roc_auc_score(y, model.decision_function(X))}


@pytest.mark.parametrize(
    "scoring", [["accuracy", "roc_auc"], {"accuracy": "accuracy", "roc_auc": "roc_auc"}, both_scores]
)
def test_several_scores_are_kept_and_one_of_them_chooses(scoring: Any) -> None:
    given: dict[str, Any] = {"scoring": scoring, "cv": FOLDS, "refit": "roc_auc"}
    found = mv.MKLClassifierCV("gauss:1", Cs=[10.0, 0.1], **given).fit(X, y)
    grid = GridSearchCV(mv.MKLClassifier("gauss:1"), {"C": [10.0, 0.1]}, **given).fit(X, y)
    assert set(grid.cv_results_) <= set(found.cv_results_)
    for score in ("accuracy", "roc_auc"):  # warm starts end elsewhere within the gap
        name = f"mean_test_{score}"
        np.testing.assert_allclose(found.cv_results_[name], grid.cv_results_[name], atol=0.02)
    assert found.best_score_ == found.cv_results_["mean_test_roc_auc"].max()
    with pytest.raises(ValueError, match="refit names the one to choose by, accuracy, roc_auc, not True"):
        mv.MKLClassifierCV("gauss:1", scoring=scoring, cv=2).fit(X, y)


@pytest.mark.parametrize(
    ("name", "advice"), [("liver", 'take loss="logistic", which has its own, or'), ("iris", "take")]
)
def test_a_search_by_probabilities_is_refused_with_a_way_out(name: str, advice: str) -> None:
    with pytest.raises(ValueError, match=f'"neg_log_loss" needs probabilities, .* search: {advice} GridSearchCV'):
        mv.MKLClassifierCV("gauss:1", scoring="neg_log_loss", probability=True).fit(*data(name))


def test_seeds_are_numbers_or_generators_of_scikit_learn_and_a_solver_in_words_keeps_its_own() -> None:
    made = [mv.MKLClassifier(WORDS, solver=words, random_state=5).fit(X, y) for words in ("pgd:seed=3", " pgd\n")]
    assert [one.trace_.options["seed"] for one in made] == [3, 5]
    with pytest.raises(ProblemError, match="names 2"):
        mv.MKLClassifier(WORDS, solver="spg level").fit(X, y)
    assert not hasattr(mv.MKLClassifierCV(), "C")  # which is chosen
    given = [np.random.RandomState(3), np.random.RandomState(3), 5]
    one, same, other = (
        mv.MKLClassifier(WORDS, approximation=mv.Nystrom(5), random_state=seed).fit(X, y) for seed in given
    )
    np.testing.assert_array_equal(one.decision_function(X), same.decision_function(X))
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("wide", [False, True])
def test_kernel_values_of_new_points_in_another_shape_are_refused_in_words_of_kernels(wide: bool) -> None:
    K = np.stack([X @ X.T, (X @ X.T + 1.0) ** 2], axis=-1)
    new = K[:4]
    given = K.transpose(0, 2, 1).reshape(len(X), -1) if wide else K
    found = mv.MKLClassifier("precomputed").fit(given, y)
    assert found.predict(given[:4]).shape == (4,)
    for wrong in (np.moveaxis(new, -1, 0), new[..., 0], new[:, :4], new[:, :, :1], X[:4]):
        with pytest.raises(KernelError, match=f"fitted to 2 precomputed kernels on {len(X)} training points"):
            found.predict(wrong)
    with pytest.raises(KernelError, match="puts the kernels last"):
        found.predict(np.moveaxis(new, -1, 0))


@pytest.mark.full
@pytest.mark.each_value
@pytest.mark.parametrize("approximation", [None, mv.Nystrom(30)])
@pytest.mark.parametrize("normalize", ["diagonal", "mean-diagonal"])
def test_the_learned_kernel_is_the_weighted_sum_and_serves_other_methods(normalize: str, approximation: Any) -> None:
    model = mv.MKLClassifier(WORDS, normalize=normalize, approximation=approximation).fit(X, y)
    K = model.kernel(X, X[:7])
    np.testing.assert_allclose(K.T, model.kernel(X[:7], X), rtol=1e-12)
    by_hand = model.kernel(X, X[model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(by_hand, model.decision_function(X), rtol=0, atol=1e-9)
    if approximation is None:
        bank = mv.KernelBank.build(X, FAMILIES, normalize)
        np.testing.assert_allclose(bank.combine(model.weights_)[:, :7], K, rtol=0, atol=1e-12)
    for given in (X, csr_array(X)):
        np.testing.assert_allclose(model.kernel.diag(given), np.diag(model.kernel(X)))
    svm = SVC(kernel=model.kernel).fit(X, y)
    same = SVC(kernel="precomputed").fit(model.kernel(X), y)
    np.testing.assert_allclose(svm.decision_function(X), same.decision_function(model.kernel(X)))
    assert KernelPCA(2, kernel=model.kernel).fit_transform(X).shape == (len(X), 2)
    process = GaussianProcessRegressor(2.0 * model.kernel + WhiteKernel(1.0), optimizer=None).fit(X, y)
    mean = 2.0 * model.kernel(X) @ np.linalg.solve(2.0 * model.kernel(X) + np.eye(len(X)), y)
    np.testing.assert_allclose(process.predict(X), mean, atol=1e-8)
    once = lambda objective, start, bounds: (start, objective(start)[0])  # noqa: E731  # gradients in others' parameters
    GaussianProcessRegressor(2.0 * model.kernel + WhiteKernel(1.0), optimizer=once).fit(X[:30], y[:30])


def test_the_learned_kernel_compares_names_of_columns_as_predict_does() -> None:
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    model = mv.MKLClassifier(WORDS).fit(table, y)
    turned = table[table.columns[::-1]]
    np.testing.assert_array_equal(model.kernel(table, X[:5]), model.kernel(X, X[:5]))
    assert clone(model.kernel) != model.kernel == model.kernel  # scikit-learn compares kernels by their parameters
    with pytest.raises(KernelError, match="need 6 columns"):
        model.kernel(X[:, :2])
    state = {"function": model.kernel.function, "names": model.kernel.names}  # as earlier releases pickled it
    before = type(model.kernel).__new__(type(model.kernel))
    before.__dict__.update(state)
    for wrong in (
        lambda: model.kernel(turned),
        lambda: model.kernel(X, turned),
        lambda: before(turned),
        lambda: model.decision_parts(turned),
    ):
        with pytest.raises(ValueError, match=r"in this order|in the same order as they were in fit"):
            wrong()


def test_features_of_the_learned_kernel_serve_what_is_linear() -> None:
    learner = mv.MKLClassifier(WORDS, approximation=mv.Nystrom(30))
    model = make_pipeline(StandardScaler(), mv.MKLTransformer(learner), LinearSVC(loss="hinge", tol=1e-8)).fit(X, y)
    scaled, weighed = model[0].transform(X), model[1]
    np.testing.assert_allclose(
        weighed.transform(scaled) @ weighed.transform(scaled).T, weighed.estimator_.kernel(scaled)
    )
    assert np.mean(model.predict(X) == weighed.estimator_.predict(scaled)) > 0.95  # another intercept, and a gap
    assert len(weighed.get_feature_names_out()) == model[-1].n_features_in_
    found = GridSearchCV(model, {"mkltransformer__estimator__kernels": ["gauss:1", "poly:1"]}, cv=2).fit(X, y)
    assert found.best_score_ > 0.5
    with pytest.raises(ValueError, match=r"No solver can follow this problem: .* not for the ε-insensitive loss"):
        mv.MKLTransformer(mv.MKLRegressor(WORDS, loss="epsilon-insensitive")).fit(X, X[:, 0])
    with pytest.raises(KernelError, match="learns weights, not SVC"):
        mv.MKLTransformer(SVC()).fit(X, y)
    with pytest.raises(KernelError, match="Exact and precomputed kernels have no features"):
        mv.MKLTransformer(mv.MKLClassifier(WORDS, approximation=None)).fit(X, y)


def test_support_vectors_are_told_as_in_an_svm_and_pictures_take_estimators() -> None:
    model = fitted()
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.n_support_, [(y[model.support_] == label).sum() for label in model.classes_])
    assert mv.MKLRegressor("gauss:1").fit(X, X[:, 0]).n_support_.tolist() == [len(X)]
    drawn = mv.plot.shares(fitted(), X)
    shares = fitted().kernel_shares(X)
    assert sorted(drawn.dimension_values(1)) == pytest.approx(sorted(shares[np.abs(shares) > ACTIVE_WEIGHT]))
    weights = fitted().weights_
    assert sorted(mv.plot.weights(fitted()).dimension_values(1)) == pytest.approx(sorted(weights[weights > 0.0]))
    with pytest.raises(ValueError, match="fitted estimator"):
        mv.plot.weights(mv.MKLClassifier())


def test_parts_of_kernels_sum_to_decisions_and_shares_to_one_and_to_the_score() -> None:
    model = fitted()
    parts = model.decision_parts(X)
    np.testing.assert_allclose(parts.sum(axis=0) + model.intercept_[0], model.decision_function(X), atol=1e-9)
    assert model.kernel_shares(X).sum() == pytest.approx(1.0)
    assert not model.kernel_shares(X)[model.weights_ == 0.0].any()
    with pytest.raises(ValueError, match="no sum over kernels"):
        model.kernel_shares(X, y)
    target = X[:, 0] - 0.5 * X[:, 1]
    target -= target.mean()
    regressor = mv.MKLRegressor("gauss:2@each").fit(X, target)
    predicted = regressor.predict(X)
    # the product measure of a joint linear model (Dupre la Tour et al. 2022), where the mean is zero
    split = [part @ (2.0 * target - predicted) / (target @ target) for part in regressor.decision_parts(X)]
    np.testing.assert_allclose(regressor.kernel_shares(X, target), split)
    for other in (pd.Series(target, index=np.arange(len(X))[::-1]), target[:, None]):
        np.testing.assert_allclose(regressor.kernel_shares(X, other), split)
    rest = regressor.intercept_[0] * (2.0 * target - predicted).sum() / (target @ target)
    assert sum(split) + rest == pytest.approx(regressor.score(X, target))
    codes = (X[:, 0] > 0.0).astype(int) + (X[:, 1] > 0.0)
    several = mv.MKLClassifier("gauss:2@each").fit(X, codes)
    assert several.kernel_shares(X).sum() == pytest.approx(1.0)
    assert several.n_support_.sum() == len(several.support_)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({}, {}),
        ({"class_weight": {9: 3.0}}, {"class_weight": {0: 1.0, 1: 1.0, 9: 3.0}}),
        ({"loss": "multiclass-hinge"}, {}),
    ],
    ids=str,
)
def test_a_class_that_a_fold_lacks_is_learned_from_the_other_folds(given: Any, same: Any) -> None:
    X, y = data("iris", 150)
    rare = np.where(np.arange(150) == 7, 9, np.unique(y, return_inverse=True)[1] % 2)  # one sample of the third class
    folds = KFold(3)
    found = mv.MKLClassifierCV("gauss:1", Cs=[1.0], cv=folds, **given).fit(X, rare)
    grid = GridSearchCV(mv.MKLClassifier("gauss:1", **same), {"C": [1.0]}, cv=folds).fit(X, rare)
    assert found.best_score_ == grid.best_score_
    assert found.classes_.tolist() == [0, 1, 9]
    assert found.best_estimator_.predict(X).shape == (150,)
    assert found.best_estimator_.get_params().items() >= given.items()


def test_the_kernel_of_a_column_that_is_constant_in_a_fold_has_no_effect_there() -> None:
    X, _ = data()
    found = mv.MKLRegressorCV("gauss:1 linear@each", Cs=[1.0], cv=KFold(3)).fit(np.c_[X, np.arange(120) < 2], X[:, 0])
    assert found.best_score_ > 0.9


def test_a_sample_that_is_refused_is_named_among_all_and_not_in_the_fold_of_a_calibration() -> None:
    X, y = data()
    X = np.where(np.arange(len(X))[:, None] == 100, 0.0, X)
    with pytest.raises(KernelError, match="sample 100"):
        mv.MKLClassifier("linear", normalize="diagonal", probability=True).fit(X, y)


@pytest.mark.parametrize("kernels", ["linear", "poly:2", "gauss:1,2@all+each", [RBF(2.0), "linear"]])
def test_sparse_tables_are_learned_as_dense_ones(kernels: Any) -> None:
    X, y = data()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    model = mv.MKLClassifier(kernels).fit(csr_array(X), y)
    same = mv.MKLClassifier(kernels).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(csr_array(X)), same.decision_function(X))
    transformer = mv.KernelTransformer(kernels)
    np.testing.assert_array_equal(transformer.fit_transform(csr_array(X)), transformer.fit_transform(X))
    np.testing.assert_array_equal(model.kernel(csr_array(X), csr_array(X[:3])), same.kernel(X, X[:3]))
    assert mv.KernelBank.build(csr_array(X), kernels).names == mv.KernelBank.build(X, kernels).names


def test_functions_and_kernels_of_scikit_learn_are_kernels_also_beside_words() -> None:
    same = mv.MKLClassifier("gauss:2 poly:1", normalize="none").fit(X, y)
    listed: list[Any] = [RBF(2.0), lambda left, right: 1.0 + left @ right.T]
    model = mv.MKLClassifier(listed, normalize="none").fit(X, y)
    a, b = model.weights_
    np.testing.assert_allclose(model.kernel(X), a * RBF(2.0)(X) + b * (1.0 + X @ X.T))
    assert model.kernel_names_ == ["RBF(length_scale=2) on all", "lambda on all"]
    mixed = mv.MKLClassifier(["gauss:2", mv.Polynomial(degrees=[1])], normalize="none").fit(X, y)
    np.testing.assert_array_equal(mixed.decision_function(X), same.decision_function(X))
    wide = RBF(np.full(X.shape[1], 2.0))  # one length for each column
    assert mv.MKLClassifier(wide).fit(X, y).score(X, y) > 0.6
    with pytest.raises(KernelError, match="lambda could not be computed between tables of points"):
        mv.MKLClassifier(lambda left, right: float(left @ right)).fit(X, y)
    for few in (X, np.round(X)):  # the latter has few different values, and factors
        with pytest.raises(KernelError, match=r"lambda is not positive semidefinite: among .* has the eigenvalue"):
            mv.MKLClassifier(lambda left, right: -(left @ right.T)).fit(few, y)
    single = np.random.default_rng(1).normal(size=(300, 20))  # whose products are rounded to single precision
    mv.KernelBank.build(single, lambda left, right: left.astype("f4") @ right.astype("f4").T)
    assert mv.FunctionKernel(function=partial(rbf_kernel, gamma=2.0)).describe(1.0) == "rbf_kernel"
    found = GridSearchCV(mv.MKLClassifier(), {"kernels": ["gauss:1", RBF(2.0), [RBF(1.0), "poly:1"]]}, cv=3).fit(X, y)
    assert len(found.cv_results_["params"]) == 3
    assert found.best_estimator_.score(X, y) > 0.5


@pytest.mark.parametrize("rows", [False, True])
def test_functions_that_are_no_kernels_are_refused_however_a_bank_keeps_them(rows: bool) -> None:
    points = np.random.default_rng(0).integers(0, 3, size=(40, 1)).astype(float)
    for X in (points, points + np.random.default_rng(1).normal(size=points.shape)):
        with pytest.raises(KernelError, match="lambda is not symmetric"):
            mv.KernelBank.build(X, lambda left, right: left @ right.T + right[:, 0], rows=rows)
        with pytest.raises(KernelError, match="lambda is not a function of two points"):
            mv.KernelBank.build(X, lambda left, right: (left - left.mean()) @ (right - right.mean()).T, rows=rows)


@pytest.mark.parametrize("bank", [mv.KernelBank, mv.NystromBank, mv.ProductBank, mv.ParametricBank])
def test_banks_know_the_columns_of_a_table_by_name(bank: Any) -> None:
    X = pd.DataFrame(data()[0][:, :3], columns=["age", "sex", "weight"])
    turned = X[["weight", "sex", "age"]]

    def refused(call: Any, names: str = "age, sex, weight") -> None:
        with pytest.raises(KernelError, match=f"have the columns weight, sex, age, where the samples have {names}"):
            call(turned)

    families: list[Any] = []
    if bank is mv.ParametricBank:
        families = [mv.LearnedGaussian()]
    elif bank is not mv.ProductBank:
        families = [[mv.Gaussian(widths=[1.0], on=["sex"]), mv.Linear(on=["age"])]]
    for table in (X, pytest.importorskip("pyarrow").Table.from_pandas(X)):
        built = bank.build(table, *families)
        assert any("sex" in name for name in built.names)
        weights = np.ones(len(built))
        np.testing.assert_array_equal(built.cross(X).combine(weights), built.cross(X.to_numpy()).combine(weights))
        refused(built.cross)
        problem = mv.Problem(built, data()[1])
        predictor = problem.predictor(0.1 * weights, np.ones(problem.n))
        np.testing.assert_array_equal(predictor.decision_values(X), predictor.decision_values(X.to_numpy()))
        refused(predictor.decision_values)
    refused(bank.build(X.to_numpy(), *families, feature_names=list(X.columns)).cross)
    labels = ["Alter", "Geschlecht", "Gewicht"]
    everywhere = [[mv.Linear()]] if bank in (mv.KernelBank, mv.NystromBank) else families
    called = bank.build(X, *everywhere, feature_names=labels)
    for table in (X, X.set_axis(labels, axis=1)):  # both are names of its columns
        assert len(called.cross(table)) == len(X)
    refused(called.cross, ", ".join(labels))
    if bank in (mv.KernelBank, mv.NystromBank):
        derived = called.only(np.arange(20)) if bank is mv.KernelBank else called.narrowed()
        refused(derived.cross, ", ".join(labels))
    assert "x1" in mv.KernelBank.build(X.to_numpy(), [mv.Gaussian(widths=[1.0], on="each")]).names[0]


def test_dask_arrays_are_learned_from_and_predicted_chunk_by_chunk() -> None:
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(X, chunks=(25, -1))
    model = mv.MKLClassifier(WORDS, C=10.0).fit(lazy, dask.from_array(y, chunks=25))
    np.testing.assert_array_equal(model.weights_, fitted().weights_)
    chunks = lazy.map_blocks(model.predict, drop_axis=1, dtype=y.dtype)
    np.testing.assert_array_equal(chunks.compute(), fitted().predict(X))
    np.testing.assert_array_equal(model.predict(lazy), fitted().predict(X))
    assert model.score(lazy, y) == fitted().score(X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(dask.where(lazy > 0.0, np.nan, lazy))
    with pytest.raises(ValueError, match="has 1 features, but MKLClassifier is expecting"):
        model.predict(lazy[:, :1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(lazy, y[:-1])
    with pytest.raises(KernelError, match="must be a table of numbers"):
        model.fit(lazy.astype(str), y)
    masked = dask.ma.masked_where(lazy > 1.0, lazy)
    for use in (lambda: model.predict(masked), lambda: mv.KernelBank.from_grams(masked[None, :2, :2])):
        with pytest.raises(KernelError, match="is a masked Dask array"):
            use()
    few = {mv.MKLClassifier: 0, mv.MKLRegressor: 1, mv.MKLOneClass: 1}
    for estimator, count in few.items():
        with pytest.raises(ValueError, match=f"with {count} sample.* required by {estimator.__name__}"):
            estimator(WORDS).fit(lazy[:count], y[:count])


@pytest.mark.parametrize("estimator", [mv.MKLClassifier, mv.MKLRegressor])
def test_a_dask_array_of_many_samples_is_never_read_as_a_whole(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(X, chunks=(25, 1))
    made = estimator(WORDS, C=10.0, approximation=mv.Nystrom())
    whole = clone(made).fit(X, y)
    monkeypatch.setattr(dask.Array, "__array__", None)
    model = made.fit(lazy, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(model.weights_, whole.weights_)
    np.testing.assert_allclose(model.predict(lazy), whole.predict(X), rtol=1e-12)
