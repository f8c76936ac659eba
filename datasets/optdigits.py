"""Optdigits: which digit is drawn in an image of 8 x 8 pixels?

Each column counts the dark points, 0 to 16, in one of the 64 cells; ``p34`` is row 3, column 4 from the top left.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "optdigits",
    "Optical Recognition of Handwritten Digits",
    (5620, 64),
    ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
    by="Alpaydin, E., Kaynak, C. (1998)",
    doi="10.24432/C50P49",
    sha256="6a4e61277d92a1c15673be93873fc83fc725cd0786d74623005195126b302aff",
    source=KEEL,
)
load = INFO.load
