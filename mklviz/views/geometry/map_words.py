"""The words beside a map: which shade is which objective, what cuts leave, and ends that differ only in place."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations

import numpy as np

from mklviz.contract import Iterate
from mklviz.views.chart.axes import tick_text
from mklviz.views.chart.columns import contour_levels
from mklviz.views.geometry.ground import Mesh
from mklviz.views.geometry.map_chart import LOW_AND_HIGH
from mklviz.views.look.palette import Theme, mixed

__all__ = ["flat_valley", "model_words", "paragraph", "shade_scale"]

APART = 0.05  # share of the weight, from which on two ends are different places
ALIKE = 0.01  # share of the objective, up to which they are equally low
End = tuple[str, Iterate]


def shade_scale(mesh: Mesh | None, theme: Theme) -> str:
    """Return as HTML which shade of a map stands for which objective; the shades are bands of `contour_levels`."""
    if mesh is None:
        return ""
    heights = np.asarray(mesh[2])
    low, middle, high = (tick_text(float(f"{value:.4g}"), "exact") for value in contour_levels(heights, 2))
    ends = LOW_AND_HIGH[theme.dark]
    half = mixed(*ends, 0.5)
    bars = [
        f'<i class="shades" style="background: linear-gradient(90deg, {a}, {b})"></i>'
        for a, b in ((ends[0], half), (half, ends[1]))
    ]
    word = "Darker" if theme.dark else "Lighter"
    scale = f"<b>{low}</b>{bars[0]}<b>{middle}</b>{bars[1]}<b>{high}</b>"
    return f'<p class="why shade-scale">{word} = lower objective {scale}</p>'


def model_words(label: str, level: bool) -> str:
    """Say what the lines and the polygon in the triangle are; a `level` is the solver's own, else the best value."""
    height = "its level" if level else "the best objective so far"
    return (
        f"Each thin line is where one cut of {label} reaches {height}; the polygon is where all its cuts lie below,"
        f" so {label} looks for its next point there."
    )


def flat_valley(ends: Sequence[End]) -> str:
    """Say that runs on a convex problem ended apart and equally low; "" where they did not.

    Between two points a convex objective is never above the higher one, so that the way is flat.
    """
    least = min((end.objective for _, end in ends), default=0.0)
    low = [(label, end) for label, end in ends if end.objective - least <= ALIKE * abs(least)]
    pairs = [(_apart(one, other), a, b, _differ(one, other)) for (a, one), (b, other) in combinations(low, 2)]
    apart, one, other, differ = max(pairs, default=(0.0, "", "", 0.0))
    if apart < APART:
        return ""
    difference = tick_text(float(f"{differ:.2g}"), "percent")
    return (
        f"A flat valley: {one} and {other} ended {100 * apart:.0f} % of the weight apart, with objectives that differ"
        f" by {difference} only; along the line between them it is never above the higher end."
    )


def _apart(one: Iterate, other: Iterate) -> float:
    """Return which share of the weight would have to be moved."""
    total = float(one.weights.sum() + other.weights.sum())
    return float(np.abs(one.weights - other.weights).sum()) / total if total else 0.0


def _differ(one: Iterate, other: Iterate) -> float:
    return abs(one.objective - other.objective) / max(abs(one.objective), abs(other.objective), 1e-300)


def paragraph(sentence: str) -> str:
    """Return a sentence as a line below a heading, or nothing."""
    return f'<p class="why">{escape(sentence)}</p>' if sentence else ""
