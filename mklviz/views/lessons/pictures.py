"""Which pictures there are, by the names that lessons call them by; small ones of recordings, which solve nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from mklviz.analysis.curves import best_of
from mklviz.analysis.weight_map import CORNERS, MapPoint, Mesh, slice_through
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.scenarios import Scenario, load_scenario
from mklviz.views.chart.description import Axis, Chart, Table
from mklviz.views.chart.svg import drawing
from mklviz.views.geometry.map_chart import MapPath, corner_tables, map_chart, still_tables
from mklviz.views.host.solved_paths import solved_paths, solves_alone
from mklviz.views.lessons import curves, outcomes
from mklviz.views.lessons.picture import LessonRuns, Picture, PictureMaker, drawn_steps
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.look.styles import run_styles, solver_of

__all__ = [
    *("PICTURES", "kernel_titles", "picture_of", "recorded_picture", "recorded_runs", "small_picture", "thumbnail"),
    *("triangle", "triangle_mesh"),
]

WIDTH, HEIGHT = 320, 180  # pixels of a small picture
_LEFT_OUT = {"numbers", "corners"}


def triangle(runs: LessonRuns) -> Picture:
    """Show the paths of three weights, on the objective once it is computed."""
    paths = {key: _path(trace) for key, trace in runs.traces.items()}
    best = best_of(runs.traces.values())
    chart = map_chart({key: runs.styles[key] for key in paths}, runs.theme, triangle=True)
    mesh = triangle_mesh(runs.evidence.get("ground", {}).get("objective", ()))
    tables: dict[str, Table] = {
        **corner_tables(kernel_titles(runs.traces)),
        **still_tables(paths, _point(best, best.best_index), runs.styles, runs.theme, (chart.x, chart.y), mesh),
    }
    tables["numbers"] = {name: [] for name in tables["numbers"]}  # they stand in the tab Geometry
    solvers = {key: solver for key, trace in runs.traces.items() if (solver := solver_of(trace))}
    map_, names = slice_through(best.best.weights, (0, 1, 2)), kernel_titles(runs.traces)
    looks = {key: (style.label, style.colour) for key, style in runs.styles.items()}
    problem = runs.problem if len(solvers) == len(paths) else None
    alone = problem is not None and solves_alone(problem, solvers)
    again = partial(solved_paths, problem, solvers, looks, map_, names) if problem is not None and alone else None
    return Picture([[chart]], tables, [runs.styles[key] for key in paths], again)


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


PICTURES: Mapping[str, PictureMaker] = {
    "accuracy": curves.accuracy,
    "certificate": curves.certificate,
    "digits": curves.digits,
    "few": outcomes.few_kernels,
    "gap": curves.gap,
    "hill": outcomes.hill,
    "machines": outcomes.machines,
    "passes": curves.passes,
    "path": outcomes.path,
    "rough": curves.rough,
    "solves": outcomes.svm_solves,
    "sparse": outcomes.sparse_or_dense,
    "strips": curves.strips,
    "triangle": triangle,
    "valley": outcomes.valley,
}


def picture_of(scenario: Scenario, runs: LessonRuns) -> Picture:
    """Return the picture that a lesson names; the usual one for an unknown name."""
    return PICTURES.get(scenario.picture, curves.gap)(runs)


@cache
def thumbnail(scenario: str, theme: Theme = LIGHT) -> str:
    """Return the small picture of a lesson as SVG; "" for one that has no recording in the package.

    Raises `UnknownName` if there is no scenario of that name.
    """
    title, picture = load_scenario(scenario).title, recorded_picture(scenario, theme)
    if picture is None:
        return ""
    return small_picture(title, picture, theme)


def small_picture(title: str, picture: Picture, theme: Theme) -> str:
    """Return the first chart of a picture as small SVG."""
    label = f"{title}: {picture.charts[0].title.lower() or 'a map of three kernels'}"
    return drawing([([_small(picture.charts[0])], HEIGHT)], picture.tables, label, theme, WIDTH)


def recorded_picture(scenario: str, theme: Theme) -> Picture | None:
    """Return the picture of a lesson from its recording; None where the package has none."""
    runs = recorded_runs(scenario, theme)
    return None if runs is None else picture_of(load_scenario(scenario), runs)


def recorded_runs(scenario: str, theme: Theme) -> LessonRuns | None:
    """Return the recording of a scenario as a picture draws it; None where the package has none."""
    recorded = recording(scenario)
    return LessonRuns(recorded, run_styles(recorded, theme), recorded_evidence(scenario), theme) if recorded else None


def _small(chart: Chart) -> Chart:
    """Return a chart with its shapes and few words; of a map neither numbers of steps nor names of kernels."""
    marks = [mark for mark in chart.marks if mark.table not in _LEFT_OUT]
    x, y = (replace(axis, label="", visible=False) for axis in (chart.x, chart.y))
    if chart.equal_units:
        x, y = Axis(start=0.0, end=1.0, visible=False), Axis(start=-0.02, end=0.9, visible=False)
    return replace(chart, title="", beside="", x=x, y=y, marks=marks)
