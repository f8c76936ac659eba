"""PATH OF C: one solver of the race for twenty values of C, each begun at the solution of the one before.

The path is computed in a thread. If it is stopped, or the solver breaks down, it is drawn as far as it went.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from html import escape

import panel as pn

from mklviz.contract import Solver
from mklviz.engine import Path, Race, path, path_values
from mklviz.engine.task import STOPPED, ProgressReport
from mklviz.errors import MklvizError
from mklviz.problem import Problem
from mklviz.record import SOLVED
from mklviz.views.chart.columns import KernelColours
from mklviz.views.chart.path_charts import PathPicture
from mklviz.views.form import Button, Form, FormRow, Select
from mklviz.views.look import cards
from mklviz.views.race.ended_card import EndedCard
from mklviz.views.sidebar.controls import say

__all__ = ["PathCard"]

VALUES = 20
GAP = 1e-2
MOST_STEPS = 500  # for each value
MOST_KERNELS = 20_000  # with more kernels a path takes minutes and its picture is unreadable
_ABOUT = (
    "How would other values of C have ended? A solver of this race follows twenty of them, each begun at the solution"
    " of the one before, to a gap of 1 %."
)


@dataclass(frozen=True)
class Walk:
    """A path as far as it went, and why it went no further, if so."""

    path: Path | None
    fault: str = ""


class PathCard(EndedCard[Walk]):
    """Offers, when a race has ended, to follow one of its solvers along C, and draws the path."""

    def __init__(self) -> None:
        super().__init__()
        self.walk: Walk | None = None
        self.colours = KernelColours()
        self.solver = Select(label="Solver of the path", bare=True, width=180)
        self.start = Button(self._start, label="Follow the path of C", variant="text")
        self.words = cards.html()
        self.figures = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = cards.card(
            cards.html(f'{cards.title("Path of C", term="regularization path")}<p class="why">{_ABOUT}</p>'),
            Form(FormRow(self.solver, self.start, self.progress, self.stop)),
            self.words,
            self.figures,
            visible=False,
        )

    def _offer(self, race: Race) -> None:
        """Offer the solvers of the race."""
        if race.problem.convex and race.problem.m <= MOST_KERNELS:
            names = {run.trace.label: key for key, run in race.runs.items()}
            self.solver.param.update(options=names, value=next(iter(names.values())))
            self.root.visible = True

    def _show(self, answer: Walk | None) -> None:
        self.walk, self.start.visible = answer or Walk(None, self.task.fault), True
        say(self.progress, self.walk.fault)
        self._draw()

    def _forget(self) -> None:
        self.walk, self.start.visible = None, True
        self._draw()

    def _start(self, *_: object) -> None:
        if self._race is not None and not self.task.working:
            raced = self._race.runs[self.solver.value].solver
            solver = type(raced)(**raced.options())
            self.start.visible = False
            followed = partial(_follow, self._race.problem, solver)
            self._compute(followed, "The path could not be computed", "{} of the values are solved.")

    def _draw(self) -> None:
        solved = self.walk.path if self.walk is not None else None
        if solved is None or not len(solved.values):
            self.words.object, self.figures.objects = "", []
            return
        self.words.object = f'<p class="why">{escape(_summary(solved))}</p>'
        picture = PathPicture(solved, None, self.theme, self.colours.slots.slots)
        self.figures.objects = [pn.pane.Bokeh(picture.layout, sizing_mode="stretch_width")]


def _follow(problem: Problem, solver: Solver, report: ProgressReport) -> Walk:
    """Solve the problem for each value of C; a path that ends early is shown as far as it went."""

    def progress(so_far: Path) -> None:
        report((len(so_far) - 1) / VALUES)

    values = path_values(problem, "C", VALUES)
    try:
        solved = path(problem, solver, gap=GAP, max_iter=MOST_STEPS, progress=progress, C=values)
        return Walk(solved, "" if solved.complete else STOPPED)
    except MklvizError as error:
        return Walk(error.found, str(error))


def _summary(solved: Path) -> str:
    """Describe the path in words."""
    active, values = solved.active, solved.values
    how_many = f"{len(values)} value{'s' * (len(values) > 1)}"
    reached = sum(trace.status in SOLVED for _, trace in solved)
    return (
        f"{solved.label} for {how_many} of C from {values[0]:,.4g} to {values[-1]:,.4g}:"
        f" {int(solved.svm_solves.sum()):,} SVM solves, between {active.min():,} and {active.max():,} kernels in use;"
        f" {reached} of the values reached the gap."
    )
