"""Views of a race that are told the time, as their tab would tell it."""

from __future__ import annotations

import asyncio
from time import monotonic

from mklviz.views.race.race_view import RaceView


def tick(view: RaceView, now: float | None = None, painted: bool = True) -> None:
    """Let a view send what is new, the browser having `painted` everything so far."""

    async def within_a_loop() -> None:
        view.tick(monotonic() if now is None else now)

    if painted:
        view.heartbeat.ack = view.heartbeat.seq
    asyncio.run(within_a_loop())
