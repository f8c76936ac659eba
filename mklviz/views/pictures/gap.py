"""The certified duality gap of runs over their steps, SVM solves or CPU seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import holoviews as hv
import numpy as np

from mklviz.errors import ProblemError
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.axes import PERCENT, SHORT, X_AXES
from mklviz.views.look.palette import RunStyle
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.style import dressed, theme_of, traces_of

__all__ = ["gap"]

MARKS = 20  # markers on a line, at most
Along = Literal["iteration", "svm_solves", "seconds"]


def gap(*traces: Any, x: Along = "iteration", dark: bool = False) -> hv.Overlay:
    """Draw how the gap of one or several runs falls: each run's certified gap, which never rises.

    Parameters
    ----------
    *traces : Trace
        One or several, or a mapping of them such as ``race.traces``.
    x : "iteration", "svm_solves" or "seconds"
        Along what.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        A line with markers for each run, in its solver's colour.

    Raises
    ------
    ProblemError
        If there is no run, or none has a gap, as where the problem is not convex.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0))
    >>> race = mv.race(problem, ["silp", "level", "spg"])
    >>> picture = mv.plot.gap(race.traces) + mv.plot.gap(race.traces, x="svm_solves")
    >>> mv.plot.save(picture, "gap.html")
    """
    if x not in X_AXES:
        raise ProblemError(f'A gap is drawn along x="{", x=".join(X_AXES)}", but x={x!r} was given.')
    runs, theme = traces_of(*traces), theme_of(dark)
    if not any(np.isfinite(trace.gap).any() for trace in runs.values()):
        raise ProblemError("None of these runs has a gap: their problem is not convex, so there is no lower bound.")
    styles = run_styles(runs, theme)
    parts = [part for key, trace in runs.items() for part in _line(trace, styles[key], x)]
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": PERCENT},
        logy=True,
        legend_position="top_right",
        xlabel=X_AXES[x],
        ylabel="relative duality gap",
        **_room([trace.gap for trace in runs.values()]),
    )


def _room(gaps: Sequence[Array]) -> dict[str, Any]:
    """Return limits around a single value, for which HoloViews takes some that begin below zero."""
    values = np.concatenate(gaps)
    shown = np.unique(values[np.isfinite(values) & (values > 0.0)])
    return {"ylim": (float(shown[0]) / 2.0, float(shown[0]) * 2.0)} if len(shown) == 1 else {}


def _line(trace: Trace, style: RunStyle, x: Along) -> tuple[hv.Curve, hv.Scatter]:
    """Return a line, and markers that tell it from others without colours."""
    steps = trace.first_step + np.arange(float(len(trace)))
    along = steps if x == "iteration" else np.asarray(getattr(trace, x), dtype=np.float64)
    values = np.where(trace.gap > 0.0, trace.gap, np.nan)  # zero has no place on a log axis
    table = along[: len(values)], values[: len(along)]
    few = np.unique(np.linspace(0, len(table[0]) - 1, min(MARKS, len(table[0]))).round().astype(int))
    kdims, vdims = [hv.Dimension(x, label=X_AXES[x])], [hv.Dimension("gap", label="relative gap")]
    line = hv.Curve(table, kdims, vdims, label=style.label)
    marks = hv.Scatter(tuple(column[few] for column in table), kdims, vdims, label=style.label)
    line.opts(color=style.colour, line_dash=style.dash, line_width=2, backend="bokeh")
    marks.opts(color=style.colour, marker=style.marker, size=7, tools=["hover"], backend="bokeh")
    return line, marks
