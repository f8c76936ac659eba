"""C, and p of an lp ball, chosen by cross-validation along paths: each solve begins at the solution of the last.

The kernels of a fold are built once, for all values. Reference for the path of C: Rakotomamonjy, Bach, Canu,
Grandvalet, More efficiency in multiple kernel learning, ICML 2007, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import column_or_1d
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from mklviz.engine import path, with_parameter
from mklviz.engine.grid import check_values
from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.learn._banks import AUTO
from mklviz.learn._base import FITTED, PARAMETERS, MKLEstimator
from mklviz.learn._callbacks import most_steps, with_steps
from mklviz.learn._progress import Report
from mklviz.learn.classifier import CLASS_WEIGHT, PROBABILITY, MKLClassifier
from mklviz.learn.regressor import MKLRegressor
from mklviz.numbers import is_whole
from mklviz.problem import Problem
from mklviz.problem.regularizers import unit_ball
from mklviz.record import Trace
from mklviz.typing import Array, Indices

Grid = list[tuple[float | None, float]]  # p, where one is chosen, and C
_One: TypeAlias = MKLClassifier | MKLRegressor

_SHARED = PARAMETERS.replace(PARAMETERS[PARAMETERS.index("    C : float") : PARAMETERS.index("    normalize :")], "")


_SEARCHED = """Cs : int or sequence of float
        Values of C to choose from, or how many of them, in equal ratios from 1e-4 to 1e4 as in LogisticRegressionCV.
    ps : sequence of float, optional
        Values of p to choose from; 1 is the simplex, more an lp ball, and `regularizer` plays no part.
    cv : int, splitter or iterable, optional
        Folds: how many, 5 by default, shuffled by the seed of `random_state`, with classes in equal shares; or as
        everywhere in scikit-learn.
    scoring : str, callable, list or dict, optional
        What is to be high, by default what `score` returns; or several such scores, as GridSearchCV takes them.
    refit : bool or str
        Of several scores the one to choose by; of one it plays no part."""

_FOUND = """C_ : float
        The value chosen: of the highest mean score, the smallest among equals.
    p_ : float or None
        Likewise.
    best_params_ : dict
        Both under their names, p only where it was chosen.
    best_estimator_ : MKLClassifier or MKLRegressor
        The one fitted at these values.
    best_index_ : int
        Their place in `cv_results_`.
    best_score_ : float
        The mean score there.
    n_splits_ : int
        Folds.
    cv_results_ : dict of arrays
        "params", "param_C", "param_p" (nan without `ps`), "mean_test_score", "std_test_score", "rank_test_score" and
        for each fold "split0_test_score", ..., of several scores with their names in place of "score"; and the seconds
        "mean_fit_time", "std_fit_time", "mean_score_time" and "std_score_time". A fold's kernels are built once, and
        each of its fits counts an equal share of that."""


@dataclass(eq=False, repr=False, kw_only=True)
class _CrossValidated(MKLEstimator):
    """What the searches share."""

    C: ClassVar[Any] = property()  # type: ignore[misc]  # no parameter: it is chosen
    Cs: Any = (0.1, 1.0, 10.0, 100.0)
    ps: Sequence[float] | None = None
    cv: Any = None
    scoring: Any = None
    refit: bool | str = True

    @with_steps
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose by cross-validation on samples `X` and their classes or values `y`, then learn from all of them.

        Parameters
        ----------
        X, y
            As the estimator without cross-validation takes them.
        sample_weight : (n,) array or float, optional
            Likewise. Scores that know weights count them too.
        groups : (n,) array, optional
            Of the samples, for folds such as `GroupKFold` that keep each group together.

        Raises
        ------
        ProblemError, KernelError, UnknownName
            With a sentence, if the data do not fit the kernels or the loss. All are also `ValueError`.
        """
        everybody = X  # also samples of weight zero: folds are those of the samples given
        X, targets, weights = self._posed(X, y, sample_weight)
        grid = self._grid()
        self._weighed(targets, weights)  # before anything is computed, as are the names of scores that are known by now
        self._judge(list(_scorers(self._one(), self.scoring)))
        labels, observed = self._labels(targets), column_or_1d(y)
        folds = [self._fold(parts) for parts in self._splitter(observed).split(everybody, observed, groups)]
        if not folds:
            raise ProblemError("There is no fold: cv must give at least one pair of training and test samples.")
        samples = X, weights, labels
        jobs = (delayed(_tried)(self._one(), *samples, fold, grid, self.scoring) for fold in folds)
        report, results = Report(type(self).__name__, self.verbose), []
        for tried in Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs):
            results.append(tried)
            self._judge(list(tried[0].scores))  # of which one scorer may return several
            self._steps.part("fold").end()
            report.at(f"fold {len(results)} of {len(folds)}")
        self.n_splits_ = len(folds)
        self._choose(grid, results)
        chosen = ", ".join(f"{name} = {value:g}" for name, value in self.best_params_.items())
        report.ended(f"{chosen}, the best of {len(grid)} by a mean score of {self.best_score_:.4g}")
        regularizer = self._regularizer() if self.p_ is None else unit_ball(self.p_)
        self._steps = self._steps.part("refit", most_steps(self))
        self._learn(X, targets, self._posed_loss(self.C_), regularizer, weights)
        self._steps.end()
        return self

    def _splitter(self, observed: Any) -> Any:
        """Return what makes the folds; a number of them is shuffled, since many tables come in the order of classes."""
        count = 5 if self.cv is None else self.cv
        if not is_whole(count):
            return check_cv(count, observed, classifier=is_classifier(self))
        kind = StratifiedKFold if is_classifier(self) else KFold
        return kind(int(count), shuffle=True, random_state=self._seed())

    def _fold(self, parts: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
        """Return the samples to learn from and to score by, as indices among those with weight."""
        train, test = parts
        if self._kept is not None:
            index = np.full(self._given, -1)
            index[self._kept] = np.arange(len(self._kept))
            train, test = (index[part][index[part] >= 0] for part in parts)
        if not len(test):
            raise ProblemError("A fold has no test sample with weight: take fewer folds, or leave those samples out.")
        return train, test

    def _grid(self) -> Grid:
        """Return all pairs of p and C in the order of the paths."""
        ps = [None] if self.ps is None else np.unique(check_values(self.ps, "p")).tolist()
        Cs = np.unique(check_values(self._values(), "C"))[::-1].tolist()
        for p in ps:
            if p is not None and not 1.0 <= p < np.inf:
                raise ProblemError(f"Each p in ps must be a number from 1, the simplex, upwards, but {p:g} was given.")
        return [(p, C) for p in ps for C in Cs]

    def _values(self) -> Any:
        """Return the values of C, or those that are as many as was asked for."""
        if is_whole(self.Cs) and self.Cs >= 1:
            return np.logspace(-4.0, 4.0, int(self.Cs))
        if np.ndim(self.Cs):
            return self.Cs
        raise ProblemError(f"Cs are the values of C to choose from, or how many from 1 on, not {self.Cs!r:.80}.")

    def _one(self) -> _One:
        """Return the estimator that is fitted for each fold and each value, by itself in its thread."""
        kind = MKLClassifier if isinstance(self, MKLClassifier) else MKLRegressor
        plain: dict[str, Any] = {"C": 1.0, "n_jobs": None, "verbose": 0, "warm_start": False}
        if kind is MKLClassifier:
            plain["probability"] = False  # scores of folds do without
        shared = {name: getattr(self, name) for name in kind().get_params() if name not in plain}
        one: _One = clone(kind(**shared, **plain))
        one.__dict__.update(self._known("classes_", "feature_names_in_"))
        return one

    def _plain(self) -> Any:
        """Return the estimator without cross-validation at the values chosen, not fitted."""
        return self._one().set_params(C=self.C_, **({} if self.p_ is None else {"regularizer": unit_ball(self.p_)}))

    @property
    def best_estimator_(self) -> _One:
        """The estimator without cross-validation that was fitted at the values chosen."""
        check_is_fitted(self, "C_")
        one: _One = self._plain()
        if isinstance(self, MKLClassifier):
            one.set_params(probability=self.probability)
        fitted = ("_function", "_kept", "_given", "classes_", "n_features_in_", "feature_names_in_", *FITTED)
        one.__dict__.update(self._known(*fitted))
        return one

    def _choose(self, grid: Grid, tried: Sequence[Sequence[FoldScores]]) -> None:
        """Keep the results of each fold at each value, and the best value."""
        ps = np.array([np.nan if p is None else p for p, _ in grid])
        Cs = np.array([C for _, C in grid])
        self.cv_results_: dict[str, Any] = {
            **_spread("fit_time", np.array([[one.fit_seconds for one in fold] for fold in tried])),
            **_spread("score_time", np.array([[one.score_seconds for one in fold] for fold in tried])),
            "params": [{"C": C} if p is None else {"p": p, "C": C} for p, C in grid],
            "param_C": Cs,
            "param_p": ps,
        }
        names = list(tried[0][0].scores)
        if any([*one.scores] != names for fold in tried for one in fold):
            raise ProblemError("scoring must return scores of the same names, in the same order, each time.")
        for name in names:
            self.cv_results_ |= _summary(name, np.array([[one.scores[name] for one in fold] for fold in tried]))
        mean = self.cv_results_[f"mean_test_{self._judge(names)}"]
        self.best_index_ = int(np.lexsort((np.nan_to_num(ps), Cs, -mean))[0])
        self.p_, self.C_ = grid[self.best_index_]
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def _judge(self, names: Sequence[str]) -> str:
        """Return the name of the score to choose by."""
        if len(names) == 1:
            return names[0]
        if self.refit in names:
            return str(self.refit)
        listed = ", ".join(names)
        raise ProblemError(f"There are several scores: refit names the one to choose by, {listed}, not {self.refit!r}.")


@dataclass(eq=False, repr=False)
class MKLClassifierCV(_CrossValidated, MKLClassifier):
    __doc__ = f"""MKLClassifier that chooses C, and if asked p of an lp ball, by cross-validation with warm starts.

    Parameters
    ----------
    {_SHARED}
    {_SEARCHED}
    {CLASS_WEIGHT}
    {PROBABILITY}

    Attributes
    ----------
    {_FOUND}

    Notes
    -----
    Other parameters and attributes are those of `MKLClassifier`; `n_jobs` is also how many folds are
    worked on at once, each in a process.

    Examples
    --------
    >>> data = mv.load_dataset("iris")
    >>> mv.MKLClassifierCV("gauss:1@each", Cs=[1, 10], cv=3).fit(data.X, data.y).best_score_ > 0.9
    True
    """


@dataclass(eq=False, repr=False)
class MKLRegressorCV(_CrossValidated, MKLRegressor):
    __doc__ = f"""MKLRegressor that chooses C, and if asked p of an lp ball, by cross-validation with warm starts.

    Parameters
    ----------
    {_SHARED}
    {_SEARCHED}

    Attributes
    ----------
    {_FOUND}

    Notes
    -----
    Other parameters and attributes are those of `MKLRegressor`; `n_jobs` is also how many folds are
    worked on at once, each in a process.

    Examples
    --------
    >>> data = mv.load_dataset("iris")
    >>> model = mv.MKLRegressorCV("gauss:1", Cs=[1, 10], cv=3).fit(data.X[:, :3], data.X[:, 3])
    >>> model.C_
    10.0
    """


class FoldScores(NamedTuple):
    """The result of one fold at one value: the scores by name, and the seconds of fitting and scoring."""

    scores: dict[str, float]
    fit_seconds: float
    score_seconds: float


def _spread(name: str, values: Array) -> dict[str, Array]:
    """Return mean and spread of `values` (folds, values) over the folds."""
    return {f"mean_{name}": values.mean(axis=0), f"std_{name}": values.std(axis=0)}


def _summary(name: str, scores: Array) -> dict[str, Array]:
    """Return the scores (folds, values) as GridSearchCV has them in `cv_results_`."""
    splits = {f"split{fold}_test_{name}": row for fold, row in enumerate(scores)}
    columns = {**splits, **_spread(f"test_{name}", scores)}
    mean = np.fmax(columns[f"mean_test_{name}"], -np.inf)  # nan is below all others
    return {**columns, f"rank_test_{name}": 1 + (mean[:, None] < mean[None, :]).sum(axis=1)}


def _scorers(one: MKLEstimator, scoring: Any) -> dict[str, Any]:
    """Return the scorers by their names; a single one is called "score"."""
    if isinstance(scoring, list | tuple | set):
        scoring = {name: name for name in scoring}
    usual = "accuracy" if is_classifier(one) else "r2"
    several = scoring if isinstance(scoring, Mapping) else {"score": usual if scoring is None else scoring}
    scorers = {name: check_scoring(one, scoring=one_of_them) for name, one_of_them in several.items()}
    for name, scorer in scorers.items():
        if getattr(scorer, "_response_method", "") == "predict_proba" and not hasattr(one, "predict_proba"):
            needs = f'scoring: "{several[name]!s:.40}" needs probabilities, which'
            if not isinstance(one, MKLClassifier):
                raise ProblemError(f"{needs} regressors do not have.")
            own = 'loss="logistic", which has its own, or ' if len(one.classes_) == 2 else ""
            instead = f"take {own}GridSearchCV(MKLClassifier(probability=True), ...)."
            raise ProblemError(f"{needs} are calibrated after the search: {instead}")
    return scorers


def _score(name: str, scorer: Any, one: MKLEstimator, X: Array, labels: Any, weights: Array | None) -> dict[str, float]:
    """Return a score by its name, or several that one scorer names; with sample weights if the scorer takes them."""
    known = "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters
    found = scorer(one, X, labels, **({"sample_weight": weights} if known and weights is not None else {}))
    return {called: float(score) for called, score in (found if isinstance(found, Mapping) else {name: found}).items()}


def _tell_classes(one: MKLClassifier, every: set[Any], known: set[Any]) -> None:
    """Prepare a classifier for a fold of the classes `known` of `every` one, or say that it cannot learn there."""
    if len(known) < 2:
        raise ProblemError(
            f"A fold has no training sample of class {(every - known).pop()}: take fewer folds, or folds with classes"
            " in equal shares, as cv=5 makes them."
        )
    if len(known) == 2 < len(every):
        one.loss = AUTO  # a loss for several classes is none for two
    if isinstance(one.class_weight, Mapping):
        one.class_weight = dict.fromkeys(every, 1.0) | {**one.class_weight}


def _tried(
    one: _One,
    X: Array,
    weights: Array | None,
    labels: Any,
    fold: tuple[Indices, Indices],
    grid: Grid,
    scoring: Any,
) -> list[FoldScores]:
    """Return the results of one fold for each pair of p and C."""
    train, test = fold
    if isinstance(one, MKLClassifier):
        _tell_classes(one, set(labels), set(labels[train]))
    scorers, begun = _scorers(one, scoring), perf_counter()
    targets = one._coded(labels[train])  # a class of one or two samples may not be among them
    weighed = one._weighed(targets, None if weights is None else weights[train])
    bank, _ = one._bank(one._among(X, train, train), weighed, one._seed(), Report("", 0))
    one.__dict__.pop("feature_names_in_", None)  # from here on it is asked about arrays
    new, counted = one._among(X, test, train), None if weights is None else weights[test]
    building, begun = (perf_counter() - begun) / len(grid), perf_counter()
    scored = []
    for problem, trace in _solved(one, bank, targets, weighed, grid):
        one._keep(problem, trace)
        fitted = perf_counter()
        scores: dict[str, float] = {}
        for name, scorer in scorers.items():
            scores |= _score(name, scorer, one, new, labels[test], counted)
        ended = perf_counter()
        scored.append(FoldScores(scores, building + fitted - begun, ended - fitted))
        begun = ended
    return scored


def _solved(
    one: _One, bank: Bank, targets: Array, weights: Array | None, grid: Grid
) -> Iterator[tuple[Problem, Trace]]:
    """Yield the problem of each pair of p and C with its trace, in the order of the grid."""
    ps, Cs = list(dict.fromkeys(p for p, _ in grid)), list(dict.fromkeys(C for _, C in grid))
    along_p = len(Cs) == 1 and len(ps) > 1 and ps[0] != 1.0
    for p in ps[:1] if along_p else ps:
        regularizer = one._regularizer() if p is None else unit_ball(p)
        loss = one._suited(one._posed_loss(Cs[0]), bank.access)
        problem = Problem(bank, targets, loss, regularizer, weights)
        name = "p" if along_p else "C"
        varied: dict[str, Any] = {name: ps if along_p else Cs}
        for value, trace in path(problem, one.solver, gap=one.tol, max_iter=one.max_iter, seed=one._seed(), **varied):
            yield with_parameter(problem, name, value), trace
