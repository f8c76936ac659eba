"""Covertype: which trees cover a 30 m square of forest in Colorado? Lodgepole pine (+1), as in the papers, or another.

581,012 squares with 10 measurements and 44 indicators of the wilderness area and the soil. The table is too large to
ship: scikit-learn fetches it from its public archive, 11 MB, at the first call, and keeps it in its own folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ._dataset import DataError, Dataset
from ._info import DatasetInfo

N_SAMPLES, N_FEATURES = 581_012, 54
AREAS, SOILS = 4, 40
MEASURED = (
    *("elevation", "aspect", "slope", "distance_to_water", "height_above_water", "distance_to_road", "hillshade_9am"),
    *("hillshade_noon", "hillshade_3pm", "distance_to_fire_point"),
)
FEATURE_NAMES = (*MEASURED, *(f"area_{k + 1}" for k in range(AREAS)), *(f"soil_{k + 1}" for k in range(SOILS)))
CLASSES = ("other cover", "lodgepole pine")
INFO = DatasetInfo(
    name="covertype",
    title="Covertype",
    n_samples=N_SAMPLES,
    n_features=N_FEATURES,
    task="binary",
    classes=CLASSES,
    kind="fetched",
    source="UCI Machine Learning Repository, fetched by scikit-learn",
    licence="CC BY 4.0",
    doi="10.24432/C50K5N",
    citation=(
        "Blackard, J. (1998). Covertype [Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C50K5N"
    ),
)
SEVEN = ("spruce/fir", "lodgepole pine", "ponderosa pine", "cottonwood/willow", "aspen", "Douglas-fir", "krummholz")
PINE = 2  # the number of lodgepole pine in the table


def load(classes: int = 2, folder: str | Path | None = None) -> Dataset:
    """Return the data, lodgepole pine against the rest or with all 7 `classes`; `folder` is where they are kept."""
    if classes not in (2, 7):
        raise DataError(f"classes must be 2 (lodgepole pine against the rest) or 7, not {classes!r:.80}.")
    X, numbers = _fetch(folder)
    if X.ndim != 2 or X.shape[1] != N_FEATURES:
        raise DataError(f"What was fetched as Covertype has the shape {X.shape}, not {N_FEATURES} columns.")
    if classes == 2:
        return INFO.dataset(X, np.where(numbers == PINE, 1.0, -1.0), feature_names=FEATURE_NAMES)
    return replace(INFO, task="multiclass", classes=SEVEN).dataset(X, numbers - 1.0, feature_names=FEATURE_NAMES)


def _fetch(folder: str | Path | None) -> tuple[Any, Any]:
    """Return the table and the numbers of the classes, from the folder or from the network."""
    try:
        from sklearn.datasets import fetch_covtype
    except ImportError:
        raise DataError("Covertype is fetched by scikit-learn, which is missing: pip install scikit-learn.") from None
    try:
        return fetch_covtype(data_home=folder, return_X_y=True, n_retries=1, delay=0.5)
    except (OSError, ValueError, EOFError) as error:  # no network, no such page, or not what was expected
        raise DataError(
            f"Covertype is not on this machine yet and could not be fetched ({error}): connect to the network and try"
            " again, or use covertype_like, synthetic data of the same shape."
        ) from None
