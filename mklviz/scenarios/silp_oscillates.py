"""The picture of the Level method paper (figures 1 and 2): SILP jumps to and fro, Level does not."""

import numpy as np

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("About once: it starts far from the optimum", "Some ten times", "More than thirty times")


def _answer(outcome: Outcome) -> Answer:
    """How much weight SILP moved, beside Level."""
    silp, level = outcome.traces["silp"], outcome.traces["level"]
    moved = silp.motion.moved
    return Answer(
        _CHOICES[(moved >= 3.0) + (moved >= 30.0)],
        f"{silp.label} {silp.motion}, in {len(silp) - 1:,} steps; {level.label} {level.motion}, in {len(level) - 1:,}",
        why=f"The objective rose in {_rises(silp)} steps of SILP, and in {_rises(level)} of Level.",
    )


def _rises(trace: Trace) -> str:
    return f"{int((np.diff(trace.objective) > 0.0).sum()):,} of {len(trace) - 1:,}"


SCENARIO = Scenario(
    name="silp-oscillates",
    title="SILP oscillates, Level does not",
    group="First look",
    place=10,
    picture="strips",
    question=Question(
        "All four start at equal weights. How often does SILP move all its weight, from some kernels to others?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Watch the largest weight of each solver, step by step: its colour says which kernel has it. The curve above"
        " counts how often all the weight was moved."
    ),
    in_short="Cuts alone send SILP far past the goal and back.",
    teaches=(
        "A linear model promises most where no point was tried. SILP believes it and goes to its lowest point. Level"
        " asks less: the nearest point that the model finds good enough, so it stays near its cuts."
    ),
    source="Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, figures 1 and 2",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("silp"), SolverChoice("pgd"), SolverChoice("spg"), SolverChoice("level")),
        stop=StopChoice(max_iter=120),
    ),
)
