"""The facts of a step that a map uses: whether there are cuts, the level, the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mklviz.contract import Iterate

__all__ = ["StepFacts", "facts_of", "keeps_cuts"]


@dataclass(frozen=True)
class StepFacts:
    """The facts of one step; None where its solver has no such thing."""

    level: float | None  # no cut exceeds it at the weights the step led to
    reference: float | None  # what the objective of the next trial is compared with
    share: float | None  # share of the full move that was taken, the first trial having been the whole of it
    # what the line search tried: where along the move that was made, 0 where it began and 1 where it ended, and the
    # value there; empty where that is not known
    trials: tuple[tuple[float, float], ...]


def facts_of(iterate: Iterate) -> StepFacts:
    """Return the facts of a step."""
    level, reference, share = (_number(iterate, name) for name in ("level", "reference_value", "share"))
    return StepFacts(level, reference, share, _trials(iterate))


def keeps_cuts(steps: Sequence[Iterate]) -> bool:
    """Whether a solver works on cuts; only its second step tells."""
    return len(steps) > 1 and _number(steps[1], "cuts") is not None


def _number(iterate: Iterate, name: str) -> float | None:
    value = iterate.facts.known().get(name)
    return float(value) if isinstance(value, (int, float)) else None


def _trials(iterate: Iterate) -> tuple[tuple[float, float], ...]:
    """Read the text of `mklviz.solvers._words`; any other text of a file means no trials."""
    words = str(iterate.facts.known().get("trials", ""))
    try:
        pairs = [tuple(map(float, pair.split())) for pair in words.split(";")] if words else []
    except ValueError:
        return ()
    known = all(len(pair) == 2 and all(map(math.isfinite, pair)) for pair in pairs)
    return tuple((pair[0], pair[1]) for pair in pairs) if known else ()
