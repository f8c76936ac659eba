"""xRFM, trees of recursive feature machines, as its authors' package `xrfm` learns them on one core.

It keeps the best of its iterations on points held out, so it is given a quarter of the training part for that, and the
width and the price of its kernel are chosen on the same points.

Reference: Beaglehole, Holzmüller, Radhakrishnan, Belkin, xRFM: Accurate, scalable, and interpretable feature learning
models for tabular data, arXiv 2508.10053 (2025).
"""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from mklviz.typing import Array

__all__ = ["HeldOutXrfm"]

HELD_OUT = 0.25
WIDTHS, PRICES = (3.0, 10.0, 30.0), (1e-3, 1e-1)
PARAMETERS: dict[str, dict[str, Any]] = {
    "model": {"kernel": "l2_high_dim", "exponent": 1.0, "diag": False, "bandwidth_mode": "constant"},
    "fit": {"get_agop_best_model": True, "return_best_params": True, "iters": 5, "early_stop_rfm": False},
}  # the package's own, but for width and price


class HeldOutXrfm:
    """`xrfm.xRFM`, its width and price chosen on a quarter of the training part."""

    def fit(self, X: Array, y: Array) -> HeldOutXrfm:
        """Learn from samples and classes."""
        from sklearn.model_selection import train_test_split

        self.classes, codes = np.unique(y, return_inverse=True)
        train, held, signs, known = train_test_split(X, codes, test_size=HELD_OUT, stratify=codes, random_state=0)
        best = -1.0
        for width, price in product(WIDTHS, PRICES):
            made = _made(width, price)
            made.fit(train, signs, held, known)
            right = float((_codes(made, held) == known).mean())
            if right > best:
                best, self.machine = right, made
        return self

    def predict(self, X: Array) -> Any:
        """Return the classes of new points."""
        return self.classes[_codes(self.machine, X)]


def _made(width: float, price: float) -> Any:
    parameters = deepcopy(PARAMETERS)
    parameters["model"]["bandwidth"], parameters["fit"]["reg"] = width, price
    machine = import_module("xrfm").xRFM
    return machine(rfm_params=parameters, device="cpu", n_threads=1, random_state=0, verbose=False)


def _codes(machine: Any, X: Array) -> Any:
    return np.asarray(machine.predict(X)).reshape(len(X)).astype(int)
