"""Charts of the laboratory tabs: curves with a threshold across, and the heaviest weights as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mklviz.analysis.curves import Bar, RunCurve
from mklviz.views.chart.bokeh_figure import ChartFigure, add_readout
from mklviz.views.chart.description import Axis, BarMark, Chart, Column, LineMark, PointMark, RuleMark, Table
from mklviz.views.chart.race_charts import DASHED
from mklviz.views.look.palette import RunStyle, Theme

HEIGHT = 230  # pixels
FAINT = 0.4  # opacity of what is behind


def lab_figure(chart: Chart, theme: Theme) -> ChartFigure:
    """Draw a chart of the laboratory in Bokeh, without tools; its curves are read beside the mouse."""
    drawn = ChartFigure(chart, theme, round(HEIGHT * theme.scale), tools="")
    if any(isinstance(mark, LineMark) for mark in chart.marks):
        add_readout([drawn.plot], theme)
    return drawn


def curves_chart(name: str, x_label: str, theme: Theme) -> Chart:
    """Describe shares over steps or SVM solves."""
    colour, dash, width, alpha = (Column(name) for name in ("colour", "dash", "width", "alpha"))
    marks = (
        RuleMark("threshold", y="y", colour=theme.muted, dash="dashed"),
        LineMark("lines", "xs", "ys", colour, dash, width, alpha, many=True),
        PointMark("marks", colour=theme.card, fill=colour, marker=Column("marker"), size=11.0, width=1.5),
    )
    return Chart(name, x=Axis(x_label), y=Axis(scale="log", numbers="percent"), marks=marks)


def curve_tables(
    curves: Sequence[RunCurve], styles: Mapping[str, RunStyle], threshold: float = math.nan
) -> dict[str, Table]:
    """Return curves in the styles of their runs, from back to front, the marks on them and the threshold."""
    ordered = sorted(curves, key=lambda curve: (not curve.behind, DASHED.index(styles[curve.key].dash)))
    looks = [styles[curve.key] for curve in ordered]
    marked = [(each.mark, look) for each, look in zip(ordered, looks, strict=True) if each.mark and each.mark[1] > 0.0]
    return {
        "lines": {
            "xs": [list(map(float, curve.x)) for curve in ordered],
            "ys": [[float(y) if y > 0.0 and math.isfinite(y) else math.nan for y in curve.y] for curve in ordered],
            "label": [curve.label or look.label for curve, look in zip(ordered, looks, strict=True)],
            "colour": [look.colour for look in looks],
            "dash": ["solid" if curve.behind else look.dash for curve, look in zip(ordered, looks, strict=True)],
            "alpha": [FAINT if curve.behind else 1.0 for curve in ordered],
            "width": [1.6 if curve.behind else 2.0 for curve in ordered],
        },
        "marks": {
            "x": [mark[0] for mark, _ in marked],
            "y": [mark[1] for mark, _ in marked],
            "colour": [look.colour for _, look in marked],
            "marker": [look.marker for _, look in marked],
        },
        "threshold": {"y": [threshold]},
    }


def bars_chart(name: str, theme: Theme) -> Chart:
    """Describe the weights of a few kernels."""
    colour = Column("colour")
    marks = (
        BarMark("bars", "before", "name", theme.axis, alpha=0.55, height=0.82),
        BarMark("bars", "weight", "name", colour, height=0.42, tips=(("", "@name"), ("weight", "@weight{0.0000}"))),
        PointMark("bars", "third", "name", colour, size=9.0, width=2.0),
    )
    return Chart(name, x=Axis("kernel weight", start=0.0), marks=marks)


def bar_table(bars: Sequence[Bar], colour: str) -> dict[str, Table]:
    """Return kernels as bars, the first at the top."""
    upwards = list(reversed(bars))
    names = [bar.name for bar in upwards]  # kernels of a file may share one, and no axis has a place twice
    names = [f"{name} ({names[:k].count(name) + 1})" if name in names[:k] else name for k, name in enumerate(names)]
    columns = {column: [getattr(bar, column) for bar in upwards] for column in ("weight", "before", "third")}
    return {"bars": {"name": names, **columns, "colour": [colour] * len(names)}}
