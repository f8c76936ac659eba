"""What each part of SPG buys (SPG-GMKL paper, table 7): the non-monotone rule, the spectral step, or both."""

from mklviz.recipe.experiment import Experiment, SolverChoice
from mklviz.scenarios._scenario import Scenario

SCENARIO = Scenario(
    name="spg-parts",
    title="What each part of SPG buys",
    look_for=(
        "N accepts steps that raise the objective for a while, S takes its step size from the last move."
        " N alone hardly helps; S does most of the work. SPG adds a loose SVM at the start."
    ),
    experiment=Experiment(
        dataset="heart",
        solvers=(
            SolverChoice("pgd"),
            SolverChoice("pgd", {"nonmonotone": True}),
            SolverChoice("pgd", {"spectral": True}),
            SolverChoice("pgd", {"nonmonotone": True, "spectral": True}),
            SolverChoice("spg"),
        ),
        gap=1e-3,
        max_iter=300,
    ),
)
