"""A kernel given as a Python function k(X, Z) of two tables of points; it has no name that words could call it by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.families._family import KernelFamily
from mklviz.typing import Array


@dataclass(frozen=True)
class FunctionKernel(KernelFamily):
    """A kernel computed by a function, such as those of ``sklearn.metrics.pairwise``.

    Parameters
    ----------
    function : callable
        Takes points (n, d) and points (k, d), returns the (n, k) kernel values; symmetric positive semidefinite.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    """

    label: ClassVar[str] = "Function"
    function: Callable[[Array, Array], Array] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.function is None or not callable(self.function):
            raise KernelError(f"A kernel is given as a function of two tables of points, not as {self.function!r:.80}.")

    def base(self, left: Array, right: Array) -> Array:
        assert self.function is not None
        values = np.asarray(self.function(left, right), dtype=np.float64)
        if values.shape != (len(left), len(right)) or not np.isfinite(values).all():
            raise KernelError(
                f"The kernel {self.describe(1.0)} must return ({len(left)}, {len(right)}) finite numbers for so many"
                f" points; it returned an array of shape {values.shape}."
            )
        return values

    def describe(self, value: float) -> str:
        return f"{getattr(self.function, '__name__', self.function)!s:.60}".strip("<>")
