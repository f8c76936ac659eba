"""How well the classifiers do that come out: before the objective is least, and along C."""

import numpy as np

from mklviz.engine import Path, path
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.scenarios._scenario import Answer, Outcome, Question, Scenario

_WHEN = ("At the start, with equal weights", "In the first quarter of its steps", "Later on", "At the end")


def _answer_objective_and_accuracy(outcome: Outcome) -> Answer:
    """Where on Level's path the test samples were first classified best."""
    trace = outcome.traces["level"]
    scores = np.array([outcome.prepared.score(iterate) for iterate in trace])
    best = int(scores.argmax())
    last = len(trace) - 1
    where = (best > 0) + (best > last / 4) + (best == last > 0)
    start, most, end = (f"{100 * score:.1f} %" for score in (scores[0], scores[best], scores[-1]))
    between = f", {most} after step {best:,}" if 0 < best < last else ""
    return Answer(
        _WHEN[where],
        f"the test accuracy was {start} at the start{between} and {end} at the end, while the"
        f" objective fell from {trace[0].objective:,.0f} to {trace.best.objective:,.0f}",
        why=f"One of the {len(outcome.prepared.test.y):,} test samples is"
        f" {100 / len(outcome.prepared.test.y):.1f} %, and another seed, under Data, may tell another story.",
        evidence={"accuracy": {"step": list(range(len(scores))), "share": scores.tolist()}},
    )


OBJECTIVE_AND_ACCURACY = Scenario(
    name="objective-and-accuracy",
    title="Objective and accuracy",
    group="When not",
    place=20,
    picture="accuracy",
    question=Question(
        "All methods reach the same least objective. When does Level classify the test samples best?",
        _WHEN,
        _answer_objective_and_accuracy,
    ),
    look_for=(
        "Open the tab Timeline when the race has ended, and step back: the table shows the test accuracy of the"
        " solution at each step. The solvers differ in how fast they reach the optimum, not in how good it is."
    ),
    in_short="Is the lowest objective the best prediction?",
    teaches=(
        "The objective is the fit to the training samples plus a price for its size. Test samples play no part."
        " Exactness is for comparing methods and for trusting them."
    ),
    source="Rakotomamonjy and others, More efficiency in multiple kernel learning, ICML 2007, table 1: as accurate",
    recipe=Recipe(
        data=DataChoice("sonar"), solvers=(SolverChoice("level"), SolverChoice("newton")), stop=StopChoice(gap=1e-3)
    ),
)


# The regularization path (figure 2 of SimpleMKL's first paper): how the weights change with C, by warm starts.
_WHERE = ("It rises", "It falls", "It stays about the same")
_WHY = "Where errors cost little, a few kernels are enough. Where they cost much, a finer fit asks for more of them."
_NAMED = 6  # kernels whose weights are drawn
_VALUES = 13
_ALIKE = 1.5  # ratio up to which two numbers of kernels are about the same


def _answer_regularization_path(outcome: Outcome) -> Answer:
    """Kernels in use at the ends of a path of C, which is followed now."""
    prepared = outcome.prepared
    solved = path(prepared.problem, "newton", gap=1e-2, max_iter=100, C=np.geomspace(1000.0, 1.0, _VALUES))
    many, few = int(solved.active[0]), int(solved.active[-1])
    choice = _WHERE[0] if many > _ALIKE * few else _WHERE[1] if few > _ALIKE * many else _WHERE[2]
    (_, loose), (_, tight) = solved[-1], solved[0]
    return Answer(
        choice,
        f"{few} at C = 1 and {many} at C = 1,000, where {100 * prepared.score(loose.best):.0f} % and"
        f" {100 * prepared.score(tight.best):.0f} % of the test samples are classified correctly; the {_VALUES} values"
        f" of C took {int(solved.svm_solves.sum()):,} SVM solves in all",
        why=_WHY if many > _ALIKE * few else "",
        evidence={"path": _table(solved)},
    )


def _table(path: Path) -> dict[str, list[float]]:
    """Return the kernels in use along C, and the largest weights, by their kernels' names."""
    top = np.argsort(-path.weights.max(axis=0), kind="stable")[:_NAMED]
    weights = {path.kernel_names[k]: path.weights[:, k].tolist() for k in top}
    return {"C": path.values.tolist(), "active": path.active.tolist(), **weights}


REGULARIZATION_PATH = Scenario(
    name="regularization-path",
    title="The regularization path",
    group="Beyond",
    place=40,
    picture="path",
    question=Question(
        "C is what an error on the training samples costs; here it is 100. From C = 1 to 1,000, what does the number"
        " of kernels in use do?",
        _WHERE,
        _answer_regularization_path,
    ),
    look_for=(
        "The race shows one value of C. To see the answer, a solver then goes from one value to the next, each time"
        " from where it was; “Follow the path of C”, below the table of the race, does so for others."
    ),
    in_short="What an error costs, and which kernels are used.",
    teaches=(
        "Once every training sample is fitted, C no longer matters. A start at the last solution makes the next value"
        " of C cheap."
    ),
    source="Rakotomamonjy and others, More efficiency in multiple kernel learning, ICML 2007, figure 2 and table 2",
    recipe=Recipe(
        data=DataChoice("ionosphere"), solvers=(SolverChoice("newton"), SolverChoice("level"), SolverChoice("spg"))
    ),
)


SCENARIO = (OBJECTIVE_AND_ACCURACY, REGULARIZATION_PATH)
