"""A claim of a paper, as data: its sentence and place, how it is measured, and what decides it.

setup      words of a sweep, without stop rules: data, splits, solvers and whatever else
quick      what the small set changes in them: few splits of small data
paper_rule, certified_rule   words of stop rules: the paper's own, and one by which every run proves its gap
quantity, published, decided_by   what is measured, the paper's value for each data set, and the verdict's rule
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe
from mklviz.recipe.words import split_words
from mklviz.reproduce.estimates import Quantity
from mklviz.reproduce.verdicts import VerdictRule
from mklviz.sweeps import Sweep
from mklviz.sweeps.definition import KEYS

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
