"""The cards that appear when a race has ended, and compute their content in a thread: its minima, and its path of C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import panel as pn

from mklviz.analysis.curves import apart
from mklviz.contract import Iterate, Solver
from mklviz.engine import Path, Profile, Race, objective_profile, path, path_values
from mklviz.engine.task import STOPPED, ProgressReport, Task
from mklviz.errors import MklvizError
from mklviz.numbers import number_text, share_text
from mklviz.problem import Problem
from mklviz.record import SOLVED
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import race_slots
from mklviz.views.chart.description import Axis, Chart, LineMark, PointMark
from mklviz.views.chart.race_charts import PathPicture
from mklviz.views.form import Button, Form, FormRow, Select
from mklviz.views.look import cards
from mklviz.views.look.palette import LIGHT, Theme, theme_for
from mklviz.views.sidebar.controls import note, say

T = TypeVar("T")


class EndedCard(cards.Rooted, Generic[T]):
    """A card that is hidden until a race has ended for which it has an answer.

    Its view calls `begin` once the race has ended, and `update` now and then. The note `progress` says how far
    the `task` is or why it failed, and the button `stop` cancels it. The card itself makes `root`.
    """

    # made by the subclass: the whole card; what shows the content for a race, if there is any; what shows the answer,
    # None where the task has failed; what forgets it, and what draws it in the colours of the page
    root: pn.Column
    _offer: Callable[[Race], None]
    _show: Callable[[T | None], None]
    _forget: Callable[[], None]
    _draw: Callable[[], None]

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme = LIGHT
        self.task = Task[T]()
        self._race: Race | None = None
        self.progress = note()
        self.stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", visible=False)

    def begin(self, race: Race) -> None:
        """Turn to a race that has ended; once for each race."""
        if race is not self._race:
            self.clear()
            self._race = race
            self._offer(race)

    def update(self) -> None:
        """Show the progress of the task, and its answer once."""
        if not self.task.working:
            return
        answer = self.task.take()
        self.stop.visible = self.task.working
        say(self.progress, self.task.status)
        if not self.task.working:
            self._show(answer)

    def clear(self) -> None:
        self.task.forget()
        self._race = None
        say(self.progress, "")
        self.root.visible = self.stop.visible = False
        self._forget()

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        theme = theme_for(dark)
        if theme is not self.theme:
            self.theme = theme
            self._draw()

    def _compute(self, compute: Callable[[ProgressReport], T], what: str, progress: str) -> None:
        """Begin the task, also where it was done before; see `Task.ask`."""
        self.task.ask(object(), compute, what, progress)
        self.update()


# -- MINIMA: where the runs of a race without a lower bound have ended, and the objective between the best two ends


HEIGHT = 230  # pixels
SAME = 0.02  # share of the weights that two ends in one minimum may differ in
POINTS = 41
_WAY_FAILED = "The way between the best two ends could not be computed"
_WAY_PROGRESS = "Solving inner problems on the way between the best two: {}."
End = tuple[str, Iterate]


def ends_apart(ends: Sequence[End]) -> list[list[End]]:
    """Return the ends of runs, best first, grouped by the minimum they are in, the best group first."""
    groups: list[list[End]] = []
    for end in sorted(ends, key=lambda pair: pair[1].objective):
        home = next((group for group in groups if apart(group[0][1], end[1]) <= SAME), None)
        if home is None:
            groups.append([end])
        else:
            home.append(end)
    return groups


class MinimaCard(EndedCard[Profile]):
    """Says whether the runs of a race have ended in one minimum, and draws the objective between the best two."""

    def __init__(self) -> None:
        super().__init__()
        self.profile: Profile | None = None
        self._groups: list[list[End]] = []
        self.words, self.between = cards.html(), cards.html()
        self._pane = pn.pane.Bokeh(None, sizing_mode="stretch_width", margin=0, visible=False)
        about, form = cards.html(cards.title("Minima", term="minimum")), Form(FormRow(self.progress, self.stop))
        self.root = cards.card(about, self.words, form, self._pane, self.between, visible=False)

    def _offer(self, race: Race) -> None:
        """Say in how many minima the runs have ended, and compute the objective between the best two."""
        ends = [(run.trace.label, run.trace.best) for run in race.runs.values() if len(run.trace)]
        if race.problem.convex or len(ends) < 2:
            return
        self._groups = ends_apart(ends)
        self.words.object = cards.lines(_where(self._groups))
        self.root.visible = True
        if len(self._groups) > 1:
            one, other = (group[0][1].weights for group in self._groups[:2])
            profile = partial(objective_profile, race.problem, one, other, points=POINTS)
            self._compute(lambda report: profile(progress=report), _WAY_FAILED, _WAY_PROGRESS)

    def _show(self, answer: Profile | None) -> None:
        self.profile = answer
        self._draw()

    def _forget(self) -> None:
        self.profile, self._groups = None, []
        self.between.object, self._pane.visible = "", False

    def _draw(self) -> None:
        if self.profile is None:
            return
        names, colour = [group[0][0] for group in self._groups[:2]], self.theme.accent
        marks = [LineMark("way", colour=colour), PointMark("ends", colour=colour, fill=colour, size=9.0)]
        x, y = Axis(start=-0.06, end=1.06, names=names), Axis("objective", numbers="exact")
        drawn = ChartFigure(Chart("minima", x=x, y=y, marks=marks), self.theme, HEIGHT, tools="save")
        way = {"x": self.profile.shares.tolist(), "y": self.profile.values.tolist()}
        drawn.show({"way": way, "ends": {name: column[:: len(column) - 1] for name, column in way.items()}})
        self._pane.param.update(object=drawn.plot, visible=True)
        self.between.object = cards.lines(_between(self.profile, names))


def _where(groups: Sequence[Sequence[End]]) -> str:
    """Say in how many minima the runs have ended."""
    runs, least = sum(map(len, groups)), [number_text(group[0][1].objective, ",.5g") for group in groups]
    if len(groups) == 1:
        return (
            f"All {runs} runs ended at the same weights, with objective {least[0]}. Another start may still find"
            " another minimum: no lower bound says that this one is the least."
        )
    names = (" and ".join(name for name, _ in group) for group in groups)
    ends = "; ".join(f"{objective} ({ended})" for objective, ended in zip(least, names, strict=True))
    return (
        f"These {runs} runs ended in {len(groups)} different places. Their objectives: {ends}. No lower bound says"
        " whether the least of these is the least of all."
    )


def _between(profile: Profile, names: Sequence[str]) -> str:
    one, other = names
    if profile.hill:
        return (
            f"Along the line between the best two, {one} and {other}, the objective rises to"
            f" {share_text(profile.rise)} above the higher end: this hill tells of two minima rather than one."
        )
    return (
        f"Between the best two, {one} and {other}, the objective does not rise above the higher end: no hill separates"
        " them along the line, and a longer run may bring them together."
    )


# -- PATH OF C: one solver of the race for twenty values of C, each begun at the solution of the one before


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
        self.solver = Select(label="Solver of the path", bare=True, width=180)
        self.start = Button(self._start, label="Follow the path of C", variant="text")
        self.words = cards.html()
        self.figures = pn.Column(margin=0, sizing_mode="stretch_width")
        about = cards.html(cards.heading("Path of C", _ABOUT, term="regularization path"))
        form = Form(FormRow(self.solver, self.start, self.progress, self.stop))
        self.root = cards.card(about, form, self.words, self.figures, visible=False)

    def _offer(self, race: Race) -> None:
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
        self.words.object = cards.lines(_summary(solved))
        slots = race_slots([] if self._race is None else self._race.traces.values())
        picture = PathPicture(solved, None, self.theme, slots.slots if slots.coloured else ())
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
    active, values = solved.active, solved.values
    how_many = f"{len(values)} value{'s' * (len(values) > 1)}"
    reached = sum(trace.status in SOLVED for _, trace in solved)
    return (
        f"{solved.label} for {how_many} of C from {number_text(values[0], ',.4g')}"
        f" to {number_text(values[-1], ',.4g')}:"
        f" {int(solved.svm_solves.sum()):,} SVM solves, between {active.min():,} and {active.max():,} kernels in use;"
        f" {reached} of the values reached the gap."
    )
