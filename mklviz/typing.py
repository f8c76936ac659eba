"""Names for annotations of arrays, by what their entries are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Flags", "Indices", "Integers", "Single"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Indices = NDArray[np.intp]  # places in other arrays, as numpy returns them
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
