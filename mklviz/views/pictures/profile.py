"""Performance profiles: the share of cases that a solver solves at up to so many times the least cost."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np

from mklviz.sweeps.statistics import Outcomes, PerformanceProfile, pair_profile, performance_profile
from mklviz.typing import Array
from mklviz.views.chart.axes import PERCENT, SHORT
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.style import dressed, legend_above, theme_of

__all__ = ["draw_profile", "profile", "profile_label", "profile_of"]

MARKS = 8  # markers on a line, at most
ROOM = 1.15  # beyond the last step
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
    return draw_profile(Outcomes.of(table, measure), theme_of(dark), against)


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
    start, end = _ends(profile)
    parts = [part for solver in profile.solvers for part in _line(profile, solver, styles[solver], (start, end))]
    if against:
        parts.append(hv.VLine(1.0).opts(color=theme.muted, line_dash="dashed", line_width=1, backend="bokeh"))
    base = f"the cost of {styles[against].label}" if against else "the least cost"
    return dressed(
        hv.Overlay(parts),
        theme,
        {"x": SHORT, "y": PERCENT},
        title=_title(profile),
        logx=True,
        xlim=(start, end),
        ylim=(-0.02, 1.04),
        xlabel=f"at most so many times {base}\n{profile.words}",
        ylabel="share of cases solved",
        **{**legend_above(len(profile.solvers), 2), **options},
    )


def _title(profile: PerformanceProfile) -> str:
    cases = max((profile.cases(solver) for solver in profile.solvers), default=0)
    left = f"; {profile.left_out:,} without a run of each left out" if profile.left_out else ""
    return f"{cases:,} case{'s' * (cases != 1)}{left}"


def _ends(profile: PerformanceProfile) -> tuple[float, float]:
    """Return where the axis begins and ends: at 1 where that is the least."""
    ratios = profile.ratios[np.isfinite(profile.ratios) & (profile.ratios > 0.0)]
    end = max(float(ratios.max(initial=1.0)) * ROOM, FLAT)
    return (min(float(ratios.min(initial=1.0)) / ROOM, 1.0 / FLAT) if profile.against else 1.0), end


def _line(profile: PerformanceProfile, solver: str, style: RunStyle, ends: tuple[float, float]) -> list[hv.Element]:
    """Return the stepped line of a solver, and markers that tell it from others without colours."""
    tau, share = profile.steps(solver)
    begun = profile.share(solver, ends[0])
    inner = (tau > ends[0]) & (tau < ends[1])
    x: Array = np.concatenate([ends[:1], tau[inner], ends[1:]])
    y: Array = np.concatenate([[begun], share[inner], [profile.share(solver, ends[1])]])
    few = np.unique(np.linspace(0, len(x) - 1, min(MARKS, len(x))).round().astype(int))
    label = profile_label(profile, solver, style)
    of = profile.against or "the least"  # pictures side by side share the axes that have one name
    kdims, vdims = [f"times {of}"], [hv.Dimension("share", label="share of cases")]
    line = hv.Curve((x, y), kdims, vdims, label=label)
    marks = hv.Scatter((x[few], y[few]), kdims, vdims, label=label)
    line.opts(color=style.colour, line_dash=style.dash, line_width=2, interpolation="steps-post", backend="bokeh")
    marks.opts(color=style.colour, marker=style.marker, size=7, tools=["hover"], backend="bokeh")
    return [line, marks]
