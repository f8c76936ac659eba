"""The knobs of the tab Knobs: what each turns, through which positions, and what to watch while it turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from mklviz.analysis.curves import Bar, RunCurve, heaviest_bars, thinned
from mklviz.contract import Solver
from mklviz.engine import Gap, MaxIter, MaxSeconds, Race, make_solver, why_not, with_parameter
from mklviz.engine.task import ProgressReport
from mklviz.errors import Interrupted, MklvizError, SolverError
from mklviz.numbers import counted, share_text
from mklviz.problem import Problem
from mklviz.problem.regularizers import unit_ball
from mklviz.record import SOLVED, Trace
from mklviz.record.run_facts import Verdict

GOAL = 1e-2  # gap that is solved to
MOST_SOLVES, MOST_STEPS = 500, 300  # of one solve; line searches take many SVMs in a step
COARSE = 0.2  # seconds that a solver has while the slider moves; what has taken a step by then is drawn
PAUSE = 0.05  # seconds between two reports of a solve
SAMPLES, KERNELS = 300, 1000  # up to which a solve follows the slider

LAMBDAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
PARTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("PGD", "pgd", {}),
    ("PGD + N", "pgd", {"nonmonotone": True}),
    ("PGD + S", "pgd", {"spectral": True}),
    ("PGD + N + S", "pgd", {"nonmonotone": True, "spectral": True}),
    ("SPG: all three", "spg", {}),
)
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
CS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
POWERS = (1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)


@dataclass(frozen=True)
class MaxSolves:
    """Stop after so many SVM solves, over which the curves are drawn; a line search may take many in a step."""

    count: int

    def check(self, trace: Trace) -> Verdict | None:
        """Return why to stop, or None to go on."""
        if trace.final.svm_solves < self.count:
            return None
        return Verdict("limit", f"Reached the limit of {counted(self.count, 'SVM solve')}.")


@dataclass(frozen=True)
class Knob:
    """Something that can be turned."""

    name: str  # as it is written: "level.lam", "C"
    title: str  # on its button
    symbol: str  # before the names of its positions
    watch: str  # what to look at while it turns, in a sentence
    names: tuple[str, ...]  # of its positions
    solver: Callable[[int], Solver]  # at a position
    usual: Callable[[Problem], int]  # the position to begin with
    problem: Callable[[Problem, int], Problem] = lambda problem, position: problem  # at a position, from the race's
    rival: str = ""  # the registry name of a solver to compare with, which the knob does not turn
    values: tuple[float, ...] = ()  # at its positions, where these are numbers

    def words(self, position: int) -> str:
        """Return a position in words: "λ = 0.8"."""
        return f"{self.symbol} = {self.names[position]}" if self.symbol else self.names[position]

    def refusal(self, problem: Problem) -> str:
        """Return "" or why the knob cannot be turned on this problem, in a sentence."""
        try:
            posed = self.problem(problem, 0)
        except MklvizError as error:
            return str(error)
        return why_not(self.solver(0), posed)


def _nearest(values: Sequence[float], wanted: float) -> int:
    return int(np.argmin(np.abs(np.log(np.maximum(values, 1e-12)) - np.log(max(wanted, 1e-12)))))


KNOBS = (
    Knob(
        "level.lam",
        "Level's λ",
        "λ",
        "At 0 Level asks for all that its cutting planes promise, as SILP does (dashed), and its gap comes down in"
        " jumps. Watch it become smooth as λ rises, and slow close to 1, where the steps are short; at 1 itself it asks"
        " for nothing, and never leaves its start.",
        ("0, as SILP", *(f"{lam:g}" for lam in LAMBDAS[1:-1]), "1, stays"),
        lambda position: make_solver("level", lam=LAMBDAS[position]),
        lambda problem: LAMBDAS.index(0.8),
        rival="silp",
        values=LAMBDAS,
    ),
    Knob(
        "parts",
        "Parts of SPG",
        "",
        "N lets the objective rise now and then, S takes the step size from the last move, and SPG solves its first"
        " SVMs roughly as well. Watch which part shortens the curve: it lies over SVM solves, not steps.",
        tuple(title for title, _, _ in PARTS),
        lambda position: make_solver(PARTS[position][1], **PARTS[position][2]),
        lambda problem: 0,
    ),
    Knob(
        "tol",
        "SVM tolerance",
        "tolerance",
        "Rough SVMs give slopes a little wrong. Watch PGD's gap stay level where its line search finds nothing lower"
        " along such a slope; SPG begins as roughly, and makes its SVMs more exact when it must.",
        tuple(f"{tolerance:g}" for tolerance in TOLERANCES),
        lambda position: make_solver("pgd", svm_tolerance=TOLERANCES[position]),
        lambda problem: TOLERANCES.index(1e-6),
        rival="spg",
        values=TOLERANCES,
    ),
    Knob(
        "C",
        "C",
        "C",
        "C is what an error costs. Watch how many more SVM solves a large one takes, and how weight gathers on the"
        " kernels that fit closely.",
        tuple(f"{C:g}" for C in CS),
        lambda position: make_solver("spg"),
        lambda problem: _nearest(CS, problem.loss.C),
        problem=lambda problem, position: with_parameter(problem, "C", CS[position]),
        values=CS,
    ),
    Knob(
        "p",
        "p of ℓp",
        "p",
        "The weights have an ℓp norm of at most one. Watch the weights: at 1 few kernels have any, at 2 all of them"
        " have some, and at 4 they are nearly equal.",
        tuple(f"{p:g}" for p in POWERS),
        lambda position: make_solver("spg"),
        lambda problem: _nearest(POWERS, getattr(problem.regularizer, "p", 1.0)),
        problem=lambda problem, position: replace(problem, regularizer=unit_ball(POWERS[position])),
        values=POWERS,
    ),
)


@dataclass(frozen=True)
class Turn:
    """A knob at a position, and what came of it."""

    knob: Knob
    position: int
    trace: Trace
    coarse: bool = False  # whether it was given up before its end, while the slider moved

    @property
    def words(self) -> str:
        """The position in words."""
        return self.knob.words(self.position)


def too_large(problem: Problem) -> str:
    """Return "" or why solves cannot follow the slider, in a sentence."""
    if problem.n <= SAMPLES and problem.m <= KERNELS:
        return ""
    return (
        f"With {problem.n:,} samples and {problem.m:,} {problem.noun}s a solve takes too long to follow the slider, as"
        f" it does up to {SAMPLES:,} samples and {KERNELS:,} {problem.noun}s: choose a position and press Solve once."
    )


def solve_at(
    problem: Problem, knob: Knob, position: int, rival: str, seconds: float, coarse: bool, report: ProgressReport
) -> tuple[Turn, Trace | None]:
    """Return the result for a position, and the rival's; a `coarse` solve is given up after some tenths of a second."""
    rules = (Gap(GOAL), MaxSolves(MOST_SOLVES), MaxIter(MOST_STEPS), MaxSeconds(seconds))
    solvers = [knob.solver(position), *([make_solver(rival)] if rival else [])]
    race = Race(knob.problem(problem, position), solvers, rules)
    main, *rivals = race.runs.values()
    race.start()
    begun = monotonic()
    try:
        while not race.wait(PAUSE):
            if coarse and monotonic() - begun > COARSE and len(main.trace) > 1:
                race.cancel()
            elif len(main.trace):
                report(_share(main.trace), f"Solving. SVM solves so far: {main.trace.final.svm_solves:,}.")
            else:
                report(0.0)
    except Interrupted:
        race.cancel()
        raise
    if not len(main.trace):
        raise SolverError(main.reason)
    stopped = main.trace.status == "stopped"
    return Turn(knob, position, main.trace, coarse=stopped), rivals[0].trace if rivals else None


def _share(trace: Trace) -> float:
    """Return the progress of a solve, by its gap on a logarithmic scale or by its limit."""
    first, gap = trace.gap_at(0), trace.gap_at(len(trace) - 1)
    down = math.log(first / gap) / math.log(first / GOAL) if first > gap > 0.0 and first > GOAL else 0.0
    spent = max(trace.final.svm_solves / MOST_SOLVES, len(trace) / MOST_STEPS)
    return min(max(down, spent), 1.0)


def lines(now: Turn, before: Turn | None, rival: Trace | None) -> list[RunCurve]:
    """Return the curves of the gap of the runs "now" and "rival", and at the position before behind them."""
    curves = [_curve("now", now.trace, now.words)]
    if before is not None:
        curves.append(replace(_curve("now", before.trace, before.words), behind=True, mark=None))
    return curves if rival is None else [*curves, _curve("rival", rival)]


def _curve(key: str, trace: Trace, label: str = "") -> RunCurve:
    steps = thinned(len(trace))
    solves, gaps = [float(trace[t].svm_solves) for t in steps], [trace.gap_at(t) for t in steps]
    return RunCurve(key, solves, gaps, label, mark=(solves[-1], gaps[-1]))


def bars(now: Turn, before: Turn | None) -> list[Bar]:
    """Return the weights at the end, those at the position before behind them."""
    former = () if before is None else (before.trace.best.weights,)
    return heaviest_bars(now.trace.kernel_names, now.trace.best.weights, *former)


def outcome(now: Turn, before: Turn | None, rival: Trace | None) -> str:
    """Say what came of a position, and of the one before."""
    text = f"{now.words}{', coarse while the slider moves' if now.coarse else ''}: {_end_text(now.trace)}."
    text += "" if before is None else f" Before, at {before.words}: {_end_text(before.trace)}."
    return text + ("" if rival is None else f" {rival.label}: {_end_text(rival)}.")


def _end_text(trace: Trace) -> str:
    kernels = f"{counted(trace.best.active, 'kernel')} in use"
    solves, gap = counted(trace.final.svm_solves, "SVM solve"), share_text(trace.gap_at(len(trace) - 1))
    if trace.status in SOLVED:
        return f"{solves} to a gap of {gap}, {kernels}"
    return f"stopped after {solves} with a gap of {gap}, {kernels}"
