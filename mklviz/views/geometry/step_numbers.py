"""Which steps of the paths on a map carry their number: those whose number covers neither another one nor a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.typing import Array
from mklviz.views.chart.description import Axis

__all__ = ["RIGHT", "SIZE", "UP", "StepNumber", "numbered_steps"]

SIZE, RIGHT, UP = 12, 6.0, 4.0  # pixels: height of the digits, and how far from its point a number begins
DIGIT = 8.0  # pixels in width
FRAME = (620.0, 470.0)  # pixels of the frame, which is rarely narrower
POINT = 3.0  # pixels around a point that a number leaves free
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class StepNumber:
    """A number and what it belongs to: the run's key, and which of the points of its path."""

    step: int
    key: str
    index: int


def numbered_steps(
    places: Mapping[str, Array], steps: Mapping[str, Sequence[int]], x: Axis, y: Axis, larger: float = 1.0
) -> list[StepNumber]:
    """Return the numbers that keep clear, the first steps and the last ones before all others.

    `places` has the points (T, 2) of each path, in the units of the axes, `steps` which steps they are; type may
    be `larger` than usual.
    """
    scale = _pixels(x, y) / larger
    pixels = {key: scale * found for key, found in places.items() if len(found)}
    points = np.concatenate([np.empty((0, 2)), *pixels.values()])
    wanted = [StepNumber(step, key, i) for key in pixels for i, step in enumerate(steps[key])]
    clear: list[StepNumber] = []
    boxes: list[Box] = []
    for number in sorted(wanted, key=lambda n: (n.index not in (0, len(steps[n.key]) - 1), n.step)):
        at = pixels[number.key][number.index]
        box = _box(at, number.step)
        if np.isfinite(at).all() and not _covers(box, boxes, points):
            clear.append(number)
            boxes.append(box)
    return clear


def _pixels(x: Axis, y: Axis) -> Array:
    """Return how many pixels a unit of each axis has, about."""
    across, up = FRAME[0] / (x.end - x.start), FRAME[1] / (y.end - y.start)
    return np.array([across, up] if x.visible else [min(across, up)] * 2)  # a triangle keeps its shape


def _box(at: Array, step: int) -> Box:
    left, bottom = float(at[0]) + RIGHT, float(at[1]) + UP
    return left, bottom, left + DIGIT * len(str(step)), bottom + SIZE


def _covers(box: Box, others: Sequence[Box], points: Array) -> bool:
    left, bottom, right, top = box
    if any(left < o[2] and o[0] < right and bottom < o[3] and o[1] < top for o in others):
        return True
    across, up = points.T
    inside = (across > left - POINT) & (across < right + POINT) & (up > bottom - POINT) & (up < top + POINT)
    return bool(inside.any())
