"""Second order wins: Newton's method bends its model as the objective bends, and needs a handful of SVMs."""

from mklviz.numbers import share_text
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

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
    return Answer(_CHOICES[(solves >= 20) + (solves > 100)], f"Newton solved {solves:,} SVMs, {others}")


SCENARIO = Scenario(
    name="second-order",
    title="Second order wins",
    group="Why",
    place=40,
    question=Question(
        "The gap has to fall to 0.0001 %. How many SVMs does Newton's method solve, which knows how the slopes change?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Watch the gap. Level's and SPG's falls along a line, Newton's drops faster with every step. Choose “CPU"
        " seconds” as the horizontal axis to see what a Newton step costs."
    ),
    teaches=(
        "Cuts and slopes say how the objective falls, the second derivative also how soon it stops falling. A Newton"
        " step goes to the minimum of a curved model, and near the optimum each one doubles the digits that are right."
        " It has a price: a system of equations over the free support vectors, which grows fast with the samples."
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
