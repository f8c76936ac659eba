"""How the verdict on a claim looks: like the end of a run, with a sign that tells it apart without its colour."""

from __future__ import annotations

from mklviz.reproduce.texts import VERDICT_SIGNS
from mklviz.reproduce.verdicts import DOES_NOT, PARTLY, REPRODUCES

__all__ = ["verdict_look"]

_STYLES = {REPRODUCES: "converged", PARTLY: "limit", DOES_NOT: "failed"}
_OTHER = "rule"


def verdict_look(verdict: str) -> tuple[str, str]:
    """Return the class of its style, and its sign."""
    return _STYLES.get(verdict, _OTHER), VERDICT_SIGNS[verdict]
