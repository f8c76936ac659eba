"""Phrases that several solvers use to tell what a step did."""

from __future__ import annotations

import math

from mklviz.contract import Iterate

__all__ = ["FROM_KINK", "counted", "objective_change", "start_sentence"]

FROM_KINK = "From a kink, the weights headed where the last SVM solutions together promise least"
_UNCHANGED = 5e-7  # a relative change of the objective that seven digits cannot show


def counted(number: float, noun: str) -> str:
    """Return "1 step", "3 steps", "1,200 steps"."""
    count = int(number)
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def objective_change(before: Iterate, after: Iterate) -> str:
    """Return a sentence on the objective and the gap, such as "The objective fell by 2.1 % to 3,512 (gap 0.12)."""
    change = (after.objective - before.objective) / max(abs(before.objective), 1e-300)
    where = f"{after.objective:,.6g}{_gap(after, ' (', ')')}"
    if abs(change) < _UNCHANGED:
        return f"The objective stayed at {where}."
    return f"The objective {'fell' if change < 0 else 'rose'} by {100 * abs(change):.2g} % to {where}."


def start_sentence(after: Iterate) -> str:
    """Return the sentence on a start."""
    used = int((after.weights > 0).sum())
    return f"The start gives {counted(used, 'kernel')} weight: objective {after.objective:,.6g}{_gap(after, ', ')}."


def _gap(after: Iterate, before: str, behind: str = "") -> str:
    """Return the gap in words; nothing where a problem has none."""
    return "" if math.isnan(after.gap) else f"{before}gap {after.gap:.2g}{behind}"
