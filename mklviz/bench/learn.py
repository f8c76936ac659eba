"""MKLClassifier beside other classifiers, each as it is used: tuned by cross-validation inside every fold.

- *MKLClassifierCV*: the papers' Gaussians and polynomials on all features and on each; C along a warm-started path.
- *MKLClassifierCV, p too*: the same with balls of the lp norm to choose from besides the simplex, by C and p.
- *Equal weights*: an SVC on the plain mean of the same kernels, which is not learned; C by a grid search.
- *EasyMKL*, *ALIGNF*: an SVC on the same kernels, weighted before by their share of one margin, or by their alignment
  with the labels; C by a grid search.
- *Best kernel*: an SVC on the one of these kernels that is right most often at C = 1; C by a grid search.
- *LP-beta*: an SVC for each of these kernels, and weights of their decisions by a linear program.
- *MKLpy's EasyMKL*, *MKLpy's AverageMKL*: the same SVC, with weights of that package, where it is installed.
- *SMKL*: an SVC on the five kernels at most that SMKL chooses, with their weights; C by a grid search.
- *SVC, grid*: one Gaussian kernel, C and its width chosen by a grid search; it is the plain product of Gaussians of one
  width on each feature.
- *LogisticRegression, grid*: C chosen by a grid search.
- *HistGradientBoosting*: as scikit-learn makes it.

All see the same folds, inner and outer, of the twelve tables with two classes and numbers in their columns (of 600
points at most, classes in equal shares; Adult's 123 columns of zeros and ones would make 1,612 kernels, most of them
alike), features standardized on the training part. C has one range for all kernel machines. Accuracy is mean and
spread over the outer folds; times are CPU seconds of one fit, choosing included, and of predicting the fold left out.
Ratios compare fits. The first fit of ours is made twice and timed the second time, so that compiled code is loaded.
`--repeats` gives the outer folds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mklviz.bench._rivals import (
    FixedWeights,
    LpBeta,
    best_kernel,
    equal_weights,
    first_stage,
    mklpy_weights,
    smkl_weights,
)
from mklviz.bench._suite import Bench, Row, Suite, rival
from mklviz.datasets import load_dataset
from mklviz.solvers.alignf import Alignf
from mklviz.solvers.easymkl import EasyMkl
from mklviz.typing import Array

TABLES = (
    *("australian", "breast", "german", "heart", "ionosphere", "letter"),
    *("liver", "pima", "sonar", "vote", "wdbc", "wpbc"),
)
KERNELS = "gauss:2^-3...2^6@all+each poly:1...3@all+each"
CS = (0.1, 1.0, 10.0, 100.0)
PS = (1.0, 1.5, 3.0)
NUS = (0.1, 0.2, 0.4)
FOLDS, INNER, MOST = 5, 3, 600
OURS = "MKLClassifierCV"
MKLPY = {"MKLpy's EasyMKL": "EasyMKL", "MKLpy's AverageMKL": "AverageMKL"}


@dataclass(frozen=True)
class Score:
    """Accuracy, and CPU seconds of fitting and predicting, per outer fold, (folds,) each."""

    accuracy: Array
    fit: Array
    predict: Array

    @property
    def words(self) -> str:
        """Mean and spread of the accuracy, and the time of predicting."""
        mean, spread = 100 * self.accuracy.mean(), 100 * self.accuracy.std()
        return f"{mean:.1f} ± {spread:.1f} % right, predicts in {1e3 * np.median(self.predict):.1f} ms"


def contestants() -> tuple[dict[str, Callable[[], Any]], dict[str, str]]:
    """Return what makes each classifier, and why others cannot be made."""
    sklearn, reason = rival("sklearn")
    if sklearn is None:
        return {}, {"scikit-learn": reason}
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import SVC

    from mklviz.learn import MKLClassifierCV

    cv = StratifiedKFold(INNER, shuffle=True, random_state=0)
    grid = {"C": list(CS), "gamma": [2.0**k for k in range(-9, 2, 2)]}
    plain = LogisticRegression(max_iter=2000)
    theirs, reasons = _mklpy(cv)
    return {
        OURS: lambda: MKLClassifierCV(KERNELS, Cs=CS, cv=cv),
        f"{OURS}, p too": lambda: MKLClassifierCV(KERNELS, Cs=CS, ps=PS, cv=cv),
        "Equal weights": lambda: FixedWeights(KERNELS, equal_weights, CS, cv),
        "EasyMKL": lambda: FixedWeights(KERNELS, first_stage(EasyMkl()), CS, cv),
        "ALIGNF": lambda: FixedWeights(KERNELS, first_stage(Alignf()), CS, cv),
        "SMKL": lambda: FixedWeights(KERNELS, smkl_weights, CS, cv),
        "Best kernel": lambda: FixedWeights(KERNELS, best_kernel(cv), CS, cv),
        "LP-beta": lambda: LpBeta(KERNELS, CS, NUS, cv),
        **theirs,
        "SVC, grid": lambda: GridSearchCV(SVC(), grid, cv=cv),
        "LogisticRegression, grid": lambda: GridSearchCV(plain, {"C": [0.01, *CS]}, cv=cv),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }, reasons


def _mklpy(cv: Any) -> tuple[dict[str, Callable[[], Any]], dict[str, str]]:
    """Return what makes the classifiers with MKLpy's weights, or none and why not."""
    module, reason = rival("MKLpy.algorithms")
    if module is None:
        return {}, dict.fromkeys(MKLPY, reason)
    weighers = {name: mklpy_weights(method) for name, method in MKLPY.items()}
    return {name: lambda weigh=weigh: FixedWeights(KERNELS, weigh, CS, cv) for name, weigh in weighers.items()}, {}


def bounded(table: str) -> tuple[Array, Any]:
    """Return the samples and classes of a table, at most so many, with classes in the same shares."""
    from sklearn.model_selection import train_test_split

    data = load_dataset(table)
    if len(data.y) <= MOST:
        return data.X, data.y
    X, _, y, _ = train_test_split(data.X, data.y, train_size=MOST, stratify=data.y, random_state=0)
    return X, y


def compare(
    table: str, folds: int, made: Mapping[str, Callable[[], Any]], say: Callable[[str], None]
) -> dict[str, Score]:
    """Return the scores of the classifiers on the same folds of a table."""
    from sklearn.model_selection import StratifiedKFold

    X, y = bounded(table)
    scores_of: dict[str, list[tuple[float, float, float]]] = {name: [] for name in made}
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(splitter.split(X, y)):
        shift, scale = X[train].mean(axis=0), X[train].std(axis=0)
        standard = (X - shift) / np.where(scale > 0.0, scale, 1.0)
        for name, make in made.items():
            say(f"{table}, fold {number + 1} of {folds}, {name}")
            if name == OURS and number == 0:
                make().fit(standard[train], y[train])
            with threadpool_limits(1):  # threads that wait for one another would count as CPU time
                model, begun = make(), time.process_time()
                model.fit(standard[train], y[train])
                fitted = time.process_time()
                right = float((model.predict(standard[test]) == y[test]).mean())
            scores_of[name].append((right, fitted - begun, max(time.process_time() - fitted, 1e-9)))
    return {name: Score(*np.array(scores).T) for name, scores in scores_of.items()}


def measure(bench: Bench) -> Iterator[Row]:
    """Compare on each table; `repeats` is the number of outer folds."""
    made, reasons = contestants()
    for table in ("liver",) if bench.quick else TABLES:
        for other, reason in reasons.items():
            yield Row.missing(table, OURS, other, reason)
        if not made:
            continue
        scores = compare(table, bench.repeats or (2 if bench.quick else FOLDS), made, bench.say)
        ours = scores.pop(OURS)
        n = len(bounded(table)[1])
        for other, score in scores.items():
            note = f"ours {ours.words}; {other} {score.words}"
            yield Row.of(table, (OURS, ours.fit), (other, score.fit), n=n, note=note)


SUITE = Suite(
    "MKLClassifier beside other classifiers",
    "Nested cross-validation on the same folds: CPU time of a fit with its choices, and how many of the points left out"
    " are classified right.",
    measure,
)
