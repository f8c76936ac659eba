"""Best response, 2025: SMKL answers the last move alone and cycles; the average of the same answers settles."""

from mklviz.numbers import share_text
from mklviz.problem import Hinge, SimplexRidge
from mklviz.recipe import DataChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("About once: it comes to rest", "Some ten times", "More than thirty times")


def _answer(outcome: Outcome) -> Answer:
    """How much weight SMKL moved, and how far it came, beside the average of its answers."""
    last, average = _run(outcome, "last"), _run(outcome, "average")
    moved = last.motion.moved
    return Answer(
        _CHOICES[(moved >= 3.0) + (moved >= 30.0)],
        f"{last.label} {last.motion}, in {len(last) - 1:,} steps, and its gap is {share_text(last.gap[-1])}",
        why=f"{average.label} came to a gap of {share_text(average.gap[-1])} in {len(average) - 1:,} steps.",
    )


def _run(outcome: Outcome, against: str) -> Trace:
    return next(t for t in outcome.traces.values() if t.solver == "smkl" and t.options.get("against") == against)


SCENARIO = Scenario(
    name="best-response",
    title="Best response, 2025",
    group="When not",
    place=20,
    picture="strips",
    question=Question(
        "SMKL solves the SVM, then takes the weights that answer it best, and so on. How often does all weight move?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Watch the largest weight of each solver, step by step. The curve above counts how often all the weight was"
        " moved. Two of the three take the same answers; one of them goes to their average."
    ),
    in_short="A solver that answers only the last move may cycle.",
    teaches=(
        "Two players who answer each other's last move alone can go round for ever: an answer is best only until the"
        " other has answered it. A memory ends that, as an average of all answers or the cuts of SILP and Level, and so"
        " does a step that is shortened until the objective falls. At a hundred times the price SMKL settles at once."
    ),
    source="Bertsimas, Iglesias and Johnson, Sparse multiple kernel learning, algorithm 1, without its limit k0",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        problem=ProblemChoice(loss=Hinge(100.0), regularizer=SimplexRidge(1e4)),
        solvers=(SolverChoice("smkl"), SolverChoice("smkl", {"against": "average"}), SolverChoice("spg")),
        stop=StopChoice(max_iter=60),
    ),
)
