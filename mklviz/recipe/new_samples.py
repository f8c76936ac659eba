"""A table of new samples: its columns as the features that a model was trained on, and the table with predictions.

Features are called as `read_dataset` calls them: by their column, or COLUMN=WORD for a word of a column of words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.datasets import DataError, Dataset, read_dataset_bytes
from mklviz.numbers import counted
from mklviz.problem import Loss
from mklviz.quoting import listed, one_line, quote
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recipe import Recipe
from mklviz.typing import Array

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Columns", "Predictions", "predicted_by", "read_table"]

MOST_WRONG = 5  # cells that notes speak of


@dataclass(frozen=True)
class Columns:
    """What a model knows of the columns of its table.

    `names`: its features; `fill`: what stands for each of them where a value is missing; `target`: the column that is
    predicted.
    """

    names: tuple[str, ...]
    fill: Array
    target: str

    @classmethod
    def of(cls, data: Dataset) -> Columns:
        """Return what is to be known of a data set: missing values are filled in by medians."""
        if not data.n_features:
            raise DataError(
                f"{data.title} holds kernels without features, of which a table of new samples has none: in Python,"
                ' MKLClassifier("precomputed") predicts from the kernel values of new samples.'
            )
        target = None if data.table is None else data.table.options.target
        return cls(data.feature_names, np.median(data.X, axis=0), target or "target")

    def read(self, table: pd.DataFrame) -> tuple[Array, list[str]]:
        """Return the features of a table's rows, and notes on what is missing there; lacking columns are refused."""
        placed = [self._place(name, table) for name in self.names]
        lacking = dict.fromkeys(name for name, place in zip(self.names, placed, strict=True) if place is None)
        if lacking:
            have = listed([str(name) for name in table.columns])
            raise DataError(f"The model needs {_named('column', lacking)}, and the table has the columns {have}.")
        notes: list[str] = []
        X = np.column_stack([_values(table, *place, notes) for place in placed if place is not None])
        gaps = np.isnan(X)
        if gaps.any():
            notes.append(f"{counted(int(gaps.sum()), 'missing value')} filled in by the medians of the training rows.")
        return np.where(gaps, self.fill, X), notes

    def _place(self, name: str, table: pd.DataFrame) -> tuple[str, str | None] | None:
        """Return the column of a feature, and its word where it has one."""
        if name in table.columns:
            return name, None
        ends = [k for k, sign in enumerate(name) if sign == "=" and name[:k] in table.columns]
        return (name[: ends[-1]], name[ends[-1] + 1 :]) if ends else None


def _named(noun: str, names: Sequence[str] | dict[str, None]) -> str:
    return f"the {noun}{'s' * (len(names) > 1)} {listed([quote(name) for name in names])}"


def _values(table: pd.DataFrame, column: str, word: str | None, notes: list[str]) -> Array:
    """Return the numbers of a column, or where a word stands in it; nan where a value is missing."""
    texts = table[column].map(_text)
    if word is not None:
        return np.where(texts == "", np.nan, (texts == word).astype(np.float64))
    values = np.array([_number(text) for text in texts])
    wrong = np.flatnonzero(np.isnan(values) & (texts != ""))
    if len(wrong):
        seen = listed([quote(text) for text in dict.fromkeys(texts.iloc[wrong[:MOST_WRONG]])])
        notes.append(f"Column {quote(column)} holds {seen} in {counted(len(wrong), 'row')}, which is no number.")
    return values


def _text(value: Any) -> str:
    text = "" if value is None or value != value else str(value).strip()
    return "" if text.lower() in ("", "?", "na", "n/a", "nan", "null", "none", "<na>") else text


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


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
    rest: str = ""  # the name of all classes but one, where that one is told from them

    def beside(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with what was predicted in columns of its own."""
        shares = {f"probability of {name}": _short(shares) for name, shares in self.probabilities.items()}
        values = np.asarray(self.values)
        more = {f"predicted {self.target}": _short(values) if values.dtype.kind == "f" else values, **shares}
        free = {name if name not in table.columns else f"{name} by mklviz": values for name, values in more.items()}
        return table.assign(**free)

    def score(self, table: pd.DataFrame) -> str:
        """Say how right the predictions are where the table has the target; "" where it has not."""
        if self.target not in table.columns:
            return ""
        truth = table[self.target].map(_text).to_numpy()
        told = np.flatnonzero(truth != "")
        values = np.asarray(self.values)[told]
        if not len(told):
            return ""
        if values.dtype.kind != "f":
            named = {*values.tolist()} - {self.rest}
            truth = np.array([self.rest if self.rest and text not in named else text for text in truth])
            right = sum(_alike(one, other) for one, other in zip(truth[told], values, strict=True))
            return f"accuracy {right / len(told):.4f}: {right:,} of {counted(len(told), 'row')} right"
        numbers = np.array([_number(text) for text in truth[told]])
        squares, spread = float(((numbers - values) ** 2).sum()), float(((numbers - numbers.mean()) ** 2).sum())
        return f"R² {1.0 - squares / spread:.4f} on {counted(len(told), 'row')}" if spread > 0.0 else ""


def _short(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _alike(one: str, other: Any) -> bool:
    """Return whether two texts name the same class: 1 and 1.0 do."""
    return one == str(other) or _number(one) == _number(str(other))


def predicted_by(recipe: Recipe, prepared: Prepared, iterate: Iterate, table: pd.DataFrame) -> Predictions:
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


def read_table(content: bytes, name: str, columns: Columns) -> pd.DataFrame:
    """Return the rows of a file as texts, under the names of their columns; raise `DataError` where it is no table."""
    import pandas as pd

    suffix, read = PurePath(name).suffix.lower(), BytesIO(content)
    header = None if any(re.fullmatch(r"column \d+", each) for each in columns.names) else 0
    try:
        if suffix in (".svm", ".libsvm", ".svmlight", ".npz"):
            data = read_dataset_bytes(content, name)
            table = pd.DataFrame(data.X, columns=list(data.feature_names))
            for each in columns.names:
                if each not in table.columns and suffix != ".npz":
                    table[each] = 0.0  # LIBSVM leaves zeros out
            classes = dict(zip((-1.0, 1.0) if data.task == "binary" else itertools.count(), data.classes, strict=False))
            return table.assign(**{columns.target: [classes.get(y, y) for y in data.y]})
        if suffix in (".xlsx", ".xlsm"):
            table = pd.read_excel(read, header=header, dtype=str, keep_default_na=False)
        elif suffix == ".parquet":
            table = pd.read_parquet(read)
        else:
            table = _read_text(content, header)
    except (ValueError, ImportError, OSError) as error:
        raise DataError(f"{name} cannot be read as a table: {one_line(str(error))}") from None
    if header is None:
        return table.set_axis([f"column {j + 1}" for j in range(table.shape[1])], axis=1)
    return table.set_axis([str(each).strip() for each in table.columns], axis=1)


def _read_text(content: bytes, header: int | None) -> pd.DataFrame:
    import pandas as pd

    for encoding in ("utf-8-sig", "cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    options: dict[str, Any] = {"header": header, "dtype": str, "keep_default_na": False, "skipinitialspace": True}
    return pd.read_csv(StringIO(text), sep=None, engine="python", **options)
