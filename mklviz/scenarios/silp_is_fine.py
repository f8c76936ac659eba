"""An honest surprise: on Vote, SILP needs no more SVM solves than the methods meant to cure it."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario


def _answer(outcome: Outcome) -> Answer:
    """The run with most SVM solves; all of them in a row."""
    runs = sorted(outcome.traces.values(), key=lambda trace: trace.final.svm_solves)
    solves = ", ".join(f"{trace.label} {trace.final.svm_solves:,}" for trace in runs)
    least = min((trace.best for trace in runs), key=lambda iterate: iterate.objective).weights
    heaviest = f"one kernel has {100 * least.max() / least.sum():.0f} % of the weight at the least objective found"
    return Answer(runs[-1].label, f"the SVM solves were {solves}; {heaviest}")


SCENARIO = Scenario(
    name="silp-is-fine",
    title="Where SILP is just as good",
    group="When not",
    place=10,
    question=Question(
        "On Vote one question nearly decides the class. Which method solves most SVMs?",
        ("SILP", "SimpleMKL", "Level", "SPG"),
        _answer,
    ),
    look_for=(
        "SILP's weights jump here, too. Watch how soon each gap reaches 1 % all the same, over steps and then over SVM"
        " solves, and which solver takes few steps but many SVMs."
    ),
    teaches=(
        "Jumping costs little where few kernels matter and a few cuts describe the objective well: their lowest"
        " point then soon lies near the optimum. Where a single question decides, the objective has kinks"
        " as well: the SVM has several solutions, and each one has a slope of its own. SimpleMKL follows the slope that"
        " its SVM happens to give, finds nothing lower along it, and searches on and on; averages of several solutions"
        " lead it out. “Better” depends on the data, so try more than one set."
    ),
    source="Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, tables 1 and 2",
    recipe=Recipe(
        data=DataChoice("vote"),
        solvers=(SolverChoice("silp"), SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
