"""Views of a race and dashboards that are told the time, as their page would tell it, and what they are given."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from time import monotonic
from typing import Any, TypeVar

import numpy as np
import panel as pn
import pytest
from _problems import PlainSolver
from _waits import LEFT_OPEN, soon, wait_for

from mklviz.contract import End, Iterate
from mklviz.engine import Race
from mklviz.engine.warmup import Warmup
from mklviz.errors import SolverError
from mklviz.problem import Problem
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session

Tab = TypeVar("Tab", bound=Any)


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


class Walker(PlainSolver):
    """Walks from the first kernel to the second, two SVM solves a step, to step `last` if there is one.

    `breaks`: the step at which it fails, if that is not negative.
    """

    name_, label, colour, colour_dark, dash, marker = "walker", "Walker", "#D55E00", "#F07B2E", "dashed", "square"

    def __init__(self, last: int = 0, breaks: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.last, self.breaks = last, breaks

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        for t in count():
            if t == self.breaks:
                raise SolverError("The walker <b>stumbled</b>.")
            weights = np.zeros(problem.m)
            weights[:2] = 1.0 / (t + 1), t / (t + 1)
            end = End("It stands still.") if t == self.last > 0 else None
            yield Iterate(weights, np.zeros(problem.n), 2.0 + 1.0 / (t + 1), 2.0, 0.1, 2 * t, end=end)
            if end:
                return


class Prepared:
    """A problem without test samples worth mentioning."""

    class test:
        task = "classification"

    score_label = "test accuracy"

    @staticmethod
    def score(iterate: object) -> float:
        return 1.0


def shown(race: Race, recipe: Recipe | None = None, prepared: Any = None) -> Session:
    """Return a session that shows a race."""
    session = Session()
    session.show(recipe or Recipe(), prepared or Prepared(), race)
    return session


def following(session: Session, tab: Tab) -> Tab:
    """Let a tab or a card follow a session, as on a page, until the test is over; return it."""
    tab.follow(session)
    session.param.watch(lambda *_: tab.follow(session), ["race", "cursor", "theme"])
    LEFT_OPEN.append(tab)
    return tab


def first_steps(trace: Trace, steps: int) -> Trace:
    """Return a run that has taken so many steps, and goes on."""
    first = Trace(trace.solver, trace.label, trace.options, trace.kernel_names, trace.problem)
    for t in range(min(steps, len(trace))):
        first.append(trace[t], trace.seconds_at(t))
    return first


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
