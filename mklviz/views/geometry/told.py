"""What a map takes from the facts of a step, all in one place: whether there are cuts, the level, the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mklviz.contract import Iterate

__all__ = ["Told", "keeps_cuts", "told"]


@dataclass(frozen=True)
class Told:
    """What a solver said of one step; None where it has no such thing.

    Attributes
    ----------
    level : float or None
        No cut exceeds it at the weights the step led to.
    reference : float or None
        What the objective of the next trial is compared with.
    share : float or None
        Share of the full move that was taken, the first trial having been the whole of it.
    trials : float or None
        How many inner problems the line search solved.
    """

    level: float | None
    reference: float | None
    share: float | None
    trials: float | None


def told(iterate: Iterate) -> Told:
    """Return what the facts of a step say."""
    return Told(*(_number(iterate, name) for name in ("level", "reference_value", "share", "line_search_trials")))


def keeps_cuts(steps: Sequence[Iterate]) -> bool:
    """Whether a solver works on cuts; only its second step tells."""
    return len(steps) > 1 and _number(steps[1], "cuts") is not None


def _number(iterate: Iterate, name: str) -> float | None:
    value = iterate.facts.known().get(name)
    return float(value) if isinstance(value, (int, float)) else None
