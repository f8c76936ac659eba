"""Pima: which women of Pima heritage near Phoenix, Arizona, have diabetes (diabetic, +1; healthy, -1)?

768 women of 21 years or more, eight measurements each.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "pima",
    "Pima Indians Diabetes",
    (768, 8),
    ("healthy", "diabetic"),
    by="Sigillito, V. (1990)",
    doi="",
    sha256="7795f742033676212b3c9db321c0a1e7865c23953a174be7d02201510f8e8b30",
    source=KEEL,
    licence="CC0 1.0",
    notes=(
        "A zero in glucose, blood_pressure, skin_thickness, insulin or bmi stands for a value that was not measured.",
        "The UCI repository no longer lists this table, so it has no DOI; its later publication under "
        "the repository's name is CC0.",
    ),
)
load = INFO.load
