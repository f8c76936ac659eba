"""The charts of a race as data for the script of the exported page, which fills in the horizontal axis chosen there.

Colours are variables of the page's style sheet, so that it is light or dark where it is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mklviz.views.chart.axes import X_AXES
from mklviz.views.chart.description import Axis, Chart, LineMark, RuleMark
from mklviz.views.chart.race_charts import ChartOptions, objective_chart, race_charts, weights_chart, x_axis
from mklviz.views.look.palette import DASHES, LIGHT, MARKERS, RunStyle

__all__ = ["page_charts", "page_style"]

LARGE = ("objective", "gap", "step")
_THEME = replace(
    LIGHT, muted="var(--muted)", kernels=tuple(f"var(--kernel-{slot})" for slot in range(len(LIGHT.kernels)))
)


def page_style(style: RunStyle, index: int) -> RunStyle:
    """Return how a run is drawn in the colours of the page."""
    return replace(style, colour=f"var(--run-{index})")


def page_charts(styles: Mapping[str, RunStyle], gap: float | None, signed: bool, no_bound: str) -> dict[str, Any]:
    """Return the charts of all runs by their names, those of each run's weights, and the horizontal axes."""
    options = ChartOptions(_THEME, gap_tolerance=gap, signed=signed, no_bound=no_bound)
    charts = race_charts(styles, options)
    weights = [weights_chart(key, style, options) for key, style in styles.items()]
    return {
        "axes": {column: _axis(x_axis(replace(options, x=column))) for column in X_AXES},
        "charts": {name: _chart(charts[name]) for name in LARGE}
        | {"above": _chart(objective_chart(styles, replace(options, above=True)))},
        "weights": [_chart(chart) for chart in weights],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    words = {name: getattr(chart, name) for name in ("title", "beside", "note", "more")}
    return words | {"y": _axis(chart.y), "marks": [_mark(mark) for mark in chart.marks]}


def _axis(axis: Axis) -> dict[str, Any]:
    start = None if math.isnan(axis.start) else axis.start
    return {"label": axis.label, "log": axis.log, "start": start, "whole": axis.whole, "numbers": axis.numbers}


def _mark(mark: Any) -> dict[str, Any]:
    """Return a line over the horizontal axis chosen, or a rule across; what is empty is left out."""
    drawn = {"table": mark.table, "column": mark.y, "across": isinstance(mark, RuleMark), "dash": DASHES[mark.dash]}
    drawn |= {name: getattr(mark, name) for name in ("colour", "width", "alpha")}
    if isinstance(mark, LineMark) and mark.marker:
        drawn["marker"] = MARKERS.get(mark.marker, MARKERS["circle"])
    return {name: value for name, value in drawn.items() if value}
