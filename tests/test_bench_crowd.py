"""Visitors without a browser open the real server's page, race, and see the race end."""

from __future__ import annotations

import asyncio
import os

import pytest

from mklviz.bench.crowd import Crowd, crowds


@pytest.mark.full
def test_visitors_who_come_at_once_all_see_their_races_end() -> None:
    (crowd,) = crowds([3])
    assert crowd.visitors == 3
    for page, race in zip(crowd.pages, crowd.races, strict=True):
        assert 0.0 < page < race
    assert crowd.stall > 0.0
    assert 0.0 < crowd.cpu < (os.cpu_count() or 1) * (max(crowd.races) + 60.0)
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()  # nothing is left running


def test_a_class_is_one_line_of_the_table() -> None:
    crowd = Crowd(2, pages=(1.0, 3.0), races=(4.0, 8.0), stall=0.25, cpu=5.0, memory=30.0)
    assert str(crowd).split() == ["2", "2.0", "3.0", "6.0", "8.0", "0.25", "5.0", "15.0"]
