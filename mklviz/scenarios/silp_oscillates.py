"""The picture of the Level method paper (figures 1 and 2): SILP jumps, Level does not."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("About once: it starts far from the optimum", "Some ten times", "More than thirty times")


def _answer(outcome: Outcome) -> Answer:
    """How much weight SILP moved, beside Level."""
    silp, level = outcome.traces["silp"], outcome.traces["level"]
    moved = silp.motion.moved
    return Answer(
        _CHOICES[(moved >= 3.0) + (moved >= 30.0)],
        f"in {len(silp) - 1:,} steps {silp.label} {silp.motion}."
        f" In {len(level) - 1:,} steps {level.label} {level.motion}",
    )


SCENARIO = Scenario(
    name="silp-oscillates",
    title="SILP oscillates, Level does not",
    group="First look",
    place=10,
    question=Question(
        "All four start at equal weights. How often does SILP move all its weight, from some kernels to others?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Watch the kernel weights: SILP's jump to and fro, Level's and SPG's walk. The line beside each"
        " name counts how much was shifted, and how much of that was undone again. Then choose “SVM solves” as"
        " horizontal axis."
    ),
    teaches=(
        "A linear model promises most where nobody has looked. SILP believes it and goes to its lowest point; the true"
        " objective there is high, a new cut says so, and the next lowest point is somewhere else. Level asks less: the"
        " nearest point that the model finds good enough. So it stays where its cuts are true."
    ),
    source="Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, figures 1 and 2",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("silp"), SolverChoice("pgd"), SolverChoice("spg"), SolverChoice("level")),
        stop=StopChoice(max_iter=120),
    ),
)
