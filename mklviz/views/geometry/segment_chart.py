"""Two kernels: the objective over the share of one of them, and what one solver made of it at one step.

cuts, their upper envelope and its lowest point          where SILP goes
the level, where no cut exceeds it, and an arrow there   where Level goes
the threshold, trials accepted and refused               how far methods with a line search go
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklviz.analysis.steps import Place, SegmentStep
from mklviz.typing import Array
from mklviz.views.chart.description import ArrowMark, Axis, Chart, LineMark, PointMark, Table, TextMark
from mklviz.views.look.palette import RunStyle, Theme

__all__ = ["height_axis", "objective_table", "segment_chart", "segment_tables"]

BELOW, ABOVE = 0.6, 0.08  # of the objective's range that is shown beside it; cuts lie below
NUMBERED = 6  # last steps that carry their number
AT, TO = ("share", "objective"), ("share_end", "objective_end")  # columns
_TIPS = (("", "@text"), ("share", "@share{0.0000}"), ("objective", "@objective{0,0.00}"))


def segment_chart(key: str, style: RunStyle, theme: Theme, kernels: Sequence[str]) -> Chart:
    """Describe what one run made of the objective over the share of the first of two kernels."""
    colour = style.colour
    marks = (
        LineMark("cuts", *AT, colour, width=1.0, alpha=0.45, many=True),
        LineMark("model", *AT, colour, width=2.4),
        LineMark("line", *AT, colour, dash="dashed", width=1.4),
        LineMark("set", *AT, colour, width=8.0, alpha=0.4),
        LineMark("objective", *AT, theme.text, width=2.4),
        ArrowMark("arrow", *AT, *TO, theme.text),
        PointMark("refused", *AT, colour, marker="x", size=11.0, width=2.0, tips=_TIPS),
        PointMark("passed", *AT, colour, size=13.0, width=1.2, tips=_TIPS),
        PointMark("points", *AT, colour, fill=theme.card, marker=style.marker, size=8.0, width=1.8, tips=_TIPS),
        TextMark("numbers", *AT, "step", colour, bold=True, right=7.0, up=5.0),
    )
    shares = Axis(f"share of {kernels[0]}; the rest goes to {kernels[1]}", start=-0.02, end=1.05)
    return Chart(f"segment-{key}", x=shares, y=Axis(start=0.0, end=1.0), marks=marks)


def height_axis(low: float, high: float) -> Axis:
    """Return the axis that shows heights between two, with some room for cuts below."""
    room = max(high - low, 1e-3 * abs(high), 1e-12)
    return Axis(start=low - BELOW * room, end=high + ABOVE * room)


def objective_table(shares: Array, heights: Array) -> Table:
    """Return the objective as a table."""
    return {"share": shares.tolist(), "objective": heights.tolist()}


def segment_tables(shown: SegmentStep, first: int = 0) -> dict[str, Table]:
    """Return what the run made of a step; its steps are counted from `first`."""
    steps, line, ends = list(enumerate(shown.points, first)), shown.line, shown.level_set
    taken = ["trial, low enough"] * (len(shown.passed) - 1) + ["trial, taken"] * bool(shown.passed)
    moves = [] if shown.arrow is None else [(*shown.arrow[0], *shown.arrow[1])]
    return {
        "cuts": {"share": [[0.0, 1.0] for _ in shown.cuts], "objective": [cut[::-1].tolist() for cut in shown.cuts]},
        "model": _table(shown.model),
        "line": _table([] if line is None else [(0.0, line), (1.0, line)]),
        "set": _table([] if line is None or ends is None else [(share, line) for share in ends]),
        "arrow": {column: [move[i] for move in moves] for i, column in enumerate((*AT, *TO))},
        "refused": _table(shown.refused, text=["trial, not low enough"] * len(shown.refused)),
        "passed": _table(shown.passed, text=taken),
        "points": _table(shown.points, text=[f"step {t}" for t, _ in steps]),
        "numbers": _table([point for _, point in steps[-NUMBERED:]], step=[str(t) for t, _ in steps[-NUMBERED:]]),
    }


def _table(points: Sequence[Place], **words: Sequence[str]) -> Table:
    """Return the places that are known, with the words of each."""
    known = [k for k, point in enumerate(points) if np.isfinite(point).all()]
    columns = {"share": [points[k][0] for k in known], "objective": [points[k][1] for k in known]}
    return columns | {name: [texts[k] for k in known] for name, texts in words.items()}
