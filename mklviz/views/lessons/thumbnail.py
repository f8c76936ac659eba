"""Small pictures of lessons, drawn from the recordings that come with the package: nothing is solved for them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from mklviz.record.bundle import recorded_evidence, recording
from mklviz.scenarios import load_scenario
from mklviz.views.chart.description import Axis, Chart
from mklviz.views.chart.svg import drawing
from mklviz.views.lessons.picture import LessonRuns, Picture
from mklviz.views.lessons.pictures import picture_of
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.look.styles import run_styles

__all__ = ["recorded_picture", "recorded_runs", "small_picture", "thumbnail"]

WIDTH, HEIGHT = 320, 180  # pixels
_LEFT_OUT = {"numbers", "corners"}


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
