"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """How a run ended: a status word and a sentence.

    "converged" is what the gap proves, "precision" a gap that rounding hides, "rule" that another rule fired.
    """

    status: str
    reason: str
