"""Products of kernels (SPG-GMKL paper, section 5.4 and table 9): not convex, one method far ahead, several minima."""

from itertools import pairwise

from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("One", "Two", "Three")
_SAME = 1e-4  # relative difference that is left where runs stop


def _answer(outcome: Outcome) -> Answer:
    """How many objectives the runs of SPG end at."""
    ends = sorted(trace.best.objective for trace in outcome.traces.values() if trace.solver == "spg")
    steps = sum(above > (1.0 + _SAME) * below for below, above in pairwise(ends))
    return Answer(_CHOICES[steps], f"SPG stopped at {', '.join(f'{end:.3f}' for end in ends)}")


SCENARIO = Scenario(
    name="products",
    title="Products of kernels: several minima",
    group="Beyond",
    place=30,
    question=Question(
        "In a product of Gaussians the weights are the bandwidths, one per feature. SPG starts at three places. At how"
        " many different objectives does it end?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "One Gaussian kernel per feature, multiplied: the weights are the widths, and many become zero. There is no"
        " lower bound, so compare the objectives in the table, and which features are kept. PGD needs several times as"
        " many SVM solves."
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
