"""Views of a race and dashboards that are told the time, as their page would tell it, and what they are given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace

import pytest
from _waits import soon

from mklviz.views.explorer.explorer import Explorer
from mklviz.views.links import link
from mklviz.views.race.race_view import RaceView


def tick(view: RaceView, now: float | None = None, painted: bool = True) -> None:
    """Let a view send what is new, the browser having `painted` everything so far."""

    async def within_a_loop() -> None:
        view.tick(monotonic() if now is None else now)

    if painted:
        view.heartbeat.ack = view.heartbeat.seq
    asyncio.run(within_a_loop())


def follow(explorer: Explorer, until: Callable[[], object]) -> None:
    """Let the dashboard tick until something holds."""
    asyncio.run(soon(until, meanwhile=explorer.tick))


class Prepared:
    """A problem without test samples worth mentioning."""

    class test:
        task = "classification"

    score_label = "test accuracy"

    @staticmethod
    def score(iterate: object) -> float:
        return 1.0


def visit(monkeypatch: pytest.MonkeyPatch, **words: str) -> None:
    """Let a page that is opened from now on have been asked for by an address with these words."""
    asked = {name: [value.encode()] for name, value in words.items()}
    monkeypatch.setattr(link, "pn", SimpleNamespace(state=SimpleNamespace(session_args=asked)))
