"""Where a certificate comes from: the slopes of a step are one, and averages of dual variables prove more."""

import numpy as np

from mklviz.numbers import share_text
from mklviz.problem.proving import relative_gap
from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("The first SVM's", "The second SVM's", "An average of both")
_BARS = ("equal weights", "one kernel", "their average")
_MORE = 1e-3  # of its gap, by which an average has to prove more
_SAME = 1e-3  # difference of gaps that are called the same


def _answer(outcome: Outcome) -> Answer:
    """Whose dual variables prove the smallest gap after the step to the best corner."""
    corner, equal = (_run(outcome, first) for first in ("corner", "equal"))
    gaps = _proved(corner)
    first, second, average = gaps
    best = 2 if average < (1.0 - _MORE) * min(first, second) else int(second < first)
    shares = [share_text(gap) for gap in gaps]
    return Answer(
        _CHOICES[best],
        f"the SVM with equal weights proves a gap of {shares[0]}, the one with a single kernel {shares[1]}, and their"
        f" average {shares[2]}",
        why=f"{_free(corner)}In {_ahead(corner)} steps the last SVMs together proved more than the last one. It took"
        f" {_cost(corner)} from the best kernel, and {_cost(equal)} from equal weights.",
        evidence={"proved": {"name": _BARS, "gap": gaps}},
    )


def _run(outcome: Outcome, first: str) -> Trace:
    return next(trace for trace in outcome.traces.values() if trace.options.get("first") == first)


def _proved(trace: Trace) -> list[float]:
    """Return the gaps after the first step, by the SVM before it, its own, and both, below the same objective."""
    before, here = trace[0], trace[1]
    own = here.lower_bound if here.dual_bound is None else here.dual_bound
    upper = min(before.objective, here.objective)
    bounds = before.lower_bound, own, max(here.lower_bound, before.lower_bound)
    return [relative_gap(upper, bound) for bound in bounds]


def _free(trace: Trace) -> str:
    """Say that the slopes had promised the gap of each SVM, where they had."""
    promised = np.array([iterate.facts.known()["frank_wolfe_gap"] for iterate in trace], dtype=float)
    apart = float(np.abs(promised - [iterate.gap for iterate in trace]).max())
    if apart > _SAME:
        return ""
    return "What the slopes promise, by which a step is chosen, is the gap of the SVM itself: it costs nothing. "


def _ahead(trace: Trace) -> str:
    ahead = sum(iterate.dual_bound is not None for iterate in trace[1:])
    return f"{ahead:,} of {len(trace) - 1:,}"


def _cost(trace: Trace) -> str:
    return f"{trace.final.svm_solves:,} SVMs to a gap of {share_text(trace.gap[-1])}"


SCENARIO = Scenario(
    name="certificate",
    title="Where does a certificate come from?",
    group="Why",
    place=50,
    picture="certificate",
    question=Question(
        "Pairwise Frank-Wolfe solves an SVM with equal weights, gives one kernel all the weight, and solves another."
        " Whose dual variables prove most?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Each SVM proves a gap by itself, the thin line, which goes up and down. The thick one is what averages of the"
        " last SVMs prove. The dashed run starts at equal weights and can drop one kernel a step."
    ),
    in_short="What proves how far away the optimum can be.",
    teaches=(
        "Any dual variables prove a bound, so a certificate costs no SVM of its own. Those of an SVM with one kernel"
        " alone leave much to the others, which it has not seen. What one SVM leaves to a kernel another may have used"
        " up, so that their average leaves less to each."
    ),
    source="Lacoste-Julien and Jaggi, On the global linear convergence of Frank-Wolfe optimization variants, NIPS 2015",
    recipe=Recipe(
        data=DataChoice("pima"), solvers=(SolverChoice("pairwise"), SolverChoice("pairwise", {"first": "equal"}))
    ),
)
