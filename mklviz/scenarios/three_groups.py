"""Three classes at once (UFO-MKL paper, section 5.2, figure 1): one of four kernels is enough for all of them."""

from mklviz.kernels import Gaussian
from mklviz.problem import GroupSquaredPlusL1, MulticlassHinge
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="three-groups",
    title="Three classes at once need one kernel",
    look_for=(
        "Kernels 1 to 3 each tell one class from the other two, kernel 4 tells all three apart. Learning the classes"
        " together, UFO-MKL keeps kernel 4 alone: its threshold sets the others to exactly zero, while the closed form"
        " only lets them fade."
    ),
    recipe=Recipe(
        data=DataChoice("three_groups"),
        kernels=KernelChoice(
            families=tuple(Gaussian(widths=(1.0,), on=[2 * group, 2 * group + 1]) for group in range(4))
        ),
        problem=ProblemChoice(loss=MulticlassHinge(100.0), regularizer=GroupSquaredPlusL1(lam=1.0, alpha=200.0)),
        solvers=(SolverChoice("ufo"), SolverChoice("closed-form")),
        stop=StopChoice(gap=1e-3),
    ),
)
