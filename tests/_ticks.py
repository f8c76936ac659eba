"""Views of a race and dashboards that are told the time, as their page would tell it, and what they are given."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

import panel as pn
import pytest
from _waits import soon, wait_for

from mklviz.engine.warmup import Warmup
from mklviz.views.explorer.explorer import Explorer
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


def until(tab: Any, found: Callable[[], object], what: str = "what the tab was to show") -> None:
    """Let a tab tick until something holds."""
    wait_for(found, what, lambda: tab.tick(monotonic()))


def warm_up_by(monkeypatch: pytest.MonkeyPatch, warmup: Warmup) -> None:
    """Let pages ask another warm-up than the process's own."""
    for module in ("views.explorer.before_and_after", "views.explorer.explorer", "recipe.preparation"):
        monkeypatch.setattr(f"mklviz.{module}.WARMUP", warmup)


class Prepared:
    """A problem without test samples worth mentioning."""

    class test:
        task = "classification"

    score_label = "test accuracy"

    @staticmethod
    def score(iterate: object) -> float:
        return 1.0


def visit(monkeypatch: pytest.MonkeyPatch, cookie: str = "", accepted: str = "", **words: str) -> None:
    """Let a page that is opened from now on have been asked for by an address with these words.

    `cookie`: the page that the browser was on before; `accepted`: the languages that it asks for.
    """
    request = {
        "session_args": {name: [value.encode()] for name, value in words.items()},
        "cookies": {"mklviz-page": cookie} if cookie else {},
        "headers": {"Accept-Language": accepted},
    }
    for name, value in request.items():
        monkeypatch.setattr(type(pn.state), name, value)
