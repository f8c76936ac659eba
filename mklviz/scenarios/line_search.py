"""What an exact line search costs (the SimpleMKL and Level papers): few steps, but an SVM for every point tried."""

from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.scenarios._evidence import trials
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_CHOICES = ("About one", "Two to ten", "More than ten")


def _answer(outcome: Outcome) -> Answer:
    """SVM solves of SimpleMKL over those of Level."""
    simple, level = outcome.traces["simplemkl"], outcome.traces["level"]
    searched, others = simple.final.svm_solves, level.final.svm_solves
    ratio = searched / others
    return Answer(
        _CHOICES[(ratio >= 2.0) + (ratio > 10.0)],
        f"SimpleMKL solved {searched:,} SVMs in {len(simple) - 1:,} steps, Level {others:,} in {len(level) - 1:,}",
        why=f"That is {trials(simple):.1f} SVMs for a step of SimpleMKL, {trials(level):.1f} for one of Level and"
        f" {trials(outcome.traces['spg']):.1f} for one of SPG.",
    )


SCENARIO = Scenario(
    name="line-search",
    title="A line search is expensive",
    group="Why",
    place=10,
    picture="solves",
    question=Question(
        "SimpleMKL looks for the best point along each direction. For each SVM that Level solves, it solves …",
        _CHOICES,
        _answer,
    ),
    look_for=(
        "Each point that a line search tries is one more SVM. The table counts steps and SVM solves side by side."
    ),
    in_short="A direction is cheap, an SVM is not.",
    teaches=(
        "A direction is cheap and an SVM is not. SimpleMKL spends its SVMs on finding the exact lowest point along a"
        " direction that will be another one at the next step anyway. Level needs one to move, and SPG takes the first"
        " point that is good enough."
    ),
    source=(
        "Xu, Jin, King and Lyu, An extended level method for efficient multiple kernel learning, section 4.2: 1,231"
        " SVMs against 47"
    ),
    recipe=Recipe(
        data=DataChoice("heart"),
        solvers=(SolverChoice("simplemkl"), SolverChoice("level"), SolverChoice("spg")),
    ),
)
