"""Segment: which of seven outdoor surfaces does a patch of 3 x 3 pixels show?

19 measures of position, edges and colour; ``pixel_count`` is 9 in every row and is dropped by a split.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "segment",
    "Image Segmentation",
    (2310, 19),
    ("brickface", "sky", "foliage", "cement", "window", "path", "grass"),
    by="Vision Group, University of Massachusetts (1990)",
    doi="10.24432/C5GP4N",
    sha256="ffc1440e9e0878f5e0755945b920069adebb44f82a82a43460e16eed5d09d51b",
    source=KEEL,
)
load = INFO.load
