"""Charts of the laboratory tabs: curves with a threshold across, the heaviest weights as bars; the table of replays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from mklviz.analysis.curves import Bar, RunCurve
from mklviz.engine import Replay, Returned
from mklviz.record import Trace
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, BarMark, Chart, Column, LineMark, PointMark, RuleMark, Table
from mklviz.views.chart.readout import add_readout
from mklviz.views.look.palette import RunStyle, Theme, swatch

__all__ = ["above_words", "bar_table", "bars_chart", "curve_tables", "curves_chart", "lab_figure", "replay_table"]

HEIGHT = 230  # pixels
FAINT = 0.4  # opacity of what is behind
ROUNDING = 1e-9  # of the objective; a smaller distance may be rounding


def lab_figure(chart: Chart, theme: Theme) -> ChartFigure:
    """Draw a chart of the laboratory in Bokeh, without tools; its curves are read beside the mouse."""
    drawn = ChartFigure(chart, theme, round(HEIGHT * theme.scale), tools="")
    if any(isinstance(mark, LineMark) for mark in chart.marks):
        add_readout([drawn.plot], theme, shares=True)
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
    """Return curves in the styles of their runs, those behind first, the marks on them and the threshold."""
    ordered = sorted(curves, key=lambda curve: not curve.behind)
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


_GROUP = {True: ' class="group"', False: ""}  # where the columns of one iterate begin
_HEADS = (
    ("Above optimum", "How far its objective lies above the optimum, by the best bounds of all runs at their ends"),
    ("Kernels", "Kernels in use"),
    ("Misplaced", "Share of the weight that is on other kernels than in the best solution known"),
)


def replay_table(
    replays: Mapping[str, Replay],
    traces: Mapping[str, Trace],
    styles: Mapping[str, RunStyle],
    score_name: str,
    silent: frozenset[str] = frozenset(),
) -> str:
    """Return an HTML table of where each run would have stopped and with which result.

    `traces`, `styles`: the runs by the same keys, and how they are drawn; `score_name`: what scores are, such as "Test
    accuracy"; "" where there are none; `silent`: keys of the runs that do not report what the rule looks at.
    """
    heads = [*_HEADS, (score_name, "On samples that were held out")] if score_name else list(_HEADS)
    columns = "".join(
        f'<th scope="col"{_GROUP[column == 0]} title="{escape(why)}">{escape(name)}</th>'
        for column, (name, why) in enumerate(heads)
    )
    groups = "".join(
        f'<th scope="colgroup"{_GROUP[True]} colspan="{len(heads)}">{what}</th>'
        for what in ("Last iterate", "Best iterate so far")
    )
    rows = "".join(_row(replays[key], traces[key], styles[key], score_name, key in silent) for key in replays)
    return (
        '<div class="scroll" tabindex="0"><table class="results replays">'
        '<caption class="unseen">Where each run would have stopped'
        f'</caption><thead><tr><td colspan="4"></td>{groups}</tr><tr><th scope="col">Solver</th><th scope="col">Stops'
        '</th><th scope="col">SVM solves</th><th scope="col">CPU seconds</th>'
        f"{2 * columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(replay: Replay, trace: Trace, style: RunStyle, score_name: str, silent: bool) -> str:
    first, end = trace.first_step, trace.last_step
    if silent:
        when = "not reported"
    elif replay.verdict is None:
        when = f"never, in {end - first:,} steps"
    else:
        when = f"at step {first + replay.step:,} of {end:,}"
    step = replay.last.step
    cells = "".join(
        f"<td>{cell}</td>" for cell in (when, f"{trace[step].svm_solves:,}", f"{trace.seconds_at(step):.2f} s")
    )
    for returned in (replay.last, replay.best):
        columns = enumerate(_cells(returned, score_name))
        cells += "".join(f"<td{_GROUP[column == 0]}>{cell}</td>" for column, cell in columns)
    return f'<tr><th scope="row">{swatch(style)}{escape(style.label)}</th>{cells}</tr>'


def _cells(returned: Returned, score_name: str) -> list[str]:
    cells = [above_words(returned), f"{returned.iterate.active:,}", _percent(returned.misplaced)]
    if score_name:
        score = returned.score
        accurate = f"{100 * score:.1f} %" if "accuracy" in score_name.lower() else f"{score:.3f}"
        cells.append(accurate if math.isfinite(score) else "–")
    return cells


def above_words(returned: Returned) -> str:
    """Return how far the returned iterate lies above the optimum: "1.2 %", or "0.4–1.2 %" where no more is known."""
    least, most = _short(returned.at_least), _short(returned.at_most)
    if not most:
        return f"≥ {least} %" if least else "–"
    return f"{most} %" if least == most else f"{least}–{most} %"


def _short(share: float) -> str:
    if not math.isfinite(share):
        return ""
    value = 100 * share if share > ROUNDING else 0.0
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if math.isfinite(share) else "–"
