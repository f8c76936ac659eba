"""Two kernels: the objective over their share of the weight, and what one run made of one of its steps.

J(d) over d = (p, 1 - p)      cuts of SILP and Level below it, their upper envelope, the level and its set,
                              the threshold of a line search, and trials that did not come below it
"""

from __future__ import annotations

from collections.abc import Sequence

import holoviews as hv
import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.geometry.cuts import Cuts
from mklviz.views.geometry.ground import Slice
from mklviz.views.geometry.landscape import Landscape
from mklviz.views.geometry.segment_step import Place, SegmentStep, step_of
from mklviz.views.geometry.step_facts import keeps_cuts
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.run_arguments import check_ground
from mklviz.views.pictures.style import HEIGHT, WIDTH, dressed, theme_of

__all__ = ["segment"]

BELOW, ABOVE = 0.6, 0.08  # of the objective's range that is shown beside it; cuts lie below
NUMBERED = 6  # last steps that carry their number


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
    theme, ground = theme_of(dark), Slice((0, 1), np.eye(2))
    x, _, z = Landscape(problem, ground).finest()
    steps = [trace[t] for t in range(last - first + 1)]
    cuts = Cuts(problem, ground.corners)
    lines = [cuts.of(one.dual) for one in steps] if keeps_cuts(trace[:2]) else []
    shown = step_of(steps, ground, lines, lambda share: float(np.interp(share, x[0], z[0])))
    (style,) = run_styles({trace.solver: trace}, theme).values()
    parts = [*_model(shown, style), _objective(x[0], z[0], theme), *_moves(shown, style, theme, first)]
    low, high = float(z.min()), float(z.max())
    room = max(high - low, 1e-3 * abs(high), 1e-12)
    return dressed(
        hv.Overlay(parts),
        theme,
        title=f"{trace.label}, step {last}",
        width=WIDTH,
        height=HEIGHT,
        xlabel=f"share of {trace.kernel_names[0]}; the rest goes to {trace.kernel_names[1]}",
        ylabel="objective",
        xlim=(-0.02, 1.05),
        ylim=(low - BELOW * room, high + ABOVE * room),
        show_legend=False,
    )


def _objective(shares: Array, heights: Array, theme: Theme) -> hv.Curve:
    return _line(shares.tolist(), heights.tolist()).opts(color=theme.text, line_width=2.4, backend="bokeh")


def _model(shown: SegmentStep, style: RunStyle) -> list[hv.Element]:
    """Return cuts, their envelope, and the level or threshold with the level set."""
    drawn: list[hv.Element] = []
    if len(shown.cuts):
        ends = [[(0.0, float(cut[1])), (1.0, float(cut[0]))] for cut in shown.cuts]
        cuts = hv.Path(ends, ["share", "objective"])
        drawn.append(cuts.opts(color=style.colour, line_width=1, alpha=0.45, backend="bokeh"))
    if shown.model:
        drawn.append(_line(*zip(*shown.model, strict=True)).opts(color=style.colour, line_width=2.4, backend="bokeh"))
    if shown.line is not None:
        line = _line([0.0, 1.0], [shown.line] * 2)
        drawn.append(line.opts(color=style.colour, line_dash="dashed", line_width=1.4, backend="bokeh"))
        if shown.level_set is not None:
            broad = _line(shown.level_set, [shown.line] * 2)
            drawn.append(broad.opts(color=style.colour, line_width=8, alpha=0.4, backend="bokeh"))
    return drawn


def _moves(shown: SegmentStep, style: RunStyle, theme: Theme, first: int) -> list[hv.Element]:
    """Return the last move, trials refused, and the points with the numbers of the last, counted from `first`."""
    drawn: list[hv.Element] = []
    if shown.arrow is not None:
        drawn.append(_line(*zip(*shown.arrow, strict=True)).opts(color=theme.text, line_width=1.6, backend="bokeh"))
    if shown.refused:
        drawn.append(_marks(shown.refused).opts(marker="x", size=11, color=style.colour, line_width=2, backend="bokeh"))
    look = {"color": theme.card, "line_color": style.colour, "line_width": 1.8, "size": 8, "marker": style.marker}
    drawn.append(_marks(shown.points).opts(tools=["hover"], backend="bokeh", **look))
    numbered = list(enumerate(shown.points, first))[-NUMBERED:]
    numbers = hv.Labels([(x, y, str(t)) for t, (x, y) in numbered], ["share", "objective"], "step")
    font = {"text_font_size": "12px", "text_font_style": "bold", "text_color": style.colour}
    return [*drawn, numbers.opts(text_align="left", text_baseline="bottom", backend="bokeh", **font)]


def _line(x: Sequence[float], y: Sequence[float]) -> hv.Curve:
    return hv.Curve((list(x), list(y)), "share", "objective")


def _marks(places: Sequence[Place]) -> hv.Scatter:
    return hv.Scatter(list(places), "share", "objective")
