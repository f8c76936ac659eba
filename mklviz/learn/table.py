"""A model of a table: from its columns to predictions, in one file that skops reads without running code in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklviz.datasets import Dataset, NewTable, TableOptions
from mklviz.errors import MissingPackage, MklvizError
from mklviz.learn._banks import AUTO
from mklviz.learn.classifier import MKLClassifier
from mklviz.learn.one_class import MKLOneClass
from mklviz.learn.regressor import MKLRegressor
from mklviz.quoting import listed
from mklviz.recipe.choices import ProblemChoice
from mklviz.recipe.new_samples import Columns, Predictions
from mklviz.recipe.prepared import refuse
from mklviz.recipe.words import read_loss

_OWN = (MKLClassifier, MKLRegressor, MKLOneClass)


class TableFeatures(TransformerMixin, BaseEstimator):
    """The features of a table's rows, as `read_dataset` makes them, of a DataFrame or ready in an array (`Columns`)."""

    def __init__(self, names: Any = (), fill: Any = (), target: str = "target", written: Any = ()) -> None:
        self.names, self.fill, self.target, self.written = names, fill, target, written

    def fit(self, X: Any, y: Any = None) -> TableFeatures:
        """Learn nothing."""
        self.n_features_in_ = len(self.names)
        return self

    @property
    def columns(self) -> Columns:
        """What is known of the table's columns."""
        written = dict(self.written)
        spelling, _ = written.pop("spelling", {}), written.pop("sides", ())
        return Columns(tuple(self.names), np.asarray(self.fill), self.target, TableOptions.checked(**written), spelling)

    def transform(self, X: Any) -> Any:
        """Return the features, a DataFrame (n, d) by whose names kernels can be said to look at some of them."""
        import pandas as pd

        columns = self.columns
        if hasattr(X, "columns"):
            X = columns.read(NewTable.of(X, options=columns.options, spelling=columns.spelling))[0]
        return pd.DataFrame(np.asarray(X, dtype=np.float64), columns=list(self.names))


def model_of(data: Dataset, standardize: bool = True, **options: Any) -> Any:
    """Return the pipeline fitted to a data set: `MKLClassifier` or, for numbers, `MKLRegressor`, with options.

    With the one-class loss it is `MKLOneClass`, of the samples of class +1 as in a race.
    """
    usual = "squared" if data.task == "regression" else "hinge"
    loss = read_loss(usual if options.get("loss", AUTO) == AUTO else options["loss"])
    ProblemChoice(loss, class_weight=options.get("class_weight"))  # which refuses weights of classes that are none
    if data.absent is not None:
        raise MklvizError(
            "A model of columns has no kernels whose mean could stand for those of a table that lacks a sample: leave"
            ' the samples out, missing_view="leave-out" (--missing-view leave-out), or solve a recipe, which puts the'
            " means there."
        )
    columns = Columns.of(data)
    read = columns.options
    written = {"na": [*read.na], "decimal": read.decimal, "thousands": read.thousands, "spelling": {**columns.spelling}}
    if loss.one_class:
        refuse(data.title, data.task, loss)
        written["sides"] = [*data.classes]
    elif data.table is not None and data.table.unlabelled:
        raise MklvizError(f"{data.title} has no column to predict: choose the one-class loss, --loss one-class.")
    features = TableFeatures(list(columns.names), columns.fill, columns.target, written)
    steps = [features, StandardScaler().set_output(transform="pandas")] if standardize else [features]
    if loss.one_class:
        return make_pipeline(*steps, MKLOneClass(**options)).fit(data.X[data.y > 0.0])
    if data.task == "regression":
        model: Any = make_pipeline(*steps, MKLRegressor(**options))
        if standardize:
            model = TransformedTargetRegressor(model, transformer=StandardScaler())
        return model.fit(data.X, data.y)
    return make_pipeline(*steps, MKLClassifier(**options)).fit(data.X, labels_of(data))


def labels_of(data: Dataset) -> NDArray[np.str_]:
    """Return the class of each sample by its name."""
    return np.array(data.classes)[(data.y > 0.0 if data.task == "binary" else data.y).astype(np.intp)]


def _steps(model: Any) -> Any:
    return getattr(model, "regressor_", model)


def estimator_of(model: Any) -> MKLClassifier | MKLRegressor | MKLOneClass:
    """Return the estimator at the end of a model."""
    return _steps(model)[-1]


def columns_of(model: Any) -> Columns:
    """Return what a model knows of the columns of its table."""
    return _steps(model)[0].columns


def predicted(model: Any, table: NewTable) -> Predictions:
    """Return what a model says of the rows of a table."""
    columns, estimator = columns_of(model), estimator_of(model)
    X, notes = columns.read(table)
    shares = {}
    if hasattr(estimator, "predict_proba"):
        shares = dict(zip(map(str, estimator.classes_), model.predict_proba(X).T, strict=True))
    values = model.predict(X)
    if isinstance(estimator, MKLOneClass):
        values = np.where(values > 0, *_steps(model)[0].written["sides"][::-1])
    return Predictions(columns.target, values, shares, notes)


def model_bytes(model: Any) -> bytes:
    """Return the file of a model, which holds no code."""
    return bytes(_skops().dumps(model))


def load_model(content: bytes, name: str) -> Any:
    """Return the model in a file; what others than scikit-learn and mklviz made is refused and never run."""
    io, trusted = _skops(), [f"{kind.__module__}.{kind.__qualname__}" for kind in (*_OWN, TableFeatures)]
    try:
        unknown = sorted({*io.get_untrusted_types(data=content)} - {*trusted})
        if not unknown:
            model = io.loads(content, trusted=trusted)
            columns_of(model)
            return model
    except Exception:  # whatever a damaged file leads to
        raise MklvizError(f"{name} is no model that mklviz fit wrote, or it is damaged.") from None
    raise MklvizError(f"{name} holds {listed(unknown)}, which mklviz does not open: it opens what mklviz fit wrote.")


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError:
        raise MissingPackage(
            "Models are kept by skops, which is not installed: pip install skops, or install mklviz with its extra, as"
            ' in pip install ".[learn]".'
        ) from None
    return skops.io
