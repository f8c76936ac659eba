"""Two clouds of points that differ in a few of their features."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Gaussian clouds; features beyond `informative` are noise."""

    name = "Simulated"
    parameters = {"n_samples, n_features, informative": [(100, 10, 3)], "seed": [0]}

    def get_data(self) -> dict[str, Any]:
        """Return features and labels."""
        rng = np.random.default_rng(self.seed)
        y = np.where(np.arange(self.n_samples) % 2, 1.0, -1.0)
        X = rng.normal(size=(self.n_samples, self.n_features))
        X[:, : self.informative] += 0.7 * y[:, None]
        return {"X": X, "y": y}
