"""Curves and bars of runs as numbers: what the charts of the tabs Knobs, Stopping and Your mix draw in colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.contract import Iterate
from mklviz.typing import Array

MOST_POINTS = 400  # of a curve
HEAVIEST = 10  # kernels drawn


@dataclass(frozen=True)
class RunCurve:
    """A curve of the run of a `key`, called as that run without a `label`; one `behind` others is drawn faint."""

    key: str
    x: Sequence[float]
    y: Sequence[float]
    label: str = ""
    behind: bool = False
    mark: tuple[float, float] | None = None  # a point on it


@dataclass(frozen=True)
class Bar:
    """A kernel with its weight, what it had `before` (behind it) and a third one beside, nan where there is none."""

    name: str
    weight: float
    before: float = math.nan
    third: float = math.nan


def apart(one: Iterate, other: Iterate) -> float:
    """Return which share of the weight would have to be moved from one iterate to another."""
    total = float(one.weights.sum() + other.weights.sum())
    return float(np.abs(one.weights - other.weights).sum()) / total if total else 0.0


def thinned(count: int) -> list[int]:
    """Return which of so many steps a curve is drawn through, the first and the last among them."""
    return sorted({*range(0, count, max(-(-count // MOST_POINTS), 1)), *range(count - 1, count)})


def heaviest_bars(names: Sequence[str], *weights: Array, most: int = HEAVIEST) -> list[Bar]:
    """Return the kernels that are heaviest in any of up to three weights (m,), each with its weight in all of them."""
    score = np.fmax.reduce(weights)
    chosen = [int(k) for k in np.argsort(-score, kind="stable")[:most] if score[k] > 0.0]
    return [Bar(names[k], *(float(each[k]) for each in weights)) for k in chosen]
