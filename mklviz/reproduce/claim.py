"""A claim of a paper, as data: its sentence and place, how it is measured, and the rule that decides it.

setup      words of a sweep, without stop rules: data, splits, solvers and whatever else
quick      what the small set changes in them: few splits of small data
paper_rule, certified_rule   words of stop rules: the paper's own, and one by which every run proves its gap
quantity, published, decided_by   what is measured, the paper's value for each data set, and the verdict's rule

A rule looks at an estimate, with its interval over splits where there are enough of them, and at the paper's value,
nan where the paper gives none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe
from mklviz.recipe.words import split_words
from mklviz.reproduce.estimates import Estimate, Quantity
from mklviz.sweeps import Sweep
from mklviz.sweeps.definition import KEYS

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


CERTIFIED = "gap=1e-2; max-iter=500"


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper.

    Attributes
    ----------
    name : str
        For the command line and links, such as "level-table-2-silp".
    paper : str
        Authors, title, where and when.
    place : str
        Table, figure or section.
    sentence : str
        What is claimed, in one sentence.
    untestable : str
        Why it cannot be tested here; then it needs none of what follows.
    setup : str
        Words of a sweep, see `Sweep.from_words`, without stop rules.
    beside : str
        Words that change it for further runs, where methods were made for different problems: those of both count.
    quick : str
        Words that the quick set changes in it.
    quantity : Quantity
        What is measured: a `Ratio`, a `MeanDifference`, a `Mean`, or an object of one's own.
    decided_by : VerdictRule
        `AtLeast`, `MoreThan`, `Alike`, or an object of one's own.
    published : mapping
        The paper's values by data set, in the unit of the quantity; where there is none, the claim is qualitative.
    paper_rule : str
        Words of the stop rule of the paper, "" where it is the certified one.
    certified_rule : str
        Words of the stop rule by which every run proves its gap; "" where there is none.
    variations : mapping
        Words that change settings which the paper leaves open, or the stop rule, by what they try: solved in the full
        set where the claim does not reproduce as a whole.
    note : str
        What differs here from the paper's experiment, in a sentence or two.
    """

    name: str
    paper: str
    place: str
    sentence: str
    untestable: str = ""
    setup: str = ""
    beside: str = ""
    quick: str = ""
    quantity: Quantity | None = None
    decided_by: VerdictRule | None = None
    published: Mapping[str, float] = field(default_factory=dict)
    paper_rule: str = ""
    certified_rule: str = CERTIFIED
    variations: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if not self.untestable and (not self.setup or self.quantity is None or self.decided_by is None):
            raise ProblemError(
                f"The claim {self.name} needs a setup, a quantity and decided_by, or a reason why it is untestable."
            )
        if not self.untestable and not self.rules:
            raise ProblemError(f"The claim {self.name} needs a stop rule: the paper's, the certified one, or both.")

    @property
    def authors(self) -> str:
        """The first of the paper's authors, and that there are others."""
        return self.paper.partition(",")[0] + " et al."

    @property
    def rules(self) -> tuple[str, ...]:
        """The stop rules by which it is answered: the paper's first; one of them where they are the same."""
        return tuple(dict.fromkeys(filter(None, (self.paper_rule, self.certified_rule))))

    def sweep(self, rule: str, quick: bool = False, varied: str = "") -> Sweep:
        """Return the runs that answer it by a stop rule; `varied` is one of the words of `variations`."""
        return Sweep.from_words(_merged(self.setup, self.quick if quick else "", rule, varied))

    def sweeps(self, rule: str, quick: bool = False, varied: str = "") -> tuple[Sweep, ...]:
        """Return all runs that answer it by a stop rule, those `beside` the setup in a sweep of their own."""
        both = (varied, f"{varied}; {self.beside}") if self.beside else (varied,)
        return tuple(self.sweep(rule, quick, words) for words in both)

    @property
    def race(self) -> Recipe:
        """What shows it: the first data set of the quick set on its first split, until the first rule stops it."""
        first = self.sweep(self.rules[0], quick=True).members[0].recipe
        return replace(first, solvers=self.sweep(self.rules[0]).recipe.solvers)


def _merged(*parts: str) -> str:
    """Return words in which later parts take the place of earlier ones."""
    merged: dict[str, str] = {}
    for part in parts:
        texts, wrong = split_words(part, KEYS, "A claim")
        if wrong:
            raise ProblemError(" ".join(wrong))
        merged |= texts
    return "; ".join(f"{key}={text}" for key, text in merged.items())
