"""Kernel weights as bars by kernel or by family, and as a heat map by feature and kernel."""

from __future__ import annotations

from typing import Literal

import holoviews as hv
import numpy as np

from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.look.palette import Theme, sequential
from mklviz.views.look.styles import run_styles
from mklviz.views.model.learned import Bars, Grid, by_family, by_feature, by_kernel
from mklviz.views.pictures.style import HEIGHT, dressed, theme_of

__all__ = ["draw_bars", "draw_grid", "weights"]

By = Literal["kernel", "family", "feature"]
ROW = 18  # pixels for each bar
AROUND = 90  # pixels for title and axis


def weights(
    trace: Trace, bank: Bank | None = None, by: By = "kernel", step: int | None = None, dark: bool = False
) -> hv.Element:
    """Draw the kernel weights that a run found.

    Parameters
    ----------
    trace : Trace
    bank : Bank, optional
        The bank of the run's problem, which knows families and features; by kernel it is not needed.
    by : "kernel", "family" or "feature"
        Bars for the 50 heaviest kernels; bars for kernel families; or a heat map of features by kernels on them, such
        as Gaussians of each width.
    step : int, optional
        The step whose weights are drawn, a negative one counted from the end; by default those of the run's solution,
        its least objective. The steps of a branch go on from where it began.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Bars or hv.HeatMap

    Raises
    ------
    ProblemError
        If there is no such step, or the bank is missing, another one, or knows no families.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0))
    >>> trace = mv.solve(problem, "level")
    >>> picture = mv.plot.weights(trace) + mv.plot.weights(trace, problem.bank, by="feature")
    >>> mv.plot.save(picture, "weights.html")
    """
    theme, here = theme_of(dark), _weights_at(trace, step)
    title = f"{trace.label}, {'solution' if step is None else f'step {step:,}'}"
    if by == "kernel":
        return draw_bars(by_kernel(here, trace.kernel_names), "kernel", _colour(trace, theme), theme, title)
    if by not in ("family", "feature"):
        raise ProblemError(f'Weights are drawn by "kernel", "family" or "feature", but by={by!r} was given.')
    if bank is None or len(bank) != len(here):
        had = "none was given" if bank is None else f"the one given has {len(bank):,} kernels and the run {len(here):,}"
        raise ProblemError(f"Families and features are known to the bank of the run's problem: give it; {had}.")
    if by == "family":
        return draw_bars(by_family(here, bank), "family", _colour(trace, theme), theme, title)
    return draw_grid(by_feature(here, bank), theme, title)


def _weights_at(trace: Trace, step: int | None) -> Array:
    if step is None:
        return trace.best.weights
    first, last = trace.first_step, trace.last_step
    index = step - first if step >= 0 else step + len(trace)
    if not 0 <= index < len(trace):
        raise ProblemError(f"The run has the steps {first:,} to {last:,}, but step {step:,} was asked for.")
    return trace[index].weights


def _colour(trace: Trace, theme: Theme) -> str:
    return run_styles({trace.solver: trace}, theme)[trace.solver].colour


def draw_bars(bars: Bars, of: str, colour: str, theme: Theme, title: str) -> hv.Bars:
    """Draw one bar for each name, the first at the top."""
    # pictures side by side share the axes that have one name; in tips a name that begins with another is taken for it
    value = f"weight_of_{of}"
    rows = list(zip(bars.names, bars.values, bars.counted, strict=True))[::-1]
    drawn = hv.Bars(rows, hv.Dimension(of), [value, "note"])
    label = title if bars.share > 0.9995 else f"{title}: {100 * bars.share:.0f} % of the weight"
    tips = [(of, f"@{of}"), ("weight", f"@{value}{{0.0000}}"), *([("kernels", "@note")] if any(bars.counted) else [])]
    return dressed(
        drawn,
        theme,
        title=label,
        height=round(theme.scale * max(AROUND + ROW * len(bars.names), 180)),
        invert_axes=True,
        xlabel="",
        ylabel="value" if of == "parameter" else "kernel weight",
        color=colour,
        line_color=None,
        bar_width=0.7,
        hover_tooltips=tips,
        tools=["hover"],
        ylim=(0.0, 1.05 * max(bars.values, default=1.0) or 1.0),
    )


def draw_grid(grid: Grid, theme: Theme, title: str) -> hv.HeatMap:
    """Draw one field for each row and column, the first row at the top."""
    fields = [
        (column, row, value)
        for row, line in zip(grid.rows[::-1], grid.values[::-1].tolist(), strict=True)
        for column, value in zip(grid.columns, line, strict=True)
    ]
    label = title if grid.share > 0.9995 else f"{title}: {100 * grid.share:.0f} % of the weight"
    drawn = hv.HeatMap(fields, [hv.Dimension("kind", label="kernel"), "features"], "weight")
    return dressed(
        drawn,
        theme,
        title=label,
        height=round(theme.scale * max(AROUND + 60 + ROW * len(grid.rows), HEIGHT if len(grid.rows) > 6 else 220)),
        cmap=sequential(theme),
        clim=(0.0, float(np.max(grid.values, initial=0.0)) or 1.0),
        colorbar=True,
        grid=False,
        xrotation=50,
        xlabel="kernel",
        ylabel="",
        line_color=theme.card,
        hover_tooltips=[("kernel", "@kind"), ("features", "@features"), ("weight", "@weight{0.0000}")],
        tools=["hover"],
    )
