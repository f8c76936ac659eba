"""Adult: does a person earn more than 50,000 dollars a year (+1)? The American census of 1994, in Platt's coding.

14 answers of 32,561 people become 123 columns of zeros and ones, one for each answer there is: numbers such as the age
are cut into fifths, and an answer that is not known leaves all its columns at zero. The table holds the places of the
ones, an answer a column, counted from 1. Papers on large problems call it Adult-9; their Adult-1 to Adult-8 are subsets
of it with 1,605, 2,265, 3,185, 4,781, 6,414, 11,220, 16,100 and 22,696 people.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._dataset import Dataset
from ._info import at_least, tables

ANSWERS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)  # that there are to each question

INFO = tables()["adult"]


def load(n: int = INFO.n_samples) -> Dataset:
    """Return the first `n` people."""
    at_least(20, n=n)
    coded = INFO.load()
    places, names = coded.X[:n].astype(int), coded.feature_names
    columns = [places[:, [j]] == np.arange(1, count + 1) for j, count in enumerate(ANSWERS)]
    labelled = [f"{name}_{k + 1}" for name, count in zip(names, ANSWERS, strict=True) for k in range(count)]
    X = np.hstack(columns).astype(np.float64)
    return replace(coded, X=X, y=coded.y[:n], feature_names=tuple(labelled))
