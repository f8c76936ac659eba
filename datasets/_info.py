"""A data set in short, without loading it: the line in a menu, a table or a citation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._dataset import Array, DataError, Dataset, Task

Kind = Literal["table", "generated", "fetched"]
LICENCE = "none needed: drawn by mklviz"


@dataclass(frozen=True)
class DatasetInfo:
    """A data set's card.

    `name`, `title`: the word `load_dataset` knows it by, and a readable name; `n_samples`, `n_features`: shape of X;
    for generated data, the shape with default options; `classes`: label texts by code: for two classes the first is -1,
    the second +1; `kind`: measured and shipped as a table, drawn from a formula, or measured and fetched from the
    network when loaded; `notes`: sentences worth reading before trusting a result; `sha256`: checksum of the table;
    empty for generated data.
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    task: Task
    classes: tuple[str, ...]
    kind: Kind
    source: str
    licence: str
    doi: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features, (n, d)."""
        return self.n_samples, self.n_features

    def dataset(self, X: Array, y: NDArray[Any], notes: tuple[str, ...] = (), **more: Any) -> Dataset:
        """Return the data set that the card is of."""
        shared = ("name", "title", "task", "classes", "source", "licence", "doi", "citation")
        return Dataset(X=X, y=y, notes=self.notes + notes, **{key: getattr(self, key) for key in shared}, **more)


def task_of(classes: tuple[str, ...]) -> Task:
    """Return what a data set with these classes poses; none mean numbers."""
    return "binary" if len(classes) == 2 else "multiclass" if classes else "regression"


# -- generated data


def generated_info(
    name: str, title: str, shape: tuple[int, int], classes: tuple[str, ...], source: str, notes: tuple[str, ...] = ()
) -> DatasetInfo:
    """Card of a generated data set; `shape` is (n, d) with default options, no `classes` mean regression."""
    task = task_of(classes)
    return DatasetInfo(name, title, *shape, task, classes, "generated", source, LICENCE, notes=notes)


def at_least(least: int, **counts: int) -> None:
    """Raise `DataError` unless every count is a whole number of at least `least`."""
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise DataError(f"{name} must be a whole number of at least {least}, not {value!r:.80}.")


def not_negative(**amounts: float) -> None:
    """Raise `DataError` unless every amount is a finite number of at least 0."""
    for name, value in amounts.items():
        if not isinstance(value, (int, float)) or not 0 <= value < np.inf:
            raise DataError(f"{name} must be a number of at least 0, not {value!r:.80}.")
