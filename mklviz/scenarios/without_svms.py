"""Without SVMs: OGAProx beside Level over passes over the kernels, and what its averages are for."""

from mklviz.numbers import share_text
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("Fewer than Level", "Up to ten times as many", "More than ten times as many")
_LONG = 100.0


def _answer(outcome: Outcome) -> Answer:
    """How many passes OGAProx took beside Level, and its last steps beside their average where steps are long."""
    level = outcome.traces["level"]
    usual, long = (_run(outcome, balance) for balance in (1.0, _LONG))
    ratio = float(usual.kernel_passes[-1] / level.kernel_passes[-1])
    return Answer(
        _CHOICES[(ratio >= 1.0) + (ratio > 10.0)],
        f"OGAProx took {_cost(usual)}, Level {_cost(level)}",
        why=f"{_ahead(usual, 'With usual steps')} {_ahead(long, 'With steps in the weights a hundred times as long')}",
    )


def _run(outcome: Outcome, balance: float) -> Trace:
    return next(trace for trace in outcome.traces.values() if trace.options.get("balance") == balance)


def _cost(trace: Trace) -> str:
    return f"{trace.kernel_passes[-1]:,.0f} passes to a gap of {share_text(trace.gap[-1])}"


def _ahead(trace: Trace, where: str) -> str:
    """Say how the last step and the average of all ended."""
    last, average = (share_text(trace.fact(f"{which}_gap")[-1]) for which in ("last", "average"))
    return f"{where} the last one ended at a gap of {last}, the average of all at {average}."


SCENARIO = Scenario(
    name="without-svms",
    title="Without SVMs",
    group="Beyond",
    place=50,
    picture="passes",
    question=Question(
        "OGAProx steps in weights and dual variables at once, and solves no SVM. How many passes over the kernels does"
        " it take to a gap of 1 %?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "A pass multiplies every kernel once. An SVM takes two: one forms the learned kernel, one finds the slopes."
        " The second OGAProx takes longer steps in the weights: compare its last step with the average of all."
    ),
    in_short="A step without an SVM is cheap, and many are needed.",
    teaches=(
        "Between two passes Level solves an SVM to its end, and keeps all it has found in its cuts; OGAProx takes one"
        " step. Steps of weights and dual variables that are too long circle round the solution, and an average lies"
        " inside the circle. The paper proves its rate for averages; steps that suit each other need none."
    ),
    source=(
        "Boţ, Csetnek and Sedlmayer, An accelerated minimax algorithm, Computational Optimization and Applications 86,"
        " 2023, section 5.2"
    ),
    recipe=Recipe(
        data=DataChoice("heart"),
        solvers=(SolverChoice("level"), SolverChoice("ogaprox"), SolverChoice("ogaprox", {"balance": _LONG})),
        stop=StopChoice(max_iter=60),
    ),
)
