"""Breast: is a breast tumour malignant (+1) or benign (-1)?

683 samples (16 more have a missing value and are left out) with nine cell features that a physician graded 1 to 10.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "breast",
    "Breast Cancer Wisconsin (Original)",
    (683, 9),
    ("benign", "malignant"),
    by="Wolberg, W. (1990)",
    doi="10.24432/C5HP4Z",
    sha256="0785fd40e4e56dc8df08c3db4285d3a7b90ca475a14bb2636d37e9b4e2933e27",
    source=KEEL,
    notes=("16 of the 699 rows have a missing value and are left out.",),
)
load = INFO.load
