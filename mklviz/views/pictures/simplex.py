"""Three kernels: the paths of runs over all mixes of the three, seen from above.

Contours, where the problem is given, lie closer together near the lowest point, as squares do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import holoviews as hv
import numpy as np

from mklviz.analysis.landscape import Landscape
from mklviz.analysis.weight_map import Slice
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.chart.description import Axis, Chart, ContourMark, LineMark, Mark, PointMark
from mklviz.views.geometry.map_chart import AT, contour_table, corner_marks, corner_tables
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.draw_holoviews import draw_holoviews
from mklviz.views.pictures.run_arguments import check_ground, traces_of
from mklviz.views.pictures.style import HEIGHT, theme_of

__all__ = ["simplex"]

_TRIANGLE = Slice((0, 1, 2), np.eye(3))


def simplex(*traces: Any, problem: Problem | None = None, dark: bool = False) -> hv.Overlay:
    """Draw the paths of one or several runs over the weights of three kernels.

    Parameters
    ----------
    *traces : Trace
        One or several, or a mapping of them such as ``race.traces``; each of a problem with the same three kernels.
    problem : Problem, optional
        The one that was solved, with weights that sum to one; its objective is computed and drawn beneath.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        A triangle whose corners are the kernels, contours of the objective if the problem is given, a line for each run
        in its solver's colour, a marker at each step and a large one at the last.

    Raises
    ------
    ProblemError
        If there are not three kernels, or not the same, or the objective over them cannot be drawn.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> bank = mv.KernelBank.build(train.X, [mv.Gaussian(widths=(1.0, 4.0)), mv.Polynomial(degrees=(1,))])
    >>> problem = mv.Problem(bank, train.y, mv.Hinge(C=10.0))
    >>> race = mv.race(problem, ["silp", "level", "spg"])
    >>> mv.plot.save(mv.plot.simplex(race.traces, problem=problem), "simplex.html")
    """
    runs, theme = traces_of(*traces), theme_of(dark)
    names = _three(runs.values())
    styles = run_styles(runs, theme)
    marks: list[Mark] = [*corner_marks(theme)]
    tables = corner_tables(names, below=0.07, above=0.06)
    if problem is not None:
        check_ground(problem, runs.values(), 3)
        marks.insert(0, ContourMark("ground", *AT, "objective", colour=theme.muted, alpha=0.55))
        tables["ground"] = contour_table(Landscape(problem, _TRIANGLE).finest())
    for key, trace in runs.items():
        marks[-1:-1] = _path_marks(key, styles[key], theme)
        points = np.array([_TRIANGLE.position(iterate.weights) for iterate in trace])
        tables[f"path-{key}"] = dict(zip(AT, points.T.tolist(), strict=True))
        tables[f"end-{key}"] = dict(zip(AT, points[-1:].T.tolist(), strict=True))
    x, y = Axis(start=-0.35, end=1.35, visible=False), Axis(start=-0.14, end=1.0, visible=False)
    chart = Chart("simplex", x=x, y=y, marks=marks, equal_units=True)
    return draw_holoviews(chart, tables, theme, height=HEIGHT + 40, legend_position="top_left")


def _path_marks(key: str, style: RunStyle, theme: Theme) -> list[Mark]:
    """Describe the line through all steps, their markers, and where the run ended."""
    colour, marker = style.colour, style.marker
    return [
        LineMark(f"path-{key}", *AT, colour, style.dash, width=1.8, label=style.label),
        PointMark(f"path-{key}", *AT, colour, fill=colour, marker=marker, label=style.label),
        PointMark(f"end-{key}", *AT, theme.card, fill=colour, marker=marker, size=14.0),
    ]


def _three(traces: Iterable[Trace]) -> list[str]:
    """Return the names of the three kernels that all runs have, or raise `ProblemError`."""
    names: list[str] = []
    for trace in traces:
        if len(trace.final.weights) != 3:
            raise ProblemError(f"The triangle has three kernels; this run has {len(trace.final.weights):,}.")
        if names and list(trace.kernel_names) != names:
            raise ProblemError("These runs have different kernels: draw one triangle for each problem.")
        names = list(trace.kernel_names)
    return names
