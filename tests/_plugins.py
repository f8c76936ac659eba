"""Files saved as if they were in a plug-in folder."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mklviz import plugins

__all__ = ["LOSS", "REGULARIZER", "Save", "none_left_out", "save"]

LOSS = '''
"""C/2 sum_i [1 - y_i f_i]_+^2 without bias: dual value 1'a - ||a||^2 / (2C) over a >= 0."""
from dataclasses import dataclass, field
from typing import ClassVar
import numpy as np
from mklviz.problem.losses._loss import Loss, check_classes

class ZebraInner:
    """One dual variable after the other."""
    def __init__(self, loss, y):
        self.loss, self.y = loss, y
        self.signed, self.scores = np.zeros_like(y), np.zeros_like(y)
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed):
        self.signed = np.where(signed * self.y > 0.0, signed, 0.0)

    def solve(self, K, tol, warm):
        dual = self.signed * self.y if warm else np.zeros_like(self.y)
        Q = self.y[:, None] * K * self.y + np.eye(len(K)) / self.loss.C
        while True:
            slopes = 1.0 - Q @ dual
            self.violation = 2.0 * float(np.where(dual > 0.0, np.abs(slopes), np.maximum(slopes, 0.0)).max())
            if self.violation <= tol:
                break
            for i in range(len(dual)):
                dual[i] = max(dual[i] + (1.0 - Q[i] @ dual) / Q[i, i], 0.0)
        self.signed = dual * self.y
        self.scores = K @ self.signed
        self.value = self.loss.dual_value(dual, self.y) - 0.5 * float(self.signed @ self.scores)

@dataclass(frozen=True)
class Zebra(Loss):
    """Squared hinge loss, which has no kinks."""
    name_: ClassVar[str] = "zebra-loss"
    label: ClassVar[str] = "zebra"
    inner_methods: ClassVar = {"matrix": ZebraInner}
    bias: bool = field(default=False, init=False, repr=False, kw_only=True)

    @property
    def box(self):
        return 0.0, np.inf

    def check_targets(self, y):
        check_classes(y, self.label)

    def value(self, decisions, y):
        return 0.5 * self.C * float((np.maximum(1.0 - y * decisions, 0.0) ** 2).sum())

    def best_bias(self, scores, y):
        return 0.0

    def dual_value(self, dual, y):
        return float(dual.sum()) - 0.5 * float(dual @ dual) / self.C
'''
REGULARIZER = '''
"""r(d) = toll/2 ||d||^2 for d >= 0:  r*(u) = ||[u]_+||^2 / (2 toll),  d_k = (x_k^2 / (2 toll))^{1/3}."""
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from mklviz.problem.regularizers._regularizer import Penalty

@dataclass(frozen=True)
class Stripe(Penalty):
    """Weights that cost half their square, times toll."""
    name_: ClassVar[str] = "stripe-penalty"
    label: ClassVar[str] = "stripe penalty"
    toll: float = 1.0

    def value(self, weights):
        return 0.5 * self.toll * float(weights @ weights) if weights.min() >= 0.0 else float("inf")

    def gradient(self, weights):
        return self.toll * weights

    def prox(self, weights, step):
        return np.maximum(weights, 0.0) / (1.0 + step * self.toll)

    def conjugate(self, slopes):
        return 0.5 * float((np.maximum(slopes, 0.0) ** 2).sum()) / self.toll

    def weights_from(self, quad):
        return 0.5 * quad / self.toll

    def weights_from_norms(self, norms):
        return (0.5 * norms**2 / self.toll) ** (1.0 / 3.0)

    def block(self, norms):
        best = self.weights_from_norms(norms)
        return 1.5 * self.toll * float(best @ best)
'''

Save = Callable[[ModuleType, str, str], None]


@pytest.fixture
def none_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which plug-ins could not be used, and again after the test."""
    monkeypatch.setattr(plugins, "_reasons", {})


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, none_left_out: None) -> Iterator[Save]:
    """Save a file as if it were in a plug-in folder; it is gone after the test."""
    saved: list[str] = []

    def add(package: ModuleType, name: str, text: str) -> None:
        folder = tmp_path / package.__name__
        if not folder.exists():
            folder.mkdir()
            monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        (folder / f"{name}.py").write_text(text)
        saved.append(f"{package.__name__}.{name}")

    yield add
    for module in saved:
        sys.modules.pop(module, None)
