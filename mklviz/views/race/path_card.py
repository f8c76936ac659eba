"""PATH OF C: one solver of the race for twenty values of C, each begun at the solution of the one before.

The path is walked in a thread; whoever embeds the card calls `look` now and then. A path that is stopped, or on which
the solver breaks down, is drawn as far as it went.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape

import panel as pn

from mklviz.contract import Solver
from mklviz.engine import Path, Race, path, path_values
from mklviz.engine.background import Background
from mklviz.errors import Interrupted, MklvizError
from mklviz.problem import Problem
from mklviz.record import SOLVED
from mklviz.views.chart.kernel_colours import KernelColours
from mklviz.views.chart.path_picture import PathPicture
from mklviz.views.form import Button, Form, FormRow, Select
from mklviz.views.look import cards
from mklviz.views.race.ended_card import EndedCard
from mklviz.views.sidebar.controls import say

__all__ = ["PathCard"]

VALUES = 20
GAP = 1e-2
MOST_STEPS = 500  # for each value
MOST_KERNELS = 20_000  # beyond, a path would take minutes and its picture would not tell kernels apart
_ABOUT = (
    "How would other values of C have ended? A solver of this race follows twenty of them, each begun at the solution"
    " of the one before, to a gap of 1 %."
)


@dataclass(frozen=True)
class Walk:
    """A path as far as it went, and why it went no further, if so."""

    path: Path | None
    trouble: str = ""


class PathCard(EndedCard[Walk]):
    """Offers, when a race has ended, to follow one of its solvers along C, and draws what it finds."""

    def __init__(self) -> None:
        super().__init__()
        self.walk: Walk | None = None
        self.colours = KernelColours()
        self.solver = Select(label="Solver of the path", bare=True, width=180)
        self.start = Button(self._start, label="Follow the path of C", variant="text")
        self.words = cards.html()
        self._place = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = cards.card(
            cards.html(f'{cards.title("Path of C", term="regularization path")}<p class="why">{_ABOUT}</p>'),
            Form(FormRow(self.solver, self.start, self.progress, self.stop)),
            self.words,
            self._place,
            visible=False,
        )

    def _offer(self, race: Race) -> None:
        """Offer the solvers of the race."""
        if race.problem.convex and race.problem.m <= MOST_KERNELS:
            names = {run.trace.label: key for key, run in race.runs.items()}
            self.solver.param.update(options=names, value=next(iter(names.values())))
            self.root.visible = True

    def _how_far(self, fraction: float) -> str:
        return f"{100 * fraction:.0f} % of the values are solved."

    def _take(self, work: Background[Walk]) -> None:
        self.walk, self.start.visible = work.result or Walk(None, work.trouble), True
        say(self.progress, self.walk.trouble)
        self._draw()

    def _forget(self) -> None:
        self.walk, self.start.visible = None, True
        self._draw()

    def _start(self, *_: object) -> None:
        if self._work is None and self._race is not None:
            raced = self._race.runs[self.solver.value].solver
            solver = type(raced)(**raced.options())
            self.start.visible = False
            self._compute(Background(partial(_follow, self._race.problem, solver), "The path"))

    def _draw(self) -> None:
        found = self.walk.path if self.walk is not None else None
        if found is None or not len(found.values):
            self.words.object, self._place.objects = "", []
            return
        self.words.object = f'<p class="why">{escape(_told(found))}</p>'
        picture = PathPicture(found, None, self.theme, self.colours.slots.slots)
        self._place.objects = [pn.pane.Bokeh(picture.layout, sizing_mode="stretch_width")]


def _follow(problem: Problem, solver: Solver, report: Callable[[float], None]) -> Walk:
    """Solve the problem for each value of C; a path that ends early is kept."""
    done, stopped = 0, False

    def count(found: Path) -> None:
        nonlocal done
        done = len(found) - 1

    def ask() -> None:
        nonlocal stopped
        try:
            report(done / VALUES)
        except Interrupted:
            stopped = True
            raise

    values = path_values(problem, "C", VALUES)
    try:
        found = path(problem, solver, gap=GAP, max_iter=MOST_STEPS, progress=count, checkpoint=ask, C=values)
    except MklvizError as error:
        return Walk(error.found, str(error))
    return Walk(found, "Stopped by hand." if stopped else "")


def _told(found: Path) -> str:
    """Say what the path shows."""
    active, values = found.active, found.values
    how_many = f"{len(values)} value{'s' * (len(values) > 1)}"
    reached = sum(trace.status in SOLVED for _, trace in found)
    return (
        f"{found.label} for {how_many} of C from {values[0]:,.4g} to {values[-1]:,.4g}:"
        f" {int(found.svm_solves.sum()):,} SVM solves, between {active.min():,} and {active.max():,} kernels in use;"
        f" {reached} of the values reached the gap."
    )
