"""The claims of the papers: what each says, what comes out here by two stop rules, and a verdict.

from mklviz.reproduce import reproduce
from mklviz.reproduce.claims import load_claim

for answer in reproduce([load_claim("level-table-2-silp")], open_store(), quick=True):
    print(answer.verdict, answer.rows)
"""

from mklviz.reproduce.answering import ClaimAnswer, ClaimRow, answer_stored, reproduce
from mklviz.reproduce.claim import Alike, AtLeast, MoreThan, PaperClaim, VerdictRule, Within
from mklviz.reproduce.estimates import BetweenSettings, Estimate, Mean, MeanDifference, Quantity, Ratio
from mklviz.reproduce.quantities import (
    DigitsPerStep,
    FirstOverRest,
    GrowthExponent,
    PathExponent,
    PrecisionExponent,
    Quotient,
    RatioAcross,
    WholePath,
)

__all__ = [
    "Alike",
    "AtLeast",
    "BetweenSettings",
    "ClaimAnswer",
    "ClaimRow",
    "DigitsPerStep",
    "Estimate",
    "FirstOverRest",
    "GrowthExponent",
    "Mean",
    "MeanDifference",
    "MoreThan",
    "PaperClaim",
    "PathExponent",
    "PrecisionExponent",
    "Quantity",
    "Quotient",
    "Ratio",
    "RatioAcross",
    "VerdictRule",
    "WholePath",
    "Within",
    "answer_stored",
    "reproduce",
]
