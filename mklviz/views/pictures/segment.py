"""Two kernels: the objective over their share of the weight, and what one run made of one of its steps.

J(d) over d = (p, 1 - p)      cuts of SILP and Level below it, their upper envelope, the level and its set,
                              the threshold of a line search, and trials that did not come below it
"""

from __future__ import annotations

from dataclasses import replace

import holoviews as hv
import numpy as np

from mklviz.analysis.landscape import Landscape
from mklviz.analysis.steps import Cuts, keeps_cuts, step_of
from mklviz.analysis.weight_map import Slice
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.geometry.map_chart import height_axis, objective_table, segment_chart, segment_tables
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.draw_holoviews import draw_holoviews
from mklviz.views.pictures.run_arguments import check_ground
from mklviz.views.pictures.style import theme_of

__all__ = ["segment"]


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
    theme, map_ = theme_of(dark), Slice((0, 1), np.eye(2))
    x, _, z = Landscape(problem, map_).finest()
    steps = [trace[t] for t in range(last - first + 1)]
    cuts = Cuts(problem, map_.corners)
    lines = [cuts.of(one.dual) for one in steps] if keeps_cuts(trace[:2]) else []
    shown = step_of(steps, map_, lines, lambda share: float(np.interp(share, x[0], z[0])))
    (style,) = run_styles({trace.solver: trace}, theme).values()
    chart = segment_chart(trace.solver, style, theme, trace.kernel_names)
    heights = replace(height_axis(float(z.min()), float(z.max())), label="objective")
    tables = segment_tables(shown, first) | {"objective": objective_table(x[0], z[0])}
    del tables["passed"]  # rings need a mouse
    chart = replace(chart, title=f"{trace.label}, step {last}", y=heights)
    return draw_holoviews(chart, tables, theme, show_legend=False)
