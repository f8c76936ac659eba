"""Ten thousand kernels on a hundred samples: more kernels cost time in proportion, and few of them get weight."""

from mklviz.kernels import Gaussian
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("Fewer than 100", "Some 1,000", "Nearly all")


def _answer(outcome: Outcome) -> Answer:
    """Kernels in use at the least objective of all runs."""
    best = min((trace.best for trace in outcome.traces.values()), key=lambda iterate: iterate.objective)
    m = outcome.prepared.problem.m
    counts = ", ".join(f"{trace.label} {trace.final.svm_solves:,}" for trace in outcome.traces.values())
    return Answer(
        _CHOICES[(best.active >= 100) + (best.active > m / 2)],
        f"{best.active} of {m:,} kernels have weight; the SVM solves were {counts}",
    )


SCENARIO = Scenario(
    name="thousands",
    title="Thousands of kernels",
    group="Beyond",
    place=20,
    question=Question(
        "Gaussians of ten widths on 1,000 random sets of features are 10,000 kernels. How many get weight?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "See where the time goes, in the bars below the table: with so many kernels, the slope of each one costs more"
        " than the SVM. The number of SVM solves hardly grows."
    ),
    teaches=(
        "No more kernels can have weight than the SVM has free support vectors, roughly, and 104 samples have few. So"
        " most kernels are only looked at, once per step, and time grows in proportion to their number. The next"
        " scenarios take that to a million."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 5.5, figure 2",
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:1000"),)),
        solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
