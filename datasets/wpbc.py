"""WPBC: did breast cancer come back (recurrence, +1) or not (no recurrence, -1) while the patient was followed up?

198 patients; months until recurrence or of the follow-up without disease, mean, standard error and worst value of ten
measures of the cell nuclei, the tumour's diameter in centimetres and the number of lymph nodes affected.
"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "wpbc",
    "Breast Cancer Wisconsin (Prognostic)",
    (198, 33),
    ("no recurrence", "recurrence"),
    by="Wolberg, W., Street, W., Mangasarian, O. (1995)",
    doi="10.24432/C5GK50",
    sha256="1c6e9608c94a95767e88739ba13ebb308fc605c350f2adc2062623fee8a3ce9a",
    notes=(
        "The number of lymph nodes is not known for four patients; -1 stands for it.",
        "The months say when a recurrence was seen, so a model of them makes no prognosis; the papers use them.",
    ),
)
load = INFO.load
