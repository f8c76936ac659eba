"""Shades between the colours of a theme: for much and little, for two sides, and for classes."""

from __future__ import annotations

from mklviz.views.look.palette import Theme

__all__ = ["CLASS_MARKERS", "class_colours", "decision_shades", "diverging", "mixed", "sequential"]

SHADES = 64
CLASS_MARKERS = ("circle", "square", "triangle", "diamond", "hex", "inverted_triangle")
STRONG = 0.45  # how strong the colour of a class is where f is beyond its margin
BEYOND = 1.5  # of f, where the colour is strongest


def mixed(one: str, other: str, share: float) -> str:
    """Return the colour that lies `share` of the way from one hex colour to another."""
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


def sequential(theme: Theme) -> list[str]:
    """Return shades from nothing, the colour of the card, to much."""
    far = theme.parts[0][0] if not theme.dark else theme.parts[1][0]
    middle = theme.parts[1][0] if not theme.dark else theme.parts[2][0]
    half = SHADES // 2
    return [mixed(theme.card, middle, k / half) for k in range(half)] + [
        mixed(middle, far, k / (half - 1)) for k in range(half)
    ]


def diverging(theme: Theme, reach: float = 1.0) -> list[str]:
    """Return shades from below zero, through the colour of the card, to above; `reach` is how strong the ends are."""
    low, high = class_colours(theme)[:2]
    half = SHADES // 2
    return [mixed(theme.card, low, reach * (half - k) / half) for k in range(half)] + [
        mixed(theme.card, high, reach * (k + 1) / half) for k in range(half)
    ]


def class_colours(theme: Theme) -> tuple[str, ...]:
    """Return the colours of classes, which no other thing in the picture has."""
    return theme.kernels[1], theme.kernels[0], *theme.kernels[2:]


def decision_shades(theme: Theme, classes: int = 0) -> tuple[list[str], float, float]:
    """Return shades for f, or for which of so many classes is chosen, and the values of the first and the last."""
    if not classes:
        return diverging(theme, STRONG), -BEYOND, BEYOND
    colours = class_colours(theme)
    tints = [mixed(theme.card, colours[k % len(colours)], 0.3) for k in range(classes)]
    return tints, -0.5, classes - 0.5
