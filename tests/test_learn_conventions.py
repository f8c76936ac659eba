"""What scikit-learn asks of estimators: its own checks, all of them, and callbacks that are told of every step."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mklviz as mv

FEW = "gauss:0.5,2 poly:1"
WIDE = "gauss:2,30 poly:1"  # for a check with features of size 20
ESTIMATORS = [
    mv.MKLClassifier(),
    mv.MKLRegressor(FEW),
    mv.MKLOneClass(FEW, nu=0.5),
    mv.KernelTransformer("gauss:0.5,2"),
]
OTHERS = [
    mv.MKLClassifierCV(WIDE, Cs=[0.1, 1.0], cv=2),
    mv.MKLRegressorCV(FEW, Cs=[0.1, 1.0], cv=3),
    mv.MKLClassifier(FEW, loss="logistic"),
    mv.MKLTransformer(mv.MKLClassifier(FEW)),
]
# compares two solutions to a relative 1e-7: the least gap that doubles can prove, 1e-13, leaves its root, 3e-7, in a
# function of hundreds of kernels, so that even another order of the samples shows; that of three is far more exact
CLOSE = "check_sample_weight_equivalence_on_dense_data"


@parametrize_with_checks(ESTIMATORS)
def test_estimators_keep_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    if check.func.__name__ == CLOSE and hasattr(estimator, "tol"):
        estimator.set_params(tol=1e-13, kernels=WIDE if estimator.kernels == "paper" else estimator.kernels)
    assert check(estimator) is None  # a check raises where it fails


@pytest.mark.full
@parametrize_with_checks(OTHERS)
def test_estimators_that_search_and_other_losses_keep_them_too(estimator: Any, check: Any) -> None:
    test_estimators_keep_scikit_learn_s_conventions(estimator, check)


def test_masked_entries_are_refused_where_scikit_learn_drops_the_mask() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat([-1, 1], 10)
    masked = np.ma.masked_greater(X, np.sort(X.ravel())[-2])
    fitted = mv.KernelTransformer("gauss:1@all").fit(X)
    model = mv.MKLClassifier("gauss:1@all").fit(X, y)
    for call in (
        lambda: mv.MKLClassifier("gauss:1@all").fit(masked, y),
        lambda: model.predict(masked),
        lambda: mv.KernelTransformer("gauss:1@all").fit(masked),
        lambda: fitted.transform(masked),
    ):
        with pytest.raises(mv.errors.KernelError, match="X has 1 masked entry"):
            call()


callback = pytest.importorskip("sklearn.callback")
X, y = load_iris(return_X_y=True)
KERNELS = "gauss:1,4@each"


class Heard:
    """A callback that notes what it is told, and asks to stop after so many steps."""

    def __init__(self, stop_after: int = 1000) -> None:
        self.told: list[str] = []
        self.stop_after = stop_after

    def setup(self, estimator: Any, context: Any) -> None:
        self.told.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.told.append(context.task_name)
        return self.told.count("step") >= self.stop_after


@pytest.mark.parametrize(
    "estimator", [mv.MKLClassifier(KERNELS), mv.MKLRegressor(KERNELS), mv.MKLOneClass(KERNELS, nu=0.2)]
)
def test_every_step_is_told_and_the_trace_is_kept(estimator: Any) -> None:
    heard, live = Heard(), mv.LiveRace()
    estimator.set_callbacks(heard, live).fit(X, y)
    assert heard.told == ["setup", *["step"] * len(estimator.trace_), "fit", "teardown"]
    assert live.trace is estimator.trace_
    assert np.array_equal(estimator.weights_, type(estimator)(**estimator.get_params()).fit(X, y).weights_)


def test_a_search_tells_of_its_folds_and_of_the_last_fit_and_a_callback_may_ask_to_stop() -> None:
    heard = Heard()
    model = mv.MKLClassifierCV(KERNELS, Cs=[1.0, 10.0], cv=3).set_callbacks(heard).fit(X, y)
    steps = ["step"] * len(model.trace_)
    assert heard.told == ["setup", "fold", "fold", "fold", *steps, "refit", "fit", "teardown"]
    model = mv.MKLClassifier(KERNELS, tol=1e-9).set_callbacks(Heard(stop_after=3)).fit(X, y)
    assert len(model.trace_) == 4  # the solver is asked again when it has made the next step
    assert model.trace_.reason == "A callback asked to stop."


class Followed(mv.LiveRace):
    """One that notes each fit it is told of."""

    def __init__(self) -> None:
        super().__init__()
        self.fits: list[mv.Trace] = []

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        super().on_fit_task_end(estimator, context)
        if self.trace is not None and not any(self.trace is fit for fit in self.fits):
            self.fits.append(self.trace)


def test_a_grid_of_pipelines_shows_one_fit_after_the_other_or_says_that_it_does_not(recwarn: Any) -> None:
    live = Followed()
    model = make_pipeline(StandardScaler(), mv.MKLClassifier(KERNELS))
    grid = GridSearchCV(model, {"mklclassifier__C": [1, 10]}, cv=2).set_callbacks(live).fit(X, y)
    assert [len(fit) > 1 for fit in live.fits] == [True] * 5  # four and the last one
    assert live.trace is grid.best_estimator_[-1].trace_
    assert not recwarn.list
    pickle.loads(pickle.dumps(grid)).predict(X)
    with pytest.warns(UserWarning, match="leave n_jobs at None"):
        mv.LiveRace().setup(GridSearchCV(mv.MKLClassifier(KERNELS), {"C": [1]}, n_jobs=2), None)


@pytest.mark.parametrize("weights", [None, (np.arange(150) % 3 > 0).astype(float)])
def test_a_scoring_monitor_scores_every_step_as_if_the_fit_had_stopped_there(weights: Any) -> None:
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = mv.MKLClassifier(KERNELS).set_callbacks(monitor).fit(X, y, weights)
    scores = [row["accuracy"] for row in monitor.get_logs().data]
    assert len(scores) == len(model.trace_) + 1
    assert scores[0] == scores[-1] == model.score(X, y, weights)  # of the fit, and of the last step
    stopped = mv.MKLClassifier(KERNELS).set_callbacks(Heard(stop_after=3)).fit(X, y, weights)
    assert scores[4] == stopped.score(X, y, weights)


@pytest.mark.parametrize("kind", [mv.MKLClassifier, partial(mv.MKLClassifierCV, Cs=[1.0], cv=2)])
def test_a_scoring_monitor_may_ask_for_calibrated_probabilities(kind: Any) -> None:
    monitor = callback.ScoringMonitor(scoring="neg_log_loss")
    model = kind("gauss:1", probability=True).set_callbacks(monitor).fit(X, y)
    scores = [row["neg_log_loss"] for row in monitor.get_logs().data]
    assert len(scores) > len(model.trace_)
    assert scores[-1] == pytest.approx(-log_loss(y, model.predict_proba(X)))


@pytest.mark.full
def test_progress_bars_show_steps_within_a_grid_of_pipelines_in_several_processes(capfd: Any) -> None:
    pytest.importorskip("rich")
    grid = GridSearchCV(make_pipeline(StandardScaler(), mv.MKLClassifier(KERNELS)), {"mklclassifier__C": [1, 10]}, cv=2)
    bar = callback.ProgressBar(max_propagation_depth=None)
    grid.set_params(n_jobs=2).set_callbacks(bar).fit(X, y)
    assert "MKLClassifier - fit" in capfd.readouterr().out
