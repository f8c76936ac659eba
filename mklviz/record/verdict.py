"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FINAL", "SOLVED", "Verdict"]

SOLVED = ("converged", "precision")  # the ends at which something is proved
FINAL = (*SOLVED, "rule", "limit", "stopped", "failed")


@dataclass(frozen=True)
class Verdict:
    """How a run ended: a status word and a sentence.

    "converged" is what the gap proves, "precision" a gap that rounding hides, "rule" that another rule fired.
    """

    status: str
    reason: str
