"""Visitors without a browser open the real server's page, race, and see the race end."""

from __future__ import annotations

import asyncio
import os

import pytest
from measure.crowd import crowds


@pytest.mark.full
def test_visitors_who_come_at_once_all_see_their_races_end() -> None:
    (crowd,) = crowds([3])
    assert crowd["visitors"] == 3
    assert 0.0 < crowd["half_s"] <= crowd["pages_s"] < crowd["races_s"]
    assert crowd["half_s"] < crowd["half_ran_s"] <= crowd["races_s"]
    assert crowd["stall_s"] > 0.0
    assert 0.0 < crowd["cpu_s"] < (os.cpu_count() or 1) * (crowd["races_s"] + 60.0)
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()  # nothing is left running
