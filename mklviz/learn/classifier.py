"""Classes by multiple kernel learning: two by the sign of the learned function, more by the largest of one for each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from mklviz.errors import MklvizError, ProblemError
from mklviz.learn._base import ATTRIBUTES, PARAMETERS, MKLEstimator
from mklviz.numbers import is_number
from mklviz.problem import Loss, loss_families
from mklviz.quoting import listed
from mklviz.typing import Array, Indices

CLASS_WEIGHT = """class_weight : None, "balanced" or dict
        What C is multiplied by for the samples of each class: nothing; what gives all classes the same weight in sum,
        as everywhere in scikit-learn; or a number for each class, 1 for those not named."""


PROBABILITY = """probability : bool
        Whether a loss that models no probabilities has `predict_proba`, calibrated on the decisions of five fits that
        leave some samples out each: a sigmoid for each pair of classes, and the pairs coupled (Wu, Lin and Weng)."""
FOLDS = 5


def _models_probabilities(classifier: MKLClassifier) -> bool:
    """Return whether there are probabilities, or raise the `AttributeError` that says how there would be."""
    if classifier.probability or classifier._models:
        return True
    raise AttributeError(
        'The logistic loss models probabilities, others are calibrated: MKLClassifier(loss="logistic") for two classes,'
        " MKLClassifier(probability=True) for any number."
    )


@dataclass(eq=False, repr=False, kw_only=True)
class MKLClassifier(ClassifierMixin, MKLEstimator):
    __doc__ = f"""Classifier that learns the weights of its kernels with itself.

    Parameters
    ----------
    {PARAMETERS}
    {CLASS_WEIGHT}
    {PROBABILITY}

    Attributes
    ----------
    classes_ : array
    calibration_ : (c (c - 1) / 2, 2) array
        With ``probability=True``, for classes i < j the probability of j is ``1 / (1 + exp(-(a f + b)))`` where f is
        how far the decision is for j rather than i.
    {ATTRIBUTES}

    Notes
    -----
    By default the loss is the hinge loss for two classes, and Crammer and Singer's for more. The logistic loss tells
    two classes apart and has `predict_proba`; others have it with ``probability=True``, where the most probable
    class may be another than that of `predict` where classes are close. Weights of samples are as repeated samples.

    Examples
    --------
    >>> import mklviz as mv
    >>> data = mv.load_dataset("iris")
    >>> mv.MKLClassifier("gauss:1,4@each poly:1").fit(data.X, data.y).score(data.X, data.y) > 0.9
    True
    """

    class_weight: str | Mapping[Any, float] | None = None
    probability: bool = False

    @property
    def _models(self) -> bool:
        """Whether the loss itself models probabilities."""
        return type(self._loss("hinge", 1.0)).probabilities is not Loss.probabilities

    def _plain(self) -> MKLClassifier:
        """Return this classifier, not fitted, for one that learns from a part of the same samples."""
        one = clone(self)
        vars(one).update(self._known("classes_", "feature_names_in_"))
        return one

    def _calibrate(self, X: Array, targets: Array, weights: Array | None) -> None:
        """Learn probabilities from decisions on samples that are left out, where they are asked for."""
        if not self.probability or self._models:
            return
        codes = self._codes(targets)
        count = min(FOLDS, int(np.bincount(codes).min()))
        if count < 2:
            raise ProblemError("probability=True needs two samples of each class or more, to leave one of them out.")
        decisions = np.empty(len(X) if len(self.classes_) == 2 else (len(X), len(self.classes_)))
        for train, test in StratifiedKFold(count, shuffle=True, random_state=self._seed()).split(codes, codes):
            one = self._plain()
            one._learn_quietly(
                self._among(X, train, train), targets[train], None if weights is None else weights[train]
            )
            decisions[test] = one._decide(self._among(X, test, train))
        self.calibration_ = Calibration.of(decisions, codes, np.ones(len(X)) if weights is None else weights).lines

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return X, what the loss expects for y, and the weights of the samples that have any; keep the classes."""
        X, y = self._checked(X, y)
        check_classification_targets(y)
        X, y, weights = self._counted(X, y, sample_weight)
        return X, self._coded(y), weights

    def _coded(self, labels: Any) -> Array:
        """Return what the loss expects for classes, which are kept."""
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ProblemError(f"A classifier needs two classes or more, but y has one class only, {self.classes_[0]}.")
        return np.where(codes, 1.0, -1.0) if not self._posed_loss(1.0).multiclass else codes.astype(np.float64)

    def _labels(self, targets: Array) -> Any:
        """Return the classes from what the loss expects."""
        return self.classes_[self._codes(targets)]

    def _codes(self, targets: Array) -> Indices:
        """Return the classes' numbers, 0, 1, ..., from what the loss expects."""
        return np.asarray(targets > 0.0 if len(self.classes_) == 2 else targets, dtype=np.intp)

    def _counts(self, targets: Array) -> Indices:
        return np.bincount(self._codes(targets), minlength=len(self.classes_))

    def _weighed(self, targets: Array, weights: Array | None) -> Array | None:
        """Return what each sample counts, its own weight times that of its class, None where all count alike."""
        if self.class_weight is None:
            return weights
        codes, given, classes = self._codes(targets), self.class_weight, self.classes_.tolist()
        if isinstance(given, str) and given == "balanced":
            of_class = compute_class_weight(given, classes=self.classes_, y=self.classes_[codes], sample_weight=weights)
        elif isinstance(given, Mapping) and all(is_number(w) and w >= 0.0 for w in given.values()):
            others = [name for name in given if name not in classes]
            if others and not all(name in given for name in classes):
                raise ProblemError(
                    f"class_weight names {others[0]!r:.80}, but the classes are {listed([*map(repr, classes)])}."
                )
            of_class = np.array([given.get(name, 1.0) for name in classes])
        else:
            raise ProblemError(
                f'class_weight is None, "balanced", or a number from 0 upwards for each class, not {given!r:.80}.'
            )
        each: Array = of_class[codes]
        return each if weights is None else each * weights

    def _posed_loss(self, C: float) -> Loss:
        """Return the loss for as many classes as there are, or say which could follow."""
        count = len(self.classes_)
        loss = self._loss("hinge" if count == 2 else "multiclass-hinge", C)
        if loss.one_class:
            raise ProblemError(f'The {loss.label} loss tells no classes apart: leave loss="auto", or take MKLOneClass.')
        if loss.multiclass and count == 2:
            raise ProblemError(f"There are two classes, but the {loss.label} loss is for more: choose the hinge loss.")
        if not loss.multiclass and count > 2:
            fitting = " or ".join(f'"{name}"' for name, family in loss_families().items() if family.multiclass)
            raise ProblemError(
                f"Only binary classification is supported by the {loss.label} loss, but there are {count} classes:"
                f" choose loss={fitting}, or wrap the estimator in scikit-learn's OneVsRestClassifier."
            )
        return loss

    def decision_function(self, X: Any) -> Array:
        """Return the learned function at points `X`: (n,), positive for the second class, or (n, c)."""
        return self._decide(X)

    def predict(self, X: Any) -> Any:
        """Return the classes of points `X`, (n,)."""
        decisions = self._decide(X)
        return self.classes_[self._codes(self._posed_loss(1.0).classes(decisions))]

    @available_if(_models_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class at points `X`, (n, c): of the logistic loss, or calibrated ones."""
        decisions = self._decide(X)
        if not self._models:
            return Calibration(len(self.classes_), self.calibration_)(decisions)
        second = self._loss("hinge", 1.0).probabilities(decisions)
        return np.column_stack([1.0 - second, second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(MklvizError):  # a loss that there is not is refused by fit
            tags.classifier_tags.multi_class = self.loss == "auto" or self._loss("hinge", 1.0).multiclass
        return tags


# Probabilities of classes from decision values: a sigmoid for each pair of classes, and the pairs coupled.
#
# The sigmoid of a pair turns the difference of their decision values into the probability of the one where it is one of
# the two. The coupled probabilities p minimize ``sum_i sum_j (r_ji p_i - r_ij p_j)^2``, a linear system with sum p = 1.
#
# References: Lin, Lin, Weng, A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68,
# 2007; Wu, Lin, Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 5, 2004, (21).

STEPS, SMALL, HALVINGS = 100, 1e-10, 30  # of Newton's method; its gradient per unit of weight; of one step
LEAST = 1e-7  # probability of a class among two: none is certain, so that the coupling has one solution


@dataclass(frozen=True)
class Calibration:
    """A sigmoid for each pair of classes i < j, ``1 / (1 + exp(-(a f + b)))`` for the later one."""

    classes: int
    lines: Array  # (pairs, 2): a and b

    @classmethod
    def of(cls, decisions: Array, codes: Indices, weights: Array) -> Calibration:
        """Fit it to decision values (n,) or (n, c) of samples that were not learned from, their classes and weights."""
        count = 2 if decisions.ndim == 1 else decisions.shape[1]
        lines = []
        for i, j in combinations(range(count), 2):
            pair = (codes == i) | (codes == j)
            lines.append(sigmoid(_difference(decisions, i, j)[pair], codes[pair] == j, weights[pair]))
        return cls(count, np.array(lines))

    def __call__(self, decisions: Array) -> Array:
        """Return the probability of each class at decision values (n,) or (n, c): (n, c)."""
        among = np.zeros((len(decisions), self.classes, self.classes))
        for (i, j), (a, b) in zip(combinations(range(self.classes), 2), self.lines, strict=True):
            among[:, j, i] = np.clip(expit(a * _difference(decisions, i, j) + b), LEAST, 1.0 - LEAST)
            among[:, i, j] = 1.0 - among[:, j, i]
        return coupled(among)


def _difference(decisions: Array, i: int, j: int) -> Array:
    """Return how far the decision is for class j rather than i."""
    return decisions if decisions.ndim == 1 else np.asarray(decisions[:, j] - decisions[:, i])


def sigmoid(decisions: Array, positive: NDArray[np.bool_], weights: Array) -> tuple[float, float]:
    """Return a and b of the most likely ``1 / (1 + exp(-(a f + b)))``, with Platt's targets, which are never certain.

    `decisions`, `positive`, `weights` (n,): f, whether the sample is of the class, and how often it counts.
    """
    yes, no = float(weights[positive].sum()), float(weights[~positive].sum())
    targets = np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    size = float(np.abs(decisions).max()) or 1.0
    design = np.column_stack([decisions / size, np.ones(len(decisions))])

    def cost(line: Array) -> float:
        z = design @ line
        return float(weights @ (np.logaddexp(0.0, z) - targets * z))

    line = np.array([0.0, np.log((yes + 1.0) / (no + 1.0))])
    for _ in range(STEPS):
        p = expit(design @ line)
        slope = design.T @ (weights * (p - targets))
        if np.abs(slope).max() <= SMALL * (yes + no):
            break
        curvature = (design * (weights * p * (1.0 - p))[:, None]).T @ design
        step = np.linalg.solve(curvature + SMALL * np.eye(2), slope)
        here = cost(line)
        length = next(
            (t for t in 0.5 ** np.arange(HALVINGS) if cost(line - t * step) <= here - 1e-4 * t * slope @ step), 0.0
        )
        if not length:
            break
        line = line - length * step
    return float(line[0]) / size, float(line[1])


def coupled(among: Array) -> Array:
    """Return probabilities (n, c) from those among two, ``among[:, i, j]`` of class i among i and j, (n, c, c)."""
    n, c, _ = among.shape
    among = among * (1.0 - np.eye(c))
    turned = among.transpose(0, 2, 1)
    system, right = np.zeros((n, c + 1, c + 1)), np.zeros((n, c + 1, 1))
    system[:, :c, :c] = -turned * among
    system[:, range(c), range(c)] = np.square(turned).sum(axis=2)
    system[:, :c, c] = system[:, c, :c] = right[:, c, 0] = 1.0
    solved = np.maximum(np.linalg.solve(system, right)[:, :c, 0], 0.0)
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))
