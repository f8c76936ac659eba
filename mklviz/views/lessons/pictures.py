"""Which pictures there are, by the names that lessons call them by; small ones of recordings, which solve nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from mklviz.analysis.weight_map import CORNERS, Mesh, slice_through
from mklviz.errors import ProblemError
from mklviz.language import ENGLISH, Language
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.record.summary import best_of
from mklviz.scenarios import Evidence, Scenario, load_scenario
from mklviz.views.chart.description import Axis, Chart, Tables
from mklviz.views.chart.svg import drawing
from mklviz.views.geometry.map_chart import MapPath, corner_tables, map_chart, step_point, still_tables
from mklviz.views.host.solved_paths import solved_paths, solves_alone
from mklviz.views.lessons import curves, outcomes
from mklviz.views.lessons.picture import LessonRuns, Picture, PictureMaker, drawn_steps
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.look.styles import run_styles, solver_of

WIDTH, HEIGHT = 320, 180  # pixels of a small picture
_LEFT_OUT = {"numbers", "corners"}
_TOLD = ("names-", "best", "written", "fall", "room")  # tables that tell the answer
_EQUAL = {"value": 1.0, "room": 1.0, "text": "", "share": 1.0, "active": 1.0, "objective": 1.0}
_BLANK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180"><rect width="320" height="180" fill="{0.card}"/>'
)
QUESTION_MARK = (
    '<text x="50%" y="62%" text-anchor="middle" style="font: 700 64px sans-serif; fill: {0.text}; stroke: {0.card};'
    ' stroke-width: 10px; paint-order: stroke">?</text>'
)


def triangle(runs: LessonRuns) -> Picture:
    """Show the paths of three weights, on the objective once it is computed."""
    best, paths = best_of(runs.traces.values()), dict[str, MapPath]()
    map_ = slice_through(best.best.weights, (0, 1, 2))
    for key, trace in runs.traces.items():
        steps = drawn_steps(trace)
        paths[key] = MapPath([step_point(trace, t, map_, trace.label) for t in steps], steps)
    star = step_point(best, best.best_index, map_, best.label)
    chart = map_chart({key: runs.styles[key] for key in paths}, runs.theme, triangle=True)
    mesh = triangle_mesh(runs.evidence.get("ground", {}).get("objective", ()))
    tables = {**corner_tables(kernel_titles(runs.traces)), **still_tables(paths, star, runs.styles, mesh)}
    solvers = {key: solver for key, trace in runs.traces.items() if (solver := solver_of(trace))}
    names = [*map(runs.language, kernel_titles(runs.traces))]
    looks = {key: (style.label, style.colour) for key, style in runs.styles.items()}
    problem = runs.problem if len(solvers) == len(paths) else None
    alone = problem is not None and solves_alone(problem, solvers)
    again = partial(solved_paths, problem, solvers, looks, map_, names) if problem is not None and alone else None
    return Picture([[chart]], tables, [runs.styles[key] for key in paths], paths=again)


def kernel_titles(traces: Mapping[str, Trace]) -> tuple[str, ...]:
    """Return what each of the kernels looks at, in words."""
    names = next(iter(traces.values())).kernel_names
    return tuple(name.split(" on ")[-1].replace("_", " ") for name in names)


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
    """Return the picture that a lesson names; the usual one where it cannot be drawn of its race."""
    try:
        picture = PICTURES[scenario.picture](runs)
    except Exception:  # of a lesson of one's own: its page goes on
        logging.getLogger(__name__).exception("The picture of the lesson %s cannot be drawn", scenario.name)
        picture = curves.gap(runs)
    return picture if runs.language is ENGLISH else _said_in(runs.language, picture)


def _said_in(language: Language, picture: Picture) -> Picture:
    """Return a picture with its titles, notes, axes and names in a language."""

    def worded(chart: Chart) -> Chart:
        x, y = (
            replace(axis, label=language(axis.label), names=tuple(map(language, axis.names)), locale=language.code)
            for axis in (chart.x, chart.y)
        )
        return replace(chart, title=language(chart.title), note=language(chart.note), x=x, y=y)

    named = {key: {"name": [*map(language, table["name"])]} for key, table in picture.tables.items() if "name" in table}
    tables = {key: {**table, **named.get(key, {})} for key, table in picture.tables.items()}
    return replace(picture, rows=[[worded(chart) for chart in row] for row in picture.rows], tables=tables)


def drawn(lesson: Scenario, traces: Mapping[str, Trace], evidence: Evidence) -> Picture:
    """Return the picture that a lesson names; raises `ProblemError` where it cannot be drawn of its race."""
    try:
        return PICTURES[lesson.picture](LessonRuns(traces, run_styles(traces, LIGHT), evidence, LIGHT))
    except Exception as error:
        raise ProblemError(f"The picture “{lesson.picture}” cannot be drawn of this race: {error!r}.") from error


@cache
def thumbnail(scenario: str, theme: Theme = LIGHT) -> str:
    """Return the small picture of a lesson as SVG; "" for a scenario that asks nothing.

    It shows the first steps of its recording, where there is one, and a question mark in the place of the answer.
    Raises `UnknownName` if there is no scenario of that name.
    """
    lesson, runs = load_scenario(scenario), recorded_runs(scenario, theme)
    if runs is None:
        return "" if lesson.question is None else f"{_BLANK.format(theme)}{QUESTION_MARK.format(theme)}</svg>"
    begun = {key: _begun(trace) for key, trace in runs.traces.items()}
    evidence = {} if "ground" in runs.evidence else runs.evidence
    picture = picture_of(lesson, replace(runs, traces=begun, evidence=evidence))
    small = small_picture(lesson.title, replace(picture, tables=_asked(picture.tables)), theme)
    return small.replace("</svg>", f"{QUESTION_MARK.format(theme)}</svg>")


FIRST = 2  # steps of a race that its card shows


def _begun(trace: Trace) -> Trace:
    """Return the first steps of a run."""
    begun = trace.without_steps()
    for t in range(min(FIRST + 1, len(trace))):
        begun.append(trace[t], trace.seconds_at(t))
    return begun


def _asked(tables: Tables) -> Tables:
    """Return tables without what answers a question: bars and computed heights are equal, nothing is named or best."""
    return {
        table: {name: [] if table.startswith(_TOLD) else _equal(name, column) for name, column in columns.items()}
        for table, columns in tables.items()
    }


def _equal(name: str, column: Sequence[Any]) -> Sequence[Any]:
    """Return a column whose values are equal, unless it is of the steps of runs."""
    if name.startswith("to-"):  # the end of a part of a bar, of four
        return [(int(name[3:]) + 1) / 4.0] * len(column)
    return [_EQUAL[name]] * len(column) if name in _EQUAL else column


def small_picture(title: str, picture: Picture, theme: Theme) -> str:
    """Return the first chart of a picture as small SVG."""
    label = f"{title}: {picture.charts[0].title.lower() or 'a map of three kernels'}"
    return drawing([([_small(picture.charts[0])], HEIGHT)], picture.tables, label, theme, WIDTH)


def recorded_picture(scenario: str, theme: Theme, language: Language = ENGLISH) -> Picture | None:
    """Return the picture of a lesson from its recording; None where the package has none."""
    runs = recorded_runs(scenario, theme)
    return None if runs is None else picture_of(load_scenario(scenario), replace(runs, language=language))


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
