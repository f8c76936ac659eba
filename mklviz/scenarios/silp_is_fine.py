"""An honest surprise: on Vote, SILP needs no more SVM solves than the methods meant to cure it."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="silp-is-fine",
    title="Where SILP is just as good",
    look_for=(
        "SILP's weights still jump, yet it reaches the tolerance in no more SVM solves than Level and SPG:"
        " few kernels matter here, and a few cuts describe the objective well."
    ),
    recipe=Recipe(
        data=DataChoice("vote"),
        solvers=(SolverChoice("silp"), SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
