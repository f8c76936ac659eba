"""Solvers that answer the last step alone, and when that does no harm: SILP's cuts, SMKL's best responses."""

from collections.abc import Mapping, Sequence

import numpy as np

from mklviz.numbers import share_text
from mklviz.problem import Hinge, SimplexRidge
from mklviz.recipe import DataChoice, ProblemChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario, best_of, counted_solves, objective_along

_CHOICES_SILP_OSCILLATES = ("About once: it starts far from the optimum", "Some ten times", "More than thirty times")


def _answer_silp_oscillates(outcome: Outcome) -> Answer:
    """How much weight SILP moved, beside Level."""
    silp, level = outcome.traces["silp"], outcome.traces["level"]
    moved = silp.motion.moved
    return Answer(
        _CHOICES_SILP_OSCILLATES[(moved >= 3.0) + (moved >= 30.0)],
        f"{silp.label} {silp.motion}, in {len(silp) - 1:,} steps; {level.label} {level.motion}, in {len(level) - 1:,}",
        why=f"The objective rose in {_rises(silp)} steps of SILP, and in {_rises(level)} of Level.",
    )


def _rises(trace: Trace) -> str:
    return f"{int((np.diff(trace.objective) > 0.0).sum()):,} of {len(trace) - 1:,}"


SILP_OSCILLATES = Scenario(
    name="silp-oscillates",
    title="How far do SILP and Level move?",
    group="First look",
    place=10,
    picture="strips",
    question=Question(
        "All four start at equal weights. How often does SILP move all its weight, from some kernels to others?",
        _CHOICES_SILP_OSCILLATES,
        _answer_silp_oscillates,
    ),
    look_for=(
        "Watch the largest weight of each solver, step by step: its colour says which kernel has it. The curve above"
        " counts how often all the weight was moved."
    ),
    in_short="What a model made of cuts does to the weights.",
    teaches=(
        "A linear model promises most where no point was tried. SILP believes it and goes to its lowest point. Level"
        " asks less: the nearest point that the model finds good enough, so it stays near its cuts."
    ),
    source="Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, figures 1 and 2",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("silp"), SolverChoice("pgd"), SolverChoice("spg"), SolverChoice("level")),
        stop=StopChoice(max_iter=120),
    ),
)


# On Vote, SILP needs no more SVM solves than the methods meant to cure it.
_FLAT = 0.02  # share of the objective that the stop rule, a gap of 1 %, leaves open twice
_START = "equal weights"


def _answer_silp_is_fine(outcome: Outcome) -> Answer:
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


SILP_IS_FINE = Scenario(
    name="silp-is-fine",
    title="A data set that one question decides",
    group="When not",
    place=10,
    picture="valley",
    question=Question(
        "On Vote one question nearly decides the class. Which method solves most SVMs?",
        ("SILP", "SimpleMKL", "Level", "SPG"),
        _answer_silp_is_fine,
    ),
    look_for=(
        "Watch how soon each gap reaches 1 %, over steps and then over SVM solves, and which solver takes few steps but"
        " many SVMs."
    ),
    in_short="Four methods where one kernel nearly says it all.",
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


# Best response, 2025: SMKL answers the last move alone and cycles; the average of the same answers settles.
_CHOICES_BEST_RESPONSE = ("About once: it comes to rest", "Some ten times", "More than thirty times")


def _answer_best_response(outcome: Outcome) -> Answer:
    """How much weight SMKL moved, and how far it came, beside the average of its answers."""
    last, average = _run(outcome, "last"), _run(outcome, "average")
    moved = last.motion.moved
    return Answer(
        _CHOICES_BEST_RESPONSE[(moved >= 3.0) + (moved >= 30.0)],
        f"{last.label} {last.motion}, in {len(last) - 1:,} steps, and its gap is {share_text(last.gap[-1])}",
        why=f"{average.label} came to a gap of {share_text(average.gap[-1])} in {len(average) - 1:,} steps.",
    )


def _run(outcome: Outcome, against: str) -> Trace:
    return next(t for t in outcome.traces.values() if t.solver == "smkl" and t.options.get("against") == against)


BEST_RESPONSE = Scenario(
    name="best-response",
    title="Best response, 2025",
    group="When not",
    place=20,
    picture="strips",
    question=Question(
        "SMKL solves the SVM, then takes the weights that answer it best, and so on. How often does all weight move?",
        _CHOICES_BEST_RESPONSE,
        _answer_best_response,
    ),
    look_for=(
        "Watch the largest weight of each solver, step by step. The curve above counts how often all the weight was"
        " moved. Two of the three take the same answers; one of them goes to their average."
    ),
    in_short="A solver that answers the last move alone.",
    teaches=(
        "Two players who answer each other's last move alone can go round for ever: an answer is best only until the"
        " other has answered it. A memory ends that, as an average of all answers or the cuts of SILP and Level, and so"
        " does a step that is shortened until the objective falls. At a hundred times the price SMKL settles at once."
    ),
    source="Bertsimas, Iglesias and Johnson, Sparse multiple kernel learning, algorithm 1, without its limit k0",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        problem=ProblemChoice(loss=Hinge(100.0), regularizer=SimplexRidge(1e4)),
        solvers=(SolverChoice("smkl"), SolverChoice("smkl", {"against": "average"}), SolverChoice("spg")),
        stop=StopChoice(max_iter=60),
    ),
)


SCENARIO = (SILP_OSCILLATES, SILP_IS_FINE, BEST_RESPONSE)
