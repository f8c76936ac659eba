"""Diabetes: how far has the disease come after one year? A number from 25 to 346, from ten measurements at its start.

442 patients. Sex is coded 1 and 2; body_mass is in kg/m^2, blood_pressure the average; the six serum values are total
cholesterol, low- and high-density lipoproteins, total over high-density, the logarithm of triglycerides (presumably)
and blood sugar.
"""

from __future__ import annotations

from ._table import TableInfo

INFO = TableInfo(
    name="diabetes",
    title="Diabetes progression",
    n_samples=442,
    n_features=10,
    task="regression",
    classes=(),
    kind="table",
    source="Efron, Hastie, Johnstone, Tibshirani (2004), by way of scikit-learn: load_diabetes(scaled=False)",
    licence="BSD 3-Clause, as scikit-learn ships it; the authors' page states no licence",
    doi="10.1214/009053604000000067",
    citation=(
        "Efron, Hastie, Johnstone, Tibshirani (2004). Least Angle Regression. Annals of Statistics 32, 407-499."
        " https://doi.org/10.1214/009053604000000067"
    ),
    sha256="dc3d833e1853c6305ba4641824a591293b29bf6970c2fde9f31893d2d91c6e98",
)
load = INFO.load
