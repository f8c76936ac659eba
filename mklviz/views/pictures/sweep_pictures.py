"""What came of a sweep: how runs spread over splits, performance profiles, and how costs grow with size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import holoviews as hv
import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import counted
from mklviz.sweeps.intervals import (
    Along,
    Growth,
    PerformanceProfile,
    Spread,
    growths,
    pair_profile,
    performance_profile,
    spreads,
)
from mklviz.sweeps.outcomes import Outcomes
from mklviz.typing import Array
from mklviz.views.chart.axes import PERCENT, SHORT
from mklviz.views.look.palette import RunStyle, Theme, theme_for
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.style import dressed, legend_above, marked_line

SPREAD_ROOM = 1.25  # beyond the ends, as a factor
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
    return draw_spread(Outcomes.of(table, measure), theme_for(dark))


def draw_spread(outcomes: Outcomes, theme: Theme, **options: Any) -> hv.Overlay:
    """Draw the spreads in the colours of `theme`."""
    drawn, styles = spreads(outcomes), written_styles(outcomes.solvers, theme)
    titles, rows = _titles(drawn), _rows(drawn, outcomes.solvers)
    height = round(theme.scale * (AROUND + len(titles) * (LINE * len(styles) + BETWEEN)))
    missed = sum(each.missed for each in drawn)
    note = f"; {missed:,} did not converge (hollow)" if missed else ""
    values = np.concatenate([values for each in drawn for values in (each.values, each.unsolved)])
    ends: dict[str, Any] = {}
    if outcomes.measure.cost and len(values):  # HoloViews would begin a log axis at zero where there is one value
        ends["xlim"] = float(values.min()) / SPREAD_ROOM, float(values.max()) * SPREAD_ROOM
    parts = []
    for solver in outcomes.solvers:
        own = [(y, each) for y, each in rows if each.solver == solver]
        parts += _solver(own, styles[solver], theme, outcomes.measure.column)
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT},
        title=f"{counted(sum(each.runs for each in drawn), 'run')}{note}",
        logx=outcomes.measure.cost,
        **ends,
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


# -- performance profiles: the share of cases that a solver solves at up to so many times the least cost


MARKS = 8  # markers on a line, at most
PROFILE_ROOM = 1.15  # beyond the last step
FLAT = 2.0  # the least width of the axis, as a factor


def profile(table: Any, measure: str | None = None, against: str = "", dark: bool = False) -> hv.Overlay:
    """Draw the performance profile of the solvers of a sweep, or that of each pair with one of them.

    Parameters
    ----------
    table : SweepTable or pandas.DataFrame
        The results of a sweep, as `mklviz.sweep` returns them, or their data frame.
    measure : "seconds", "fits", "svm_solves" or "steps", optional
        What a run costs: CPU seconds, seconds in units of one SVM fit of the mean kernel on the same machine, or
        counts. By default seconds, and fits where runs of several machines meet.
    against : str
        A solver that each other is compared with alone, as the order of two may change with the others in a profile of
        all; "" for the profile of all.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        A stepped line for each solver, in its colour: the share of cases, a data set with its split and settings, that
        it solves at up to so many times the least cost of all, or the cost of `against`. What did not converge is never
        solved, so a line ends below 100 %; the legend counts it.

    Raises
    ------
    ProblemError
        If this is no table of a sweep, no case has a run of every solver, the measure is no cost, or seconds of several
        machines are asked for.
    UnknownName
        If there is no such measure or solver.

    References
    ----------
    Dolan, Moré, Benchmarking optimization software with performance profiles, Mathematical Programming 91, 2002. Gould,
    Scott, A note on performance profiles for benchmarking software, ACM Transactions on Mathematical Software 43, 2016.

    Examples
    --------
    >>> import mklviz as mv
    >>> table = mv.sweep("data=heart; split=0...4; solvers=silp,level,spg; kernels=gauss:1,4 poly:1; C=1,10")
    >>> picture = mv.plot.profile(table, "svm_solves") + mv.plot.profile(table, "svm_solves", against="level")
    >>> mv.plot.save(picture, "profile.html")
    """
    return draw_profile(Outcomes.of(table, measure), theme_for(dark), against)


def profile_of(outcomes: Outcomes, against: str = "") -> PerformanceProfile:
    """Return the profile of all solvers, or that of each pair with one of them."""
    return pair_profile(outcomes, against) if against else performance_profile(outcomes)


def profile_label(profile: PerformanceProfile, solver: str, style: RunStyle) -> str:
    """Return what a legend says of a solver."""
    missed = profile.missed(solver)
    return f"{style.label} ({missed:,} not converged)" if missed else style.label


def draw_profile(outcomes: Outcomes, theme: Theme, against: str = "", **options: Any) -> hv.Overlay:
    """Draw a profile in the colours of `theme`."""
    profile, styles = profile_of(outcomes, against), written_styles(outcomes.solvers, theme)
    start, end = _profile_ends(profile)
    parts = [
        part for solver in profile.solvers for part in _profile_line(profile, solver, styles[solver], (start, end))
    ]
    if against:
        parts.append(hv.VLine(1.0).opts(color=theme.muted, line_dash="dashed", line_width=1, backend="bokeh"))
    base = f"the cost of {styles[against].label}" if against else "the least cost"
    cases = max((profile.cases(solver) for solver in profile.solvers), default=0)
    left = f"; {profile.left_out:,} without a run of each left out" if profile.left_out else ""
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": PERCENT},
        title=f"{counted(cases, 'case')}{left}",
        logx=True,
        xlim=(start, end),
        ylim=(-0.02, 1.04),
        xlabel=f"at most so many times {base}\n{profile.words}",
        ylabel="share of cases solved",
        **{**legend_above(len(profile.solvers), 2), **options},
    )


def _profile_ends(profile: PerformanceProfile) -> tuple[float, float]:
    """Return where the axis begins and ends: at 1 where that is the least."""
    ratios = profile.ratios[np.isfinite(profile.ratios) & (profile.ratios > 0.0)]
    end = max(float(ratios.max(initial=1.0)) * PROFILE_ROOM, FLAT)
    return (min(float(ratios.min(initial=1.0)) / PROFILE_ROOM, 1.0 / FLAT) if profile.against else 1.0), end


def _profile_line(
    profile: PerformanceProfile, solver: str, style: RunStyle, ends: tuple[float, float]
) -> list[hv.Element]:
    tau, share = profile.steps(solver)
    begun = profile.share(solver, ends[0])
    inner = (tau > ends[0]) & (tau < ends[1])
    x: Array = np.concatenate([ends[:1], tau[inner], ends[1:]])
    y: Array = np.concatenate([[begun], share[inner], [profile.share(solver, ends[1])]])
    of = profile.against or "the least"  # pictures side by side share the axes that have one name
    dims, label = (f"times {of}", hv.Dimension("share", label="share of cases")), profile_label(profile, solver, style)
    return marked_line(x, y, dims, style, label, MARKS, interpolation="steps-post")


# -- how the cost of solvers grows with samples or kernels: runs, the fitted line and its band, on log scales


GROWTH_ROOM = 1.1  # beyond the ends, as a factor
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
    return draw_growth(Outcomes.of(table, measure), theme_for(dark), along)


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
    parts = [part for each in curves for part in _growth_line(each, styles[each.solver], along)]
    where = "within data sets" if curves[0].within else "between data sets"
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": SHORT},
        title=f"Slope {where}, with its 95 % interval",
        logx=True,
        logy=True,
        xlim=(min(each.x[0] for each in curves) / GROWTH_ROOM, max(each.x[-1] for each in curves) * GROWTH_ROOM),
        xlabel=f"{along} {_LETTER[along]}",
        ylabel=outcomes.words,
        **{**legend_above(len(curves), 1), **options},
    )


def growth_label(growth: Growth, style: RunStyle, along: Along) -> str:
    """Return what a legend says of a solver: its exponent, with the interval."""
    interval = f" ({growth.low:.2f} to {growth.high:.2f})" if growth.low == growth.low else ""
    missed = f", {growth.missed:,} not converged" if growth.missed else ""
    return f"{style.label}: {_LETTER[along]}^{growth.exponent:.2f}{interval}{missed}"


def _growth_line(growth: Growth, style: RunStyle, along: Along) -> list[hv.Element]:
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
