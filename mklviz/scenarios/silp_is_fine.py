"""An honest surprise: on Vote, SILP needs no more SVM solves than the methods meant to cure it."""

from collections.abc import Mapping, Sequence

from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.scenarios._evidence import best_of, counted_solves, objective_along
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_FLAT = 0.02  # share of the objective that the stop rule, a gap of 1 %, leaves open twice
_START = "equal weights"


def _answer(outcome: Outcome) -> Answer:
    """The run with most SVM solves; all of them in a row."""
    runs = sorted(outcome.traces.values(), key=lambda trace: trace.final.svm_solves)
    least = best_of(runs).best.weights
    heaviest = f"one kernel has {100 * least.max() / least.sum():.0f} % of the weight at the least objective found"
    ways = _ways(outcome)
    return Answer(runs[-1].label, f"the SVM solves were {counted_solves(runs)}; {heaviest}", _flat(ways), ways)


def _ways(outcome: Outcome) -> dict[str, dict[str, list[float]]]:
    """Return the objective on the ways from SILP's end to the others', and to equal weights, where all began."""
    silp, problem = outcome.traces["silp"], outcome.prepared.problem
    ends = {trace.label: trace.best.weights for trace in outcome.traces.values() if trace is not silp}
    ends[_START] = silp[0].weights
    return {name: objective_along(problem, [silp.best.weights, end]) for name, end in ends.items()}


def _flat(ways: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Say how flat the valley is between the ends, and how far apart they lie, where it is."""
    levels = [value for name, way in ways.items() if name != _START for value in way["objective"]]
    rise = (max(levels) - min(levels)) / min(levels)
    fall = max(ways[_START]["objective"]) / min(levels) - 1.0
    if rise > _FLAT or fall < 2.0 * rise:
        return ""
    return (
        f"Between the ends of the four the objective differs by {100 * rise:.1f} % at most, so all ends are about"
        " equally good: kernels of several widths on an answer of yes or no are twins."
    )


SCENARIO = Scenario(
    name="silp-is-fine",
    title="Where SILP is just as good",
    group="When not",
    place=10,
    picture="valley",
    question=Question(
        "On Vote one question nearly decides the class. Which method solves most SVMs?",
        ("SILP", "SimpleMKL", "Level", "SPG"),
        _answer,
    ),
    look_for=(
        "Watch how soon each gap reaches 1 %, over steps and then over SVM solves, and which solver takes few steps but"
        " many SVMs."
    ),
    in_short="Jumping costs little where a few cuts say it all.",
    teaches=(
        "Jumping costs little where a few cuts describe the objective well. Where the SVM has several solutions, each"
        " has a slope of its own, and a line search along one of them may find nothing lower. “Better” depends on the"
        " data, so try more than one set."
    ),
    source="Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, tables 1 and 2",
    recipe=Recipe(
        data=DataChoice("vote"),
        solvers=(SolverChoice("silp"), SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
