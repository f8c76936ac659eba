"""Australian: was a credit card application answered positively (class 1 of the source, +1) or negatively (0, -1)?

690 applications; the source hides what the columns mean. a1, a4, a5, a6, a8, a9, a11 and a12 are codes, the source's
own: a1, a8, a9 and a11 are 0 or 1, a4 and a12 are 1 to 3, a5 is 1 to 14 and a6 is 1 to 9.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "australian",
    "Statlog (Australian Credit Approval)",
    (690, 14),
    ("negative", "positive"),
    by="Quinlan, R. (1987)",
    doi="10.24432/C59012",
    sha256="52ecb7798dcbbdea996ecd78895d7b4638fe882a8b916e5963b34845486fe1ab",
    source=KEEL,
    notes=(
        "KEEL's copy lost the decimal points of a2, a3 and a7; they are restored from the UCI file.",
        "37 applications had missing values, which the source filled with the mean or the commonest value.",
    ),
)
load = INFO.load
