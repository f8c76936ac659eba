"""What tabs show before the first race: pictures of the scenario's recording, drawn as those of a race of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from html import escape

import numpy as np

from mklviz.analysis.curves import heaviest_bars
from mklviz.analysis.stopping import RULES, judge
from mklviz.analysis.weight_map import principal_plane
from mklviz.record.summary import best_of
from mklviz.scenarios import load_scenario
from mklviz.views.chart.description import Axis, Chart, Tables
from mklviz.views.chart.svg import drawing
from mklviz.views.chart.svg_pictures import runs_stills
from mklviz.views.geometry.map_chart import MapPath, map_chart, number_table, step_point, still_tables
from mklviz.views.lessons.picture import LessonRuns, drawn_steps
from mklviz.views.lessons.pictures import recorded_runs, triangle
from mklviz.views.look.cards import legend
from mklviz.views.look.palette import Theme
from mklviz.views.model.lab_charts import bar_table, bars_chart, curve_tables, curves_chart
from mklviz.views.race.results import weights_heading

HIGH = 264  # pixels of a chart
MOST_BARS = 12
MOST_FITTED = 150  # steps that choose the directions
NOTE = "This is a recording of “{title}”. Your own race takes its place."
SMALLER = 2.4  # times as small as on the page is a map here, in which the numbers of steps are to keep clear as well
WIDE = 360  # pixels of a chart before it is fitted to the page: as wide as a phone


@cache
def preview_of(preview: Callable[[LessonRuns], str], scenario: str, theme: Theme) -> str:
    """Return the `preview` of a tab of the recording of a scenario, as HTML; "" where it shows nothing of it."""
    runs = recorded_runs(scenario, theme)
    drawn = "" if runs is None else preview(runs)
    note = escape(NOTE.format(title=load_scenario(scenario).title))
    return f'<figure class="preview"><figcaption>{note}</figcaption>{drawn}</figure>' if drawn else ""


def race_preview(runs: LessonRuns) -> str:
    """Draw objective, gap and weights of all runs."""
    large, weights, slots = runs_stills(runs.traces, runs.styles, runs.theme, WIDE)
    heading = weights_heading(slots, runs.theme, "kernel", "kernel weight")
    return f"{legend(runs.styles.values())}{_charts(large)}{heading}{_charts(weights)}"


def curves_preview(runs: LessonRuns) -> str:
    """Draw how far each run is from the optimum, and where the usual rule would stop it."""
    rule = RULES[0]
    tables = curve_tables(judge(runs.traces, rule.make(rule.usual), None).truth(), runs.styles, rule.usual)
    chart = replace(curves_chart("preview-curves", "step", runs.theme), title="Distance above the optimum")
    return _picture(chart, tables, runs)


def weights_preview(runs: LessonRuns) -> str:
    """Draw the heaviest kernel weights of the best run."""
    best = best_of(runs.traces.values())
    key = next(key for key, trace in runs.traces.items() if trace is best)
    bars = heaviest_bars(best.kernel_names, best.best.weights, most=MOST_BARS)
    chart = replace(bars_chart("preview-bars", runs.theme), title=f"Kernel weights found by {runs.styles[key].label}")
    return _charts([_svg(chart, bar_table(bars, runs.styles[key].colour), runs)])


def paths_preview(runs: LessonRuns) -> str:
    """Draw the paths of the kernel weights: over the triangle of three kernels, or in the plane of most movement."""
    if all(len(trace.final.weights) == 3 for trace in runs.traces.values()):
        picture = triangle(runs)
        return _picture(replace(picture.charts[0], title="Paths of the kernel weights"), picture.tables, runs)
    steps = {key: drawn_steps(trace) for key, trace in runs.traces.items()}
    best = best_of(runs.traces.values())
    visited = np.array([runs.traces[key][t].weights for key, at in steps.items() for t in at])
    plane = principal_plane(visited[:: 1 + len(visited) // MOST_FITTED], best.best.weights, np.asarray)
    plane = plane.around(np.array([plane.position(weights) for weights in visited]))
    (left, low), (right, high) = (corner.tolist() for corner in plane.window)
    chart = map_chart(runs.styles, runs.theme, triangle=False)
    x, y = Axis(chart.x.label, start=left, end=right), Axis(chart.y.label, start=low, end=high)
    chart = replace(chart, title="Paths of the kernel weights", x=x, y=y)
    paths = {key: MapPath([step_point(runs.traces[key], t, plane, key) for t in at], at) for key, at in steps.items()}
    star = step_point(best, best.best_index, plane, best.label)
    numbers = number_table(paths, runs.styles, runs.theme, chart, SMALLER)
    return _picture(chart, {**still_tables(paths, star, runs.styles), "numbers": numbers}, runs)


def _picture(chart: Chart, tables: Tables, runs: LessonRuns) -> str:
    return legend(runs.styles.values()) + _charts([_svg(chart, tables, runs)])


def _svg(chart: Chart, tables: Tables, runs: LessonRuns) -> str:
    return drawing([([chart], HIGH)], tables, chart.title, runs.theme, WIDE)


def _charts(drawn: Sequence[str]) -> str:
    return f'<div class="charts">{"".join(drawn)}</div>'
