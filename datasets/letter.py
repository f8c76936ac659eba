"""Letter: which capital letter is drawn in a distorted image, told by 16 measures of its shape?

Every column is a whole number from 0 to 15: edges of the box around the letter, moments, counts of edges. All
papers on large sets of kernels need two classes of it; here they are the two halves of the alphabet.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._dataset import Dataset
from ._info import tables

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

INFO = tables()["letter"]


def load(halves: bool = True) -> Dataset:
    """Return the table, with two classes, or with 26 unless `halves`."""
    letters = replace(INFO, task="multiclass", classes=LETTERS, notes=()).load()
    if not halves:
        return letters
    y = np.where(letters.y < len(LETTERS) // 2, 1.0, -1.0)
    return replace(letters, y=y, task=INFO.task, classes=INFO.classes, notes=INFO.notes)
