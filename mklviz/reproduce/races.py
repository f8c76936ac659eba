"""Races that show claims: one for each set-up, which several claims of a paper may share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.bundle import recording
from mklviz.reproduce.answering import ClaimAnswer
from mklviz.reproduce.recorded import recorded_answers

__all__ = ["ClaimRace", "claim_races"]


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
