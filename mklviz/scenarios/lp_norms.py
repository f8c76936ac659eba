"""One problem, three routes: the l_p penalty by its closed form, by its dual (SMO-MKL, figure 1), by the gradient."""

from mklviz.problem import Hinge, LpPenalty
from mklviz.recipe import DataChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="lp-norms",
    title="Three routes to the same ℓp-norm penalty",
    place=50,
    look_for=(
        "With p = 4/3 many kernels keep a little weight. The closed form updates all weights after each SVM, SPG"
        " follows the gradient, and SMO-MKL never solves an SVM: it moves pairs of dual variables."
    ),
    recipe=Recipe(
        data=DataChoice("heart"),
        problem=ProblemChoice(loss=Hinge(10.0), regularizer=LpPenalty(p=4.0 / 3.0, sigma=1.0)),
        solvers=(SolverChoice("closed-form"), SolverChoice("smo-mkl"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
)
