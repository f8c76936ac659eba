"""From the labels in a file to codes: two labels are -1 and +1, more are 0, 1, ..., many numbers are targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import MOST_NAME

from ._cells import in_quotes, short_number
from ._dataset import Array, DataError, Dataset, Task

MOST_CLASSES = 20  # more different whole numbers than this are classes only where they count from 0 or 1, each often
OFTEN = 5  # samples


class Labels(NamedTuple):
    """Coded labels, the task they pose and the label texts by code."""

    y: Array
    task: Task
    classes: tuple[str, ...]
    note: str

    def dataset(self, name: str, X: Array, **more: Any) -> Dataset:
        """Return the data set that the file `name` holds."""
        beside = ("Kernels are learned with, and the features beside them are not.",) if X.size else ()
        notes = (self.note, *beside) if "grams" in more else (self.note,)
        more = {**more, "task": self.task, "classes": self.classes, "notes": notes}
        return Dataset(name, X, self.y, source=f"file {name}", **more)


def one_class(inverse: NDArray[np.intp]) -> Labels:
    """Return labels that are all +1, of samples without labels."""
    return Labels(np.ones(len(inverse)), "binary", ("-1", "1"), "No column is predicted: all rows are of one class.")


def most_classes(samples: int) -> int:
    """Return how many different labels of some samples may be classes."""
    return max(MOST_CLASSES, samples // 2)


def code_labels(
    texts: Sequence[str], where: str, inverse: NDArray[np.intp] | None = None, task: str | None = None
) -> Labels:
    """Code labels given as texts; `where` names their column or array in messages.

    Numbers are sorted as numbers, other texts alphabetically. Numbers that are not whole, or have more than 20
    different values, are targets of a regression, unless they number classes; `task`, "classes" or "numbers", decides
    it. With `inverse`, sample i has the label ``texts[inverse[i]]``.
    """
    rows = np.arange(len(texts)) if inverse is None else inverse.ravel()
    numbers = _numbers(texts)
    if task == "numbers" and numbers is None:
        wrong = next(text for text in texts if _numbers([text]) is None)
        raise DataError(f"{where} holds {in_quotes(wrong)}, which is no number: take its task as classes.")
    if numbers is not None and (task == "numbers" or (task is None and _is_target(numbers, rows))):
        whole = all(value.is_integer() for value in numbers)
        many = "" if task else f" are {'many different numbers' if whole else 'not all whole numbers'}, so they"
        note = f"The labels in {where}{many} are read as regression targets."
        return Labels(np.array(numbers)[rows], "regression", (), note)
    keys: Sequence[float | str] = texts if numbers is None else numbers
    first_text = dict(reversed(list(zip(keys, texts, strict=True))))
    order = sorted(first_text, key=lambda key: (isinstance(key, str), key))
    _check_classes([first_text[key] for key in order], len(rows), where)
    code = {key: float(k) for k, key in enumerate(order)}
    y = np.array([code[key] for key in keys])[rows]
    classes = tuple(first_text[key] if numbers is None else short_number(first_text[key]) for key in order)
    if len(classes) == 2:
        note = f"Label {in_quotes(classes[0])} is -1 and label {in_quotes(classes[1])} is +1."
        return Labels(2 * y - 1, "binary", classes, note)
    numbered = numbers is not None and len(classes) > MOST_CLASSES and task is None
    why = ", which they number; task=numbers reads them as numbers" if numbered else ""
    return Labels(y, "multiclass", classes, f"The labels in {where} are read as {len(classes)} classes{why}.")


def _check_classes(classes: Sequence[str], samples: int, where: str) -> None:
    """Refuse labels that are no classes."""
    longest = max(classes, key=len)
    if len(longest) > MOST_NAME:
        raise DataError(
            f"{where} holds a label of {len(longest):,} letters, which looks like a text;"
            f" a class has at most {MOST_NAME}."
        )
    if len(classes) < 2:
        raise DataError(
            f"Every label in {where} is {in_quotes(classes[0])}; a classifier needs at least two classes. "
            "If the labels are in another column, choose that as the target; to learn what samples of one class have in"
            ' common, choose "nothing" in a table, or take mv.MKLOneClass.'
        )
    if len(classes) > most_classes(samples):
        raise DataError(
            f"{where} holds {len(classes)} different labels in {samples} rows, which looks like a name or a text; "
            "choose the column of labels as the target."
        )


def _numbers(texts: Sequence[str]) -> list[float] | None:
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _is_target(values: Sequence[float], rows: NDArray[np.intp]) -> bool:
    """Whether numbers are measured or counted: not whole, or many that do not go 0, 1, 2 or 1, 2, 3, each often."""
    different = set(values)
    if len(different) <= 2 or any(not value.is_integer() for value in different):
        return len(different) > 2
    numbered = min(different) in (0, 1) and max(different) - min(different) == len(different) - 1
    return len(different) > MOST_CLASSES and not (numbered and np.bincount(rows).min() >= OFTEN)
