"""The best objective is not the best accuracy: what is minimized is fitted to the training samples."""

import numpy as np

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("At the start, with equal weights", "In the first quarter of its steps", "Later on", "At the end")


def _answer(outcome: Outcome) -> Answer:
    """Where on Level's path the test samples were first classified best."""
    trace = outcome.traces["level"]
    scores = np.array([outcome.prepared.score(iterate) for iterate in trace])
    best = int(scores.argmax())
    last = len(trace) - 1
    where = (best > 0) + (best > last / 4) + (best == last > 0)
    start, most, end = (f"{100 * score:.1f} %" for score in (scores[0], scores[best], scores[-1]))
    between = f", {most} after step {best:,}" if 0 < best < last else ""
    return Answer(
        _CHOICES[where],
        f"the test accuracy was {start} at the start{between} and {end} at the end, while the"
        f" objective fell from {trace[0].objective:,.0f} to {trace.best.objective:,.0f}",
        why=f"One of the {len(outcome.prepared.test.y):,} test samples is"
        f" {100 / len(outcome.prepared.test.y):.1f} %, and another seed, under Data, may tell another story.",
        evidence={"accuracy": {"step": list(range(len(scores))), "share": scores.tolist()}},
    )


SCENARIO = Scenario(
    name="objective-and-accuracy",
    title="Best objective is not best accuracy",
    group="When not",
    place=20,
    picture="accuracy",
    question=Question(
        "All methods reach the same least objective. When does Level classify the test samples best?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Open the tab Timeline when the race has ended, and step back: the table shows the test accuracy of the"
        " solution at each step. The solvers differ in how fast they reach the optimum, not in how good it is."
    ),
    in_short="The lowest objective need not predict best.",
    teaches=(
        "The objective is the fit to the training samples plus a price for its size. Test samples play no part."
        " Exactness is for comparing methods and for trusting them."
    ),
    source="Rakotomamonjy and others, More efficiency in multiple kernel learning, ICML 2007, table 1: as accurate",
    recipe=Recipe(
        data=DataChoice("sonar"),
        solvers=(SolverChoice("level"), SolverChoice("newton")),
        stop=StopChoice(gap=1e-3),
    ),
)
