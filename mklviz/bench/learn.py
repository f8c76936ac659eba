"""MKLClassifier beside other classifiers, each as it is used: tuned by cross-validation inside every fold.

- *MKLClassifierCV*: the papers' Gaussians and polynomials on all features and on each; C along a warm-started path.
- *SVC, grid*: one Gaussian kernel, C and its width chosen by a grid search.
- *LogisticRegression, grid*: C chosen by a grid search.
- *HistGradientBoosting*: as scikit-learn makes it.

All see the same folds, features standardized on the training part. Accuracy is mean and spread over the outer folds;
times are CPU seconds of one fit, choosing included, and of predicting the fold left out. Ratios compare fits. The first
fit of ours is made twice and timed the second time, so that compiled code is loaded. `--repeats` gives the outer folds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mklviz.bench._suite import Bench, Row, Suite, rival
from mklviz.datasets import load_dataset
from mklviz.typing import Array

__all__ = ["SUITE", "Score", "compare", "contestants", "measure"]

TABLES = ("sonar", "heart", "ionosphere", "liver", "pima")
KERNELS = "gauss:2^-3...2^6@all+each poly:1...3@all+each"
CS = (1.0, 10.0, 100.0, 1000.0)
FOLDS, INNER = 5, 3
OURS = "MKLClassifierCV"


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
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    from mklviz.learn import MKLClassifierCV

    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [2.0**k for k in range(-9, 2, 2)]}
    return {
        OURS: lambda: MKLClassifierCV(KERNELS, Cs=CS, cv=INNER),
        "SVC, grid": lambda: GridSearchCV(SVC(), grid, cv=INNER),
        "LogisticRegression, grid": lambda: GridSearchCV(
            LogisticRegression(max_iter=2000), {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}, cv=INNER
        ),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }, {}


def compare(
    table: str, folds: int, made: Mapping[str, Callable[[], Any]], say: Callable[[str], None]
) -> dict[str, Score]:
    """Return the scores of the classifiers on the same folds of a table."""
    from sklearn.model_selection import StratifiedKFold

    data = load_dataset(table)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in made}
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(splitter.split(data.X, data.y)):
        shift, scale = data.X[train].mean(axis=0), data.X[train].std(axis=0)
        X = (data.X - shift) / np.where(scale > 0.0, scale, 1.0)
        for name, make in made.items():
            say(f"{table}, fold {number + 1} of {folds}, {name}")
            if name == OURS and number == 0:
                make().fit(X[train], data.y[train])
            model, begun = make(), time.process_time()
            model.fit(X[train], data.y[train])
            fitted = time.process_time()
            right = float((model.predict(X[test]) == data.y[test]).mean())
            found[name].append((right, fitted - begun, max(time.process_time() - fitted, 1e-9)))
    return {name: Score(*np.array(scores).T) for name, scores in found.items()}


def measure(bench: Bench) -> Iterator[Row]:
    """Compare on each table; `repeats` is the number of outer folds."""
    made, reasons = contestants()
    for table in TABLES[3:4] if bench.quick else TABLES:
        for other, reason in reasons.items():
            yield Row.missing(table, OURS, other, reason)
        if not made:
            continue
        scores = compare(table, bench.repeats or (2 if bench.quick else FOLDS), made, bench.say)
        ours = scores.pop(OURS)
        n = len(load_dataset(table).y)
        for other, score in scores.items():
            note = f"ours {ours.words}; {other} {score.words}"
            yield Row.of(table, (OURS, ours.fit), (other, score.fit), n=n, note=note)


SUITE = Suite(
    "MKLClassifier beside other classifiers",
    "Nested cross-validation on the same folds: CPU time of a fit with its choices, and how many of the points left out"
    " are classified right.",
    measure,
)
