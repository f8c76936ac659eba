"""The bars of where the time goes: what the page is told about a race, and how it is coloured."""

import itertools
from typing import Any

import numpy as np
import pytest
from _problems import problem, ran

from mklviz.context import PARTS
from mklviz.contract import Iterate
from mklviz.engine import MaxIter, Race
from mklviz.views.look.palette import DARK, LIGHT, Theme, contrast
from mklviz.views.look.styles import run_styles
from mklviz.views.race.components import LABELS, TimeBars, spent_by
from mklviz.views.race.race_view import RaceView


def raced(*names: str, steps: int = 5) -> Race:
    return ran(Race(problem("blobs, C = 1"), names, rules=(MaxIter(steps),)))


def test_the_bars_of_a_race_are_as_long_as_its_runs_took() -> None:
    race = raced("level", "spg")
    bars = TimeBars()
    bars.follow(race.traces, run_styles(race.traces, LIGHT), hidden=["spg"])
    assert [item["label"] for item in bars.items] == ["Level", "SPG"]
    assert bars.hidden == ["spg"]
    for key, trace in race.traces.items():
        assert len(bars.spent[key]) == len(PARTS) == len(bars.parts)
        assert sum(bars.spent[key]) == pytest.approx(trace.last_seconds, abs=1e-4)  # each is rounded to 1e-5


def test_a_run_without_a_step_and_one_that_nobody_measured_are_told_apart() -> None:
    race = Race(problem("blobs, C = 1"), ["level", "spg"])
    race.runs["spg"].trace.append(Iterate(np.ones(20), np.zeros(40), 2.0, 1.0, 0.0, 0), 3.0)  # as from an old file
    assert spent_by(race.traces) == {"level": [0.0] * len(PARTS), "spg": []}


def test_the_view_keeps_the_bars_up_and_takes_them_away() -> None:
    view = RaceView()
    bars = view.page.bars
    assert bars.items == []
    view.show(raced("level", "silp"))
    assert [item["key"] for item in bars.items] == list(bars.spent) == ["level", "silp"]
    view.hidden = frozenset({"silp"})
    assert bars.hidden == ["silp"]
    view.clear()
    assert bars.items == []
    assert bars.spent == {}


def test_the_heading_names_and_explains_every_part() -> None:
    assert list(LABELS) == list(PARTS)
    for part, label in LABELS.items():
        assert f'style="background: var(--mk-{part})"></i>{label}</span>' in TimeBars().heading


def as_seen(colour: str, weights: Any) -> np.ndarray:
    """A colour in linear light as somebody sees it who lacks one kind of cone."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.asarray(weights) @ np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


# Viénot, Brettel, Mollon (1999), equations for a display with the primaries of sRGB
COLOUR_BLIND = {
    "everybody": np.eye(3),
    "protanopes": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranopes": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}


@pytest.mark.parametrize("who", COLOUR_BLIND)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_parts_stand_out_from_the_card_and_from_each_other(theme: Theme, who: str) -> None:
    for fill, text in theme.parts:
        assert contrast(fill, theme.card) >= 3.0
        assert contrast(fill, text) >= 4.5
    seen = [as_seen(fill, COLOUR_BLIND[who]) for fill, _ in theme.parts]
    for one, other in itertools.combinations(seen, 2):
        # in perceived (cube root) light, on which a step of 0.05 is seen without effort
        assert np.abs(np.cbrt(one) - np.cbrt(other)).max() >= 0.1
