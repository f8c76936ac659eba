"""Wine: which of three cultivars was a wine pressed from, judged by a chemical analysis of 13 quantities?"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "wine",
    "Wine",
    (178, 13),
    ("cultivar 1", "cultivar 2", "cultivar 3"),
    by="Aeberhard, S., Forina, M. (1992)",
    doi="10.24432/C5PC7J",
    sha256="a5e3054fa8ccb0907ed3afe074d31ab84c8b7e064767a75ee044714399757f63",
)
load = INFO.load
