"""Maps of kernel weights: the objective as contours and a numbered path for each solver; a segment between two kernels.

Low is as light as the card it is drawn on (as dark, on a dark one), so that paths are seen best near the optimum; each
has a seam in the colour of the card that keeps it apart from high ground. Three kernels lie on a triangle, see
`corner_marks`; two on a segment, where it is seen what one solver made of the objective at one step:

cuts, their upper envelope and its lowest point          where SILP goes
the level, where no cut exceeds it, and an arrow there   where Level goes
the threshold, trials accepted and refused               how far methods with a line search go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mklviz.analysis.steps import Place, SegmentStep
from mklviz.analysis.weight_map import CORNERS, MapPoint, Mesh, WeightMap, point_of
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.description import (
    AreaMark,
    ArrowMark,
    Axis,
    Chart,
    Column,
    ContourMark,
    LineMark,
    Mark,
    PointMark,
    Table,
    TextMark,
)
from mklviz.views.look.palette import RunStyle, Theme

AT = ("along", "up")  # columns
LOW_AND_HIGH = {False: ("#f4f8fd", "#86a6cc"), True: ("#171d27", "#47668f")}  # by whether the theme is dark
PLANE = (
    Axis("first principal direction of the weights", start=0.0, end=1.0),
    Axis("second principal direction", start=0.0, end=1.0),
)
CORNERED = (Axis(start=-0.22, end=1.22, visible=False), Axis(start=-0.1, end=1.0, visible=False))
_TIPS = (("", "@title"), ("objective", "@objective"), ("", "@weights"))


@dataclass(frozen=True)
class MapPath:
    """The way of one run: its points and which steps they are, the last of them the one that is shown."""

    points: Sequence[MapPoint]
    steps: Sequence[int]


def step_point(trace: Trace, t: int, map_: WeightMap, label: str) -> MapPoint:
    """Return a step of a run as a point of a map, with its words."""
    step, at = trace[t], f"{label}, step {trace.first_step + t:,}"
    return point_of(map_.position(step.weights), at, step.objective, step.weights, trace.kernel_names)


def map_chart(styles: Mapping[str, RunStyle], theme: Theme, triangle: bool) -> Chart:
    """Describe a map of three kernels, a triangle, or of the plane in which runs move."""
    colour, bright = Column("colour"), theme.card
    low, high = LOW_AND_HIGH[theme.dark]
    marks: list[Mark] = [
        ContourMark("ground", *AT, "objective", colour=bright, low=low, high=high, width=0.6, alpha=0.5),
        *(corner_marks(theme) if triangle else ()),
        AreaMark("level-set", *AT, colour, fill=colour, alpha=0.13, width=2.0),
        LineMark("edges", *AT, colour, width=1.0, alpha=0.55, many=True),
        PointMark("nodes", *AT, size=15.0, tips=_TIPS),
        LineMark("ghosts", *AT, colour, width=1.6, alpha=0.35, many=True),
    ]
    for key, style in styles.items():
        path = f"path-{key}"
        marks += [
            LineMark(path, *AT, bright, width=4.0, alpha=0.7),
            LineMark(path, *AT, style.colour, style.dash, width=1.8),
            PointMark(path, *AT, style.colour, fill=bright, marker=style.marker, width=1.5, tips=_TIPS),
        ]
    marks += [
        PointMark("trials", *AT, colour, size=8.0, width=1.2, tips=_TIPS),
        PointMark("here", *AT, bright, fill=colour, marker=Column("marker"), size=15.0, width=2.0),
        TextMark("numbers", *AT, "step", colour, size=SIZE, bold=True, right=RIGHT, up=UP),
        PointMark("best", *AT, bright, fill=theme.text, marker="star", size=22.0, width=1.5, tips=_TIPS),
    ]
    x, y = CORNERED if triangle else PLANE
    return Chart("map", x=x, y=y, marks=marks, equal_units=triangle)


def corner_marks(theme: Theme) -> list[Mark]:
    """Describe the triangle of three kernels, with their names."""
    names = TextMark("corners", *AT, "name", theme.text, size=13, align="center")
    return [LineMark("triangle", *AT, theme.axis, width=1.5, many=True), names]


def corner_tables(names: Sequence[str], below: float = 0.044, above: float = 0.075) -> dict[str, Table]:
    """Return the triangle, and the names so far beside its corners."""
    x, y = CORNERS.T
    around = [corner[[0, 1, 2, 0]].tolist() for corner in (x, y)]
    heights = np.where(y > 0.0, y + above, y - below)
    return {
        "triangle": {"along": [around[0]], "up": [around[1]]},
        "corners": {"along": x.tolist(), "up": heights.tolist(), "name": list(names)},
    }


def contour_table(mesh: Mesh | None) -> Table:
    """Return heights over a mesh as a table, row by row."""
    names = (*AT, "objective")
    return {name: [] if mesh is None else mesh[k].tolist() for k, name in enumerate(names)}


def path_tables(paths: Mapping[str, MapPath], best: MapPoint, styles: Mapping[str, RunStyle]) -> dict[str, Table]:
    """Return each run's path, where it stands, and the star."""
    standing = [(path.points[-1], styles[key]) for key, path in paths.items() if path.points]
    looks = {"colour": [style.colour for _, style in standing], "marker": [style.marker for _, style in standing]}
    return {
        **{f"path-{key}": points_table(path.points) for key, path in paths.items()},
        "here": points_table([point for point, _ in standing], AT) | looks,
        "best": points_table([best]),
    }


def number_table(
    paths: Mapping[str, MapPath], styles: Mapping[str, RunStyle], theme: Theme, chart: Chart, smaller: float = 1.0
) -> Table:
    """Return the numbers of steps on a map, which may be so many times as small as that of a page."""
    places = {key: np.array([(point.along, point.up) for point in path.points]) for key, path in paths.items()}
    steps = {key: path.steps for key, path in paths.items()}
    numbered = numbered_steps(places, steps, chart.x, chart.y, smaller * theme.scale)
    return {
        **points_table([paths[number.key].points[number.index] for number in numbered], AT),
        "step": [str(number.step) for number in numbered],
        "colour": [styles[number.key].colour if number.step else theme.text for number in numbered],
    }


def still_tables(
    paths: Mapping[str, MapPath], best: MapPoint, styles: Mapping[str, RunStyle], mesh: Mesh | None = None
) -> dict[str, Table]:
    """Return the tables of a map of recorded paths, which has no numbers, trials, cuts and former paths."""
    return {
        **{"ground": contour_table(mesh), "nodes": points_table([])},
        **model_tables(),
        **path_tables(paths, best, styles),
        "numbers": {name: [] for name in (*AT, "step", "colour")},
        "trials": trial_table({}, styles),
        "ghosts": shapes_table([], []),
    }


def trial_table(trials: Mapping[str, Sequence[MapPoint]], styles: Mapping[str, RunStyle]) -> Table:
    """Return what the line searches of the step shown have tried, by run."""
    colours = [styles[key].colour for key, tried in trials.items() for _ in tried]
    return points_table([point for tried in trials.values() for point in tried]) | {"colour": colours}


def model_tables(level: Array | None = None, edges: Sequence[Array] = (), colour: str = "") -> dict[str, Table]:
    """Return the level set, a polygon (p, 2), and the lines (2, 2) at which cuts end it, in a run's colour."""
    sets = [] if level is None or not len(level) else [level]
    return {"level-set": shapes_table(sets, [colour] * len(sets)), "edges": shapes_table(edges, [colour] * len(edges))}


def shapes_table(shapes: Sequence[Array], colours: Sequence[str]) -> Table:
    """Return lines or polygons (p, 2), each with the colour of its run."""
    return {name: [shape[:, k].tolist() for shape in shapes] for k, name in enumerate(AT)} | {"colour": list(colours)}


def points_table(
    points: Sequence[MapPoint], names: Sequence[str] = (*AT, "title", "objective", "weights")
) -> dict[str, list[Any]]:
    return {name: [getattr(point, name) for point in points] for name in names}


SIZE, RIGHT, UP = 12, 6.0, 4.0  # pixels: height of the digits, and how far from its point a number begins
DIGIT = 8.0  # pixels in width
FRAME = (620.0, 470.0)  # pixels of the frame, which is rarely narrower
POINT = 3.0  # pixels around a point that a number leaves free
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class StepNumber:
    """A number and what it belongs to: the run's key, and which of the points of its path."""

    step: int
    key: str
    index: int


def numbered_steps(
    places: Mapping[str, Array], steps: Mapping[str, Sequence[int]], x: Axis, y: Axis, larger: float = 1.0
) -> list[StepNumber]:
    """Return the numbers that keep clear, first and last `steps` before others, of paths through `places` (T, 2)."""
    scale = _pixels(x, y) / larger
    pixels = {key: scale * spots for key, spots in places.items() if len(spots)}
    points = np.concatenate([np.empty((0, 2)), *pixels.values()])
    wanted = [StepNumber(step, key, i) for key in pixels for i, step in enumerate(steps[key])]
    clear: list[StepNumber] = []
    boxes: list[Box] = []
    for number in sorted(wanted, key=lambda n: (n.index not in (0, len(steps[n.key]) - 1), n.step)):
        at = pixels[number.key][number.index]
        box = _box(at, number.step)
        if np.isfinite(at).all() and not _covers(box, boxes, points):
            clear.append(number)
            boxes.append(box)
    return clear


def _pixels(x: Axis, y: Axis) -> Array:
    """Return how many pixels a unit of each axis has, about."""
    across, up = FRAME[0] / (x.end - x.start), FRAME[1] / (y.end - y.start)
    return np.array([across, up] if x.visible else [min(across, up)] * 2)  # a triangle keeps its shape


def _box(at: Array, step: int) -> Box:
    left, bottom = float(at[0]) + RIGHT, float(at[1]) + UP
    return left, bottom, left + DIGIT * len(str(step)), bottom + SIZE


def _covers(box: Box, others: Sequence[Box], points: Array) -> bool:
    left, bottom, right, top = box
    if any(left < o[2] and o[0] < right and bottom < o[3] and o[1] < top for o in others):
        return True
    across, up = points.T
    inside = (across > left - POINT) & (across < right + POINT) & (up > bottom - POINT) & (up < top + POINT)
    return bool(inside.any())


BELOW, ABOVE = 0.6, 0.08  # of the objective's range that is shown beside it; cuts lie below
NUMBERED = 6  # last steps that carry their number
HERE, THERE = ("share", "objective"), ("share_end", "objective_end")  # columns
_ON_SEGMENT = (("", "@text"), ("share", "@share{0.0000}"), ("objective", "@objective{0,0.00}"))


def segment_chart(key: str, style: RunStyle, theme: Theme, kernels: Sequence[str]) -> Chart:
    """Describe what one run made of the objective over the share of the first of two kernels."""
    colour = style.colour
    marks = (
        LineMark("cuts", *HERE, colour, width=1.0, alpha=0.45, many=True),
        LineMark("model", *HERE, colour, width=2.4),
        LineMark("line", *HERE, colour, dash="dashed", width=1.4),
        LineMark("set", *HERE, colour, width=8.0, alpha=0.4),
        LineMark("objective", *HERE, theme.text, width=2.4),
        ArrowMark("arrow", *HERE, *THERE, theme.text),
        PointMark("refused", *HERE, colour, marker="x", size=11.0, width=2.0, tips=_ON_SEGMENT),
        PointMark("passed", *HERE, colour, size=13.0, width=1.2, tips=_ON_SEGMENT),
        PointMark("points", *HERE, colour, fill=theme.card, marker=style.marker, size=8.0, width=1.8, tips=_ON_SEGMENT),
        TextMark("numbers", *HERE, "step", colour, bold=True, right=7.0, up=5.0),
    )
    shares = Axis(f"share of {kernels[0]}; rest: {kernels[1]}", start=-0.02, end=1.05)
    return Chart(f"segment-{key}", x=shares, y=Axis(start=0.0, end=1.0), marks=marks)


def height_axis(low: float, high: float) -> Axis:
    """Return the axis that shows heights between two, with some room for cuts below."""
    room = max(high - low, 1e-3 * abs(high), 1e-12)
    return Axis(start=low - BELOW * room, end=high + ABOVE * room)


def objective_table(shares: Array, heights: Array) -> Table:
    return {"share": shares.tolist(), "objective": heights.tolist()}


def segment_tables(shown: SegmentStep, first: int = 0) -> dict[str, Table]:
    """Return what the run made of a step; its steps are counted from `first`."""
    steps, line, ends = list(enumerate(shown.points, first)), shown.line, shown.level_set
    taken = ["trial, low enough"] * (len(shown.passed) - 1) + ["trial, taken"] * bool(shown.passed)
    moves = [] if shown.arrow is None else [(*shown.arrow[0], *shown.arrow[1])]
    return {
        "cuts": {"share": [[0.0, 1.0] for _ in shown.cuts], "objective": [cut[::-1].tolist() for cut in shown.cuts]},
        "model": _known(shown.model),
        "line": _known([] if line is None else [(0.0, line), (1.0, line)]),
        "set": _known([] if line is None or ends is None else [(share, line) for share in ends]),
        "arrow": {column: [move[i] for move in moves] for i, column in enumerate((*HERE, *THERE))},
        "refused": _known(shown.refused, text=["trial, not low enough"] * len(shown.refused)),
        "passed": _known(shown.passed, text=taken),
        "points": _known(shown.points, text=[f"step {t}" for t, _ in steps]),
        "numbers": _known([point for _, point in steps[-NUMBERED:]], step=[str(t) for t, _ in steps[-NUMBERED:]]),
    }


def _known(points: Sequence[Place], **words: Sequence[str]) -> Table:
    """Return the places that are known, with the words of each."""
    known = [k for k, point in enumerate(points) if np.isfinite(point).all()]
    columns = {"share": [points[k][0] for k in known], "objective": [points[k][1] for k in known]}
    return columns | {name: [texts[k] for k in known] for name, texts in words.items()}
