"""The style of each solver: its class may choose it, and whatever the class leaves open is unlike all other solvers.

While markers and dashes last, no two solvers share both, so that they differ without colours too; a solver that names
no colour gets one of its own while there are any. Free styles are given in the order of the registry, so a solver looks
the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from mklviz.contract import Solver
from mklviz.engine.registry import solver_classes

__all__ = ["DASHES", "MARKERS", "Style", "style_of"]

DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
MARKERS = (
    *("circle", "square", "triangle", "inverted_triangle", "diamond", "hex", "star", "plus", "cross"),
    *("square_pin", "triangle_pin"),
)
_FREE_COLOURS = (
    ("#E50BF9", "#CE06E0"),
    ("#F90B5A", "#F90B5A"),
    ("#0618E0", "#5664FB"),
    ("#04A404", "#06E006"),
    ("#E00697", "#E00697"),
    ("#4B0202", "#EF0606"),
    ("#024B14", "#65FB8A"),
    ("#BA4A4A", "#BE5555"),
    ("#4B023E", "#FC83E8"),
)
"""For light and dark pages, each as far from those of the solvers shipped and from those before it as CIELAB allows."""


@dataclass(frozen=True)
class Style:
    """Colours (hex, of 3:1 contrast on light and on dark pages), line dash and marker."""

    colour: str
    colour_dark: str
    dash: str
    marker: str


def style_of(solver: type[Solver]) -> Style:
    """Return how a solver is drawn; one that is not in the registry is drawn as if it came last."""
    classes = list(solver_classes().values())
    return _styles(tuple(classes if solver in classes else [*classes, solver]))[solver]


def _styles(classes: tuple[type[Solver], ...]) -> dict[type[Solver], Style]:
    """Return all styles: first the complete ones, then the others, completed from what is left."""
    styles: dict[type[Solver], Style] = {}
    for solver in sorted(classes, key=lambda made: not _complete(made)):
        styles[solver] = _completed(solver, list(styles.values()))
    return styles


def _complete(solver: type[Solver]) -> bool:
    return bool(solver.colour and solver.colour_dark and solver.dash and solver.marker)


def _completed(solver: type[Solver], others: list[Style]) -> Style:
    """Return the style of a class, completed by what the others leave."""
    pairs = [(style.marker, style.dash) for style in others]
    markers = [solver.marker] if solver.marker else sorted(MARKERS, key=lambda mark: [m for m, _ in pairs].count(mark))
    dashes = [solver.dash] if solver.dash else sorted(DASHES, key=lambda dash: [d for _, d in pairs].count(dash))
    marker, dash = next((pair for pair in product(markers, dashes) if pair not in pairs), (markers[0], dashes[0]))
    colours = [(style.colour, style.colour_dark) for style in others]
    light, dark = min(_FREE_COLOURS, key=colours.count)
    # one colour alone serves both pages: what is drawn is mixed until it stands out
    return Style(
        solver.colour or solver.colour_dark or light, solver.colour_dark or solver.colour or dark, dash, marker
    )
