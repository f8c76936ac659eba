"""The picture of three kernels: the map of the tab Geometry, with the paths of all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mklviz.analysis.weight_map import CORNERS, MapPoint, Mesh
from mklviz.record import Trace
from mklviz.views.chart.description import Table
from mklviz.views.geometry.map_chart import (
    MapPath,
    corner_tables,
    ghost_table,
    ground_tables,
    map_chart,
    model_tables,
    path_tables,
    trial_table,
)
from mklviz.views.lessons.picture import LessonRuns, Picture, drawn_steps

__all__ = ["kernel_titles", "triangle", "triangle_mesh"]


def triangle(runs: LessonRuns) -> Picture:
    """Show the paths of three weights, on the objective once it is computed."""
    paths = {key: _path(trace) for key, trace in runs.traces.items()}
    best = min(runs.traces.values(), key=lambda trace: trace.best.objective)
    chart = map_chart({key: runs.styles[key] for key in paths}, runs.theme, triangle=True)
    tables: dict[str, Table] = {
        **ground_tables(triangle_mesh(runs.evidence.get("ground", {}).get("objective", ())), []),
        **corner_tables(kernel_titles(runs.traces)),
        **model_tables(np.empty((0, 2)), [], ""),
        **path_tables(paths, _point(best, best.best_index), runs.styles, runs.theme, chart.x, chart.y),
        "trials": trial_table({}, runs.styles),
        "ghosts": ghost_table([]),
    }
    tables["numbers"] = {name: [] for name in tables["numbers"]}  # they stand in the tab Geometry
    return Picture([[chart]], tables, [runs.styles[key] for key in paths])


def kernel_titles(traces: Mapping[str, Trace]) -> tuple[str, ...]:
    """Return what each of the kernels looks at, in words."""
    names = next(iter(traces.values())).kernel_names
    return tuple(name.split(" on ")[-1].replace("_", " ") for name in names)


def _path(trace: Trace) -> MapPath:
    steps = drawn_steps(trace)
    return MapPath([_point(trace, t) for t in steps], steps)


def _point(trace: Trace, t: int) -> MapPoint:
    weights = trace[t].weights
    along, up = weights / (weights.sum() or 1.0) @ CORNERS
    shares = "weights " + ", ".join(f"{weight:.2f}" for weight in weights)
    return MapPoint(float(along), float(up), f"{trace.label}, step {t}", f"{trace[t].objective:,.5g}", shares)


def triangle_mesh(rows: Sequence[Sequence[float]]) -> Mesh | None:
    """Return the heights where they are drawn; see `objective_on_triangle`."""
    if not rows:
        return None
    first, second = np.linspace(0.0, 1.0, len(rows))[:, None], np.linspace(0.0, 1.0, len(rows[0]))
    shares = np.stack([first + 0.0 * second, (1.0 - first) * second, (1.0 - first) * (1.0 - second)], axis=-1)
    places = shares @ CORNERS
    return places[..., 0], places[..., 1], np.array(rows)
