"""Iris: which of three species is a flower, judged by its petals and sepals in centimetres?"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "iris",
    "Iris",
    (150, 4),
    ("setosa", "versicolor", "virginica"),
    by="Fisher, R. A. (1936)",
    doi="10.24432/C56C76",
    sha256="f3d663a4283df4f97170f328afd0dc5cf7307307b5b6052f38591e1df6bdb62e",
    notes=("Rows 35 and 38 stand as in Fisher's paper; the UCI file has them wrong.",),
)
load = INFO.load
