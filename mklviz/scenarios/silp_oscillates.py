"""The picture of the Level method paper (figures 1 and 2): SILP jumps from vertex to vertex, Level does not."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario


def _answer(outcome: Outcome) -> Answer:
    """The run with most movement in vain, beside the one with least."""
    traces = sorted(outcome.traces.values(), key=lambda trace: trace.motion.in_vain)
    least, most = traces[0], traces[-1]
    return Answer(most.label, f"{most.label} {most.motion}, {least.label} {least.motion}")


SCENARIO = Scenario(
    name="silp-oscillates",
    title="SILP oscillates, Level does not",
    group="First look",
    place=10,
    question=Question(
        "Four methods start at the same weights. Which one moves them most in vain, there and back?",
        ("SILP", "PGD", "SPG", "Level"),
        _answer,
    ),
    look_for=(
        "Watch the kernel weights. SILP takes the lowest point of its linear model wherever it lies, so they jump from"
        " corner to corner. Level and SPG walk to the same optimum in a fraction of the SVM solves."
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
