"""Visitors without a browser open the real server's pages, race, see the race end, and leave pages behind."""

from __future__ import annotations

import asyncio
import os

import pytest

from mklviz.bench._visitors import Crowd, Server, crowd, left_alone, on_a_server, to_open


@pytest.mark.full
def test_visitors_who_come_at_once_all_see_their_races_end() -> None:
    async def measure(server: Server) -> tuple[Crowd, float, tuple[float, float]]:
        came = await crowd(server, 3)
        return came, await to_open(server, "?page=runs", 0.5), await left_alone(server, "?page=start", 2, 0.5, 0.5)

    came, opening, (idle, closed) = on_a_server(1, measure)
    assert len(came.pages) == len(came.races) == 3
    assert all(0.0 < page < race for page, race in zip(came.pages, came.races, strict=True))
    assert came.stall > 0.0
    cores = os.cpu_count() or 1
    assert 0.0 < came.cpu < cores * (max(came.races) + 60.0)
    assert opening > 0.0
    assert 0.0 <= idle <= cores
    assert 0.0 <= closed <= cores
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()  # nothing is left running
