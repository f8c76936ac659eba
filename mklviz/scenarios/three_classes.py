"""Three classes (UFO-MKL paper, section 5.2, figure 1): one of four kernels serves all at once, two serve one class."""

from dataclasses import replace

import numpy as np

from mklviz.engine import solve
from mklviz.kernels import Gaussian
from mklviz.problem import GroupSquaredPlusL1, MulticlassHinge, Simplex, one_against_all
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("One", "Two", "Three", "All four")
_WHY = (
    "A machine for one class is best served by the kernels made for that class; it does not know that another one would"
    " serve all. One machine for all classes shares its weights, and finds it."
)
_KERNELS = KernelChoice(families=tuple(Gaussian(widths=(1.0,), on=[2 * group, 2 * group + 1]) for group in range(4)))
_SOME = 1e-3  # weight of a kernel that a machine uses


def _answer(outcome: Outcome) -> Answer:
    """Kernels that UFO-MKL keeps, and those of each of three machines, which are trained now."""
    machines = one_against_all(outcome.prepared.problem)
    weights = [solve(replace(each, regularizer=Simplex()), "level", gap=1e-3).best.weights for each in machines]
    one = outcome.traces["ufo"].best
    counts = [int((each > _SOME).sum()) for each in weights]
    used, apart = int((np.max(weights, axis=0) > _SOME).sum()), max(counts, key=counts.count)
    shown = {f"class {k}": each.tolist() for k, each in enumerate(weights, 1)}
    return Answer(
        _CHOICES[apart - 1],
        f"the machines for class 1, 2 and 3 use {', '.join(map(str, counts))} kernels, {used} different ones in all;"
        f" one machine for all classes keeps {one.active}",
        why="" if used <= one.active else _WHY,
        evidence={"machines": shown | {"all at once": one.weights.tolist()}},
    )


THREE_GROUPS = Scenario(
    name="three-groups",
    title="Three classes at once, or one after the other",
    group="Beyond",
    place=10,
    picture="machines",
    question=Question(
        "Kernels 1 to 3 each tell one class from the other two, kernel 4 tells all three apart. Three machines learn"
        " one class each against the rest. How many kernels does each of them use?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Here one machine learns all classes together. UFO-MKL's threshold sets weights to exactly zero, while the"
        " closed form only lets them fade."
    ),
    in_short="How many kernels does each way of learning use?",
    teaches="The scenario “One class against the rest” shows one of the three machines.",
    source="Orabona and Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, section 5.2, figure 1",
    recipe=Recipe(
        data=DataChoice("three_groups"),
        kernels=_KERNELS,
        problem=ProblemChoice(loss=MulticlassHinge(100.0), regularizer=GroupSquaredPlusL1(lam=1.0, alpha=200.0)),
        solvers=(SolverChoice("ufo"), SolverChoice("closed-form")),
        stop=StopChoice(gap=1e-3),
    ),
    pace=50.0,
)


# The other half of the UFO-MKL paper's figure 1: a machine for each class against the rest needs two kernels.
THREE_GROUPS_ONE_AGAINST_ALL = Scenario(
    name="three-groups-one-against-all",
    title="One class against the rest",
    place=15,
    look_for=(
        "For class 1 kernels 2 and 4 get the weight. Choose class 2 or class 3 under Data: each takes kernel 4 and the"
        " one that sets it apart, so three machines use all four kernels where all classes at once need one."
    ),
    recipe=Recipe(
        data=DataChoice("three_groups", positive="class 1"),
        kernels=_KERNELS,
        solvers=(SolverChoice("silp"), SolverChoice("level")),
        stop=StopChoice(gap=1e-3),
    ),
)


SCENARIO = (THREE_GROUPS, THREE_GROUPS_ONE_AGAINST_ALL)
