"""The benchmark of the page: beside a bare page, and for a crowd of visitors."""

from __future__ import annotations

import asyncio
import os

import pytest

from mklviz.bench import screen
from mklviz.bench._suite import Bench
from mklviz.bench._visitors import Crowd, Server, crowd, left_alone, on_a_server, to_open
from mklviz.bench.screen import Size, bare_page, opened, page_rows


def test_a_page_is_weighed_by_its_models_components_and_bytes() -> None:
    bare = opened(bare_page)
    assert bare.components == 1 + screen.INPUTS  # the shell and its inputs
    assert bare.models > 2 * bare.components  # each has its data, and there is a figure
    assert bare.nbytes > 10_000
    assert str(Size(63, 13, 181_721)) == "63 models, 13 components, 182 kB"


def test_the_dashboard_is_compared_with_the_bare_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "dashboard", bare_page)
    first, row = page_rows(Bench(repeats=1))
    assert (first.ours, first.other, first.goal) == ("start page", "bare page", 0.25)
    assert (row.ours, row.other, row.goal) == ("dashboard", "bare page", 0.25)
    assert row.note.startswith(str(opened(bare_page)).split(",")[0])
    assert row.least <= row.ratio <= row.most


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
