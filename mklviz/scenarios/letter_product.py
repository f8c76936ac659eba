"""SPG-GMKL's product of kernels on a large data set (KDD 2012, table 8): letter, 0.66 hours in the paper."""

from mklviz.problem import Hinge, LpPenalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="letter-product",
    title="16,000 letters, one product of kernels",
    place=61,
    look_for=(
        "Exact, although the kernel matrix is never formed: its rows are computed when they are needed. One Gaussian"
        " kernel per feature, multiplied, with p = 4/3. Each step takes a second or two: an SVM on 16,000 letters."
    ),
    recipe=Recipe(
        data=DataChoice("letter"),
        split=Split(train=0.8),
        kernels=KernelChoice(combination="product"),
        problem=ProblemChoice(loss=Hinge(10.0), regularizer=LpPenalty(p=4.0 / 3.0, sigma=30.0)),
        solvers=(SolverChoice("spg"),),
        stop=StopChoice(projected_gradient=1e-4),
    ),
)
