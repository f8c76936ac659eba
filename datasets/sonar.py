"""Sonar: is the echo from a metal cylinder (mine, +1) or from a rock (rock, -1)?

208 echoes; each column is the energy in one of 60 frequency bands, between 0 and 1.
"""

from __future__ import annotations

from ._table import table_info

INFO = table_info(
    "sonar",
    "Connectionist Bench (Sonar, Mines vs. Rocks)",
    (208, 60),
    ("rock", "mine"),
    by="Sejnowski, T., Gorman, R. (1988)",
    doi="10.24432/C5T01Q",
    sha256="85bf314b692921e09602e274f0949b493039093adcea5e151ea5fb0eaf7c39fa",
)
load = INFO.load
