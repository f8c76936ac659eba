"""WDBC: is a breast mass malignant (+1) or benign (-1), judged by the shapes of its cell nuclei?

569 images; mean, standard error and worst value of ten measures of the nuclei.
"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "wdbc",
    "Breast Cancer Wisconsin (Diagnostic)",
    (569, 30),
    ("benign", "malignant"),
    by="Wolberg, W., Mangasarian, O., Street, N., Street, W. (1993)",
    doi="10.24432/C5DW2B",
    sha256="4faa438f16c04253d7cdf4eb1d31892b9dafecea2664499c0a473fb342142f45",
)
load = INFO.load
