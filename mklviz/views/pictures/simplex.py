"""Three kernels: the paths of runs over all the ways to share the weight between them, seen from above.

Contours, where the problem is given, lie closer together near the lowest point, as squares do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import holoviews as hv
import numpy as np
from contourpy import contour_generator

from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.geometry.ground import CORNERS, Slice
from mklviz.views.geometry.landscape import Landscape
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.run_arguments import check_ground, traces_of
from mklviz.views.pictures.style import HEIGHT, WIDTH, dressed, theme_of

__all__ = ["simplex"]

LINES = 14  # of the objective
_GROUND = Slice((0, 1, 2), np.eye(3))


def simplex(*traces: Any, problem: Problem | None = None, dark: bool = False) -> hv.Overlay:
    """Draw the way of one or several runs over the weights of three kernels.

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
    found, theme = traces_of(*traces), theme_of(dark)
    names = _three(found.values())
    styles = run_styles(found, theme)
    parts = [part for key, trace in found.items() for part in _path(trace, styles[key], theme)]
    ground = [] if problem is None else [_contours(problem, found.values(), theme)]
    picture = hv.Overlay([*ground, _frame(theme), *parts, _names(names, theme)])
    return dressed(
        picture,
        theme,
        width=WIDTH,
        height=HEIGHT + 40,
        xaxis=None,
        yaxis=None,
        data_aspect=1,
        xlim=(-0.35, 1.35),
        ylim=(-0.14, 1.0),
        legend_position="top_left",
        grid=False,
    )


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


def _contours(problem: Problem, traces: Iterable[Trace], theme: Theme) -> hv.Contours:
    """Return lines of equal objective."""
    check_ground(problem, traces, 3)
    x, y, z = Landscape(problem, _GROUND).finest()
    lines, low, room = contour_generator(x, y, z), float(z.min()), float(z.max() - z.min())
    levels = low + room * np.linspace(0.0, 1.0, LINES + 1)[1:-1] ** 2
    paths: list[tuple[Any, float]] = [(line, level) for level in levels.tolist() for line in lines.lines(level)]
    drawn = [{"along": line[:, 0], "up": line[:, 1], "objective": level} for line, level in paths]
    contours = hv.Contours(drawn, ["along", "up"], "objective")
    return contours.opts(cmap=[theme.muted], line_width=1, alpha=0.55, show_legend=False, backend="bokeh")


def _frame(theme: Theme) -> hv.Path:
    around = CORNERS[[0, 1, 2, 0]]
    return hv.Path([around], ["along", "up"]).opts(color=theme.axis, line_width=1.5, backend="bokeh")


def _names(names: list[str], theme: Theme) -> hv.Labels:
    below = np.where(CORNERS[:, 1] > 0.0, 0.06, -0.07)
    places = [(x, y + dy, name) for (x, y), dy, name in zip(CORNERS.tolist(), below.tolist(), names, strict=True)]
    drawn = hv.Labels(places, ["along", "up"], "name")
    return drawn.opts(text_color=theme.text, text_font_size="13px", backend="bokeh")


def _path(trace: Trace, style: RunStyle, theme: Theme) -> tuple[hv.Curve, hv.Scatter, hv.Scatter]:
    """Return the line through all steps, their markers, and where it ended."""
    places = np.array([_GROUND.place(iterate.weights) for iterate in trace])
    kdims, vdims = ["along"], ["up"]
    line = hv.Curve((places[:, 0], places[:, 1]), kdims, vdims, label=style.label)
    steps = hv.Scatter((places[:, 0], places[:, 1]), kdims, vdims, label=style.label)
    end = hv.Scatter((places[-1:, 0], places[-1:, 1]), kdims, vdims)
    return (
        line.opts(color=style.colour, line_dash=style.dash, line_width=1.8, backend="bokeh"),
        steps.opts(color=style.colour, marker=style.marker, size=6, backend="bokeh"),
        end.opts(color=style.colour, marker=style.marker, size=14, line_color=theme.card, backend="bokeh"),
    )
