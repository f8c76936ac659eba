"""Three kernels, whose weights are a point in a triangle: cuts, corners and paths as they are, seen from above."""

from mklviz.kernels import Gaussian
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._evidence import best_of, objective_on_triangle
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_SOME = 1e-3  # weight of a kernel that counts
_PLACES = ("In a corner: one kernel", "On a side: two kernels", "Inside: all three")


def _answer(outcome: Outcome) -> Answer:
    """Where the lowest point lies that any solver found, and where SILP's first step went."""
    best, silp = best_of(list(outcome.traces.values())).best.weights, outcome.traces["silp"]
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


SCENARIO = Scenario(
    name="three-kernels",
    title="Three kernels from above",
    group="First look",
    place=20,
    question=Question(
        "Three weights that sum to one are a point in a triangle; all start in the middle. Where is the optimum?",
        _PLACES,
        _answer,
    ),
    look_for=(
        "The darker, the higher the objective; the star is the lowest point found. In the tab Geometry, choose SILP or"
        " Level above the map to see their cuts. Step back below the map, and read what each solver did."
    ),
    in_short="Linear programs end in corners, the best mix may lie inside.",
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
