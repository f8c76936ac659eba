"""German: is a loan a bad risk (+1) or a good one (-1)?

1000 loans. Coded columns hold the number behind the source's letter and column: A34, value 4 of column 3, is 4. They
are checking 1-4, history 0-4, purpose 0-10, savings 1-5, employment 1-5, personal_status 1-4, other_debtors 1-3,
property 1-4, other_plans 1-3, housing 1-3, job 1-4, telephone 1-2 and foreign_worker 1-2.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "german",
    "Statlog (German Credit Data)",
    (1000, 20),
    ("good", "bad"),
    by="Hofmann, H. (1994)",
    doi="10.24432/C5NC77",
    sha256="68fbe211c1a63aad57a810c5b04ba2bb91323021b6e92ac3bf63b7656e2e8b8d",
    source=KEEL,
    notes=("Coded columns such as purpose are numbers without an order; kernels treat them as if they had one.",),
)
load = INFO.load
