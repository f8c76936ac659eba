"""What a step costs, and how many there are: second-order steps, and steps without an SVM."""

import math

from mklviz.numbers import share_text
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_GROWTH = 1.4  # of the digits that are right, in the last step
_CHOICES_SECOND_ORDER = ("Fewer than 20", "20 to 100", "More than 100")


def _answer_second_order(outcome: Outcome) -> Answer:
    """SVM solves of Newton's method to the gap asked for, and how far the others came with theirs."""
    newton = outcome.traces["newton"]
    solves = newton.final.svm_solves
    others = ", ".join(
        f"{trace.label} {trace.final.svm_solves:,} (to a gap of {share_text(trace.gap[-1], 1)})"
        for trace in outcome.traces.values()
        if trace is not newton
    )
    because = f"Newton solved {solves:,} SVMs, {others}"
    return Answer(_CHOICES_SECOND_ORDER[(solves >= 20) + (solves > 100)], because, _doubled(newton))


def _doubled(trace: Trace) -> str:
    """Say how many digits of the objective were right in the last steps, where they grew as those of Newton do."""
    digits = [-math.log10(gap) for gap in trace.gap[-3:] if 0.0 < gap < 1.0]
    if len(digits) < 2 or digits[-1] < _GROWTH * digits[-2]:
        return ""
    return f"Its last steps had {' and then '.join(f'{each:.1f}' for each in digits)} digits right."


SECOND_ORDER = Scenario(
    name="second-order",
    title="What the curvature tells",
    group="Why",
    place=40,
    picture="digits",
    question=Question(
        "The gap has to fall to 0.0001 %. How many SVMs does Newton's method solve, which knows how the slopes change?",
        _CHOICES_SECOND_ORDER,
        _answer_second_order,
    ),
    look_for=(
        "Watch the gap, and how many digits are right after each step of Newton's. In the tab Race, choose “CPU"
        " seconds” as the horizontal axis to see what a Newton step costs."
    ),
    in_short="Newton's method knows how the slopes change.",
    teaches=(
        "Cuts and slopes say how the objective falls, the second derivative also how soon it stops falling. A Newton"
        " step goes to the minimum of a curved model. It has a price: a system of equations over the free support"
        " vectors, which grows fast with the samples."
    ),
    source=(
        "Nocedal and Wright, Numerical Optimization, chapter 18, for the method; Chapelle and Rakotomamonjy, Second"
        " order optimization of kernel parameters, NIPS workshop 2008"
    ),
    recipe=Recipe(
        data=DataChoice("wpbc"),
        solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg")),
        stop=StopChoice(gap=1e-6, max_iter=150),
    ),
)


# Without SVMs: OGAProx beside Level over passes over the kernels, and what its averages are for.
_CHOICES_WITHOUT_SVMS = ("Fewer than Level", "Up to ten times as many", "More than ten times as many")
_LONG = 100.0


def _answer_without_svms(outcome: Outcome) -> Answer:
    """How many passes OGAProx took beside Level, and its last steps beside their average where steps are long."""
    level = outcome.traces["level"]
    usual, long = (_run(outcome, balance) for balance in (1.0, _LONG))
    ratio = float(usual.kernel_passes[-1] / level.kernel_passes[-1])
    return Answer(
        _CHOICES_WITHOUT_SVMS[(ratio >= 1.0) + (ratio > 10.0)],
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


WITHOUT_SVMS = Scenario(
    name="without-svms",
    title="Without SVMs",
    group="Beyond",
    place=50,
    picture="passes",
    question=Question(
        "OGAProx steps in weights and dual variables at once, and solves no SVM. How many passes over the kernels does"
        " it take to a gap of 1 %?",
        _CHOICES_WITHOUT_SVMS,
        _answer_without_svms,
    ),
    look_for=(
        "A pass multiplies every kernel once. An SVM takes two: one forms the learned kernel, one finds the slopes."
        " The second OGAProx takes longer steps in the weights: compare its last step with the average of all."
    ),
    in_short="Steps that solve no SVM, counted in passes.",
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


SCENARIO = (SECOND_ORDER, WITHOUT_SVMS)
