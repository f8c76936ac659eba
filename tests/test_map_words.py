"""What is said beside a map, and which steps carry their number."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from mklviz.contract import Iterate
from mklviz.scenarios import scenarios
from mklviz.views.chart.columns import contour_levels
from mklviz.views.chart.description import Axis
from mklviz.views.geometry.map_card import flat_valley, model_words, shade_scale
from mklviz.views.geometry.map_chart import DIGIT, FRAME, LOW_AND_HIGH, RIGHT, SIZE, UP, numbered_steps
from mklviz.views.look.palette import DARK, LIGHT, contrast
from mklviz.views.start.front import front_html

UNIT = Axis(start=0.0, end=1.0)


def end(weights: list[float], objective: float) -> Iterate:
    return Iterate(np.array(weights), np.zeros(2), objective, -np.inf, 1.0, 1)


def test_the_scale_names_the_objectives_of_its_ends_and_of_its_middle() -> None:
    heights = np.array([[3120.0, 4000.0], [6000.0, 9800.0]])
    said = shade_scale((np.zeros((2, 2)), np.zeros((2, 2)), heights), LIGHT)
    assert re.findall("<b>(.*?)</b>", said) == ["3,120", "4,790", "9,800"]
    assert float(contour_levels(heights, 2)[1]) == 4790.0
    assert "Lighter = lower objective" in said
    assert "Darker = lower objective" in shade_scale((heights, heights, heights), DARK)
    assert shade_scale(None, LIGHT) == ""


def test_ends_apart_and_equally_low_are_called_a_flat_valley_and_no_others() -> None:
    one, near, far = end([0.5, 0.5], 100.0), end([0.51, 0.49], 100.1), end([0.2, 0.8], 100.4)
    assert flat_valley([("SILP", one), ("Level", near)]) == ""
    assert flat_valley([("SILP", one), ("Level", end([0.0, 1.0], 150.0))]) == ""
    said = flat_valley([("SILP", one), ("SPG", near), ("Level", far)])
    assert "SPG and Level ended 31 % of the weight apart" in said
    assert "differ by 0.3 % only" in said
    assert flat_valley([]) == ""


def test_cuts_are_explained_by_what_their_solver_does() -> None:
    assert "its level" in model_words("Level", level=True)
    assert "the best objective so far" in model_words("SILP", level=False)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_cover_neither_each_other_nor_a_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = {key: rng.uniform(size=(60, 2)) ** 2 for key in ("one", "two")}
    numbers = numbered_steps(places, {key: range(60) for key in places}, UNIT, UNIT)
    assert len(numbers) >= 10
    scale = np.array(FRAME)
    corners = {n: places[n.key][n.index] * scale + (RIGHT, UP) for n in numbers}
    sizes = {n: np.array([DIGIT * len(str(n.step)), SIZE]) for n in numbers}
    for a, b in combinations(numbers, 2):
        assert (np.maximum(corners[a], corners[b]) >= np.minimum(corners[a] + sizes[a], corners[b] + sizes[b])).any()
    points = np.concatenate([*places.values()]) * scale
    for n in numbers:
        assert not ((points > corners[n]) & (points < corners[n] + sizes[n])).all(axis=1).any()


def test_what_is_said_of_a_shade_is_true_in_light_and_in_dark() -> None:
    words = {True: "Darker = lower", False: "Lighter = lower"}
    for theme in (LIGHT, DARK):
        low, high = (contrast(shade, "#000000") for shade in LOW_AND_HIGH[theme.dark])
        assert words[low < high] in shade_scale((np.zeros((2, 2)), np.zeros((2, 2)), np.ones((2, 2))), theme)
    unthemed = [front_html(""), *(str(vars(scenario)) for scenario in scenarios().values())]
    assert not [text for text in unthemed if re.search(r"\b([Ll]ighter|[Dd]arker)\b", text)]
