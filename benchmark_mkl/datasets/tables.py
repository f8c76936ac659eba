"""Tables that come with mklviz, so that nothing is fetched."""

from __future__ import annotations

from typing import Any

from benchopt import BaseDataset

import mklviz as mv


class Dataset(BaseDataset):
    """Half of a table's points, features standardized."""

    name = "Tables"
    parameters = {"table": ["heart", "ionosphere", "sonar"], "seed": [0]}

    def get_data(self) -> dict[str, Any]:
        """Return features and labels of the training part."""
        train, _ = mv.load_dataset(self.table).split(train=0.5, seed=self.seed)
        return {"X": train.X, "y": train.y}
