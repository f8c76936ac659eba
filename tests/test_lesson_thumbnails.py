"""Small pictures of lessons: drawn from recordings in the package, of every lesson, in both themes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from _undrawn import draw_none

from mklviz.errors import UnknownName
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.scenarios import scenarios
from mklviz.views.chart.description import TextMark
from mklviz.views.lessons.picture import LessonRuns
from mklviz.views.lessons.pictures import PICTURES, picture_of, recorded_picture, thumbnail
from mklviz.views.look.palette import DARK, LIGHT, Theme
from mklviz.views.look.styles import run_styles

LESSONS = {name: each for name, each in scenarios().items() if each.question is not None}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.each_value
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_has_a_small_picture(name: str, theme: Theme) -> None:
    drawn = ElementTree.fromstring(thumbnail(name, theme))
    assert LESSONS[name].title in (drawn.get("aria-label") or "")
    assert drawn[1].get("fill") == theme.card  # the ground, behind all that is drawn
    shapes = [part for kind in ("path", "rect") for part in drawn.iter(f"{SVG}{kind}")]
    assert len(shapes) > 1
    assert "nan" not in thumbnail(name, theme)


@pytest.mark.parametrize("name", LESSONS)
def test_a_card_shows_what_is_asked_and_no_number_of_the_answer(name: str) -> None:
    words = [text.text or "" for text in ElementTree.fromstring(thumbnail(name)).iter(f"{SVG}text")]
    assert words[-1] == "?"
    assert not [word for word in words if re.search(r"\d\d|%|best", word)]
    answer = LESSONS[name].in_short + LESSONS[name].title
    assert not re.search(r"oscillat|just as good|several|expensive|wins|need one|Few kernels|stalls", answer)


@pytest.mark.parametrize("name", LESSONS)
def test_a_recording_holds_all_that_the_picture_of_its_lesson_draws(name: str) -> None:
    picture = recorded_picture(name, LIGHT)
    assert picture is not None
    for chart in picture.charts:
        drawn = draw_none(chart, picture.tables)  # no table and no column is missing
        named = {mark.mark.table for mark in drawn.marks if mark.columns and any(mark.columns.values())}
        assert named, chart.name
    assert len({mark.table for chart in picture.charts for mark in chart.marks}) <= len(picture.tables)


def begun(trace: Trace, steps: int) -> Trace:
    """Return a run that has taken so many steps, and goes on."""
    first = Trace(trace.solver, trace.label, trace.options, trace.kernel_names, trace.problem)
    for t in range(min(steps, len(trace))):
        first.append(trace[t], trace.seconds_at(t))
    return first


@pytest.mark.each_value
@pytest.mark.parametrize("steps", [1, 2, 10_000])
@pytest.mark.parametrize("name", LESSONS)
def test_a_picture_is_drawn_while_the_race_goes_on_before_anything_is_computed_for_it(name: str, steps: int) -> None:
    traces = {key: begun(trace, steps) for key, trace in recording(name).items()}
    picture = picture_of(LESSONS[name], LessonRuns(traces, run_styles(traces, LIGHT), {}, LIGHT))
    assert picture.charts
    for chart in picture.charts:
        assert len(draw_none(chart, picture.tables).marks) == len(chart.marks)


def test_every_picture_is_that_of_some_lesson_or_the_usual_one() -> None:
    assert {each.picture for each in LESSONS.values()} | {"gap"} == set(PICTURES)


def test_a_lesson_without_a_recording_has_no_small_picture_and_an_unknown_one_is_refused() -> None:
    assert recording("half-a-million") == recorded_evidence("half-a-million") == {}
    assert thumbnail("half-a-million") == ""
    with pytest.raises(UnknownName):
        thumbnail("zebra")


def test_names_of_corners_and_numbers_of_steps_are_left_out_of_a_small_map() -> None:
    whole = recorded_picture("three-kernels", LIGHT)
    assert whole is not None
    assert {mark.table for mark in whole.charts[0].marks if isinstance(mark, TextMark)} == {"corners", "numbers"}
    words = [text.text for text in ElementTree.fromstring(thumbnail("three-kernels")).iter(f"{SVG}text")]
    assert [word for word in words if word] == ["?"]


def test_the_corners_of_three_kernels_have_names_that_a_phone_has_room_for() -> None:
    picture = recorded_picture("three-kernels", LIGHT)
    assert picture is not None
    assert picture.tables["corners"]["name"] == ["chest pain", "vessels", "thal"]


def test_kernels_that_have_a_colour_are_named_and_both_panels_have_one_scale() -> None:
    picture = recorded_picture("silp-oscillates", LIGHT)
    assert picture is not None
    coloured = set(LIGHT.kernels[: len(picture.kernels)])
    for strip in ("strip-silp", "strip-level"):
        assert set(picture.tables[strip]["colour"]) <= coloured | {LIGHT.muted}
    assert len(set(picture.tables["strip-silp"]["colour"]) & coloured) > 3
    _, silp, level = picture.charts
    assert silp.x.label == level.x.label == "step"
    assert all("all-steps" in {mark.table for mark in chart.marks} for chart in (silp, level))
    assert picture.tables["all-steps"]["step"] == [0.0, 120.0]
