"""What tabs show before the first race: pictures of the scenario's recording, drawn as those of a race of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from html import escape

import numpy as np

from mklviz.record import Trace
from mklviz.scenarios import load_scenario
from mklviz.views.chart.description import Axis, Chart, Tables
from mklviz.views.chart.svg import Legend, Row, drawing
from mklviz.views.chart.svg_pictures import runs_still
from mklviz.views.geometry.ground import principal_plane
from mklviz.views.geometry.map_chart import (
    MapPath,
    MapPoint,
    ghost_table,
    ground_tables,
    map_chart,
    model_tables,
    path_tables,
    trial_table,
)
from mklviz.views.geometry.survey import point_of
from mklviz.views.lab.judging import judge
from mklviz.views.lab.lab_charts import Bar, bar_table, bars_chart, curve_tables, curves_chart
from mklviz.views.lab.rules import RULES
from mklviz.views.lessons.picture import LessonRuns, drawn_steps
from mklviz.views.lessons.thumbnail import recorded_runs
from mklviz.views.lessons.triangle import triangle
from mklviz.views.look.palette import Theme
from mklviz.views.tabs._tab import Tab

__all__ = ["curves_preview", "paths_preview", "preview_of", "race_preview", "weights_preview"]

HIGH = 320  # pixels of a chart
MOST_BARS = 12
MOST_FITTED = 150  # steps that choose the directions
NOTE = "Recorded: {title}. Press Run for a race of your own."


def preview_of(kind: type[Tab], scenario: str, theme: Theme) -> str:
    """Return what a tab shows of the recording of a scenario, as HTML; "" where it shows nothing of it."""
    return _preview(kind.preview, scenario, theme)


@cache
def _preview(draw: Callable[[LessonRuns], str], scenario: str, theme: Theme) -> str:
    runs = recorded_runs(scenario, theme)
    drawn = "" if runs is None else draw(runs)
    note = escape(NOTE.format(title=load_scenario(scenario).title))
    return f'<figure class="preview"><figcaption>{note}</figcaption>{drawn}</figure>' if drawn else ""


def race_preview(runs: LessonRuns) -> str:
    """Draw objective, gap and weights of all runs."""
    return runs_still(runs.traces, runs.styles, runs.theme, "Objective, gap and kernel weights of a recorded race")


def curves_preview(runs: LessonRuns) -> str:
    """Draw how far each run is from the optimum, and where the usual rule would stop it."""
    rule = RULES[0]
    tables = curve_tables(judge(runs.traces, rule.make(rule.usual), None).truth(runs.styles), rule.usual)
    chart = _titled(curves_chart("preview-curves", "step", runs.theme), "Distance above the optimum")
    return _picture([([chart], HIGH)], tables, runs)


def weights_preview(runs: LessonRuns) -> str:
    """Draw the heaviest kernel weights of the best run."""
    best = min(runs.traces.values(), key=lambda trace: trace.best.objective)
    weights = best.best.weights
    heaviest = [k for k in np.argsort(-weights, kind="stable")[:MOST_BARS] if weights[k] > 0.0]
    key = next(key for key, trace in runs.traces.items() if trace is best)
    bars = [Bar(best.kernel_names[k], float(weights[k])) for k in heaviest]
    chart = _titled(bars_chart("preview-bars", runs.theme), f"Kernel weights found by {runs.styles[key].label}")
    return _picture([([chart], HIGH)], bar_table(bars, runs.styles[key].colour), runs, legend=False)


def paths_preview(runs: LessonRuns) -> str:
    """Draw the paths of the kernel weights: over the triangle of three kernels, or in the plane of most movement."""
    if all(len(trace.final.weights) == 3 for trace in runs.traces.values()):
        picture = triangle(runs)
        return drawing([_legend(runs), (picture.rows[0], HIGH)], picture.tables, "Paths of the weights", runs.theme)
    steps = {key: drawn_steps(trace) for key, trace in runs.traces.items()}
    best = min(runs.traces.values(), key=lambda trace: trace.best.objective)
    visited = np.array([runs.traces[key][t].weights for key, at in steps.items() for t in at])
    plane = principal_plane(visited[:: 1 + len(visited) // MOST_FITTED], best.best.weights, np.asarray)
    plane = plane.around(np.array([plane.position(weights) for weights in visited]))
    (left, low), (right, high) = (corner.tolist() for corner in plane.window)
    chart = map_chart(runs.styles, runs.theme, triangle=False)
    x, y = Axis(chart.x.label, start=left, end=right), Axis(chart.y.label, start=low, end=high)

    def point(trace: Trace, t: int) -> MapPoint:
        step = trace[t]
        return point_of(plane.position(step.weights), "", step.objective, step.weights, trace.kernel_names)

    paths = {key: MapPath([point(runs.traces[key], t) for t in at], at) for key, at in steps.items()}
    tables = {
        **ground_tables(None, []),
        **model_tables(np.empty((0, 2)), [], ""),
        **path_tables(paths, point(best, best.best_index), runs.styles, runs.theme, x, y),
        "trials": trial_table({}, runs.styles),
        "ghosts": ghost_table([]),
    }
    title = "Paths of the kernel weights, along the two directions in which they move most"
    return _picture([([Chart(chart.name, title, x, y, chart.marks)], HIGH)], tables, runs)


def _titled(chart: Chart, title: str) -> Chart:
    return Chart(chart.name, title, chart.x, chart.y, chart.marks)


def _legend(runs: LessonRuns) -> Legend:
    return Legend("", [(style.label, style.colour, style.dash) for style in runs.styles.values()])


def _picture(rows: Sequence[Row], tables: Tables, runs: LessonRuns, legend: bool = True) -> str:
    parts: list[Row | Legend] = [*([_legend(runs)] if legend else []), *rows]
    return drawing(parts, tables, rows[0][0][0].title, runs.theme)
