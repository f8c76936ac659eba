"""Pictures that stand still: every curve is where its numbers are, whatever they are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest
from _problems import problem

import mklviz as mv
from mklviz.engine import Race
from mklviz.views.chart.description import Axis, Chart, LineMark, NumberFormat
from mklviz.views.chart.svg import drawing
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.look.palette import LIGHT

LINEAR, LOG = Axis(), Axis(scale="log")
SVG = "{http://www.w3.org/2000/svg}"


@cache
def raced() -> Race:
    race = Race(problem("noisy blobs, C = 10"), ["silp", "level"])
    race.start()
    race.wait()
    return race


def words(drawn: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def lines(drawn: str, colour: str) -> list[list[tuple[float, float]]]:
    """Return the points of each line of a colour, pieces apart."""
    paths = [path for path in ElementTree.fromstring(drawn).iter(f"{SVG}path") if path.get("stroke") == colour]
    pieces = [piece for path in paths for piece in re.split("M", path.get("d", ""))[1:]]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", piece)] for piece in pieces]


def one(along: Sequence[float], up: Sequence[float], x: Axis = LINEAR, y: Axis = LINEAR) -> str:
    chart = Chart("one", "", x, y, [LineMark("one", colour="#123456")])
    return drawing([([chart], 200)], {"one": {"x": along, "y": up}}, "one", LIGHT)


def test_a_line_goes_through_its_points_in_proportion() -> None:
    [points] = lines(one([0, 1, 4], [0, 3, 4], y=Axis(start=0.0)), "#123456")
    (x0, y0), (x1, y1), (x2, y2) = points
    assert (x1 - x0) / (x2 - x0) == pytest.approx(1 / 4, abs=1e-3)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(3 / 4, abs=1e-2)  # a tenth of a pixel of a hundred
    assert y2 < y0  # upwards


def test_what_cannot_be_drawn_is_a_hole() -> None:
    curve = [0, 1, 2, 3, 4, 5, 6], [1, 2, math.nan, 3, 0.0, 1, 5]
    assert [len(piece) for piece in lines(one(*curve, y=LOG), "#123456")] == [2, 1, 2]
    assert [len(piece) for piece in lines(one(*curve), "#123456")] == [2, 4]


def test_points_on_a_straight_line_are_left_out_but_not_its_ends() -> None:
    [points] = lines(one(list(range(300)), [0.0] * 299 + [1.0]), "#123456")
    assert len(points) == 3
    assert points[-1][1] < points[0][1]


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [-3.0, -1.0], [1e-300, 1e300], [5.0, 5.0]])
@pytest.mark.parametrize("y", [LINEAR, LOG])
@pytest.mark.parametrize("numbers", ["short", "exact", "percent"])
def test_any_numbers_make_a_picture(values: list[float], y: Axis, numbers: NumberFormat) -> None:
    drawn = one(list(range(len(values))), values, y=replace(y, numbers=numbers))
    assert "nan" not in drawn
    assert len(words(drawn)) > 2


def test_a_race_is_drawn_with_the_words_and_colours_of_the_dashboard() -> None:
    drawn = race_still(raced(), 1e-2)
    assert {"Objective", "Duality gap", "stop at 1 %", "iteration", "SILP", "Level"} <= set(words(drawn))
    assert lines(drawn, "#0072b2")  # Level
    assert "SVM solves" in words(race_still(raced(), x="svm_solves"))


def test_a_race_that_has_not_begun_is_drawn_too() -> None:
    drawn = race_still(Race(problem("noisy blobs, C = 10"), ["silp", "level"]), 1e-2)
    assert {"Objective", "Duality gap", "SILP", "Level"} <= set(words(drawn))


def test_a_trace_is_drawn_alone_and_where_there_is_no_gap_by_its_projected_gradient() -> None:
    assert {"Duality gap", "Level"} <= set(words(trace_still(raced().traces["level"])))
    assert "Level" in words(trace_still(mv.Trace("level", "Level")))
    assert "mine" in words(trace_still(mv.Trace("not-a-solver", "mine")))


def test_a_path_is_drawn_with_the_names_of_its_largest_kernels() -> None:
    found = mv.path(problem("noisy blobs, C = 10"), "level", C=[100.0, 10.0, 1.0])
    shown = words(path_still(found, found))
    largest = found.kernel_names[int(found.weights.max(axis=0).argmax())]
    assert {"Kernel weights", "Kernels in use", "SVM solves", "C", largest} <= set(shown)
