"""A million kernels of which fifty are kept: the simplex on the kernels of SPG-GMKL's headline."""

from mklviz.kernels import Gaussian
from mklviz.problem import Simplex
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="sonar-million-l1",
    title="Fifty out of a million kernels",
    place=22,
    look_for=(
        "The same million Gaussians, but weights on the simplex keep only about fifty of them. Newton works on the few"
        " hundred that matter and looks at all of them, some seconds a time, to find others and to certify the gap."
        " Add SPG to see it need five times the seconds."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        kernels=KernelChoice(families=(Gaussian(on="random:100000"),)),
        problem=ProblemChoice(regularizer=Simplex()),
        solvers=(SolverChoice("newton"),),
        stop=StopChoice(gap=1e-3),
    ),
)
