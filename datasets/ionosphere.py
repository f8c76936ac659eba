"""Ionosphere: does a radar return show structure in the ionosphere (good, +1) or does it pass through (bad, -1)?

351 returns at Goose Bay, Labrador: 17 complex pulse values as real and imaginary parts. The imaginary part of the
first pulse is 0 in every row and left out, as in the papers (33 columns). ``pulse1_re`` is 0 or 1. One row
appears twice in the source.
"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "ionosphere",
    "Ionosphere",
    (351, 33),
    ("bad", "good"),
    by="Sigillito, V., Wing, S., Hutton, L., Baker, K. (1989)",
    doi="10.24432/C5W01B",
    sha256="7a25fe1a28d1cdb9dbf55f3198a300e3ef69447857f044834127e2da63f5fbee",
)
load = INFO.load
