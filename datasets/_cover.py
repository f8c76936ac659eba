"""What the forest cover data and their synthetic likeness share: 54 columns, and the question about class 2."""

from __future__ import annotations

N_SAMPLES, N_FEATURES = 581_012, 54
AREAS, SOILS = 4, 40
MEASURED = (
    "elevation",
    "aspect",
    "slope",
    "distance_to_water",
    "height_above_water",
    "distance_to_road",
    "hillshade_9am",
    "hillshade_noon",
    "hillshade_3pm",
    "distance_to_fire_point",
)
FEATURE_NAMES = (
    *MEASURED,
    *(f"area_{k + 1}" for k in range(AREAS)),
    *(f"soil_{k + 1}" for k in range(SOILS)),
)
CLASSES = ("other cover", "lodgepole pine")
