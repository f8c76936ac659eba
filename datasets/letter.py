"""Letter: which capital letter is drawn in a distorted image, told by 16 measures of its shape?

Every column is a whole number from 0 to 15: edges of the box around the letter, moments, counts of edges. All
papers on large sets of kernels need two classes of it; here they are the two halves of the alphabet.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._dataset import Dataset
from ._table import KEEL, table_info

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

INFO = table_info(
    "letter",
    "Letter Recognition",
    (20000, 16),
    ("N to Z", "A to M"),
    by="Slate, D. (1991)",
    doi="10.24432/C5ZP40",
    sha256="a36e271dce68bd0c1f47615cbdf19636c038a01baca9358ad0d50ca55c0c4a1d",
    source=KEEL,
    notes=(
        "The letters A to M are set against N to Z, so that there are two classes; load_dataset('letter', halves=False)"
        " tells all 26 apart.",
    ),
)


def load(halves: bool = True) -> Dataset:
    """Return the table, with two classes, or with 26 unless `halves`."""
    letters = replace(INFO, task="multiclass", classes=LETTERS, notes=()).load()
    if not halves:
        return letters
    y = np.where(letters.y < len(LETTERS) // 2, 1.0, -1.0)
    return replace(letters, y=y, task=INFO.task, classes=INFO.classes, notes=INFO.notes)
