"""One class (SimpleMKL paper, section 3.3): a boundary around points of which nobody says what they are."""

from mklviz.kernels import Gaussian
from mklviz.problem import LpBall, OneClass
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="one-class",
    title="A boundary around one class",
    group="Beyond",
    place=40,
    look_for=(
        "One of the two moons is learned: at most a tenth of its points may lie outside the boundary. Narrow Gaussians"
        " draw around every point, wide ones around all. With p = 2 every width keeps some weight."
    ),
    in_short="Which kernels draw a boundary around one class?",
    teaches="The simplex gives all weight to the widest kernel, under which all samples look alike.",
    source="Rakotomamonjy, Bach, Canu and Grandvalet, SimpleMKL, section 3.3",
    recipe=Recipe(
        data=DataChoice("two_moons"),
        kernels=KernelChoice(families=(Gaussian(widths=(0.125, 0.25, 0.5, 1.0)),)),
        problem=ProblemChoice(loss=OneClass(nu=0.1), regularizer=LpBall(p=2.0)),
        solvers=(SolverChoice("spg"), SolverChoice("pgd"), SolverChoice("closed-form")),
        stop=StopChoice(gap=1e-3),
    ),
    tab="Model",
)
