"""Heart: do the arteries of the heart narrow by more than half (presence, +1; absence, -1)?

270 patients of the Cleveland clinic without missing values. Coded columns: sex 1 male, 0 female; chest_pain 1 typical
angina, 2 atypical, 3 other pain, 4 none; fasting_sugar 1 above 120 mg/dl; rest_ecg 0 normal, 1 ST-T wave, 2 left
ventricle enlarged; exercise_angina 1 yes; slope 1 up, 2 flat, 3 down; thal 3 normal, 6 fixed, 7 reversible defect.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "heart",
    "Statlog (Heart)",
    (270, 13),
    ("absence", "presence"),
    by="Statlog project (1993)",
    doi="10.24432/C57303",
    sha256="7d4b361f33e4adbce94c1eac7de5d7a14438d8ff29f2c5cf5c1f52bc7897fbee",
    source=KEEL,
    notes=(
        "KEEL's copy lost the decimal points of oldpeak; they are restored from the Cleveland table, "
        "which holds the same 270 patients.",
    ),
)
load = INFO.load
