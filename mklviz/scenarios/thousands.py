"""Ten thousand kernels on a hundred samples: more kernels cost time in proportion, and few of them get weight."""

from mklviz.kernels import Gaussian
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice
from mklviz.scenarios._evidence import best_of, counted_solves
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("Fewer than 100", "Some 1,000", "Nearly all")


def _answer(outcome: Outcome) -> Answer:
    """Kernels in use at the least objective of all runs."""
    best, problem = best_of(list(outcome.traces.values())).best, outcome.prepared.problem
    m, n = problem.m, len(problem.y)
    counts = counted_solves(list(outcome.traces.values()))
    return Answer(
        _CHOICES[(best.active >= 100) + (best.active > m / 2)],
        f"{best.active} of {m:,} kernels have weight; the SVM solves were {counts}",
        why=f"{n} samples never need more than {n} kernels.",
    )


SCENARIO = Scenario(
    name="thousands",
    title="Thousands of kernels",
    group="Beyond",
    place=20,
    picture="few",
    question=Question(
        "Gaussians of ten widths on 1,000 random sets of features are 10,000 kernels. How many get weight?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "In the tab Race, see where the time goes, in the bars below the table: how much the slopes of so many kernels"
        " cost beside the SVMs."
    ),
    in_short="Few kernels keep weight, however many there are.",
    teaches=(
        "No more kernels can have weight than the SVM has free support vectors, roughly. All others are only looked at,"
        " once per step, and that time grows in proportion to their number."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 5.5, figure 2",
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:1000"),)),
        solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
