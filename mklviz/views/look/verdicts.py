"""How the verdict on a claim looks: like the end of a run, with a sign that tells it apart without its colour."""

from __future__ import annotations

from mklviz.reproduce.verdicts import DOES_NOT, PARTLY, REPRODUCES

__all__ = ["verdict_look"]

_LOOKS = {REPRODUCES: ("converged", "✓"), PARTLY: ("limit", "≈"), DOES_NOT: ("failed", "✕")}
_OTHER = "rule", "◇"


def verdict_look(verdict: str) -> tuple[str, str]:
    """Return the class of its style, and its sign."""
    return _LOOKS.get(verdict, _OTHER)
