"""Products of kernels (SPG-GMKL paper, section 5.4 and table 9): not convex, one method far ahead, several minima."""

from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("Yes, all at the same", "No, at different ones")
_SAME = 1e-4  # relative difference that is left where runs stop


def _answer(outcome: Outcome) -> Answer:
    """Whether the runs of SPG end at one objective."""
    ends = [trace.best.objective for trace in outcome.traces.values() if trace.solver == "spg"]
    apart = (max(ends) - min(ends)) / min(ends) > _SAME
    told = ", ".join(f"{end:.3f}" for end in sorted(ends))
    return Answer(_CHOICES[apart], f"the objectives at which SPG stopped are {told}")


SCENARIO = Scenario(
    name="products",
    title="Products of kernels: several minima",
    group="Beyond",
    place=30,
    question=Question(
        "In a product of Gaussians the weights are the bandwidths, one per feature. SPG starts at three places: does"
        " it end at one objective?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "One Gaussian kernel per feature, multiplied: the weights are the widths, and many become zero. From three"
        " starts SPG ends at three different objectives, and no lower bound tells which is best. PGD needs several"
        " times as many SVM solves."
    ),
    teaches=(
        "A sum of kernels makes a bowl with one lowest point; a product makes hills and valleys. A method then finds"
        " the bottom of the valley it started in, and nothing certifies that there is no deeper one: no dual, no gap."
        " The card “Minima” below the table draws the hill between two ends."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 5.4, tables 5 and 9",
    pace=50.0,
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
