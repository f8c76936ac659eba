"""Pictures from recordings: small ones of every lesson, and those of tabs before there is a race."""

import asyncio
import re
import tracemalloc
from html import escape
from itertools import permutations
from xml.etree import ElementTree

import numpy as np
import pytest
from _problems import problem
from _ticks import Prepared, first_steps
from _undrawn import draw_none
from bokeh.models import Text

from mklviz.analysis.weight_map import principal_plane
from mklviz.engine import MaxIter, Race
from mklviz.errors import UnknownName
from mklviz.recipe import Recipe
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.scenarios import DEFAULT, scenarios
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Chart, TextMark
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.geometry.map_chart import PLANE
from mklviz.views.lessons.picture import LessonRuns, bar_chart, name_mark, point_names
from mklviz.views.lessons.pictures import PICTURES, picture_of, recorded_picture, thumbnail
from mklviz.views.look.palette import DARK, LIGHT, Theme, theme_for
from mklviz.views.look.styles import run_styles
from mklviz.views.session.session import Session
from mklviz.views.tabs import tab_classes
from mklviz.views.tabs._previews import preview_of

DRAWN = ("Geometry", "Your mix", "Model", "Timeline", "Knobs", "Stopping")
RECORDED = [name for name in scenarios() if recording(name)]


@pytest.mark.parametrize("scenario", RECORDED)
def test_every_tab_that_needs_a_race_draws_the_recording(scenario: str) -> None:
    drawn = {kind.title: preview_of(kind.preview, scenario, LIGHT) for kind in tab_classes()}
    assert [title for title, text in drawn.items() if "<svg" in text] == list(DRAWN)
    assert "import mklviz as mv" in drawn["Share"]
    note = f"This is a recording of “{escape(scenarios()[scenario].title)}”. Your own race takes its place."
    assert all(note in drawn[title] for title in (*DRAWN, "Share"))
    pictures = [part for text in drawn.values() for part in text.split('<svg xmlns="')[1:]]
    assert all('width="360"' in part for part in pictures)  # so that a phone has room for each chart


def test_previews_take_the_colours_of_the_page_and_the_numbers_of_steps_keep_clear_of_one_another() -> None:
    geometry = next(kind for kind in tab_classes() if kind.title == "Geometry")
    drawn, dark = (preview_of(geometry.preview, DEFAULT, theme) for theme in (LIGHT, DARK))
    assert LIGHT.card in drawn
    assert DARK.card in dark
    assert LIGHT.card not in dark
    numbers = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" style="[^"]*font-weight:700">(\d+)<', drawn)
    boxes = [(float(x), float(y), 7.0 * len(step)) for x, y, step in numbers]
    assert {"1", "2", "3"} <= {step for _, _, step in numbers}
    assert all(f">{axis.label}</text>" in drawn for axis in PLANE)
    for (x, y, wide), (other, at, _) in permutations(boxes, 2):
        assert abs(y - at) > 10.0 or not x <= other < x + wide


def test_a_preview_stands_until_the_set_up_is_changed_or_a_race_has_begun() -> None:
    explorer = Explorer()
    explorer.shell.turn_to("geometry")
    asyncio.run(explorer.tick())
    assert explorer.session.preview == DEFAULT
    assert "<svg" in open_box(explorer)
    assert "Press Run first" not in open_box(explorer)
    explorer.sidebar.data.seed.value = "7"
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
    assert Session(follows=True).preview == ""  # a page that follows has none to show


def open_box(explorer: Explorer) -> str:
    """Return the text in the open tab."""
    (box,) = [box for box in explorer.shell.boxes.values() if box.visible]
    return "".join(str(getattr(part, "object", "")) for part in box.objects)


def test_the_plane_of_thousands_of_kernels_looks_at_no_more_directions_than_it_needs() -> None:
    weights = np.zeros((2, 2000))
    weights[0, 0] = weights[1, 1] = 1.0  # one direction, so that another is needed
    tracemalloc.start()
    plane = principal_plane(weights, weights[0], np.asarray)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100 * weights[0].nbytes
    assert np.allclose(plane.directions @ plane.directions.T, np.eye(2))


def test_names_in_lessons_are_scaled_for_the_projector_once() -> None:
    large = theme_for(False, projected=True)
    written = [name_mark("moved"), point_names("hill", large, up=0.0), *bar_chart("solves", "SVM solves", large).marks]
    texts = [mark for mark in written if isinstance(mark, TextMark)]
    figure = ChartFigure(Chart("names", marks=texts), large, 300)
    glyphs = [renderer.glyph for renderer in figure.plot.renderers if isinstance(renderer.glyph, Text)]
    assert [glyph.text_font_size for glyph in glyphs] == [f"{round(13 * large.scale)}px"] * 3


LESSONS = {name: each for name, each in scenarios().items() if each.question is not None}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.each_value
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_has_a_small_picture(name: str, theme: Theme) -> None:
    assert {each.picture for each in LESSONS.values()} | {"gap"} == set(PICTURES)
    drawn = ElementTree.fromstring(thumbnail(name, theme))
    assert LESSONS[name].title in (drawn.get("aria-label") or "")
    assert drawn[1].get("fill") == theme.card  # the ground, behind all that is drawn
    shapes = [part for kind in ("path", "rect") for part in drawn.iter(f"{SVG}{kind}")]
    assert len(shapes) > 1
    assert "nan" not in thumbnail(name, theme)


@pytest.mark.parametrize("name", LESSONS)
def test_a_card_shows_what_is_asked_and_no_number_of_the_answer_and_a_recording_holds_all_that_is_drawn(
    name: str,
) -> None:
    words = [text.text or "" for text in ElementTree.fromstring(thumbnail(name)).iter(f"{SVG}text")]
    assert words[-1] == "?"
    assert not [word for word in words if re.search(r"\d\d|%|best", word)]
    answer = LESSONS[name].in_short + LESSONS[name].title
    assert not re.search(r"oscillat|just as good|several|expensive|wins|need one|Few kernels|stalls", answer)
    picture = recorded_picture(name, LIGHT)
    for chart in picture.charts:
        drawn = draw_none(chart, picture.tables)  # no table and no column is missing
        named = {mark.mark.table for mark in drawn.marks if mark.columns and any(mark.columns.values())}
        assert named, chart.name
    assert len({mark.table for chart in picture.charts for mark in chart.marks}) <= len(picture.tables)


@pytest.mark.each_value
@pytest.mark.parametrize("steps", [1, 2, 10_000])
@pytest.mark.parametrize("name", LESSONS)
def test_a_picture_is_drawn_while_the_race_goes_on_before_anything_is_computed_for_it(name: str, steps: int) -> None:
    traces = {key: first_steps(trace, steps) for key, trace in recording(name).items()}
    picture = picture_of(LESSONS[name], LessonRuns(traces, run_styles(traces, LIGHT), {}, LIGHT))
    assert picture.charts
    for chart in picture.charts:
        assert len(draw_none(chart, picture.tables).marks) == len(chart.marks)


def test_a_scenario_without_a_recording_has_no_preview_and_no_small_picture_and_an_unknown_one_is_refused() -> None:
    assert recording("half-a-million") == recorded_evidence("half-a-million") == {}
    assert {preview_of(kind.preview, "half-a-million", LIGHT) for kind in tab_classes()} == {""}
    assert thumbnail("half-a-million") == ""
    with pytest.raises(UnknownName):
        thumbnail("zebra")


def test_corners_have_names_that_a_phone_has_room_for_and_are_left_out_of_a_small_map_as_numbers_are() -> None:
    whole = recorded_picture("three-kernels", LIGHT)
    assert whole.tables["corners"]["name"] == ["chest pain", "vessels", "thal"]
    assert {mark.table for mark in whole.charts[0].marks if isinstance(mark, TextMark)} == {"corners", "numbers"}
    words = [text.text for text in ElementTree.fromstring(thumbnail("three-kernels")).iter(f"{SVG}text")]
    assert [word for word in words if word] == ["?"]


def test_kernels_that_have_a_colour_are_named_and_both_panels_have_one_scale() -> None:
    picture = recorded_picture("silp-oscillates", LIGHT)
    coloured = set(LIGHT.kernels[: len(picture.kernels)])
    for strip in ("strip-silp", "strip-level"):
        assert set(picture.tables[strip]["colour"]) <= coloured | {LIGHT.muted}
    assert len(set(picture.tables["strip-silp"]["colour"]) & coloured) > 3
    assert picture.tables["names-moved"]["name"] == ["SILP", "Level"]
    assert max(map(abs, picture.tables["names-moved"]["up"])) < 20.0  # pixels: beside a flat curve, where others pass
    _, silp, level = picture.charts
    assert silp.note == "grey: another kernel"  # as there are more kernels than colours
    assert silp.x.label == level.x.label == "step"
    assert all("all-steps" in {mark.table for mark in chart.marks} for chart in (silp, level))
    assert picture.tables["all-steps"]["step"] == [0.0, 120.0]
