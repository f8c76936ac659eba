"""The other half of the UFO-MKL paper's figure 1: a machine for each class against the rest needs two kernels."""

from mklviz.kernels import Gaussian
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="three-groups-one-against-all",
    title="One class against the rest needs two kernels",
    place=15,
    look_for=(
        "For class 1 kernels 2 and 4 get the weight. Choose class 2 or class 3 under Data: each takes kernel 4 and the"
        " one that sets it apart, so three machines use all four kernels where all classes at once need one."
    ),
    recipe=Recipe(
        data=DataChoice("three_groups", positive="class 1"),
        kernels=KernelChoice(
            families=tuple(Gaussian(widths=(1.0,), on=[2 * group, 2 * group + 1]) for group in range(4))
        ),
        solvers=(SolverChoice("silp"), SolverChoice("level")),
        stop=StopChoice(gap=1e-3),
    ),
)
