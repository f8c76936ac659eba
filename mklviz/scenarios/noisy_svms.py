"""Rough SVMs give wrong slopes (SPG-GMKL paper, section 4 and figure 1): PGD stalls on them, SPG recovers."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.record import Trace
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_ROUGH = 0.1
_OFTEN = 0.25
_WHY = (
    "A line search that insists on a lower value tries ever shorter steps, an SVM each, and none helps: the slope of a"
    " rough SVM does not belong to its value."
)
_CHOICES = ("None", "Up to a quarter", "More than a quarter")


def _in_vain(trace: Trace) -> int:
    """Return the steps whose line search found nothing."""
    return int((trace.step[1:] == 0.0).sum())


def _answer(outcome: Outcome) -> Answer:
    """Which share of PGD's steps on rough SVMs found no lower point."""
    descents = [trace for trace in outcome.traces.values() if trace.solver == "pgd"]
    rough = next(trace for trace in descents if trace.options["svm_tolerance"] == _ROUGH)
    exact = next(trace for trace in descents if trace is not rough)
    share = _in_vain(rough) / (len(rough) - 1)
    return Answer(
        _CHOICES[(share > 0.0) + (share > _OFTEN)],
        f"{_in_vain(rough):,} of {len(rough) - 1:,} steps on rough SVMs found no lower point, on exact ones"
        f" {_in_vain(exact):,} of {len(exact) - 1:,}. PGD solved {rough.final.svm_solves:,} rough SVMs or"
        f" {exact.final.svm_solves:,} exact ones, SPG, which begins as roughly,"
        f" {outcome.traces['spg'].final.svm_solves:,}",
        why=_WHY if share > _OFTEN and _in_vain(exact) < _in_vain(rough) else "",
    )


SCENARIO = Scenario(
    name="noisy-svms",
    title="Rough SVMs: PGD stalls, SPG recovers",
    group="Why",
    place=30,
    picture="rough",
    question=Question(
        "A rough SVM (tolerance 0.1) is cheaper and gives slopes a little wrong. How many of PGD's steps on rough SVMs"
        " find no lower point?",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "The first PGD solves its SVMs to 0.1, the second to 0.000001. Where the gap of the first stays level and its"
        " step size is zero, its line search found no lower point."
    ),
    in_short="Rough SVMs mislead a search that insists on going down.",
    teaches=(
        "SPG begins as roughly, but lets the value rise a little, and solves its SVMs more exactly as it comes near."
        " Both are what the paper means by robust."
    ),
    source="Jain, Vishwanathan and Varma, SPG-GMKL, KDD 2012, section 4 and figure 1",
    recipe=Recipe(
        data=DataChoice("ionosphere"),
        solvers=(SolverChoice("pgd", {"svm_tolerance": _ROUGH}), SolverChoice("pgd"), SolverChoice("spg")),
    ),
)
