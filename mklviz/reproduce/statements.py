"""Every numbered table, figure and theorem of the five papers, and what their sections claim: its verdict or obstacle.

They stand in `statements.txt`, one a line: paper | place | what it says | patterns of the names of the claims that test
it, with blanks between them | in a sentence, why it or a part of it is not tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from mklviz.reproduce.answering import ClaimAnswer
from mklviz.reproduce.recorded import answers_by_paper
from mklviz.reproduce.verdicts import UNTESTABLE, together

STATEMENTS = Path(__file__).with_name("statements.txt")


@dataclass(frozen=True)
class StatedAnswer:
    """A statement of a paper, and the answers to the claims that test it."""

    paper: str
    place: str
    sentence: str
    answers: tuple[ClaimAnswer, ...]
    stated_obstacle: str = ""

    @property
    def names(self) -> list[str]:
        """The claims of it that can be tested, by name."""
        return [answer.claim.name for answer in self.answers if not answer.claim.untestable]

    @property
    def verdict(self) -> str:
        """What its claims say together."""
        known = [answer.verdict for answer in self.answers if not answer.claim.untestable]
        return together(known) if known else UNTESTABLE

    @property
    def obstacle(self) -> str:
        """Why it, or a part of it, is not tested; "" where all of it is."""
        reasons = (answer.claim.untestable for answer in self.answers)
        return " ".join(dict.fromkeys(filter(None, (self.stated_obstacle, *reasons))))


def stated_answers() -> Iterator[StatedAnswer]:
    """Yield what came of every statement, paper by paper."""
    every = [answer for answers in answers_by_paper().values() for answer in answers]
    for line in STATEMENTS.read_text(encoding="utf-8").splitlines():
        paper, place, sentence, patterns, obstacle = (part.strip() for part in f"{line} | |".split("|")[:5])
        named = (a for a in every if any(fnmatchcase(a.claim.name, pattern) for pattern in patterns.split()))
        yield StatedAnswer(paper, place, sentence, tuple(named), obstacle)


def how_many_text() -> str:
    """Return "50 of 70 statements of the five papers are tested"."""
    every = [*stated_answers()]
    return f"{sum(bool(each.names) for each in every)} of {len(every)} statements of the five papers are tested"
