"""Synthetic data in the shape of Covertype: 10 measurements and 4 + 40 indicators, of which the cover type is a noisy,
nonlinear function.

An elevation depends on the area and the soil on both; the cover is decided by a band of elevations that bends with the
slope's direction and the way to water, shifted from soil to soil, and one label in `noise` is wrong. It is drawn in
chunks of rows, each with a generator of its own: the first rows are the same whatever `n` is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._dataset import Array, DataError, Dataset
from ._info import at_least, generated_info
from .covertype import AREAS, CLASSES, FEATURE_NAMES, MEASURED, N_FEATURES, N_SAMPLES, SOILS

INFO = generated_info(
    "covertype_like",
    "Covertype, synthetic",
    (N_SAMPLES, N_FEATURES),
    CLASSES,
    "random measurements and indicators in the shape of the forest cover data",
)

CHUNK = 50_000  # rows drawn together
AREA_SHARES = (0.45, 0.05, 0.44, 0.06)  # as in the forests measured


def load(n: int = N_SAMPLES, noise: float = 0.1, seed: int = 0) -> Dataset:
    """Draw `n` samples, the share `noise` of the labels wrong."""
    at_least(20, n=n)
    if not isinstance(noise, (int, float)) or not 0.0 <= noise < 0.5:
        raise DataError(f"noise must be a share of wrong labels from 0 to below 0.5, not {noise!r:.80}.")
    at_least(0, seed=seed)
    X, y = np.zeros((n, N_FEATURES)), np.empty(n)
    offsets = np.random.default_rng(seed).normal(0.0, 0.35, SOILS)
    for chunk, start in enumerate(range(0, n, CHUNK)):
        rng = np.random.default_rng((seed, chunk))
        rows = slice(start, min(start + CHUNK, n))
        y[rows] = _draw(rng, X[rows], offsets, noise)
    return INFO.dataset(X, y, feature_names=FEATURE_NAMES, informative=_INFORMATIVE)


_INFORMATIVE = (0, 1, 2, 3, *range(len(MEASURED) + AREAS, N_FEATURES))  # elevation, aspect, slope, water and soil


def _draw(rng: np.random.Generator, X: Array, offsets: Array, noise: float) -> NDArray[np.float64]:
    """Fill the rows of `X` and return their labels; random numbers are drawn for a full chunk, so that rows stay."""
    n, whole = len(X), CHUNK
    area = rng.choice(AREAS, whole, p=AREA_SHARES)[:n]
    height = (np.array([0.3, 1.2, 0.1, -1.6])[area] + rng.normal(0.0, 0.8, whole)[:n]).clip(-4.0, 2.5)
    aspect, slope = rng.uniform(0.0, 2.0 * np.pi, whole)[:n], rng.gamma(3.5, 4.0, whole)[:n].clip(0.0, 60.0)
    water, road, fire = (rng.gamma(*shape, whole)[:n] for shape in ((1.6, 170.0), (2.3, 1000.0), (2.2, 900.0)))
    # neighbouring soils follow each other up the mountain
    soil = np.clip(np.rint(20.0 + 6.0 * height + rng.normal(0.0, 5.0, whole)[:n]), 0, SOILS - 1).astype(int)
    tilt = np.sin(np.radians(slope))
    shades = [
        np.clip(220.0 + 110.0 * tilt * np.cos(aspect - sun) + spread, 0.0, 254.0)
        for sun, spread in zip((1.6, 3.1, 4.7), rng.normal(0.0, 6.0, (3, whole))[:, :n], strict=True)
    ]
    above = 0.2 * water + rng.normal(0.0, 40.0, whole)[:n]
    measured = (2950.0 + 260.0 * height, np.degrees(aspect), slope, water, above, road, *shades, fire)
    X[:, : len(MEASURED)] = np.stack(measured, axis=1)
    rows = np.arange(n)
    X[rows, len(MEASURED) + area] = 1.0
    X[rows, len(MEASURED) + AREAS + soil] = 1.0
    middle = 0.15 + offsets[soil] + 0.9 * tilt * np.cos(2.0 * aspect) + 0.4 * np.sin(water / 120.0)
    pine = np.abs(height - middle) < 0.6
    wrong = rng.random(whole)[:n] < noise
    return np.where(pine ^ wrong, 1.0, -1.0)
