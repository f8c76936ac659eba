"""The triangle of three kernels in the HTML of a page, with the paths of a recorded race to run over it.

    shares p of three kernels  ->  (LEFT + SIDE (p_2 + p_3 / 2),  FOOT - SIDE sqrt(3/4) p_3)     in units of the viewBox

Its shades are those of the recorded objective. All colours are variables of CSS, so that one picture is light and dark.
The script beside it draws the paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from contourpy import FillType, contour_generator

from mklviz.analysis.weight_map import Mesh
from mklviz.numbers import share_text
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence
from mklviz.typing import Array
from mklviz.views.chart.columns import contour_levels
from mklviz.views.lessons.pictures import triangle_mesh

__all__ = ["RECORDED", "best_shares", "path_shares", "proof", "triangle_svg"]

RECORDED = "three-kernels"
"""The scenario whose race runs over the triangle."""
VIEW = "50 16 580 456"
LEFT, FOOT, SIDE = 115.0, 436.0, 450.0
_PROOF = "Each path ends with a proof: its best point lies at most {gap} above the lowest objective there is."
BANDS = 12  # shades of the objective
NAMES = (  # where those of the kernels stand, within the picture in large type as well
    (LEFT - 60, FOOT + 26, "start"),
    (LEFT + SIDE + 60, FOOT + 26, "end"),
    (LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE - 12, "middle"),
)
CORNERS = np.array([[LEFT, FOOT], [LEFT + SIDE, FOOT], [LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE]])


def triangle_svg(titles: tuple[str, ...], label: str) -> str:
    """Return the triangle with its shades and the names of its corners, without paths."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in CORNERS)
    names = "".join(
        f'<text class="corner" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">kernel {number}: {escape(title)}</text>'
        for number, (title, (x, y, anchor)) in enumerate(zip(titles, NAMES, strict=True), 1)
    )
    return (
        f'<svg viewBox="{VIEW}" role="group" aria-label="{escape(label)}">'
        f'<polygon class="ground" points="{corners}"/>{_shades()}<polygon class="side" points="{corners}"/>{names}'
        '<g class="ghosts"></g><g class="paths"></g></svg>'
    )


def _shades() -> str:
    """Return the areas above each level of the objective, which darken one another where they overlap."""
    mesh = triangle_mesh(recorded_evidence(RECORDED).get("ground", {}).get("objective", ()))
    if mesh is None:
        return ""
    levels = contour_levels(mesh[2], BANDS)[1:-1]
    return "".join(f'<path class="shade" d="{_above(mesh, level)}"/>' for level in levels)


def _above(mesh: Mesh, level: float) -> str:
    """Return the area in which the objective is above a level, as a path."""
    across, up, height = mesh
    x, y = LEFT + SIDE * across, FOOT - SIDE * up
    filled: Any = contour_generator(x, y, height, fill_type=FillType.OuterOffset).filled(level, np.inf)
    return "".join(
        _ring(points[begin:end])
        for points, offsets in zip(filled[0], filled[1], strict=True)
        for begin, end in pairwise(offsets)
    )


def _ring(points: Array) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points[:-1]) + "Z"


def path_shares(traces: Mapping[str, Trace]) -> dict[str, list[list[float]]]:
    """Return the weights at each step of runs, for the script that draws them."""
    return {key: [_shares(weights) for weights in trace.weights] for key, trace in traces.items()}


def best_shares(traces: Mapping[str, Trace]) -> list[float]:
    """Return the weights where the objective is lowest of all that runs have come to."""
    return _shares(min((trace.best for trace in traces.values()), key=lambda iterate: iterate.objective).weights)


def proof(traces: Mapping[str, Trace]) -> str:
    """Return what runs have proved of their ends, in a sentence."""
    gap = max(float(trace.gap[-1]) for trace in traces.values())
    return _PROOF.format(gap=share_text(gap).replace(" ", "\N{NO-BREAK SPACE}"))


def _shares(weights: Array) -> list[float]:
    return [round(float(weight), 4) for weight in weights]
