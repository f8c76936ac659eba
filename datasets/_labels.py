"""From the labels in a file to codes: two labels are -1 and +1, more are 0, 1, ..., many numbers are targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._dataset import Array, DataError, Dataset, Task

MOST_CLASSES = 20  # more different whole numbers than this are read as regression targets


class Labels(NamedTuple):
    """Coded labels, the task they pose and the label texts by code."""

    y: Array
    task: Task
    classes: tuple[str, ...]
    note: str

    def dataset(
        self,
        name: str,
        X: Array,
        feature_names: tuple[str, ...] = (),
        grams: Array | None = None,
        kernel_names: tuple[str, ...] = (),
    ) -> Dataset:
        """Return the data set that the file `name` holds."""
        return Dataset(
            name=name,
            X=X,
            y=self.y,
            task=self.task,
            classes=self.classes,
            feature_names=feature_names,
            source=f"file {name}",
            notes=(self.note,),
            grams=grams,
            kernel_names=kernel_names,
        )


def code_labels(texts: Sequence[str], where: str) -> Labels:
    """Code labels given as texts; `where` names their column or array in messages.

    Numbers are sorted as numbers, other texts alphabetically. Numbers that are not whole, or have more than 20
    different values, are targets of a regression.
    """
    numbers = _numbers(texts)
    if numbers is not None and len(set(numbers)) > 2 and _is_target(numbers):
        note = f"The labels in {where} are many different numbers, so they are read as regression targets."
        return Labels(np.array(numbers), "regression", (), note)
    keys: Sequence[float | str] = texts if numbers is None else numbers
    first_text = dict(reversed(list(zip(keys, texts, strict=True))))
    order = sorted(first_text, key=lambda key: (isinstance(key, str), key))
    if len(order) < 2:
        raise DataError(
            f"Every label in {where} is {texts[0]!r}; a classifier needs at least two classes. "
            "If the labels are in another column, name it as the target."
        )
    if len(order) > max(MOST_CLASSES, len(texts) // 2):
        raise DataError(
            f"{where} holds {len(order)} different labels in {len(texts)} rows, which looks like a name or a text; "
            "name the column of labels as the target."
        )
    code = {key: float(k) for k, key in enumerate(order)}
    y = np.array([code[key] for key in keys])
    classes = tuple(first_text[key] for key in order)
    if len(classes) == 2:
        return Labels(2 * y - 1, "binary", classes, f"Label {classes[0]!r} is -1 and label {classes[1]!r} is +1.")
    return Labels(y, "multiclass", classes, f"The labels in {where} are read as {len(classes)} classes.")


def _numbers(texts: Sequence[str]) -> list[float] | None:
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _is_target(values: Sequence[float]) -> bool:
    return len(set(values)) > MOST_CLASSES or any(not value.is_integer() for value in values)
