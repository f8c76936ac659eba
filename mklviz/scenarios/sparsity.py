"""Few kernels or all: weights in a triangle of three kernels, and what lp norms keep."""

from dataclasses import replace

import numpy as np

from mklviz.engine import solve
from mklviz.kernels import Gaussian
from mklviz.problem import Hinge, LpBall, LpPenalty, Simplex
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario, best_of, objective_on_triangle

_SOME = 1e-3  # weight of a kernel that counts
_PLACES = ("In a corner: one kernel", "On a side: two kernels", "Inside: all three")


def _answer_three_kernels(outcome: Outcome) -> Answer:
    """Where the lowest point of all solvers lies, and where SILP's first step went."""
    best, silp = best_of(outcome.traces.values()).best.weights, outcome.traces["silp"]
    weights = ", ".join(f"{weight:.2f}" for weight in best)
    return Answer(
        _PLACES[int((best > _SOME).sum()) - 1],
        f"the best weights are {weights}; SILP's first step gave all the weight to {silp[1].active} of the three"
        " kernels",
        why=_corners(silp),
        evidence={"ground": objective_on_triangle(outcome.prepared.problem)},
    )


def _corners(silp: Trace) -> str:
    """Say how many of SILP's first steps ended in corners."""
    cornered = [step.active == 1 for step in silp[1:]]
    first = next((t for t, inside in enumerate(cornered) if not inside), len(cornered))
    return f"SILP's first {first} steps ended in corners of the triangle." if first > 1 else ""


THREE_KERNELS = Scenario(
    name="three-kernels",
    title="Three kernels from above",
    group="First look",
    place=20,
    question=Question(
        "Three weights that sum to one are a point in a triangle; all start in the middle. Where is the optimum?",
        _PLACES,
        _answer_three_kernels,
    ),
    look_for=(
        "Shades are the objective, lowest around the star, the lowest point found. In the tab Geometry, choose SILP or"
        " Level above the map to see their cuts. Step back below the map, and read what each solver did."
    ),
    in_short="A map of all mixes, and three ways to the best one.",
    teaches=(
        "A linear program has a solution at a corner, so SILP's first step goes to one wherever the optimum lies. Its"
        " cuts have to fence the optimum in from all sides, and with hundreds of kernels there are many sides."
    ),
    source=(
        "Sonnenburg, Rätsch, Schäfer and Schölkopf, Large scale multiple kernel learning, section 2.3 (SILP);"
        " Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, section 3"
    ),
    picture="triangle",
    tab="Geometry",
    pace=2.0,
    recipe=Recipe(
        data=DataChoice("heart"),
        kernels=KernelChoice(families=tuple(Gaussian(widths=(1.0,), on=[feature]) for feature in (2, 11, 12))),
        solvers=(SolverChoice("silp"), SolverChoice("level"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-4),
    ),
)


# Sparse weights or dense ones: the simplex (p = 1) keeps a few kernels, the l_p ball with p = 4/3 nearly all.
_WHY = (
    "The simplex has corners, where many weights are exactly zero, and the optimum likes to sit there. The ball has"
    " none, so more kernels keep a little."
)
_CHOICES = ("Fewer than on the simplex", "As many or more, up to half of all", "More than half of all")


def _answer_sparse_or_dense(outcome: Outcome) -> Answer:
    """Kernels in use and test accuracy here, and on the simplex, which is solved now."""
    prepared = outcome.prepared
    sparse = replace(prepared, problem=replace(prepared.problem, regularizer=Simplex()))
    few = solve(sparse.problem, "newton", gap=1e-3).best
    many = min((trace.best for trace in outcome.traces.values()), key=lambda iterate: iterate.objective)
    most = many.active > prepared.problem.m / 2
    choice = _CHOICES[2] if most else _CHOICES[0] if many.active < few.active else _CHOICES[1]
    return Answer(
        choice,
        f"{many.active} of {prepared.problem.m} kernels have weight, on the simplex {few.active}; of the test samples"
        f" {100 * prepared.score(many):.1f} % are classified correctly, with the weights of the simplex"
        f" {100 * sparse.score(few):.1f} %",
        why="" if many.active <= few.active else _WHY,
        evidence={"largest first": {"simplex": np.sort(few.weights)[::-1].tolist()}},
    )


SPARSE_OR_DENSE = Scenario(
    name="sparse-or-dense",
    title="Sparse weights or dense ones",
    group="First look",
    place=30,
    picture="sparse",
    question=Question(
        "The simplex (p = 1) leaves most of the 182 kernels without weight. With p = 4/3, how many have some?",
        _CHOICES,
        _answer_sparse_or_dense,
    ),
    look_for=(
        "See “Kernels in use”, at the bottom, and the column “Kernels kept” of the table. Then choose the simplex under"
        " Problem, and race once more."
    ),
    in_short="What the set of allowed weights decides.",
    teaches=(
        "Few kernels are easy to read. Which weights predict better depends on the data: dense ones may where many"
        " kernels know a little, sparse ones where a few know all."
    ),
    source="Kloft, Brefeld, Sonnenburg and Zien, ℓp-norm multiple kernel learning, JMLR 12 (2011)",
    recipe=Recipe(
        data=DataChoice("heart"),
        problem=ProblemChoice(regularizer=LpBall(p=4.0 / 3.0)),
        solvers=(SolverChoice("closed-form"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-3),
    ),
)


# One problem, three routes: the l_p penalty by its closed form, by its dual (SMO-MKL, figure 1), by the gradient.
LP_NORMS = Scenario(
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


SCENARIO = (THREE_KERNELS, SPARSE_OR_DENSE, LP_NORMS)
