"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass

from mklviz.quoting import one_line

__all__ = ["FINAL", "SOLVED", "Verdict"]

SOLVED = ("converged", "precision")  # the ends at which something is proved
FINAL = (*SOLVED, "rule", "limit", "stopped", "failed")


@dataclass(frozen=True)
class Verdict:
    """How a run ended: a status word and a sentence.

    "converged" is what the gap proves, "precision" a gap that rounding hides, "rule" that another rule fired. A reason
    may be a plug-in's or a file's: it stands on one line of bounded length, without what would steer a terminal.
    """

    status: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", one_line(self.reason))
