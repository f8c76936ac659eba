"""The verdict on a paper's claim, and the rules by which numbers decide it.

A rule looks at an estimate, with its interval over splits where there are enough of them, and at the paper's value,
nan where the paper gives none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mklviz.reproduce.estimates import Estimate

REPRODUCES, PARTLY, DOES_NOT = "reproduces", "partly", "does not"
UNTESTABLE = "cannot be tested here"
UNKNOWN = "not measured"
VERDICTS = (REPRODUCES, PARTLY, DOES_NOT, UNTESTABLE, UNKNOWN)


class VerdictRule(Protocol):
    """Decides whether what was measured is what a paper says."""

    @property
    def words(self) -> str:
        """When the claim reproduces, in words that follow “reproduces if”."""

    def verdict(self, estimate: Estimate, published: float) -> str:
        """Return one of `VERDICTS`; that of an estimate that is nan is `UNKNOWN`."""


class _Between(ABC):
    """The whole interval lies between two values; partly if the value alone does."""

    @abstractmethod
    def ends(self, published: float) -> tuple[float, float]:
        """Return the two values, nan where they are not known."""

    def verdict(self, estimate: Estimate, published: float) -> str:
        low, high = self.ends(published)
        if math.isnan(estimate.value) or math.isnan(low):
            return UNKNOWN
        if low <= estimate.least and estimate.most <= high:
            return REPRODUCES
        return PARTLY if low <= estimate.value <= high else DOES_NOT


@dataclass(frozen=True)
class MoreThan(_Between):
    """A direction: the whole interval lies above a threshold; partly if the value alone does."""

    threshold: float = 1.0

    @property
    def words(self) -> str:
        return f"the interval lies above {self.threshold:g}"

    def ends(self, published: float) -> tuple[float, float]:
        return math.nextafter(self.threshold, math.inf), math.inf


@dataclass(frozen=True)
class AtLeast:
    """A factor above 1: at least so large a share of the paper's, and above 1 for sure; partly if it is above 1."""

    share: float = 0.5

    @property
    def words(self) -> str:
        return f"the interval lies above 1 and the value is at least {self.share:g} times the paper's"

    def verdict(self, estimate: Estimate, published: float) -> str:
        direction = MoreThan(1.0).verdict(estimate, published)
        large = math.isnan(published) or estimate.value >= self.share * published
        return direction if direction != REPRODUCES or large else PARTLY


@dataclass(frozen=True)
class Alike(_Between):
    """A difference that does not matter: the interval lies within so much of the paper's value, by default of 0."""

    within: float
    of_published: bool = False

    @property
    def words(self) -> str:
        return f"the interval lies within {self.within:g} of {'the paper’s value' if self.of_published else 'zero'}"

    def ends(self, published: float) -> tuple[float, float]:
        centre = published if self.of_published else 0.0
        return centre - self.within, centre + self.within


@dataclass(frozen=True)
class Within(_Between):
    """Between two values: the interval lies there."""

    low: float
    high: float

    @property
    def words(self) -> str:
        return f"the interval lies between {self.low:g} and {self.high:g}"

    def ends(self, published: float) -> tuple[float, float]:
        return self.low, self.high


def together(verdicts: Sequence[str]) -> str:
    """Return what several verdicts say together: what all say, or else partly; those not measured do not count."""
    known = {verdict for verdict in verdicts if verdict != UNKNOWN}
    return known.pop() if len(known) == 1 else PARTLY if known else UNKNOWN
