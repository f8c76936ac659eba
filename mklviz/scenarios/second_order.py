"""Second order wins: Newton's method bends its model as the objective bends, and needs a handful of SVMs."""

import math

from mklviz.numbers import share_text
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_GROWTH = 1.4  # of the digits that are right, in the last step
_CHOICES = ("Fewer than 20", "20 to 100", "More than 100")


def _answer(outcome: Outcome) -> Answer:
    """SVM solves of Newton's method to the gap asked for, and how far the others came with theirs."""
    newton = outcome.traces["newton"]
    solves = newton.final.svm_solves
    others = ", ".join(
        f"{trace.label} {trace.final.svm_solves:,} (to a gap of {share_text(trace.gap[-1], 1)})"
        for trace in outcome.traces.values()
        if trace is not newton
    )
    because = f"Newton solved {solves:,} SVMs, {others}"
    return Answer(_CHOICES[(solves >= 20) + (solves > 100)], because, _doubled(newton))


def _doubled(trace: Trace) -> str:
    """Say how many digits of the objective were right in the last steps, where they grew as those of Newton do."""
    digits = [-math.log10(gap) for gap in trace.gap[-3:] if 0.0 < gap < 1.0]
    if len(digits) < 2 or digits[-1] < _GROWTH * digits[-2]:
        return ""
    return f"Its last steps had {' and then '.join(f'{each:.1f}' for each in digits)} digits right."


SCENARIO = Scenario(
    name="second-order",
    title="Second order wins",
    group="Why",
    place=40,
    picture="digits",
    question=Question(
        "The gap has to fall to 0.0001 %. How many SVMs does Newton's method solve, which knows how the slopes change?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Watch the gap, and how many digits are right after each step of Newton's. In the tab Race, choose “CPU"
        " seconds” as the horizontal axis to see what a Newton step costs."
    ),
    in_short="Knowing the curvature doubles the digits near the end.",
    teaches=(
        "Cuts and slopes say how the objective falls, the second derivative also how soon it stops falling. A Newton"
        " step goes to the minimum of a curved model. It has a price: a system of equations over the free support"
        " vectors, which grows fast with the samples."
    ),
    source=(
        "Nocedal and Wright, Numerical Optimization, chapter 18, for the method; Chapelle and Rakotomamonjy, Second"
        " order optimization of kernel parameters, NIPS workshop 2008"
    ),
    recipe=Recipe(
        data=DataChoice("wpbc"),
        solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-6, max_iter=150),
    ),
)
