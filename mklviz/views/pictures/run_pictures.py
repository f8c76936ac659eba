"""Pictures of runs: their certified duality gap, paths over three kernels, and the objective over two.

J(d) over d = (p, 1 - p)      cuts of SILP and Level below it, their upper envelope, the level and its set,
                              the threshold of a line search, and trials that did not come below it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import holoviews as hv
import numpy as np

from mklviz.analysis.landscape import Landscape
from mklviz.analysis.steps import Cuts, keeps_cuts, step_of
from mklviz.analysis.weight_map import Slice
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.chart.axes import PERCENT, SHORT, X_AXES
from mklviz.views.chart.description import Axis, Chart, ContourMark, LineMark, Mark, PointMark
from mklviz.views.geometry import map_chart
from mklviz.views.look.palette import RunStyle, Theme, theme_for
from mklviz.views.look.styles import run_styles, traces_of
from mklviz.views.pictures.style import HEIGHT, check_ground, draw_holoviews, dressed, marked_line

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
        known = " or ".join(f'x="{name}"' for name in X_AXES)
        raise ProblemError(f"A gap is drawn along {known}, but x={x!r} was given.")
    runs, theme = traces_of(*traces), theme_for(dark)
    if not any(np.isfinite(trace.gap).any() for trace in runs.values()):
        raise ProblemError("None of these runs has a gap: their problem is not convex, so there is no lower bound.")
    styles = run_styles(runs, theme)
    parts = [part for key, trace in runs.items() for part in _line(trace, styles[key], x)]
    gaps = np.unique(np.concatenate([trace.gap for trace in runs.values()]))
    shown = gaps[np.isfinite(gaps) & (gaps > 0.0)].tolist()  # around a single one HoloViews begins below zero
    room: dict[str, Any] = {"ylim": (shown[0] / 2.0, shown[0] * 2.0)} if len(shown) == 1 else {}
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": PERCENT},
        logy=True,
        legend_position="top_right",
        xlabel=X_AXES[x],
        ylabel="relative duality gap",
        **room,
    )


def _line(trace: Trace, style: RunStyle, x: Along) -> list[hv.Element]:
    steps = trace.first_step + np.arange(float(len(trace)))
    along = steps if x == "iteration" else np.asarray(getattr(trace, x), dtype=np.float64)
    values = np.where(trace.gap > 0.0, trace.gap, np.nan)  # zero has no place on a log axis
    dims = hv.Dimension(x, label=X_AXES[x]), hv.Dimension("gap", label="relative gap")
    return marked_line(along[: len(values)], values[: len(along)], dims, style, style.label, MARKS)


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
    runs, theme = traces_of(*traces), theme_for(dark)
    names = _three(runs.values())
    styles = run_styles(runs, theme)
    marks: list[Mark] = [*map_chart.corner_marks(theme)]
    tables = map_chart.corner_tables(names, below=0.07, above=0.06)
    if problem is not None:
        check_ground(problem, runs.values(), 3)
        marks.insert(0, ContourMark("ground", *map_chart.AT, "objective", colour=theme.muted, alpha=0.55))
        tables["ground"] = map_chart.contour_table(Landscape(problem, _TRIANGLE).finest())
    for key, trace in runs.items():
        marks[-1:-1] = _path_marks(key, styles[key], theme)
        points = np.array([_TRIANGLE.position(iterate.weights) for iterate in trace])
        tables[f"path-{key}"] = dict(zip(map_chart.AT, points.T.tolist(), strict=True))
        tables[f"end-{key}"] = dict(zip(map_chart.AT, points[-1:].T.tolist(), strict=True))
    x, y = Axis(start=-0.35, end=1.35, visible=False), Axis(start=-0.14, end=1.0, visible=False)
    chart = Chart("simplex", x=x, y=y, marks=marks, equal_units=True)
    return draw_holoviews(chart, tables, theme, height=HEIGHT + 40, legend_position="top_left")


def _path_marks(key: str, style: RunStyle, theme: Theme) -> list[Mark]:
    """Describe the line through all steps, their markers, and where the run ended."""
    colour, marker = style.colour, style.marker
    return [
        LineMark(f"path-{key}", *map_chart.AT, colour, style.dash, width=1.8, label=style.label),
        PointMark(f"path-{key}", *map_chart.AT, colour, fill=colour, marker=marker, label=style.label),
        PointMark(f"end-{key}", *map_chart.AT, theme.card, fill=colour, marker=marker, size=14.0),
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


def segment(problem: Problem, trace: Trace, step: int | None = None, dark: bool = False) -> hv.Overlay:
    """Draw the objective over the share of two kernels, and how a run came to one of its steps.

    Parameters
    ----------
    problem : Problem
        The one that was solved, with two kernels and weights that sum to one.
    trace : Trace
        The run.
    step : int, optional
        Up to which step; all of them by default. Those of a branch go on from where it began.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        Dark, the objective. For SILP and Level thin lines, the cuts, thick their upper envelope before the step; dashed
        the level, broad where no cut exceeds it. For the others dashed the threshold that a trial must come below, and
        a cross for a first trial that did not. Numbered, the last steps; an arrow's line from the last but one.

    Raises
    ------
    ProblemError
        If there are not two kernels with weights that sum to one, the run is another problem's, or has no such step.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("ionosphere").split(train=0.5, seed=0)
    >>> bank = mv.KernelBank.build(train.X, [mv.Gaussian(widths=(2.0,)), mv.Polynomial(degrees=(2,))])
    >>> problem = mv.Problem(bank, train.y, mv.Hinge(C=100.0))
    >>> silp, level = (mv.solve(problem, name) for name in ("silp", "level"))
    >>> picture = mv.plot.segment(problem, silp, step=2) + mv.plot.segment(problem, level, step=2)
    >>> mv.plot.save(picture, "segment.html")
    """
    check_ground(problem, [trace], 2)
    first, last = trace.first_step, trace.last_step if step is None else step
    if not first <= last <= trace.last_step:
        raise ProblemError(f"This run has the steps {first:,} to {trace.last_step:,}, but step={step!r} was given.")
    theme, ground = theme_for(dark), Slice((0, 1), np.eye(2))
    x, _, z = Landscape(problem, ground).finest()
    steps = [trace[t] for t in range(last - first + 1)]
    cuts = Cuts(problem, ground.vertices)
    lines = [cuts.of(one.dual) for one in steps] if keeps_cuts(trace[:2]) else []
    shown = step_of(steps, ground, lines, lambda share: float(np.interp(share, x[0], z[0])))
    (style,) = run_styles({trace.solver: trace}, theme).values()
    chart = map_chart.segment_chart(trace.solver, style, theme, trace.kernel_names)
    heights = replace(map_chart.height_axis(float(z.min()), float(z.max())), label="objective")
    tables = map_chart.segment_tables(shown, first) | {"objective": map_chart.objective_table(x[0], z[0])}
    del tables["passed"]  # rings need a mouse
    chart = replace(chart, title=f"{trace.label}, step {last}", y=heights)
    return draw_holoviews(chart, tables, theme, show_legend=False)
