"""How the cost of solvers grows with samples or kernels: runs, the fitted line and its band, on log scales."""

from __future__ import annotations

from typing import Any

import holoviews as hv

from mklviz.errors import ProblemError
from mklviz.sweeps.statistics import Growth, Outcomes, growths
from mklviz.sweeps.statistics.curves import Along
from mklviz.views.chart.axes import SHORT
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.style import dressed, legend_above, theme_of

__all__ = ["draw_growth", "growth_label", "plot_growth"]

ROOM = 1.1  # beyond the ends, as a factor
_LETTER = {"samples": "n", "kernels": "m"}


def plot_growth(table: Any, measure: str | None = None, along: Along = "samples", dark: bool = False) -> hv.Overlay:
    """Draw how the cost of each solver grows over a sweep, with the exponent and its interval.

    Parameters
    ----------
    table : SweepTable or pandas.DataFrame
        The results of a sweep, as `mklviz.sweep` returns them, or their data frame.
    measure : "seconds", "fits", "svm_solves" or "steps", optional
        What a run costs. By default seconds, and fits, which are seconds in units of one SVM fit of the mean kernel on
        the same machine, where runs of several machines meet.
    along : "samples" or "kernels"
        Along what.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        In the colour of each solver its runs, a line of slope b, cost ~ size^b, and the band that resampling leaves it.
        Runs that did not converge are not fitted; the legend counts them.

    Raises
    ------
    ProblemError
        If this is no table of a sweep, its runs have one size, the measure is no cost, or seconds of several machines
        are asked for.
    UnknownName
        If there is no such measure.

    Examples
    --------
    >>> import mklviz as mv
    >>> table = mv.sweep("data=heart; split=0...4; train=0.2,0.4,0.8; solvers=level,spg; kernels=gauss:1,4 poly:1")
    >>> mv.plot.save(mv.plot.growth(table, "svm_solves"), "growth.html")
    """
    return draw_growth(Outcomes.of(table, measure), theme_of(dark), along)


def draw_growth(outcomes: Outcomes, theme: Theme, along: Along = "samples", **options: Any) -> hv.Overlay:
    """Draw the growth in the colours of `theme`."""
    if along not in _LETTER:
        raise ProblemError(f'A cost grows along="samples" or along="kernels", but along={along!r:.60} was given.')
    curves = growths(outcomes, along)
    if not curves:
        raise ProblemError(
            f"There are too few numbers of {along} for a growth: two in a data set, or three data sets."
            f" Sweep over {'train=0.2,0.4,0.8' if along == 'samples' else 'kernels'}, for example."
        )
    styles = written_styles(outcomes.solvers, theme)
    parts = [part for each in curves for part in _line(each, styles[each.solver], along)]
    where = "within data sets" if curves[0].within else "between data sets"
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": SHORT},
        title=f"Slope {where}, with its 95 % interval",
        logx=True,
        logy=True,
        xlim=(min(each.x[0] for each in curves) / ROOM, max(each.x[-1] for each in curves) * ROOM),
        xlabel=f"{along} {_LETTER[along]}",
        ylabel=outcomes.words,
        **{**legend_above(len(curves), 1), **options},
    )


def growth_label(growth: Growth, style: RunStyle, along: Along) -> str:
    """Return what a legend says of a solver: its exponent, with the interval."""
    interval = f" ({growth.low:.2f} to {growth.high:.2f})" if growth.low == growth.low else ""
    missed = f", {growth.missed:,} not converged" if growth.missed else ""
    return f"{style.label}: {_LETTER[along]}^{growth.exponent:.2f}{interval}{missed}"


def _line(growth: Growth, style: RunStyle, along: Along) -> list[hv.Element]:
    label = growth_label(growth, style, along)
    kdims, vdims = hv.Dimension("size", label="size"), hv.Dimension("growing", label="cost")
    dots = hv.Scatter((growth.sizes, growth.costs), kdims, vdims, label=label)
    line = hv.Curve((growth.x, growth.line), kdims, vdims, label=label)
    dots.opts(color=style.colour, marker=style.marker, size=6, alpha=0.45, backend="bokeh")
    line.opts(color=style.colour, line_dash=style.dash, line_width=2, backend="bokeh")
    if growth.low != growth.low:
        return [dots, line]
    band = hv.Area((growth.x, growth.band_low, growth.band_high), kdims, [vdims, "growing_high"])
    return [band.opts(color=style.colour, alpha=0.15, line_alpha=0.0, backend="bokeh"), dots, line]
