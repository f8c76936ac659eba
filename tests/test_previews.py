"""Before there is a race, tabs show the recording of what is set up, and never that of something else."""

from __future__ import annotations

import asyncio
from html import escape

import numpy as np
import pytest
from _problems import problem
from _ticks import Prepared
from bokeh.models import Text

from mklviz.analysis.weight_map import principal_plane
from mklviz.engine import MaxIter, Race
from mklviz.recipe import Recipe
from mklviz.record.bundle import recording
from mklviz.scenarios import DEFAULT, scenarios
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Chart, TextMark
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.lessons.picture import bar_chart, name_mark, point_names
from mklviz.views.look.palette import DARK, LIGHT, theme_for
from mklviz.views.session.session import Session
from mklviz.views.tabs import tab_classes
from mklviz.views.tabs._previews import preview_of

DRAWN = ("Geometry", "Your mix", "Model", "Timeline", "Knobs", "Stopping")
RECORDED = [name for name in scenarios() if recording(name)]


@pytest.mark.parametrize("scenario", RECORDED)
def test_every_tab_that_needs_a_race_draws_the_recording(scenario: str) -> None:
    drawn = {kind.title: preview_of(kind, scenario, LIGHT) for kind in tab_classes()}
    assert [title for title, text in drawn.items() if "<svg" in text] == list(DRAWN)
    assert "import mklviz as mv" in drawn["Share"]
    note = f"This is a recording of “{escape(scenarios()[scenario].title)}”. Press Run for your own."
    assert all(note in drawn[title] for title in (*DRAWN, "Share"))
    pictures = [part for text in drawn.values() for part in text.split('<svg xmlns="')[1:]]
    assert all('width="360"' in part for part in pictures)  # so that a phone has room for each chart


def test_a_scenario_without_a_recording_has_no_preview() -> None:
    unrecorded = next(name for name in scenarios() if not recording(name))
    assert {preview_of(kind, unrecorded, LIGHT) for kind in tab_classes()} == {""}


def test_previews_take_the_colours_of_the_page() -> None:
    timeline = next(kind for kind in tab_classes() if kind.title == "Timeline")
    assert LIGHT.card in preview_of(timeline, DEFAULT, LIGHT)
    assert DARK.card in preview_of(timeline, DEFAULT, DARK)
    assert LIGHT.card not in preview_of(timeline, DEFAULT, DARK)


def test_a_preview_stands_until_the_set_up_is_changed_or_a_race_has_begun() -> None:
    explorer = Explorer()
    explorer.shell.turn_to("geometry")
    asyncio.run(explorer.tick())
    assert explorer.session.preview == DEFAULT
    assert "<svg" in open_box(explorer)
    assert "Press Run first" not in open_box(explorer)
    explorer.sidebar.data.seed.box.value = "7"
    asyncio.run(explorer.tick())
    assert explorer.session.preview == ""
    assert "<svg" not in open_box(explorer)
    explorer.sidebar.scenario.restore()
    explorer.shell.turn_to("geometry")
    asyncio.run(explorer.tick())
    assert "<svg" in open_box(explorer)
    race = Race(problem("blobs, C = 1"), ["level"], rules=(MaxIter(3),))
    explorer.session.show(Recipe(), Prepared(), race)  # type: ignore[arg-type]
    explorer.shell.tick(0.0)
    assert "<svg" not in open_box(explorer)


def open_box(explorer: Explorer) -> str:
    """Return the text in the open tab."""
    (box,) = [box for box in explorer.shell.boxes if box.visible]
    return "".join(str(getattr(part, "object", "")) for part in box.objects)


def test_a_page_that_follows_has_no_recording_to_show() -> None:
    assert Session(follows=True).preview == ""


def test_the_plane_of_ten_thousand_kernels_looks_at_no_more_directions_than_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    exchange = principal_plane.__globals__["_exchange"]
    monkeypatch.setitem(principal_plane.__globals__, "_exchange", lambda k, m: asked.append(k) or exchange(k, m))
    weights = np.zeros((2, 10_000))
    weights[0, 0] = weights[1, 1] = 1.0  # one direction, so that another is needed
    plane = principal_plane(weights, weights[0], np.asarray)
    assert len(asked) <= 3
    assert np.allclose(plane.directions @ plane.directions.T, np.eye(2))


def test_names_in_lessons_are_scaled_for_the_projector_once() -> None:
    large = theme_for(False, projected=True)
    written = [name_mark("moved"), point_names("hill", large, up=0.0), *bar_chart("solves", "SVM solves", large).marks]
    texts = [mark for mark in written if isinstance(mark, TextMark)]
    figure = ChartFigure(Chart("names", marks=texts), large, 300)
    glyphs = [renderer.glyph for renderer in figure.plot.renderers if isinstance(renderer.glyph, Text)]
    assert [glyph.text_font_size for glyph in glyphs] == [f"{round(13 * large.scale)}px"] * 3
