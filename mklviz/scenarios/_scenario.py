"""A scenario is a recipe with a title and what to look for; with a question it is a lesson.

question, asked before the race  ->  a guess, kept  ->  the race  ->  the answer, computed from its traces
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace

GROUPS = ("First look", "Why", "When not", "Beyond")
"""Headings of the menu, in the order in which they are taught."""
FEWEST, MOST = 2, 4  # answers to choose from
PICTURES = (  # those of `mklviz.views.lessons.pictures`
    *("accuracy", "certificate", "digits", "few", "gap", "hill", "machines", "passes", "path", "rough", "solves"),
    *("sparse", "strips", "triangle", "valley"),
)
PACES = (0, 1, 2, 10, 50)  # steps per second that are offered; 0 is full speed
EYE = 10.0  # steps per second that eyes can follow
Evidence = Mapping[str, Mapping[str, Sequence[Any]]]  # tables of numbers and names, by their names


@dataclass(frozen=True)
class Outcome:
    """The result of a lesson's race."""

    prepared: Prepared  # the problem that was solved, and its test samples
    traces: Mapping[str, Trace]  # what every solver did, by its key in the race


@dataclass(frozen=True)
class Answer:
    """The answer computed from a race."""

    choice: str  # the answer that was right, one of the question's choices
    because: str  # a sentence with the numbers that decide it; without a full stop at its end
    why: str = ""  # sentences that explain it, as far as they are true of what came out
    evidence: Evidence = field(default_factory=dict)  # what was computed for it, for the picture of the lesson


@dataclass(frozen=True)
class Question:
    """What to think about before the race."""

    text: str
    choices: tuple[str, ...]  # two to four answers, of which one is right
    answer: Callable[[Outcome], Answer]  # given the `Outcome` of the race, returns the `Answer`; called in a thread

    def __post_init__(self) -> None:
        if not FEWEST <= len(set(self.choices)) == len(self.choices) <= MOST:
            raise ProblemError(
                f"A question has {FEWEST} to {MOST} different answers to choose from, but these are {self.choices!r}."
            )


@dataclass(frozen=True)
class Scenario:
    """A prepared race for the classroom."""

    name: str  # short, for links and the command line
    title: str  # what the menu shows; like `in_short` it must not give the answer of a question away
    look_for: str  # one or two sentences on what to watch
    recipe: Recipe
    question: Question | None = None  # what to guess before the race
    in_short: str = ""  # what it is about, in one short sentence for its card among others; every lesson has one
    teaches: str = ""  # what is to be learned from it, true whatever comes out; shown after the race
    source: str = ""  # the paper, with section, figure or table
    group: str = GROUPS[-1]  # the heading of the menu under which it stands, one of `GROUPS`
    place: int = 100  # its place there: the least stands first
    picture: str = "gap"  # name of the one that shows the answer, one of `PICTURES`
    tab: str = "Race"  # title of the one that it opens with
    pace: float = EYE  # steps per second of each solver that it opens with; 0 is full speed

    def __post_init__(self) -> None:
        if self.group not in GROUPS:
            raise ProblemError(f"A scenario stands under {', '.join(GROUPS)}, but {self.group!r:.80} was given.")


def trials(trace: Trace) -> float:
    """Return the SVM solves of a step, on average."""
    return (trace.final.svm_solves - trace[0].svm_solves) / max(len(trace) - 1, 1)
