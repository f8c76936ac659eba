"""One class (SimpleMKL paper, section 3.3): a boundary around points of which nobody says what they are."""

from mklviz.kernels import Gaussian
from mklviz.problem import OneClass
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="one-class",
    title="A boundary around one class",
    group="Beyond",
    place=40,
    look_for=(
        "Only one of the two moons is learned: at most a tenth of its points may lie outside the boundary. Narrow"
        " Gaussians enclose every point alone, wide ones all of the plane between them: the weights find a mix."
    ),
    in_short="Which kernels draw a boundary around one class?",
    teaches="The one-class SVM has no errors to count, so the mix of kernels is chosen by the margin alone.",
    source="Rakotomamonjy, Bach, Canu and Grandvalet, SimpleMKL, section 3.3",
    recipe=Recipe(
        data=DataChoice("two_moons"),
        kernels=KernelChoice(families=(Gaussian(widths=(0.125, 0.25, 0.5, 1.0, 2.0)),)),
        problem=ProblemChoice(loss=OneClass(nu=0.1)),
        solvers=(SolverChoice("silp"), SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
    tab="Model",
)
