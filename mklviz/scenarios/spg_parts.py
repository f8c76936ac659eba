"""What each part of SPG buys (SPG-GMKL paper, table 7): the non-monotone rule, the spectral step, or both."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.record import Trace
from mklviz.scenarios._evidence import counted_solves, trials
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("N: let the objective rise now and then", "S: take the step size from the last move", "Neither alone helps")
_HELPS = 0.5  # share of PGD's SVM solves
_FEW = 2.0  # trials of a step where hardly any fails


def _solves(trace: Trace) -> int:
    return trace.final.svm_solves


def _answer(outcome: Outcome) -> Answer:
    """The part that saves more SVM solves, if it saves half of them."""
    plain, alone = outcome.traces["pgd"], (outcome.traces["PGD+N"], outcome.traces["PGD+S"])
    better = min((0, 1), key=lambda k: _solves(alone[k]))
    helps = _solves(alone[better]) < _HELPS * _solves(plain)
    solves = counted_solves([plain, *alone, outcome.traces["PGD+N+S"]])
    n, s = (trials(trace) for trace in alone)
    tried = f"A step of PGD tries {trials(plain):.1f} points, an SVM each, with N {n:.1f} and with S {s:.1f}."
    return Answer(_CHOICES[better if helps else 2], f"the SVM solves were {solves}", f"{tried} {_fits(n, s, plain)}")


def _fits(n: float, s: float, plain: Trace) -> str:
    """Say what S is for, where it does that."""
    if s >= _HELPS * min(n, trials(plain)) or s > _FEW:
        return ""
    return "S begins with a step that fits how the slope changed last, so that hardly any trial fails."


SCENARIO = Scenario(
    name="spg-parts",
    title="What each part of SPG buys",
    group="Why",
    place=20,
    picture="solves",
    question=Question(
        "SPG is projected gradient descent (PGD) with two parts more, N and S. Which one alone saves most SVM solves?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "N accepts steps that raise the objective for a while, S takes its step size from the last move. SPG adds a"
        " loose SVM at the start."
    ),
    in_short="A step size from the last move can save most trials.",
    teaches=(
        "PGD tries the step 1 and shortens it, an SVM each time, at every step anew. Which part pays depends on the"
        " data: in the paper's table S alone was worse than PGD on Australian."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, table 7",
    pace=50.0,
    recipe=Recipe(
        data=DataChoice("heart"),
        solvers=(
            SolverChoice("pgd"),
            SolverChoice("pgd", {"nonmonotone": True}),
            SolverChoice("pgd", {"spectral": True}),
            SolverChoice("pgd", {"nonmonotone": True, "spectral": True}),
            SolverChoice("spg"),
        ),
        stop=StopChoice(gap=1e-3, max_iter=300),
    ),
)
