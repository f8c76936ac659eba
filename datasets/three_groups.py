"""Three classes, four groups of features: group 1 tells class 3 from the rest, 2 class 1, 3 class 2, and 4 all three.

One kernel per group makes the experiment of UFO-MKL (Orabona and Jie, ICML 2011, section 5.2): three one-against-all
machines pick two kernels each, one multiclass machine needs the fourth alone. The paper shows the kernels but does not
say how the features were drawn; here each group is a plane with Gaussian clouds.
"""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._info import at_least, generated_info, not_negative

INFO = generated_info(
    "three_groups",
    "Three classes, four feature groups",
    (300, 8),
    ("class 1", "class 2", "class 3"),
    "after UFO-MKL (Orabona and Jie, ICML 2011), section 5.2",
    ("Kernels 1 to 3 each separate one class from the other two; kernel 4 separates all three.",),
)
ALONE = (2, 0, 1)  # the class that groups 1, 2 and 3 set apart


def load(n: int = 300, spread: float = 0.3, seed: int = 0) -> Dataset:
    """Draw `n` points, a third of each class in this order; the clouds have standard deviation `spread`.

    The centres of the clouds lie 2 apart. ``groups`` holds the columns of the four groups.
    """
    at_least(6, n=n)
    not_negative(spread=spread)
    rng = np.random.default_rng(seed)
    y = np.arange(n) * 3 // n
    centres = np.zeros((n, 4, 2))
    for group, alone in enumerate(ALONE):
        centres[y == alone, group, 0] = 2.0
    angle = 2 * np.pi * y / 3
    centres[:, 3] = 2 / np.sqrt(3) * np.column_stack([np.cos(angle), np.sin(angle)])
    X = (centres + spread * rng.standard_normal((n, 4, 2))).reshape(n, 8)
    names = tuple(f"group{g}_{axis}" for g in range(1, 5) for axis in ("a", "b"))
    groups = tuple((2 * g, 2 * g + 1) for g in range(4))
    return INFO.dataset(X, y, feature_names=names, groups=groups)
