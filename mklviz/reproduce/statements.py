"""Every numbered table, figure and theorem of the five papers, and what their sections claim: its verdict or obstacle.

A statement names the claims that test it, or says in a sentence why none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mklviz.reproduce.answering import ClaimAnswer
from mklviz.reproduce.recorded import answers_by_paper
from mklviz.reproduce.verdicts import UNTESTABLE, together


@dataclass(frozen=True)
class Statement:
    """Something that a paper states.

    `claims`: patterns of the names of the claims that test it, with blanks between them; `obstacle`: why there is none.
    """

    place: str
    sentence: str
    claims: str = ""
    obstacle: str = ""


@dataclass(frozen=True)
class StatedAnswer:
    """A statement, the answers to its claims, and the verdict of all of them together."""

    paper: str
    statement: Statement
    answers: tuple[ClaimAnswer, ...]

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
        return " ".join(dict.fromkeys(filter(None, (self.statement.obstacle, *reasons))))


def stated_answers() -> Iterator[StatedAnswer]:
    """Yield what came of every statement, paper by paper."""
    every = [answer for answers in answers_by_paper().values() for answer in answers]
    for paper, statements in STATEMENTS.items():
        for statement in statements:
            patterns = statement.claims.split()
            named = (a for a in every if any(fnmatchcase(a.claim.name, pattern) for pattern in patterns))
            yield StatedAnswer(paper, statement, tuple(named))


def how_many_text() -> str:
    """Return "50 of 70 statements of the five papers are tested"."""
    every = [*stated_answers()]
    return f"{sum(bool(each.names) for each in every)} of {len(every)} statements of the five papers are tested"


_PROVED = "It is proved in the paper, so that no measurement could refute it."
_DRAWN = "It draws a definition and claims nothing."
_CAPTION = "It lists sizes or steps and claims nothing."

STATEMENTS: dict[str, tuple[Statement, ...]] = {
    "Level": (
        Statement(
            "Section 1", "SILP converges slowly, as its model is off far from its points.", "level-figure-1-silp"
        ),
        Statement(
            "Section 3.1",
            "To minimise x² on [-4, 4] from -3, SILP goes to 4 and Level to -2.3.",
            obstacle="It is an example to compute by hand: no data enter it.",
        ),
        Statement("Proposition 1", "The cutting plane model rises and stays below the objective.", obstacle=_PROVED),
        Statement(
            "Theorem 1, corollary 2",
            "The bounds close in on the optimum, and their gap never grows.",
            obstacle=f"{_PROVED} Every solver's bounds are recomputed by mklviz check.",
        ),
        Statement("Theorem 3", "Level takes O(1/ε²) steps to a gap of ε.", "level-theorem-3"),
        Statement("Table 1", "All predict alike; SILP keeps the fewest kernels.", "level-table-1-*"),
        Statement("Table 2", "Level saves 92 % of SILP's time and 70 % of SD's.", "level-table-2-*"),
        Statement("Figure 1", "Level's objective falls fastest; SILP has a long tail.", "level-figure-1-*"),
        Statement(
            "Figure 2", "Weights oscillate with SILP, fluctuate with SD, are smooth with Level.", "level-figure-2-*"
        ),
        Statement("Section 4.2", "On Ionosphere SD solves 1,231 SVMs and Level 47.", "level-text-*"),
    ),
    "SimpleMKL": (
        Statement("Section 3.3", "The weighted 2-norm has the solutions of the block 1-norm.", obstacle=_PROVED),
        Statement("Section 3.4", "With exact SVMs the method converges.", obstacle=_PROVED),
        Statement("Section 3.5", "Cutting planes are unstable, steepest descent is not.", "simplemkl-figure-1"),
        Statement("Table 1", "As accurate as SILP in less time, with more kernels.", "simplemkl-table-1-*"),
        Statement("Table 2", "Whole paths take 5 to 66 times less time than SILP's.", "simplemkl-table-2"),
        Statement("Figure 1", "SILP's weights wander, those of the gradient do not.", "simplemkl-figure-1"),
        Statement("Figure 2", "Large C keeps many kernels, small C few.", "simplemkl-figure-2"),
        Statement(
            "Figure 3", "Warm starts make all values of C but the first cheap; not so for SILP.", "simplemkl-figure-3*"
        ),
        Statement(
            "Section 5",
            "SILP started from the gradient method's solution would be faster and sparser.",
            obstacle="It is future work there, and a sweep starts every solver anew; in Explore a run can be continued"
            " with another solver.",
        ),
        Statement(
            "Section 5",
            "The method extends to the one-class SVM and to regression.",
            obstacle="It is future work there, without numbers; here the losses one-class, squared and"
            " epsilon-insensitive are solved.",
        ),
    ),
    "SPG-GMKL": (
        Statement("Section 3", "The objective is differentiable, with the gradient of equation 4.", obstacle=_PROVED),
        Statement(
            "Section 1",
            "SPG needs SVMs of precision 0.1 at first and 0.001 at the end, PGD of 1e-6 throughout.",
            "spg-table-11-precision",
            "What tuning saves is measured; the precisions themselves are settings.",
        ),
        Statement(
            "Section 4",
            "On large data the projected gradient is small while the gap is large.",
            "spg-text-projected-gradient",
        ),
        Statement("Section 5", "SPG and PGD find solutions of the same accuracy.", "spg-text-same-accuracy"),
        Statement("Table 1", "Sizes of the data.", obstacle=_CAPTION),
        Statement("Table 2", "On lp sums SPG is faster than PGD, up to 350 times.", "spg-table-2-*"),
        Statement("Table 3", "The same on large data.", "spg-table-3*"),
        Statement(
            "Section 5.1", "Covertype is solved by 26 SVMs in 1.46 times the time of one.", "spg-text-covertype-*"
        ),
        Statement("Table 4", "On l1 sums SPG is faster than SimpleMKL, SILP and PGD.", "spg-table-4-*"),
        Statement("Section 5.2", "HessianMKL beats SimpleMKL, and is much worse than SPG.", "spg-text-hessian-*"),
        Statement("Table 5", "On lp products PGD takes 10 to 100 times as long as SPG.", "spg-table-5-*"),
        Statement("Table 6", "On large l1 sums SPG is 8 times faster than PGD.", "spg-table-6"),
        Statement("Section 5.3", "On products SPG solves a single SVM an iteration.", "spg-text-one-svm"),
        Statement("Table 7", "N and S must come together to save SVMs.", "spg-table-7-*"),
        Statement("Table 8", "On large lp products SPG is 29 times faster than PGD.", "spg-table-8"),
        Statement(
            "Section 5.4",
            "Products with the l1 norm select features better than filters and wrappers do.",
            obstacle="The paper quotes Varma and Babu 2009 for it and has no numbers.",
        ),
        Statement("Table 9", "On l1 products SPG is hundreds of times faster than PGD.", "spg-table-9"),
        Statement("Table 10", "The same on large data.", "spg-table-10"),
        Statement("Table 11", "Each of the three parts saves time on large data.", "spg-table-11-*"),
        Statement("Figure 1", "SPG comes near the optimum much earlier than PGD.", "spg-figure-1*"),
        Statement("Figure 2, section 5.5", "Time grows as n^1.98 and n^1.52, and as the kernels.", "spg-figure-2-*"),
    ),
    "SpicyMKL": (
        Statement("Section 1", "3,000 kernels take less than 10 seconds.", "spicymkl-ten-seconds"),
        Statement("Abstract", "With 1,000 kernels and more it is faster than SILP and SimpleMKL.", "spicymkl-faster-*"),
        Statement("Section 1", "SILP oscillates where there are many kernels.", "level-figure-2-silp"),
        Statement(
            "Section 1",
            "Level is unstable as its programs grow, and HessianMKL scales badly with kernels.",
            "spicymkl-hessian-growth",
            "Of Level's instability the paper gives no number; see level-figure-2-sd.",
        ),
        Statement("Equations 3 to 6", "The block norm and its square have the same solutions.", obstacle=_PROVED),
        Statement("Theorem 1", "Outer steps converge faster than linearly.", "spicymkl-theorem-1"),
        Statement("Section 3.3", "The cost is that of the active kernels.", "spicymkl-growth"),
        Statement("Figures 1 and 2", "Soft thresholds, conjugates and envelopes.", obstacle=_DRAWN),
        Statement("Table 1", "The steps of the method.", obstacle=_CAPTION),
        Statement(
            "Sections 4 to 6",
            "One step for the elastic net is faster still, and the experiments.",
            obstacle="The text that was at hand ends with section 3.4.",
        ),
    ),
    "UFO-MKL": (
        Statement(
            "Section 1",
            "SILP's time grows steeply with samples and classes.",
            obstacle="The paper gives neither an exponent nor data for it.",
        ),
        Statement("Theorems 1 and 2", "The objective converges, with log F for F kernels.", obstacle=_PROVED),
        Statement("Theorem 3", "Weights have a closed form with exact zeros.", obstacle=_PROVED),
        Statement(
            "Table 1, hinge",
            "UFO-MKL is faster than SILP; alpha sets how sparse.",
            "ufo-table-1-*-kernels ufo-table-1-*[re]",
        ),
        Statement(
            "Table 1, logistic",
            "With the logistic loss it takes longer, still less than SILP.",
            "ufo-table-1-*-logistic",
        ),
        Statement(
            "Figure 1, section 5.2",
            "Three classes at once need one kernel, one against the rest two.",
            "ufo-figure-1-*",
        ),
        Statement(
            "Figure 2, section 5.3", "OBSCURE leads at first, UFO-MKL later; it is more accurate.", "ufo-figure-2-*"
        ),
        Statement(
            "Figure 3, section 5.4", "With 1,400 kernels it is 3 to 5 times faster than OBSCURE.", "ufo-figure-3"
        ),
    ),
}
