"""Answers as people read them, on the terminal, in the documentation and on screen."""

from __future__ import annotations

import math

from mklviz.numbers import counted
from mklviz.reproduce.answering import ClaimAnswer, ClaimRow, contrary_rows
from mklviz.reproduce.claim import DOES_NOT, PARTLY, REPRODUCES, UNKNOWN, UNTESTABLE, PaperClaim
from mklviz.reproduce.estimates import ALL_DATA, Estimate, Ratio

COLUMNS = ("on", "paper", "ours, by its rule", "ours, certified", "verdict")
NONE = "–"
VERDICT_SIGNS = {REPRODUCES: "✓", PARTLY: "≈", DOES_NOT: "✕", UNTESTABLE: "◇", UNKNOWN: "◇"}


def row_texts(claim: PaperClaim, row: ClaimRow) -> tuple[str, ...]:
    """Return the entries of `COLUMNS`."""
    estimates = [estimate_text(claim, estimate) for estimate in (row.by_paper_rule, row.certified)]
    return row.title, _number(claim, row.published), *estimates, row.verdict


def estimate_text(claim: PaperClaim, estimate: Estimate) -> str:
    """Return "3.1× (2.5× to 4.0×)"."""
    text = f"{estimate.bound} {_number(claim, estimate.value)}".strip()
    if math.isnan(estimate.low):
        return text
    return f"{text} ({_number(claim, estimate.low)} to {_number(claim, estimate.high)})"


def measured_text(claim: PaperClaim) -> str:
    """Return what is measured, and what decides it."""
    if claim.quantity is None or claim.decided_by is None:
        return ""
    label = claim.quantity.label
    return f"{label[0].upper()}{label[1:]}; reproduces if {claim.decided_by.words}"


def race_text(claim: PaperClaim) -> str:
    """Return what the race of a claim is: a ratio of its solvers shows there, but no growth and no mean over splits."""
    rule = "the paper's stop rule" if claim.paper_rule else "the stop rule of the claim"
    example = "" if isinstance(claim.quantity, Ratio) else " It is an example: the measure takes all runs."
    return f"The race shown is the first split of {claim.race.data.title}, with {rule}.{example}"


def contrary_text(answer: ClaimAnswer) -> str:
    """Return which data sets say the contrary of the whole, with the numbers of either; "" where none does."""
    rows = contrary_rows(answer.claim, answer.rows)
    if not rows:
        return ""
    both = [row for row in answer.rows if row.title == ALL_DATA] + rows
    titled_rows = (f"{row.title}: {' and '.join(dict.fromkeys(row_texts(answer.claim, row)[2:4]))}" for row in both)
    return f"Not all data sets say the same. {'; '.join(titled_rows)}."


def splits_text(answer: ClaimAnswer) -> str:
    """Return of how many splits the numbers are: "20 splits", or "up to 10 splits" where runs are missing."""
    quick = " of the quick set" if answer.quick else ""
    return f"{'up to ' if answer.missing else ''}{counted(answer.splits, 'split')}{quick}"


def _number(claim: PaperClaim, value: float) -> str:
    return NONE if math.isnan(value) or claim.quantity is None else claim.quantity.text(value)
