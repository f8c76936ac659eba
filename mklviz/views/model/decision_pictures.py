"""Pictures of what a solution decides: its surface over the plane, and ROC, confusion or values on held-out samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import holoviews as hv
import numpy as np
from numpy.typing import ArrayLike

from mklviz.analysis.decisions import Roc, Surface, level_lines, plane_of, solution_of, surface
from mklviz.problem import Problem
from mklviz.typing import Array
from mklviz.views.chart.axes import PERCENT, Span
from mklviz.views.look.palette import CLASS_MARKERS, Theme, class_colours, decision_shades, mixed, sequential, theme_for
from mklviz.views.pictures.style import HEIGHT, WIDTH, dressed


def decision(problem: Problem, solution: Any, X: ArrayLike | None = None, dark: bool = False) -> hv.Overlay:
    """Draw what a solution decides over the plane, for samples with two features.

    Parameters
    ----------
    problem : Problem
    solution : Trace, Iterate or (m,) array
        A run, of which the least objective is drawn; one of its iterates; or kernel weights, at which the SVM is
        solved first.
    X : (n, 2) array, optional
        The samples, where the bank of the problem does not keep them.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        Colours for the side of each place, solid lines where f = 0, dashed ones where f = -1 and 1, the samples by
        class, and rings around support vectors. With several classes, the class chosen; for regression, f.

    Raises
    ------
    ProblemError
        If the samples have other than two features, or the solution belongs to another problem.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("two_moons").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0))
    >>> trace = mv.solve(problem, "level")
    >>> mv.plot.save(mv.plot.decision(problem, trace) + mv.plot.decision(problem, trace[0]), "moons.html")
    """
    drawn = surface(problem, *solution_of(problem, solution), plane_of(problem, X))
    return draw_decision(drawn, problem, theme_for(dark), "Decision surface")


def draw_decision(
    surface: Surface,
    problem: Problem,
    theme: Theme,
    title: str,
    names: Sequence[str] = (),
    axes: Sequence[str] = ("first feature", "second feature"),
) -> hv.Overlay:
    loss = problem.loss
    classes = np.unique(problem.y)
    regression = loss.regression and len(classes) > 2
    ground = _ground(surface, classes, theme, regression, loss.multiclass)
    parts = [ground, *([] if regression or loss.multiclass else _lines(surface, theme))]
    parts += _samples(surface, classes, theme, regression, names)
    some = f", {len(surface.points):,} of {surface.total:,} samples" if len(surface.points) < surface.total else ""
    return dressed(
        hv.Overlay(parts),
        theme,
        title=f"{title}{some}",
        width=WIDTH,
        height=HEIGHT + 60,
        xlabel=axes[0],
        ylabel=axes[1],
        xlim=_span(surface.x),
        ylim=_span(surface.y),
        legend_position="top",
        grid=False,
    )


def _ground(surface: Surface, classes: Array, theme: Theme, regression: bool, multiclass: bool) -> hv.Image:
    (left, right), (bottom, top) = _span(surface.x), _span(surface.y)
    values = np.searchsorted(classes, surface.values).astype(np.float64) if multiclass else surface.values
    shades, low, high = decision_shades(theme, len(classes) if multiclass else 0)
    if regression:
        shades, low, high = sequential(theme), float(values.min()), float(values.max())
    image = hv.Image(
        values[::-1].astype(np.float32), bounds=(left, bottom, right, top), kdims=["x1", "x2"], vdims=["f"]
    )
    return image.opts(backend="bokeh", colorbar=regression, cmap=shades, clim=(low, high))


def _lines(surface: Surface, theme: Theme) -> list[hv.Contours]:
    """Return where f is zero, and its margins."""
    drawn = []
    for levels, dash, width in (((0.0,), "solid", 2), ((-1.0, 1.0), "dashed", 1)):
        lines = level_lines(surface.x, surface.y, surface.values, *levels)
        contours = hv.Contours([{"x1": x, "x2": y} for x, y in lines], ["x1", "x2"])
        drawn.append(contours.opts(color=theme.text, line_dash=dash, line_width=width, backend="bokeh"))
    return drawn


def _samples(
    surface: Surface, classes: Array, theme: Theme, regression: bool, names: Sequence[str]
) -> list[hv.Scatter]:
    kdims, vdims, colours = ["x1"], ["x2"], class_colours(theme)
    drawn = []
    for k, code in enumerate([None] if regression else classes.tolist()):
        chosen = surface.points if code is None else surface.points[surface.targets == code]
        name = "samples" if code is None else names[k] if len(names) == len(classes) else f"class {code:g}"
        colour = theme.text if code is None else colours[k % len(colours)]
        style = {"color": colour, "line_color": theme.card}
        cloud = hv.Scatter((chosen[:, 0], chosen[:, 1]), kdims, vdims, label=name)
        drawn.append(cloud.opts(marker=CLASS_MARKERS[k % len(CLASS_MARKERS)], size=7, backend="bokeh", **style))
    ringed = surface.points[surface.support]
    if not len(ringed):
        return drawn
    rings = hv.Scatter((ringed[:, 0], ringed[:, 1]), kdims, vdims, label="support vectors")
    drawn.append(
        rings.opts(marker="circle", size=12, fill_alpha=0.0, line_color=theme.text, line_width=1.2, backend="bokeh")
    )
    return drawn


def _span(middles: Array) -> tuple[float, float]:
    half = 0.5 * float(middles[1] - middles[0])
    return float(middles[0]) - half, float(middles[-1]) + half


STRONGEST = 0.75  # of the shades behind numbers, which must be read


def draw_roc(curve: Roc, colour: str, theme: Theme, positive: str, negative: str) -> hv.Overlay:
    """Draw the curve over the diagonal of random guesses."""
    line = hv.Curve((curve.mistaken, curve.hits), "mistaken", "found").opts(color=colour, line_width=2, backend="bokeh")
    words = {"xlabel": f"{negative} taken for {positive}", "ylabel": f"{positive} found"}
    words["title"] = f"ROC, area below it {curve.area:.3f}"
    return _over_equal(line, (0.0, 1.0), (-0.02, 1.02), theme, {"x": PERCENT, "y": PERCENT}, **words)


def _over_equal(
    drawn: hv.Element, ends: Span, axis: Span, theme: Theme, formats: Mapping[str, str], **words: Any
) -> hv.Overlay:
    """Draw values over the line on which both are equal, between two `ends`, on two axes alike."""
    equal = hv.Curve([(end, end) for end in ends], *drawn.dimensions()[:2])
    equal.opts(color=theme.muted, line_dash="dashed", line_width=1, backend="bokeh")
    return dressed(equal * drawn, theme, formats, width=HEIGHT, xlim=axis, ylim=axis, **words)


def draw_confusion(confused: Array, classes: Sequence[str], theme: Theme) -> hv.Overlay:
    """Draw how many samples of each class were taken for each, shaded by their share of the class."""
    totals = np.maximum(confused.sum(axis=1, keepdims=True), 1)
    shares = confused / totals
    fields = [
        (classes[column], classes[row], float(shares[row, column]), int(confused[row, column]))
        for row in reversed(range(len(classes)))
        for column in range(len(classes))
    ]
    heat = hv.HeatMap(fields, ["predicted", "true"], ["share", "samples"])
    light = [mixed(theme.card, theme.parts[2][0], k / 63) for k in range(64)]  # dark numbers can be read on them
    shades = sequential(theme)[: int(STRONGEST * len(sequential(theme)))] if theme.dark else light
    heat.opts(
        cmap=shades,
        clim=(0.0, 1.0),
        line_color=theme.card,
        tools=["hover"],
        hover_tooltips=[(name, f"@{name}") for name in ("true", "predicted", "samples")] + [("share", "@share{0 %}")],
        backend="bokeh",
    )
    numbers = hv.Labels(
        [(column, row, f"{count:,}") for column, row, _, count in fields], ["predicted", "true"], "text"
    )
    numbers.opts(text_color=theme.text, text_font_size=f"{12 * theme.scale:g}px", backend="bokeh")
    return dressed(
        heat * numbers,
        theme,
        grid=False,
        title="Confusion, number of samples",
        width=HEIGHT,
        xlabel="predicted class",
        ylabel="true class",
        xrotation=40 if len(classes) > 3 else 0,
    )


def draw_predicted(true: Array, predicted: Array, colour: str, theme: Theme) -> hv.Overlay:
    """Draw predicted values over true ones, and the line on which they would be equal."""
    low, high = float(min(true.min(), predicted.min())), float(max(true.max(), predicted.max()))
    room = 0.04 * (high - low or 1.0)
    span = low - room, high + room
    cloud = hv.Scatter((true, predicted), "true", "predicted").opts(color=colour, size=5, alpha=0.6, backend="bokeh")
    words = {"title": "Predicted against true", "xlabel": "true target", "ylabel": "predicted target"}
    return _over_equal(cloud, span, span, theme, {}, **words)
