"""Vehicle: which of four vehicles cast a silhouette, judged by 18 measures of its shape?"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "vehicle",
    "Statlog (Vehicle Silhouettes)",
    (846, 18),
    ("bus", "opel", "saab", "van"),
    by="Mowforth, P., Shepherd, B. (1987)",
    doi="10.24432/C5HG6N",
    sha256="bd28967b32c5d56ac18f2ddffdecf0c0d8a81b46f5adc9d2730a33d3b6ee1289",
    source=KEEL,
)
load = INFO.load
