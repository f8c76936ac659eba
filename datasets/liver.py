"""Liver: five blood tests and the drinks a day of 345 men; selector 2 is +1, selector 1 is -1.

Known as BUPA, after the insurer that collected the table. ``drinks`` counts half-pint equivalents a day.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "liver",
    "Liver Disorders",
    (345, 6),
    ("selector 1", "selector 2"),
    by="Forsyth, R. (1990)",
    doi="10.24432/C54G67",
    sha256="4adf8ae39dcbed9e1a3a435a960d09a56c7dd67abe3131ee20d04b00daa174df",
    source=KEEL,
    notes=(
        "The label was meant by its author to select a training set and is no diagnosis; the papers use "
        "it as the label all the same, so expect accuracies near 70 %.",
    ),
)
load = INFO.load
