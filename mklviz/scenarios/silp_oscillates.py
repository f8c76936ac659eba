"""The picture of the Level method paper (figures 1 and 2): SILP jumps from vertex to vertex, Level does not."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="silp-oscillates",
    title="SILP oscillates, Level does not",
    look_for=(
        "SILP takes the lowest point of its linear model wherever it lies, so its weights jump from corner to corner."
        " Level and SPG walk to the same optimum in a fraction of the SVM solves."
    ),
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("silp"), SolverChoice("pgd"), SolverChoice("spg"), SolverChoice("level")),
        stop=StopChoice(max_iter=120),
    ),
)
