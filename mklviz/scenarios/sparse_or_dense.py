"""Sparse weights or dense ones: the simplex (p = 1) keeps a few kernels, the l_p ball with p = 4/3 nearly all.

Reference: Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning (JMLR 12, 2011).
"""

from dataclasses import replace

import numpy as np

from mklviz.engine import solve
from mklviz.problem import LpBall, Simplex
from mklviz.recipe import DataChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_WHY = (
    "The simplex has corners, where many weights are exactly zero, and the optimum likes to sit there. The ball has"
    " none, so more kernels keep a little."
)
_CHOICES = ("Fewer than on the simplex", "As many or more, up to half of all", "More than half of all")


def _answer(outcome: Outcome) -> Answer:
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


SCENARIO = Scenario(
    name="sparse-or-dense",
    title="Sparse weights or dense ones",
    group="First look",
    place=30,
    picture="sparse",
    question=Question(
        "The simplex (p = 1) leaves most of the 182 kernels without weight. With p = 4/3, how many have some?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "See “Kernels in use”, at the bottom, and the column “Kernels kept” of the table. Then choose the simplex under"
        " Problem, and race once more."
    ),
    in_short="The simplex sets weights to zero, a ball spreads them.",
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
