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
from mklviz.views.look import cards
from mklviz.views.look.palette import DARK, LIGHT, Theme
from mklviz.views.path_view import path_figure
from mklviz.views.sidebar.controls import button, note, row, say, select

__all__ = ["PathCard"]

VALUES = 20
GAP = 1e-2
MOST_STEPS = 500  # for each value
MOST_KERNELS = 20_000  # beyond, a path would take minutes and its picture would not tell kernels apart
_BOX = {"& fieldset": {"top": 0}, "& legend": {"display": "none"}, "& .MuiSelect-select": {"fontSize": "0.84rem"}}
_ABOUT = (
    "How would other values of C have ended? A solver of this race follows twenty of them, each begun at the solution"
    " of the one before, to a gap of 1 %."
)


@dataclass(frozen=True)
class Walk:
    """A path as far as it went, and why it went no further, if so."""

    path: Path | None
    trouble: str = ""


class PathCard(pn.viewable.Viewer):
    """Offers, when a race has ended, to follow one of its solvers along C, and draws what it finds."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self.walk: Walk | None = None
        self._race: Race | None = None
        self._work: Background[Walk] | None = None
        self.solver = select("Solver of the path", {}, bare=True, sizing_mode=None, width=180, sx=_BOX)
        self.start = button("Follow the path of C", self._start, variant="text")
        self.stop = button("Stop", self._cancel, variant="text", visible=False)
        self.progress, self.words = note(), cards.html()
        self._place = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = cards.card(
            cards.html(f'{cards.title("Path of C")}<p class="why">{_ABOUT}</p>'),
            row(self.solver, self.start, self.progress, self.stop),
            self.words,
            self._place,
            visible=False,
        )

    def begin(self, race: Race) -> None:
        """Offer the solvers of a race that has ended; once for each race."""
        if race is self._race:
            return
        self.clear()
        self._race = race
        if race.problem.convex and race.problem.m <= MOST_KERNELS:
            names = {run.trace.label: key for key, run in race.runs.items()}
            self.solver.param.update(options=names, value=next(iter(names.values())))
            self.root.visible = True

    def look(self) -> None:
        """Take over how far the thread is."""
        work = self._work
        if work is None:
            return
        if not work.ended:
            say(self.progress, f"{100 * work.fraction:.0f} % of the values are solved.")
            return
        self._work = None
        self.walk = work.result or Walk(None, work.trouble)
        self.stop.visible, self.start.visible = False, True
        say(self.progress, self.walk.trouble)
        self._draw()

    def clear(self) -> None:
        """Forget the race."""
        self._cancel()
        self._race, self._work, self.walk = None, None, None
        say(self.progress, "")
        self.stop.visible, self.start.visible, self.root.visible = False, True, False
        self._draw()

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        theme = DARK if dark else LIGHT
        if theme is not self.theme:
            self.theme = theme
            self._draw()

    def _start(self, *_: object) -> None:
        if self._work is None and self._race is not None:
            raced = self._race.runs[self.solver.value].solver
            solver = type(raced)(**raced.options())
            self._work = Background(partial(_follow, self._race.problem, solver), "The path")
            self.stop.visible, self.start.visible = True, False
            self.look()

    def _cancel(self, *_: object) -> None:
        if self._work is not None:
            self._work.cancel()

    def _draw(self) -> None:
        found = self.walk.path if self.walk is not None else None
        if found is None or not len(found.values):
            self.words.object, self._place.objects = "", []
            return
        self.words.object = f'<p class="why">{escape(_told(found))}</p>'
        self._place.objects = [path_figure(found, theme=self.theme)]

    def __panel__(self) -> pn.viewable.Viewable:
        return self.root


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
