"""One class (SimpleMKL paper, section 3.3): a boundary around points of which nobody says what they are."""

from mklviz.kernels import Gaussian, Polynomial
from mklviz.problem import OneClass
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="one-class",
    title="A boundary around one class",
    group="Beyond",
    place=40,
    look_for=(
        "One of the two moons is learned: at most a tenth of its points may lie outside the boundary. A Gaussian kernel"
        " draws around every point, a polynomial an ellipse or a line. The mix does both."
    ),
    in_short="Which kernels draw a boundary around one class?",
    teaches="The one-class SVM has no errors to count, so the mix of kernels is chosen by the margin alone.",
    source="Rakotomamonjy, Bach, Canu and Grandvalet, SimpleMKL, section 3.3",
    recipe=Recipe(
        data=DataChoice("two_moons"),
        kernels=KernelChoice(families=(Gaussian(widths=(0.5,)), Polynomial(degrees=(1, 2, 3)))),
        problem=ProblemChoice(loss=OneClass(nu=0.1)),
        solvers=(SolverChoice("silp"), SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
    tab="Model",
)
