"""How runs of a sweep spread over splits: every run, the quartiles and the median, for each data set and solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import holoviews as hv
import numpy as np

from mklviz.sweeps.statistics import Outcomes, Spread, spreads
from mklviz.views.chart.axes import SHORT
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.style import dressed, legend_above, theme_of

__all__ = ["draw_spread", "spread", "spread_points"]

ROOM = 1.25  # beyond the ends, as a factor
LINE, BETWEEN, AROUND = 15, 12, 90  # pixels for each solver, between data sets, for title and axis


def spread(table: Any, measure: str | None = None, dark: bool = False) -> hv.Overlay:
    """Draw how the runs of a sweep spread over the splits, for each data set and setting.

    Parameters
    ----------
    table : SweepTable or pandas.DataFrame
        The results of a sweep, as `mklviz.sweep` returns them, or their data frame.
    measure : str, optional
        "seconds", "fits", "svm_solves", "steps", "score", "objective" or "kernels". By default seconds, and fits, which
        are seconds in units of one SVM fit of the mean kernel on the same machine, where runs of several machines meet.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        In the colour of each solver a small dot for each run, a bar over the middle half of those that converged and
        its marker at their median. What a run that did not converge had reached is hollow, and no part of the bar.

    Raises
    ------
    ProblemError
        If this is no table of a sweep, or seconds of several machines are asked for.
    UnknownName
        If there is no such measure.

    Examples
    --------
    >>> import mklviz as mv
    >>> table = mv.sweep("data=heart; split=0...4; solvers=silp,level,spg; kernels=gauss:1,4 poly:1; C=1,10")
    >>> mv.plot.save(mv.plot.spread(table, "svm_solves") + mv.plot.spread(table, "score"), "spread.html")
    """
    return draw_spread(Outcomes.of(table, measure), theme_of(dark))


def draw_spread(outcomes: Outcomes, theme: Theme, **options: Any) -> hv.Overlay:
    """Draw the spreads in the colours of `theme`."""
    drawn, styles = spreads(outcomes), written_styles(outcomes.solvers, theme)
    titles, rows = _titles(drawn), _rows(drawn, outcomes.solvers)
    height = round(theme.scale * (AROUND + len(titles) * (LINE * len(styles) + BETWEEN)))
    parts = []
    for solver in outcomes.solvers:
        own = [(y, each) for y, each in rows if each.solver == solver]
        parts += _solver(own, styles[solver], theme, outcomes.measure.column)
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT},
        title=_title(drawn),
        logx=outcomes.measure.cost,
        **_ends(drawn, outcomes.measure.cost),
        xlabel=outcomes.words,
        ylabel="",
        yticks=list(enumerate(reversed(titles))),
        ylim=(-0.55, len(titles) - 0.45),
        **{**legend_above(len(styles), 4, height), **options},
    )


def spread_points(outcomes: Outcomes) -> list[tuple[float, float, int]]:
    """Return for each run that `draw_spread` shows its value, its row, and the place of its case."""
    return [
        (float(value), y, int(case))
        for y, each in _rows(spreads(outcomes), outcomes.solvers)
        for values, at in ((each.values, each.at), (each.unsolved, each.unsolved_at))
        for value, case in zip(values, at, strict=True)
    ]


def _titles(drawn: Sequence[Spread]) -> list[str]:
    return list(dict.fromkeys(each.title for each in drawn))


def _rows(drawn: Sequence[Spread], solvers: Sequence[str]) -> list[tuple[float, Spread]]:
    """Return each spread with the height of its row: titles from above, and below each its solvers."""
    titles, step = _titles(drawn), LINE / (LINE * len(solvers) + BETWEEN)
    middle = (len(solvers) - 1) / 2.0
    return [
        (len(titles) - 1 - titles.index(each.title) + step * (middle - solvers.index(each.solver)), each)
        for each in drawn
    ]


def _ends(drawn: Sequence[Spread], log: bool) -> dict[str, Any]:
    """Return the ends of a logarithmic axis, for which HoloViews would take zero where there is one value."""
    values = np.concatenate([values for each in drawn for values in (each.values, each.unsolved)])
    return {"xlim": (float(values.min()) / ROOM, float(values.max()) * ROOM)} if log and len(values) else {}


def _title(drawn: Sequence[Spread]) -> str:
    runs, missed = sum(each.runs for each in drawn), sum(each.missed for each in drawn)
    note = f"; {missed:,} did not converge (hollow)" if missed else ""
    return f"{runs:,} run{'s' * (runs != 1)}{note}"


def _solver(rows: Sequence[tuple[float, Spread]], style: RunStyle, theme: Theme, column: str) -> list[hv.Element]:
    """Return the runs of one solver, those that did not converge, the middle halves and the medians."""
    kdims, vdims = column, f"rows of {column}"
    runs = [(value, y) for y, each in rows for value in each.values.tolist()]
    reached = [(value, y) for y, each in rows for value in each.unsolved.tolist()]
    middles = [(each.quartiles[1], y) for y, each in rows if len(each.values)]
    bars = [(each.quartiles[0], y, each.quartiles[2], y) for y, each in rows if len(each.values)]
    dots = hv.Scatter(np.reshape(runs, (-1, 2)), kdims, vdims)
    hollow = hv.Scatter(np.reshape(reached, (-1, 2)), kdims, vdims)
    bar = hv.Segments(np.reshape(bars, (-1, 4)), [kdims, vdims, f"{column} to", f"{vdims} to"])
    middle = hv.Scatter(np.reshape(middles, (-1, 2)), kdims, vdims, label=style.label)
    dots.opts(color=style.colour, size=4, alpha=0.6, backend="bokeh")
    hollow.opts(
        fill_color=theme.card, line_color=style.colour, line_width=1.4, size=7, marker="circle", backend="bokeh"
    )
    bar.opts(color=style.colour, line_width=8, alpha=0.35, backend="bokeh")
    middle.opts(color=style.colour, line_color=theme.card, marker=style.marker, size=10, backend="bokeh")
    return [bar, dots, hollow, middle]
