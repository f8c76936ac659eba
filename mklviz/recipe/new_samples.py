"""A table of new samples: its columns as the features that a model was trained on, and the table with predictions.

Features are called as `read_dataset` calls them: by their column, or COLUMN=WORD for a word of a column of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.datasets import DataError, Dataset, NewTable, TableOptions
from mklviz.numbers import counted
from mklviz.problem import Loss
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recipe import Recipe
from mklviz.typing import Array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Columns:
    """What a model knows of the columns of its table.

    `names`: its features; `fill`: what stands for each of them where a value is missing; `target`: the column that is
    predicted; `options`: how cells are read, as far as a person chose; `spelling`: see `TableSummary`.
    """

    names: tuple[str, ...]
    fill: Array
    target: str
    options: TableOptions = field(default_factory=TableOptions)
    spelling: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Dataset) -> Columns:
        """Return what is to be known of a data set: missing values are filled in by medians."""
        if not data.n_features:
            raise DataError(
                f"{data.title} holds kernels without features, of which a table of new samples has none: in Python,"
                ' MKLClassifier("precomputed") predicts from the kernel values of new samples.'
            )
        options = TableOptions() if data.table is None else data.table.options
        written = TableOptions(na=options.na, decimal=options.decimal, thousands=options.thousands)
        spelling = {} if data.table is None else data.table.spelling
        unlabelled = data.table is not None and data.table.unlabelled
        target = "inlier" if unlabelled else options.target or "target"
        return cls(data.feature_names, np.median(data.X, axis=0), target, written, spelling)

    def table(self, content: bytes, filename: str) -> NewTable:
        """Return the table in the bytes of a file."""
        return NewTable.read(content, filename, self.names, self.target, self.options, self.spelling)

    def read(self, table: NewTable) -> tuple[Array, list[str]]:
        """Return the features of a table's rows, and notes on what is missing there; lacking columns are refused."""
        X, notes = table.features(self.names)
        gaps = int(np.isnan(X).sum())
        if gaps:
            values = "1 missing value is" if gaps == 1 else f"{gaps:,} missing values are"
            notes.append(f"{values} filled in by the medians of the training rows.")
        return np.where(np.isnan(X), self.fill, X), notes


@dataclass(frozen=True)
class Predictions:
    """What a model says of the rows of a table.

    `values`: classes as texts, or numbers; `probabilities`: of each class, where the loss models them; `target`: what
    is predicted; `notes`: on missing values.
    """

    target: str
    values: Sequence[Any] | Array
    probabilities: dict[str, Array] = field(default_factory=dict)
    notes: Sequence[str] = ()
    rest: str = ""  # the name of all classes but one, where that one is separated from them

    def beside(self, table: NewTable) -> pd.DataFrame:
        """Return the table with what was predicted in columns of its own."""
        shares = {f"probability of {name}": _short(shares) for name, shares in self.probabilities.items()}
        values = np.asarray(self.values)
        more = {f"predicted {self.target}": _short(values) if values.dtype.kind == "f" else values, **shares}
        free = {name if name not in table.columns else f"{name} by mklviz": values for name, values in more.items()}
        return table.frame.assign(**free)

    def score(self, table: NewTable) -> str:
        """Say how right the predictions are where the table has the target; "" where it has not."""
        texts = table.texts(self.target)
        known = [k for k, text in enumerate(texts) if text]
        if not known:
            return ""
        values = np.asarray(self.values)
        if values.dtype.kind != "f":
            named = {*values.tolist()} - {self.rest}
            truth = [text if text in named else self.rest or text for text in texts]
            right = sum(_alike(truth[k], values[k]) for k in known)
            return f"accuracy {100 * right / len(known):.1f} %: {right:,} of {counted(len(known), 'row')} right"
        numbers = table.features([self.target])[0][:, 0]
        known = np.flatnonzero(np.isfinite(numbers)).tolist()
        numbers, values, rows = numbers[known], values[known], counted(len(known), "row")
        spread = float(((numbers - numbers.mean()) ** 2).sum()) if len(known) else 0.0
        return f"R² {1.0 - float(((numbers - values) ** 2).sum()) / spread:.4f} on {rows}" if spread > 0.0 else ""


def _short(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _alike(one: str, other: str) -> bool:
    """Return whether two texts name the same class: 1 and 1.0 do."""
    try:
        return one == other or float(one) == float(other)
    except ValueError:
        return False


def predicted_by(recipe: Recipe, prepared: Prepared, iterate: Iterate, table: NewTable) -> Predictions:
    """Return what the solution of a race says of a table's rows, or raise `DataError` where its columns do not fit."""
    train = prepared.train
    if train.grams is not None:
        Columns.of(train)
    whole, split = recipe.load(), recipe.split
    raw, _ = whole.split(train=split.train, seed=split.seed, standardize=False)
    kept = [raw.feature_names.index(name) for name in train.feature_names]
    X, notes = Columns.of(raw).read(table)
    X = X[:, kept]
    if split.standardize:
        X = (X - raw.X[:, kept].mean(axis=0)) / raw.X[:, kept].std(axis=0)
    predictor = prepared.problem.predictor(iterate.weights, iterate.dual)
    target = Columns.of(whole).target
    if train.task == "regression":
        values = predictor.decision_values(X)
        if split.standardize:
            values = values * (float(raw.y.std()) or 1.0) + float(raw.y.mean())
        return Predictions(target, values, notes=notes)
    codes = predictor.classes(X)
    places = (codes > 0.0 if train.task == "binary" else codes).astype(np.intp)
    shares: dict[str, Array] = {}
    if type(prepared.problem.loss).probabilities is not Loss.probabilities:
        second = predictor.probabilities(X)
        shares = dict(zip(train.classes, (1.0 - second, second), strict=True))
    rest = train.classes[0] if recipe.data.positive is not None else ""
    return Predictions(target, [train.classes[place] for place in places], shares, notes, rest)
