"""What generated data sets share: their card, and the data set itself from X and y."""

from __future__ import annotations

import numpy as np

from ._dataset import DataError
from ._info import DatasetInfo

LICENCE = "none needed: drawn by mklviz"


def generated_info(
    name: str, title: str, shape: tuple[int, int], classes: tuple[str, ...], source: str, notes: tuple[str, ...] = ()
) -> DatasetInfo:
    """Card of a generated data set; `shape` is (n, d) with default options, no `classes` mean regression."""
    return DatasetInfo(
        name=name,
        title=title,
        n_samples=shape[0],
        n_features=shape[1],
        task="binary" if len(classes) == 2 else "multiclass" if classes else "regression",
        classes=classes,
        kind="generated",
        source=source,
        licence=LICENCE,
        notes=notes,
    )


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
