"""Predictions from support vectors and kernels with weight alone, calibrated probabilities, and those of tables."""

import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _formulations import LOSSES
from _problems import blobs, random_grams
from _samples import saved
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

import mklviz as mv
from mklviz.cli import main
from mklviz.datasets import DataError, NewTable, read_dataset
from mklviz.engine import solve
from mklviz.errors import KernelError, MklvizError, ProblemError
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Linear, Polynomial
from mklviz.kernels.interface import Cross
from mklviz.learn.classifier import coupled
from mklviz.learn.table import columns_of, estimator_of, load_model, model_bytes, model_of, predicted
from mklviz.problem import Loss
from mklviz.recipe import Recipe
from mklviz.recipe.new_samples import Columns, Predictions, predicted_by

RNG = np.random.default_rng(12)
X, LABELS = blobs(40, 0.1, seed=2)
NEW = RNG.normal(size=(23, 3))
FAMILIES = [Gaussian(widths=(0.5, 2.0), on="all+each"), Laplacian(widths=(1.0,)), Polynomial(degrees=(1, 2), on="each")]


def posed(loss: Loss, normalize: str = "trace") -> mv.Problem:
    y = LABELS + 0.3 * np.sin(np.arange(40)) if loss.regression else LABELS
    return mv.Problem(KernelBank.build(X, FAMILIES, normalize), y, loss)


def sparse_point(problem: mv.Problem) -> tuple[np.ndarray, np.ndarray]:
    """Weights on four kernels and dual variables on some samples."""
    weights = np.zeros(problem.m)
    weights[[0, 3, 4, problem.m - 1]] = 0.4, 0.3, 0.2, 0.1
    signed = problem.loss.C * RNG.uniform(0.1, 0.9, problem.n)
    signed *= LABELS * (RNG.random(problem.n) < 0.4)
    signed[:2] = signed[:2] if signed[:2].all() else problem.loss.C * LABELS[:2] * 0.5
    plus, minus = signed[signed > 0].sum(), -signed[signed < 0].sum()
    signed[signed > 0] *= min(1.0, minus / plus)
    signed[signed < 0] *= min(1.0, plus / minus)
    return weights, problem.loss.dual_from_signed(signed, problem.y)


@pytest.mark.parametrize("normalize", ["trace", "diagonal", "none"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_decision_values_are_the_full_kernel_sum(loss: Loss, normalize: str) -> None:
    """sum_k d_k K_k(new, x_i) beta_i + b over every kernel and every sample."""
    problem = posed(loss, normalize)
    weights, dual = sparse_point(problem)
    signed, cross = problem.loss.signed(dual, problem.y), problem.bank.cross(NEW)
    bias = problem.loss.primal(problem.bank.combine(weights) @ signed, problem.y)[1]
    parts = [weight * cross.combine(unit) @ signed for weight, unit in zip(weights, np.eye(problem.m), strict=True)]
    expected = np.sum(parts, axis=0) + bias
    found = problem.predictor(weights, dual).decision_values(NEW)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(problem.decision_values(weights, dual, cross), found)


@pytest.mark.parametrize("rows", [1, 7, 23, 1000])
def test_blocks_of_any_length_give_the_same_values(rows: int) -> None:
    problem = posed(mv.Hinge(5.0), "diagonal")
    weights, dual = sparse_point(problem)
    cross, signed = problem.bank.cross(NEW), problem.loss.signed(dual, problem.y)
    expected = cross.apply(weights, signed)
    cross.block = rows * problem.n
    np.testing.assert_allclose(cross.apply(weights, signed), expected, rtol=1e-13)


def test_no_new_points_no_weights_and_no_support_vectors_are_fine_and_what_does_not_fit_is_refused() -> None:
    problem = posed(mv.Hinge(5.0))
    weights, dual = sparse_point(problem)
    assert problem.predictor(weights, dual).decision_values(np.empty((0, 3))).shape == (0,)
    for d, a in ((0.0 * weights, dual), (weights, 0.0 * dual)):
        predictor = problem.predictor(d, a)
        np.testing.assert_array_equal(predictor.decision_values(NEW), np.full(23, predictor.bias))
    for d, a in ((weights[1:], dual), (weights, dual[1:]), (weights * np.nan, dual), (weights, dual + np.inf)):
        with pytest.raises(ProblemError, match=rf"need {problem.m} kernel weights and dual variables of shape \(40,\)"):
            mv.Predictor(problem.bank, problem.loss, problem.y, d, a)


@pytest.mark.parametrize("loss", [mv.MulticlassHinge(200.0), mv.OneAgainstAllHinge(200.0)], ids=repr)
def test_with_several_classes_the_largest_decision_names_the_class(loss: Loss) -> None:
    y = np.arange(40) % 3.0
    problem = mv.Problem(KernelBank.build(X + np.eye(3)[np.arange(40) % 3] * 3.0, FAMILIES), y, loss)
    final = solve(problem, "spg", gap=1e-4).best
    predictor = problem.predictor(final.weights, final.dual)
    signed = loss.signed(final.dual, y)
    np.testing.assert_array_equal(predictor.support, np.flatnonzero(np.abs(signed).sum(1)))
    assert 3 < len(predictor.support) < 40
    values = predictor.decision_values(NEW)
    full = problem.bank.cross(NEW).combine(final.weights) @ signed + predictor.bias
    np.testing.assert_allclose(values, full, rtol=0, atol=1e-12 * np.abs(full).max())
    np.testing.assert_array_equal(predictor.predict(NEW), full.argmax(1))
    assert (predictor.classes(problem.bank.points) == y).mean() > 0.9


class Counting(Gaussian):
    """Gaussians that remember the shapes of the blocks they were asked for."""

    asked: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def base(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        self.asked.append((left.shape, right.shape))
        return super().base(left, right)


def test_only_support_vectors_and_kernels_with_weight_are_evaluated_in_blocks_that_do_not_grow() -> None:
    families = [Counting(widths=(0.5, 1.0, 2.0), on="all+each")]
    problem = mv.Problem(KernelBank.build(X, families), LABELS, mv.Hinge(5.0))
    dual, weights = np.zeros(40), np.zeros(problem.m)
    support = [2, 5, 11, 14, 30, 33]
    dual[support] = 1.0
    weights[[0, 2, 9]] = 0.5, 0.3, 0.2  # two widths on all features, one on the last
    predictor = problem.predictor(weights, dual)
    np.testing.assert_array_equal(predictor.support, support)
    np.testing.assert_array_equal(predictor.kernels, [0, 2, 9])
    Counting.asked = []
    predictor.decision_values(NEW)
    assert Counting.asked == [((23, columns), (6, columns)) for columns in (3, 1)]  # one base for two widths
    Counting.asked = []
    predictor.decision_values(np.zeros((200_000, 3)))
    assert sum(left[0] for left, _ in Counting.asked) == 2 * 200_000
    assert max(left[0] * right[0] for left, right in Counting.asked) <= Cross.block


def test_what_is_kept_and_pickled_does_not_hold_the_bank() -> None:
    rows = RNG.normal(size=(300, 3))
    problem = mv.Problem(KernelBank.build(rows, FAMILIES), np.where(np.arange(300) % 2, 1.0, -1.0), mv.Hinge(5.0))
    dual = np.zeros(300)
    dual[:4] = 2.0
    predictor = problem.predictor(np.eye(problem.m)[2], dual)
    kept = pickle.dumps(predictor)
    assert len(kept) < 10_000 < problem.bank.nbytes
    np.testing.assert_array_equal(pickle.loads(kept).decision_values(NEW), predictor.decision_values(NEW))
    assert repr(predictor) == f"Predictor(1 of {problem.m} kernels, 4 of 300 samples)"


@pytest.mark.parametrize("normalize", ["trace", "none"])
def test_gram_banks_take_all_kernel_values_or_only_those_needed(normalize: str) -> None:
    grams, values = random_grams(3, 12, seed=1), RNG.normal(size=(3, 5, 12))
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    problem = mv.Problem(KernelBank.from_grams([4.0 * gram for gram in grams], normalize=normalize), y, mv.Hinge(2.0))
    dual = np.where(np.isin(np.arange(12), [1, 2, 8, 9]), 1.5, 0.0)
    weights = np.array([0.3, 0.0, 0.7])
    predictor = problem.predictor(weights, dual)
    scale = 0.25 if normalize == "trace" else 1.0
    expected = scale * np.tensordot(weights, values, 1) @ (dual * y) + predictor.bias
    np.testing.assert_allclose(predictor.decision_values(values), expected, rtol=1e-12)
    needed = values[np.ix_(predictor.kernels, range(5), predictor.support)]
    assert needed.shape == (2, 5, 4)
    np.testing.assert_allclose(predictor.decision_values(needed), expected, rtol=1e-12)
    with pytest.raises(KernelError, match=r"shape \(3, n_new, 12\), or \(2, n_new, 4\) for the part in use, but"):
        predictor.decision_values(values[:2])


def test_classes_are_signs_regression_predicts_values_and_only_the_logistic_loss_gives_probabilities() -> None:
    for loss in LOSSES:
        problem = posed(loss)
        predictor = problem.predictor(*sparse_point(problem))
        values = predictor.decision_values(NEW)
        expected = values if loss.regression else np.where(values >= 0, 1.0, -1.0)
        np.testing.assert_array_equal(predictor.predict(NEW), expected)
        if loss.regression:
            with pytest.raises(ProblemError, match="targets are numbers"):
                predictor.classes(NEW)
        else:
            np.testing.assert_array_equal(predictor.classes(NEW), predictor.predict(NEW))
        if loss.name_ == "logistic":
            np.testing.assert_array_equal(predictor.probabilities(NEW), expit(values))
        else:
            with pytest.raises(ProblemError, match=f"^The {loss.label} loss models no probabilities: use the log"):
                predictor.probabilities(NEW)


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.1, 30.0])
@pytest.mark.parametrize("regularizer", [mv.Simplex(), mv.LpBall(2.0)], ids=repr)
def test_one_linear_kernel_is_logistic_regression(C: float, regularizer: Any) -> None:
    """On one unscaled linear kernel the weight is one, and min 1/2 ||w||² + C sum log(1 + exp(-y f)) is what
    scikit-learn solves, bias unpenalised."""
    problem = mv.Problem(KernelBank.build(X, [Linear()], normalize="none"), LABELS, mv.Logistic(C), regularizer)
    final = solve(problem, "spg", gap=1e-12, max_iter=500).best
    np.testing.assert_allclose(final.weights, 1.0, rtol=1e-9)
    peer = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12).fit(X, LABELS)
    predictor = problem.predictor(final.weights, final.dual)
    # 1/2 ||w - w*||² is at most the error in the objective, 1e-12 of it; values lie within ||x|| times its root
    np.testing.assert_allclose(predictor.decision_values(NEW), peer.decision_function(NEW), atol=1e-4)
    np.testing.assert_allclose(predictor.probabilities(NEW), peer.predict_proba(NEW)[:, 1], atol=1e-5)
    np.testing.assert_array_equal(predictor.classes(NEW), peer.predict(NEW))


# Calibrated probabilities, against scikit-learn's sigmoids and LIBSVM's coupling


KERNELS = "gauss:2,8@all poly:1"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def wine(classes: int) -> tuple[Any, Any, Any, Any]:
    """Noisy wine in two halves, so that classes overlap."""
    X, y = load_wine(return_X_y=True)
    X = scale(X) + 1.5 * np.random.default_rng(0).normal(size=X.shape)
    X, y = X[y < classes], y[y < classes]
    return X[::2], y[::2], X[1::2], y[1::2]


def test_of_two_classes_they_are_those_of_scikit_learn_s_calibration_weights_of_samples_included() -> None:
    X, y, new, _ = wine(2)
    for weights in (None, np.linspace(0.5, 2.0, len(y))):
        ours = mv.MKLClassifier(KERNELS, probability=True).fit(X, y, weights).predict_proba(new)
        calibrated = CalibratedClassifierCV(mv.MKLClassifier(KERNELS), ensemble=False, cv=FOLDS)
        theirs = calibrated.fit(X, y, weights).predict_proba(new)
        assert ours == pytest.approx(theirs, abs=1e-4)  # as far as scikit-learn's quasi-Newton method goes


@pytest.mark.parametrize("loss", ["multiclass-hinge", "one-against-all"])
def test_of_several_classes_they_say_as_much_as_scikit_learn_s(loss: str) -> None:
    X, y, new, truth = wine(3)
    ours = mv.MKLClassifier(KERNELS, loss=loss, probability=True).fit(X, y).predict_proba(new)
    calibrated = CalibratedClassifierCV(mv.MKLClassifier(KERNELS, loss=loss), ensemble=False, cv=FOLDS)
    theirs = calibrated.fit(X, y).predict_proba(new)
    assert ours.sum(axis=1) == pytest.approx(1.0)
    assert log_loss(truth, ours) < 1.05 * log_loss(truth, theirs)


def test_pairs_that_contradict_one_another_are_coupled_as_wu_lin_and_weng_do() -> None:
    rng = np.random.default_rng(1)
    among = expit(rng.normal(size=(10, 4, 4)))
    among = np.where(np.arange(4)[:, None] < np.arange(4), among, 1.0 - among.transpose(0, 2, 1))
    p = coupled(among)

    def cost(p: Any) -> Any:
        terms = (among.transpose(0, 2, 1) * p[:, :, None] - among * p[:, None, :]) ** 2
        return (terms * (1.0 - np.eye(4))).sum(axis=(1, 2))

    assert p.min() > 0.0
    for other in rng.dirichlet(np.ones(4), size=50):
        assert (cost(p) <= cost(0.99 * p + 0.01 * other)).all()


def test_the_search_calibrates_what_it_chose_and_its_best_estimator_has_it() -> None:
    X, y, new, _ = wine(3)
    names = [f"f{i}" for i in range(X.shape[1])]
    table, new = pd.DataFrame(X, columns=names), pd.DataFrame(new, columns=names)
    kernels = [mv.Gaussian(on=["f1", "f2"]), mv.Linear(on="all")]
    search = mv.MKLClassifierCV(kernels, Cs=[1.0], cv=2, probability=True).fit(table, y)
    alone = mv.MKLClassifier(kernels, C=1.0, probability=True).fit(table, y)
    assert np.array_equal(search.best_estimator_.predict_proba(new), search.predict_proba(new))
    assert search.predict_proba(new) == pytest.approx(alone.predict_proba(new), abs=1e-8)


def test_without_them_it_is_said_how_there_would_be_and_a_class_of_one_sample_has_none() -> None:
    X, y, *_ = wine(3)
    with pytest.raises(AttributeError) as refused:
        mv.MKLClassifier(KERNELS).fit(X, y).predict_proba(X)
    assert "probability=True" in str(refused.value.__cause__)
    with pytest.raises(mv.errors.ProblemError, match="two samples of each class"):
        mv.MKLClassifier(KERNELS, probability=True).fit(X, np.where(np.arange(len(X)) == 0, 3, y))


# -- from a file to an answer without Python: ``mklviz fit`` and ``mklviz predict``


GAUSSIANS = "gauss:1,4@all+each"


def rows(count: int, seed: int = 0) -> pd.DataFrame:
    """Return a table of numbers and words whose class and price both follow from them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(count, 2)).round(3), columns=["one", "two"])
    table["colour"] = rng.choice(["red", "green", "blue"], count)
    score = table.one + (table.colour == "red")
    return table.assign(kind=np.where(score > 0.3, "yes", "no"), price=(100.0 + 5.0 * score).round(2))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows(80).drop(columns="price").to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


@pytest.mark.full
def test_a_model_of_a_table_predicts_others_whatever_their_order_of_columns_and_says_how_right_it_is(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, new, out = (str(file.with_name(name)) for name in ("model.skops", "new.csv", "out.csv"))
    words = ["fit", str(file), "--target", "kind", "--kernels", GAUSSIANS, "--loss", "logistic", "--out", model]
    assert main(words) == 0
    assert "80 rows, 5 features; the target is kind: no, yes" in capsys.readouterr().out
    table = rows(40, seed=1)[["kind", "colour", "two", "one"]]
    table.to_csv(new, sep=";", index=False)
    assert main(["predict", model, new, "--out", out]) == 0
    written, said = pd.read_csv(out), capsys.readouterr().out
    pd.testing.assert_frame_equal(written[list(table.columns)], table.reset_index(drop=True))
    right = int((written["predicted kind"] == table.kind.to_numpy()).sum())
    assert f"accuracy {100 * right / 40:.1f} %: {right} of 40 rows right" in said
    assert right >= 32
    shares = written[["probability of no", "probability of yes"]].to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)  # of what is written to six digits
    assert ((shares[:, 1] > 0.5) == (written["predicted kind"] == "yes")).all()
    table.drop(columns="kind").to_csv(new, index=False)
    assert main(["predict", model, new]) == 0  # into the output
    assert list(pd.read_csv(io.StringIO(capsys.readouterr().out))["predicted kind"]) == list(written["predicted kind"])
    command = [sys.executable, "-m", "mklviz", "predict", model, "-"]
    piped = subprocess.run(command, input=Path(new).read_bytes(), capture_output=True, check=True).stdout
    assert list(pd.read_csv(io.BytesIO(piped))["predicted kind"]) == list(written["predicted kind"])
    command = [sys.executable, "-m", "mklviz", *words, "--test", "-"]
    piped = subprocess.run(command, input=Path(new).read_bytes(), capture_output=True, check=True).stdout
    assert b"-: there is no column kind to compare with" in piped


def test_numbers_are_predicted_in_their_own_unit(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows(80).drop(columns="kind").to_csv(file, index=False)
    test, model = file.with_name("test.csv"), file.with_name("model.skops")
    rows(40, seed=1).to_csv(test, index=False)
    words = ["fit", str(file), "--kernels", GAUSSIANS, "--C", "10", "--out", str(model), "--test", str(test)]
    assert main(words) == 0
    score = float(capsys.readouterr().out.split("R² ")[1].split()[0])
    assert 0.8 < score <= 1.0


def test_a_fit_that_a_limit_ended_says_so_in_its_exit_code_and_warns_in_sentences(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", str(file), "--solver", "silp", "--out", str(file.with_suffix(".skops"))]
    assert main([*words, "--kernels", GAUSSIANS, "--max-iter", "1", "--gap", "1e-12"]) == 3
    said = capsys.readouterr()
    assert "SILP: Reached the limit of 1 iteration." in said.out
    assert "Warning" not in said.err
    assert main([*words, "--kernels", "gauss:0.001"]) == 0  # under which no two samples are alike
    assert "mklviz: The learned kernel finds no two samples alike" in capsys.readouterr().err


def test_a_test_file_that_is_not_there_is_named_and_a_mean_of_kernels_needs_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "model.skops")
    assert main(["fit", "iris", "--kernels", GAUSSIANS, "--out", model, "--test", "nofile.csv"]) == 2
    assert "nofile.csv" in capsys.readouterr().err
    left, right = (tmp_path / name for name in ("left.csv", "right.csv"))
    table = rows(60).assign(id=range(60))
    table[["id", "one", "kind"]].to_csv(left, index=False)
    table[["id", "two"]].iloc[5:].to_csv(right, index=False)
    words = ["fit", f"{left},{right}", "--target", "kind", "--kernels", GAUSSIANS, "--out", model]
    assert main([*words, "--missing-view", "average"]) == 2
    assert "--missing-view leave-out" in capsys.readouterr().err
    assert main([*words, "--missing-view", "leave-out"]) == 0


def test_what_a_table_lacks_is_said_and_gaps_are_filled_in(file: Path) -> None:
    model = model_of(read_dataset(file, target="kind"), kernels=GAUSSIANS)
    table = rows(4).astype(object)
    table.loc[0, "one"], table.loc[1, "two"], table.loc[2, "colour"] = None, "many", "violet"
    found = predicted(model, NewTable.of(table))
    assert len(found.values) == 4
    assert [note for note in found.notes if "many" in note]
    assert any("2 missing values" in note for note in found.notes)
    X, _ = columns_of(model).read(NewTable.of(table))
    assert X[2, 2:].tolist() == [0.0, 0.0, 0.0]  # no word of the table that was learned from
    assert X[0, 0] == columns_of(model).fill[0]
    with pytest.raises(DataError, match='the column "two", and the table has "one", "colour"'):
        predicted(model, NewTable.of(table[["one", "colour"]]))


@pytest.mark.parametrize("standardize", [True, False])
def test_kernels_look_at_columns_by_their_names(standardize: bool, file: Path) -> None:
    data = read_dataset(file, target="kind")
    model = model_of(data, standardize, kernels='linear@one gauss:1@"colour=red",two')
    assert estimator_of(model).kernel_names_[0] == "linear on one"
    assert len(predicted(load_model(model_bytes(model), "m.skops"), NewTable.of(rows(4))).values) == 4


def test_a_file_that_is_no_model_is_refused_and_never_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(read_dataset(file, target="kind"), kernels=GAUSSIANS)
    content = model_bytes(model)
    again = load_model(content, "model.skops")
    np.testing.assert_array_equal(estimator_of(again).weights_, estimator_of(model).weights_)
    strange = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(strange, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"StandardScaler", b"Popen").replace(b"_data", b"_dota"))
    for wrong in (b"", b"no model", content[:1000], pickle.dumps(1), strange.getvalue()):
        with pytest.raises(MklvizError, match=r"no model that mklviz fit wrote|does not open"):
            load_model(wrong, "wrong.skops")
    assert main(["predict", str(file.with_name("none.skops")), str(file)]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    for words in (["--out", "model.pkl"], ["--C", "x"], ["--max-iter", "0"], ["--standardize", "maybe"]):
        assert main(["fit", str(file), *words]) == 2


def test_libsvm_text_leaves_zeros_out_also_of_new_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.7)
    lines = [f"{1 if x[0] > 0 else -1} {' '.join(f'{j + 1}:{v:.3f}' for j, v in enumerate(x) if v)}" for x in X]
    (tmp_path / "train.svm").write_text("\n".join(lines))
    model = model_of(read_dataset(tmp_path / "train.svm"), kernels=GAUSSIANS)
    few = "\n".join(line.split(" 3:")[0] for line in lines)  # without the last column
    table = columns_of(model).table(few.encode(), "test.svm")
    assert predicted(model, table).score(table).startswith("accuracy")


RACES = {
    "data=iris; loss=multiclass-hinge; solvers=level": "gauss:1,4",
    "data=iris; positive=setosa; solvers=level": "gauss:1,4",
    "data=heart; solvers=level": "gauss:1,4",
    "data=diabetes; loss=squared:C=1; solvers=spg": "gauss:4,8",  # numbers, in the table's unit
}


@pytest.mark.parametrize("words", RACES)
def test_the_solution_of_a_race_predicts_its_held_out_samples_from_a_table_as_it_did_itself(words: str) -> None:
    recipe = Recipe.from_words(f"{words}; kernels={RACES[words]}")
    prepared = recipe.prepare()
    best = solve(prepared.problem, recipe.solvers[0].name, gap=0.1).best
    raw = recipe.load().split(train=recipe.split.train, seed=recipe.split.seed, standardize=False)[1]
    targets: Any = raw.y
    if raw.classes:
        targets = [raw.classes[int(k)] for k in (raw.y > 0.0 if raw.task == "binary" else raw.y)]
    table = NewTable.of(pd.DataFrame(raw.X, columns=list(raw.feature_names)).assign(target=targets))
    said = predicted_by(recipe, prepared, best, table).score(table)
    if raw.classes:
        assert said.startswith(f"accuracy {100 * prepared.score(best):.1f} %: ")
    else:
        assert float(said.split()[1]) == pytest.approx(prepared.score(best), abs=1e-4)


def test_new_tables_are_read_as_was_said_of_the_first_and_kernels_without_features_refused(tmp_path: Path) -> None:
    lines = "".join(f"{1 + i % 9}.{100 + i};{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"size;kind\n{lines}")
    data = read_dataset(tmp_path / "t.csv", target="kind", decimal=",", na="?9")
    model = load_model(model_bytes(model_of(data, kernels="linear")), "m.skops")
    for columns in (Columns.of(data), columns_of(model)):
        X, _ = columns.read(columns.table(b"size;more\n1.234;a\n2.345;b\n?9;c\n", "new.csv"))
        assert X[:2, 0].tolist() == [1234.0, 2345.0]
    with pytest.raises(DataError, match="kernels without features"):
        Columns.of(read_dataset(saved(grams=np.stack([np.eye(6)] * 2), y=np.array([-1.0, 1.0] * 3))))


def test_rows_without_a_number_are_no_part_of_what_is_said_of_predictions() -> None:
    table = NewTable.of(pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": ["1", "2", "4", "unknown"]}))
    assert Predictions("y", np.array([1.0, 2.0, 4.0, 9.0])).score(table) == "R² 1.0000 on 3 rows"
