"""RACE: every curve of the race as it grows, the table of results, and the cards that appear at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from mklviz.contract import Iterate
from mklviz.engine import Race, available_solvers, make_solver, solve
from mklviz.engine.task import ProgressReport, Task
from mklviz.errors import UnsupportedProblem
from mklviz.numbers import number_text, share_text
from mklviz.problem import Equivalent, Problem, equivalents
from mklviz.problem.proving import relative_gap
from mklviz.record import Trace
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.look import cards
from mklviz.views.look.styles import row_html, table_html
from mklviz.views.race.ended_cards import EndedCard, MinimaCard, PathCard
from mklviz.views.race.race_view import RaceView
from mklviz.views.session.session import Session
from mklviz.views.tabs import Tab

# OTHER FORMULATIONS: the problems that have the same solution as the one that was raced, and a check by solving them.
#
# The best run's weights and dual variables, rescaled, solve every problem listed; how exactly is certified by that
# problem's own duality gap. "Solve them" starts from nothing and compares the objectives.


PREFERRED = ("spg", "newton", "closed-form", "spicymkl", "level")  # the solvers that check a problem
CHECK_GAP = 1e-4
CHECK_SECONDS = 20.0  # of CPU time for each problem
MOST_KERNELS = 20_000  # beyond, one check would take minutes
_FAILED = "The other formulations could not be computed"
_PROGRESS = "Solving the other formulations: {}."
_HEADS = (
    ("Kernel weights", "The other formulation"),
    ("C", "Weight of the loss there"),
    ("Its parameters", "The price of the kernel weights there"),
    ("Objective of this solution", "Objective there of the solution found here, rescaled"),
    ("Its gap there", "Certified distance of that objective to the optimum there"),
    ("Solved afresh", "Objective of a solver that starts from nothing there"),
    ("Difference", "How much higher or lower, relative to the objective"),
)


@dataclass(frozen=True)
class Mapped:
    """A solution carried over to another formulation: its objective and its gap there."""

    problem: Problem
    objective: float
    gap: float


@dataclass(frozen=True)
class Solved:
    """The objective that a solver found, and the solver."""

    objective: float
    label: str


class EquivalenceCard(EndedCard[list[Solved]]):
    """Lists the other problems that the best run of a race has solved; its task solves them afresh."""

    def __init__(self) -> None:
        super().__init__()
        self.mapping = Task[list[Mapped]]()
        self.mapped: list[Mapped] = []
        self.solved: list[Solved] = []
        self.words, self.table = cards.html(), cards.html()
        self.check = Button(self._start_check, label="Solve them to check", variant="text", visible=False)
        about = cards.html(cards.title("The same solution in other formulations"))
        form = Form(FormRow(self.check, self.progress, self.stop))
        self.root = cards.card(about, self.words, self.table, form, visible=False)

    def _offer(self, race: Race) -> None:
        """Find the problems that the best run of the race solves."""
        if race.closest is None or not race.problem.convex:
            return
        trace = race.runs[race.closest].trace
        gap = trace.gap_at(len(trace) - 1)
        self.words.object = cards.lines(
            f"{trace.label} came closest, to a gap of {share_text(gap)}. Rescaled, its solution solves these problems"
            " too, which charge for the same norm of the function in other ways; their own gaps say how exactly."
        )
        self.root.visible = True
        self.mapping.ask(race, partial(_carry_over, race.problem, trace.best), _FAILED)

    def update(self) -> None:
        if self.mapping.ended:
            self.mapped = self.mapping.take() or []
            if not self.mapped:
                self.words.object = cards.lines(self.mapping.fault or _none(self._race))
            self._draw()
        super().update()

    def _show(self, answer: list[Solved] | None) -> None:
        self.solved = answer or []
        self._draw()

    def _forget(self) -> None:
        self.mapping.forget()
        self.mapped, self.solved = [], []
        self._draw()

    def _start_check(self, *_: Any) -> None:
        if self.mapped and not self.task.working:
            self.solved = []
            problems = [mapped.problem for mapped in self.mapped]
            self._compute(partial(_solve_all, problems), _FAILED, _PROGRESS)
            self._draw()

    def _draw(self) -> None:
        small = bool(self.mapped) and self.mapped[0].problem.m <= MOST_KERNELS
        self.check.visible = small and not self.task.working
        rows = (_row(m, self.solved[k] if k < len(self.solved) else None) for k, m in enumerate(self.mapped))
        table = table_html("Problems with the same solution", _HEADS, rows, "results formulations")
        self.table.object = table if self.mapped else ""


def _carry_over(problem: Problem, final: Iterate, report: ProgressReport) -> list[Mapped]:
    """Return the equivalent problems with the objective and the gap that the solution has there."""
    others: Sequence[Equivalent] = equivalents(problem, final.weights, final.dual)
    mapped = []
    for k, other in enumerate(others):
        report(k / len(others))
        objective = other.problem.objective(other.weights, other.dual)
        gap = relative_gap(objective, other.problem.lower_bound(other.dual))
        mapped.append(Mapped(other.problem, objective, gap))
    return mapped


def _solve_all(problems: Sequence[Problem], report: ProgressReport) -> list[Solved]:
    """Solve each problem from the start, to a tenth of a thousandth where that is possible in time."""
    solved = []
    for k, problem in enumerate(problems):
        able = available_solvers(problem)
        name = next((name for name in (*PREFERRED, *able) if name in able), None)
        if name is None:
            raise UnsupportedProblem(f"No solver here can follow the {problem.regularizer.label}.")

        def goes_on(_trace: Trace, k: int = k) -> None:
            report(k / len(problems))

        trace = solve(problem, name, gap=CHECK_GAP, max_iter=2000, max_seconds=CHECK_SECONDS, progress=goes_on)
        solved.append(Solved(trace.best.objective, make_solver(name).label))
    return solved


def _none(race: Race | None) -> str:
    label = race.problem.regularizer.label if race is not None else "regularizer"
    return (
        f"The {label} is not a function of one norm of the functions' lengths, so no other formulation here has the"
        " same solution."
    )


def _row(mapped: Mapped, solved: Solved | None) -> str:
    problem = mapped.problem
    shown = ", ".join(
        f"{name} = {number_text(value, '.4g')}"
        for name, value in vars(problem.regularizer).items()
        if value is not None
    )
    afresh = difference = "–"
    if solved is not None:
        afresh = f"{number_text(solved.objective)} ({escape(solved.label)})"
        difference = number_text(100 * (solved.objective - mapped.objective) / abs(mapped.objective), "+.3f", " %")
    label = problem.regularizer.label
    there = (
        number_text(problem.loss.C, ",.5g"),
        escape(shown) or "none",
        number_text(mapped.objective),
        share_text(mapped.gap),
    )
    return row_html(escape(label[:1].upper() + label[1:]), (*there, afresh, difference))


class RaceTab(Tab):
    """The live view of the race, with three cards below its table once it has ended."""

    title, order = "Race", 0

    def __init__(self) -> None:
        super().__init__()
        self.root = self.race_view = self.view = RaceView()
        self.cards: tuple[MinimaCard | EquivalenceCard | PathCard, ...] = ()  # made when a race has ended
        self._offers, self._dark = False, False  # whether it is the owner's page, with all of the race

    def follow(self, session: Session) -> None:
        """Show the session's race, in its colours, with the step it stands at."""
        self._offers, self._dark = not (session.follows or session.missing), session.theme.dark
        for card in self.cards:
            card.set_dark(self._dark)
            if session.race is not self.view.race:
                card.clear()
        self.view.drag_cursor(partial(setattr, session, "cursor"), anywhere=False)
        self.view.follow(session)

    def tick(self, now: float) -> None:
        """Draw what is new, and begin with the cards when the race has ended."""
        if self.shown:
            self.view.tick(now)
        else:
            self.view.hold(now)
        race = self.view.race
        ended = self._offers and race is not None and race.status == "finished"
        if ended and not self.cards:  # not earlier: a page opens faster with fewer parts
            self.cards = MinimaCard(), EquivalenceCard(), PathCard()
            for card in self.cards:
                card.set_dark(self._dark)
            self.view.slot.objects = list(self.cards)
        for card in self.cards:
            if ended:
                card.begin(race)
            card.update()

    def close(self) -> None:
        for card in self.cards:
            card.clear()
