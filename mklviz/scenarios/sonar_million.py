"""The headline of SPG-GMKL: a million kernels, on Sonar, of which none is ever stored."""

from mklviz.kernels import Gaussian
from mklviz.problem import LpBall
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="sonar-million",
    title="A million kernels",
    place=21,
    look_for=(
        "Gaussians of ten widths on 100,000 random subsets of the features: none is stored, each is computed when it is"
        " needed, some seconds per step. With p = 4/3 every kernel keeps a little weight."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:100000"),)),
        problem=ProblemChoice(regularizer=LpBall(p=4.0 / 3.0)),
        solvers=(SolverChoice("closed-form"),),
        stop=StopChoice(gap=1e-3),
    ),
)
