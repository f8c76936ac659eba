"""Pictures of what was computed for the answer: the objective between ends, and a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mklviz.views.chart.description import Axis, Chart, LineMark, PointMark, Table
from mklviz.views.lessons.bars import solves_bars
from mklviz.views.lessons.curve_names import Named, with_names
from mklviz.views.lessons.picture import CurveName, LessonRuns, Picture, bar_chart, bar_table, name_table, point_names
from mklviz.views.look.palette import RunStyle

__all__ = ["hill", "path", "valley"]

ROOM = 0.3  # of the height of a way, below it, for names
_EMPTY: Table = {"place": [], "objective": []}
EQUAL = "equal weights"  # where all runs began
BESIDE = 1.7  # times as far as the ends of C is its axis drawn, for their numbers


def valley(runs: LessonRuns) -> Picture:
    """Show SVM solves, and the objective on the ways from one end to the others, and to where all began."""
    theme, ways = runs.theme, runs.evidence
    colours = {style.label: style.colour for style in runs.styles.values()}
    tables: dict[str, Table] = {"room": _EMPTY}
    tables |= {f"way-{name}": way for name, way in ways.items()}
    thick = 2.4 * theme.scale
    lines = [
        LineMark(f"way-{name}", "place", "objective", colours.get(name, theme.muted), width=thick, label=name)
        for name in ways
    ]
    names = [Named(f"way-{name}", "objective", f"… {name}", theme.muted) for name in ways if name not in colours]
    flat = [name for name in ways if name in colours]
    if flat:
        names.append(Named(f"way-{flat[0]}", "objective", f"… {', '.join(flat)}", theme.text))
        tables["room"] = _room_below(ways[EQUAL])
    x, y = Axis(start=0.0, end=1.8, visible=False), Axis(numbers="exact")
    chart = Chart("valley", "Objective from SILP's end to …", x, y, [*lines, LineMark("room", "place", "objective")])
    bars = bar_chart("solves", "SVM solves", theme)
    tables["solves"] = bar_table(solves_bars(runs))
    return with_names(Picture([[bars, chart]], tables), "valley", names, theme)


def hill(runs: LessonRuns) -> Picture:
    """Show where each start ended, and the objective between the ends."""
    theme, way, ends = runs.theme, runs.evidence.get("way", {}), runs.evidence.get("ends", {})
    colour = next((style.colour for style in runs.styles.values()), theme.accent)
    places = zip(ends.get("place", []), ends.get("objective", []), ends.get("name", []), strict=True)
    written = [(x, y, "usual start" if name == "SPG" else name.removeprefix("SPG, ")) for x, y, name in places]
    names = [CurveName(x, y, name, theme.text) for x, y, name in written]
    values = [CurveName(x, y, f"{y:.3f}", theme.text) for x, y, _ in written]
    marks = [
        LineMark("way", "place", "objective", theme.accent, width=2.4 * theme.scale),
        PointMark("ends", "place", "objective", theme.card, fill=colour, size=13.0 * theme.scale),
        point_names("hill", theme, up=-19.0),
        point_names("hill-values", theme, up=-36.0),
        LineMark("room", "place", "objective"),
    ]
    tables: dict[str, Table] = {
        "way": _columns(way, "place", "objective"),
        "ends": _columns(ends, "place", "objective"),
        **name_table("hill", names),
        **name_table("hill-values", values),
        "room": _room_below(way),
    }
    x = Axis(start=-0.5, end=max(len(names) - 1, 1) + 0.5, visible=False)  # with room for names on a phone, too
    title = "Objective on the straight ways between the ends"
    return Picture([[Chart("hill", title, x, Axis(numbers="exact"), marks)]], tables)


def _room_below(way: Any) -> Table:
    """Return a place below a way, to which the axis is to reach, for names."""
    heights = way.get("objective", [])
    return {"place": [0.0], "objective": [min(heights) - ROOM * (max(heights) - min(heights))]} if heights else _EMPTY


def _columns(table: Any, *names: str) -> dict[str, Sequence[Any]]:
    """Return the columns of what was computed, empty ones as long as it is not."""
    return {name: table.get(name, []) for name in names}


def _room_around(costs: Sequence[float], active: Sequence[float]) -> Table:
    """Return places to which the axes are to reach, so that the numbers at the ends have room."""
    if not costs:
        return {"C": [], "active": []}
    top = max(active)
    return {"C": [min(costs) / BESIDE, max(costs) * BESIDE], "active": [top, 1.3 * top]}


def path(runs: LessonRuns) -> Picture:
    """Show the kernels in use and the largest weights along C."""
    theme, evidence = runs.theme, dict(runs.evidence.get("path", {"C": [], "active": []}))
    x = Axis("C", "log")
    costs, active = evidence.pop("C"), evidence.pop("active")
    weights = [
        LineMark(f"weight-{k}", "C", "weight", colour, width=2.0 * theme.scale, label=name)
        for k, (name, colour) in enumerate(zip(evidence, theme.kernels, strict=False))
    ]
    tables: dict[str, Table] = {f"weight-{k}": {"C": costs, "weight": list(w)} for k, w in enumerate(evidence.values())}
    tables["path"] = {"C": costs, "active": active}
    ends = [0, len(costs) - 1] if costs else []
    tables["room"] = _room_around(costs, active)
    tables |= name_table("in-use", [CurveName(costs[t], active[t], f"{active[t]:,}", theme.text) for t in ends])
    used = [
        LineMark("path", "C", "active", theme.accent, width=2.4 * theme.scale),
        PointMark("path", "C", "active", theme.card, fill=theme.accent, size=9.0 * theme.scale),
        point_names("in-use", theme, up=16.0),
        LineMark("room", "C", "active"),
    ]
    in_use = Chart("in-use", "Kernels in use", x, Axis(start=0.0, whole=True), used)
    kernels = [RunStyle(line.label, str(line.colour), "solid", "") for line in weights]
    falls = Chart("weights", "The six largest kernel weights", x, Axis(start=0.0), weights)
    return Picture([[in_use, falls]], tables, kernels)
