"""What a line search tried, for pictures: where along the move that was made, and how high it was there.

    along_i = <d_i - d, d+ - d> / ||d+ - d||^2          0 is where the step began, 1 where it ended

With two kernels, and wherever a search goes straight, that says all of a trial's weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from mklviz.contract import Array

__all__ = ["MOST_TOLD", "Trial", "trials_told"]

Trial = tuple[Array, float]  # weights, and the value that was compared
MOST_TOLD = 60  # trials of one step, the last ones


def trials_told(before: Array, after: Array, tried: Sequence[Trial]) -> str:
    """Return the trials of a step as "along value; along value"; "" where it led nowhere."""
    move = after - before
    length = float(move @ move)
    if length == 0.0:
        return ""
    places = ((float((weights - before) @ move) / length, value) for weights, value in tried[-MOST_TOLD:])
    return "; ".join(f"{along:.6g} {value:.10g}" for along, value in places)
