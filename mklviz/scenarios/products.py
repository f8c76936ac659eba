"""Products of kernels (SPG-GMKL paper, section 5.4 and table 9): not convex, one method far ahead, several minima."""

from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="products",
    title="Products of kernels: several minima",
    look_for=(
        "One Gaussian kernel per feature, multiplied: the weights are the widths, and many become zero. From three"
        " starts SPG ends at three different objectives, and no lower bound tells which is best. PGD needs several"
        " times as many SVM solves."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        split=Split(train=0.7),
        kernels=KernelChoice(combination="product"),
        problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
        solvers=(
            SolverChoice("spg"),
            SolverChoice("spg", {"random_start": 1}),
            SolverChoice("spg", {"random_start": 7}),
            SolverChoice("pgd"),
        ),
    ),
)
