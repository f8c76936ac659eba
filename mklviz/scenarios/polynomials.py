"""A kernel with parameters of its own (SPG-GMKL paper, section 3): a polynomial that learns to weigh the features."""

from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="polynomials",
    title="A polynomial learns its features",
    place=35,
    pace=50.0,
    look_for=(
        "One kernel, (d₀ + Σ dₖ xₖ zₖ)², whose weights are parameters: how much the constant and each feature count."
        " Both starts of SPG end in one minimum, with 38 of 61 parameters in use and a better test accuracy than the"
        " product of Gaussian kernels has. PGD needs more than three times as many SVM solves, and with spectral steps"
        " about as many as SPG."
    ),
    recipe=Recipe(
        data=DataChoice("sonar"),
        split=Split(train=0.7),
        kernels=KernelChoice(combination="polynomial"),
        problem=ProblemChoice(loss=Hinge(10.0), regularizer=L1Penalty(1.0)),
        solvers=(
            SolverChoice("spg"),
            SolverChoice("spg", {"random_start": 1}),
            SolverChoice("pgd", {"spectral": True}),
            SolverChoice("pgd"),
        ),
    ),
)
