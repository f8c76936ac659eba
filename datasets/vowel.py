"""Vowel: which of eleven British English vowels was spoken, judged by ten log area ratios of the signal?

15 speakers said each word six times. The source's three first columns (training or test part, speaker, sex) are left
out: they do not describe the sound.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "vowel",
    "Connectionist Bench (Vowel Recognition - Deterding Data)",
    (990, 10),
    ("hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"),
    by="Deterding, D., Niranjan, M., Robinson, T. (1988)",
    doi="10.24432/C58P4S",
    sha256="f17bbbafb4f9e022af82be3d5bf30c59f91ff66c7249907f328ebccc92a77d22",
    source=KEEL,
    notes=("A random split puts frames of one speaker, which are alike, on both sides, so test accuracies flatter.",),
)
load = INFO.load
