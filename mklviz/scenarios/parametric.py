"""Kernels with parameters that are learned: products of Gaussians, and polynomials."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from mklviz.problem import Hinge, L1Penalty
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario, objective_along

POLYNOMIALS = Scenario(
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


# Products of kernels (SPG-GMKL paper, section 5.4 and table 9): not convex, one method far ahead, several minima.
_CHOICES = ("One", "Two", "Three")
_HILL = 1e-3  # rise above the ends that is no rounding
_SAME = 1e-4  # relative difference that is left where runs stop


def _answer(outcome: Outcome) -> Answer:
    """How many objectives the runs of SPG end at."""
    runs = sorted(
        (trace for trace in outcome.traces.values() if trace.solver == "spg"), key=lambda trace: trace.best.objective
    )
    ends = [trace.best.objective for trace in runs]
    steps = sum(above > (1.0 + _SAME) * below for below, above in pairwise(ends))
    way = objective_along(outcome.prepared.problem, [trace.best.weights for trace in runs])
    names: Mapping[str, Sequence[Any]] = {
        "place": list(range(len(runs))),
        "objective": ends,
        "name": [trace.label for trace in runs],
    }
    return Answer(
        _CHOICES[steps],
        f"SPG stopped at {', '.join(f'{end:.3f}' for end in ends)}",
        why=_hill(max(way["objective"]), ends),
        evidence={"way": way, "ends": names},
    )


def _hill(top: float, ends: Sequence[float]) -> str:
    """Say how high the hill is between the ends, where there is one."""
    rise = top / ends[-1] - 1.0
    if rise < _HILL:
        return ""
    return f"Along the line between the end points the objective rises to {100 * rise:.1f} % above the highest."


PRODUCTS = Scenario(
    name="products",
    title="Products of kernels",
    group="Beyond",
    place=30,
    picture="hill",
    question=Question(
        "In a product of Gaussians the weights are the bandwidths, one per feature. SPG starts at three places. At how"
        " many different objectives does it end?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "One Gaussian kernel per feature, multiplied: the weights are the widths. There is no lower bound, so compare"
        " the objectives in the table, and which features are kept."
    ),
    in_short="Kernels that are multiplied, from three starts.",
    teaches=(
        "A sum of kernels makes a bowl; a product can make hills and valleys. A method then finds the bottom of a"
        " valley, and nothing certifies that there is no deeper one: no dual, no gap."
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


SCENARIO = (POLYNOMIALS, PRODUCTS)
