"""A sum of kernels on a large data set: letter, one Gaussian kernel per feature (SPG-GMKL, KDD 2012, section 5.1)."""

from mklviz.kernels import Gaussian
from mklviz.problem import Hinge, LpPenalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="letter-sum",
    title="16,000 letters, a sum of kernels",
    place=60,
    look_for=(
        "Exact, although no kernel matrix is ever formed. One Gaussian kernel per feature, added, with p = 4/3: every"
        " kernel keeps some weight. The product of the same kernels tells letters apart far better."
    ),
    recipe=Recipe(
        data=DataChoice("letter"),
        split=Split(train=0.8),
        kernels=KernelChoice(families=(Gaussian(widths=(0.5,), on="each"),), normalize="none"),
        problem=ProblemChoice(loss=Hinge(1.0), regularizer=LpPenalty(p=4.0 / 3.0, sigma=1.0)),
        solvers=(SolverChoice("closed-form"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
)
