"""Answers as values, and those that come with the library: ``mklviz reproduce --json`` writes both alike.

`results.json` is what machines found once, with their names, the versions and how many splits there were, so that the
documentation and the dashboard have numbers before anybody has solved anything.

`statements.txt` has every numbered table, figure and theorem of the five papers, and what their sections claim, one a
line: paper | place | what it says | patterns of the names of the claims that test it, with blanks between them | in a
sentence, why it or a part of it is not tested.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.bundle import recording
from mklviz.record.run_facts import versions_in_use
from mklviz.record.store.stored import this_machine
from mklviz.reproduce.answering import ClaimAnswer, ClaimRow, contrary_text
from mklviz.reproduce.claim import UNKNOWN, UNTESTABLE, together
from mklviz.reproduce.claims import all_claims
from mklviz.reproduce.estimates import Estimate

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class RecordedAnswers:
    """Answers by the names of their claims, and the versions by name with which they were found."""

    answers: Mapping[str, ClaimAnswer]
    versions: Mapping[str, str]


def answers_document(answers: list[ClaimAnswer], complete: bool) -> dict[str, Any]:
    """Return answers as values, each with its machine, and the versions."""
    return {"complete": complete, "versions": versions_in_use(), "claims": [_document(answer) for answer in answers]}


def _document(answer: ClaimAnswer) -> dict[str, Any]:
    claim = answer.claim
    about = {key: getattr(claim, key) for key in ("name", "paper", "place", "sentence", "untestable", "note")}
    return {
        **about,
        "quantity": "" if claim.quantity is None else claim.quantity.label,
        "rules": [*claim.rules],
        "machine": answer.machine or f"{this_machine().name}, {this_machine().cores} cores",
        **{key: getattr(answer, key) for key in ("verdict", "quick", "splits", "missing")},
        "contrary": contrary_text(answer),
        "rows": [dataclasses.asdict(row) for row in answer.rows],
        "variations": {what: [dataclasses.asdict(row) for row in rows] for what, rows in answer.variations.items()},
    }


@cache
def recorded_answers() -> RecordedAnswers:
    """Return the answers that come with the library, of claims that there still are."""
    stated = json.loads(RESULTS.read_text(encoding="utf-8"), object_hook=_read)
    claims = all_claims()
    known = [entry for entry in stated["claims"] if entry["name"] in claims]
    answers = {
        entry["name"]: ClaimAnswer(
            claims[entry["name"]],
            entry["verdict"],
            tuple(entry["rows"]),
            entry["quick"],
            entry["splits"],
            entry["missing"],
            {what: tuple(rows) for what, rows in entry["variations"].items()},
            entry["machine"],
        )
        for entry in known
    }
    return RecordedAnswers(answers, stated["versions"])


def answers_by_paper() -> dict[str, list[ClaimAnswer]]:
    """Return what is known of every claim that there is, by papers."""
    recorded = recorded_answers().answers
    papers: dict[str, list[ClaimAnswer]] = {}
    for name, claim in all_claims().items():
        papers.setdefault(claim.paper, []).append(recorded.get(name, ClaimAnswer(claim, UNKNOWN)))
    return papers


def _read(stated: dict[str, Any]) -> Any:
    """Return an object of JSON as what it was: an estimate, a row or an answer; null is nan in it."""
    known: dict[str, Any] = {key: math.nan if value is None else value for key, value in stated.items()}
    if "by_paper_rule" in known:
        return ClaimRow(**known)
    return Estimate(**known) if "bound" in known else known


# Races that show claims: one for each set-up, which several claims of a paper may share.


@dataclass(frozen=True)
class ClaimRace:
    """A race, and the answers to the claims that it shows, which are of one paper."""

    recipe: Recipe
    answers: tuple[ClaimAnswer, ...]

    @property
    def name(self) -> str:
        """What its recording is called among those of races: after its first claim."""
        return f"claims/{self.answers[0].claim.name}"

    @property
    def traces(self) -> Mapping[str, Trace]:
        """Its recorded runs by their keys; none where the package has no recording."""
        return recording(self.name)


def claim_races() -> tuple[ClaimRace, ...]:
    """Return the races of all claims that can be tested and have an answer in the package, paper by paper."""
    shown: dict[tuple[str, Recipe], list[ClaimAnswer]] = {}
    for answer in recorded_answers().answers.values():
        if not answer.claim.untestable:
            shown.setdefault((answer.claim.paper, answer.claim.race), []).append(answer)
    return tuple(ClaimRace(recipe, tuple(answers)) for (_, recipe), answers in shown.items())


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
