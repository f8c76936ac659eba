"""What each part of SPG buys (SPG-GMKL paper, table 7): the non-monotone rule, the spectral step, or both."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="spg-parts",
    title="What each part of SPG buys",
    look_for=(
        "N accepts steps that raise the objective for a while, S takes its step size from the last move."
        " N alone hardly helps; S does most of the work. SPG adds a loose SVM at the start."
    ),
    recipe=Recipe(
        data=DataChoice("heart"),
        solvers=(
            SolverChoice("pgd"),
            SolverChoice("pgd", {"nonmonotone": True}),
            SolverChoice("pgd", {"spectral": True}),
            SolverChoice("pgd", {"nonmonotone": True, "spectral": True}),
            SolverChoice("spg"),
        ),
        stop=StopChoice(gap=1e-3, max_iter=300),
    ),
)
