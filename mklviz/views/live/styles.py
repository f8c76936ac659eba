"""How the runs of a race are drawn: as their solvers are, told apart where one solver enters more than once."""

from __future__ import annotations

from collections.abc import Mapping

from mklviz.engine import Run
from mklviz.engine.styles import style_of
from mklviz.record.summary import label as label_of
from mklviz.views.look.palette import DASHES, RunStyle, Theme, readable

__all__ = ["run_styles"]


def run_styles(runs: Mapping[str, Run], theme: Theme) -> dict[str, RunStyle]:
    """Return the style of each run: its solver's own, and another dash where a solver enters twice, while there are."""
    styles: dict[str, RunStyle] = {}
    seen: dict[str, list[str]] = {}
    for key, run in runs.items():
        solver = run.solver
        taken = seen.setdefault(solver.name_, [])
        own = style_of(type(solver))
        dash = min((solver.dash or own.dash, *DASHES), key=taken.count)  # a setting may have a dash of its own
        taken.append(dash)
        colour = readable(own.colour_dark if theme.dark else own.colour, theme.card)
        styles[key] = RunStyle(label_of(key, run.trace), colour, dash, own.marker)
    return styles
