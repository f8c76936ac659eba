"""Where an axis begins and ends, its ticks, and what is written at them, for drawers that place these themselves.

The script of the exported page does the same, because it shows and hides runs without a server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from mklviz.views.chart.description import Axis, NumberFormat

__all__ = ["FAR", "Span", "axis_end", "axis_share", "axis_span", "axis_ticks", "axis_value", "power_text", "tick_text"]

DIGITS: Mapping[NumberFormat, int] = {"short": 4, "exact": 6, "percent": 3}  # significant ones
Span = tuple[float, float]
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def axis_span(values: Sequence[float], axis: Axis, padding: float) -> Span:
    """Return where an axis begins and ends that shows `values`, with some room around them."""
    if math.isfinite(axis.start) and math.isfinite(axis.end):
        return axis.start, axis.end
    if not values:
        return (0.1, 1.0) if axis.log else (0.0, 1.0)
    low, high = min(values), max(values)
    if axis.log:
        room = min(max(padding * (math.log(high) - math.log(low)), 0.02 if padding else 0.0), 2.0)
        return low * math.exp(-room), max(high * math.exp(room), low * 1.0001)
    fixed = math.isfinite(axis.start)
    low = axis.start if fixed else low
    room = padding * (high - low) or padding * abs(high) or (0.0 if high > low else 1.0)
    return (low if fixed else low - room), high + room


def axis_share(value: float, span: Span, log: bool) -> float:
    """Return the position of a value on an axis, from 0 to 1."""
    low, high = span
    return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) if log else (value - low) / (high - low)


def axis_value(share: float, span: Span, log: bool) -> float:
    """Return the value at a position on an axis, from 0 to 1."""
    low, high = span
    return low * (high / low) ** share if log else low + share * (high - low)


def axis_ticks(span: Span, axis: Axis, most: int) -> list[float]:
    """Return round numbers within `span`, about as many as there is room for."""
    low, high = span
    if axis.log and math.log(high) - math.log(low) > math.log(8.0):
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        steps = (1.0, 2.0, 5.0) if len(powers) < 2 else (1.0,)
        ticks = [step * 10.0**power for power in range(powers.start - 1, powers.stop + 1) for step in steps]
        ticks = [value for value in ticks if low <= value <= high]
        return ticks[:: -(-len(ticks) // most)]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= rough)
    step = max(step, 1.0) if axis.whole else step
    first = math.ceil(low / step - 1e-9)
    return [multiple * step for multiple in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float, numbers: NumberFormat) -> str:
    """Return the text of a number at a tick; `NUMBERS` has the same for scripts."""
    shown = 100.0 * value if numbers == "percent" else value
    small, large = 0.0 < abs(shown) < 1e-3, abs(shown) >= 1e6
    powers = small or large if numbers == "short" else 0.0 < abs(shown) < 0.99e-6 and numbers == "percent"
    text = power_text(shown) if powers else f"{Decimal(f'{shown:.{DIGITS[numbers]}g}'):,f}"
    return f"{text} %" if numbers == "percent" else text


def power_text(value: float) -> str:
    """Return a number as a power of ten, as people write it: 10⁻⁷ or 2.5×10⁻⁷; `power.js` has the same for scripts."""
    factor, exponent = f"{value:.1e}".split("e")
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    return power if float(factor) == 1.0 else f"{float(factor):g}×{power}"


FAR = 8.0  # times as long: the shorter runs have an eighth of the axis at least


def axis_end(reached: Mapping[str, float], ended: Mapping[str, bool]) -> float:
    """Return where a horizontal axis ends, if some runs are so long that the others would be a sliver at its beginning.

    end = FAR * e_j    where e_1 <= ... <= e_k are the ends of the runs, e_(j+1) > FAR * e_j, and j >= k / 2

    `reached`: how far along the axis each run is; `ended`: whether it has ended. inf where the axis has room for
    every run.
    """
    runs = sorted(reached, key=lambda key: reached[key])
    for count, (run, longer) in enumerate(pairwise(runs), start=1):
        if not ended[run]:
            break
        if 2 * count >= len(runs) and reached[longer] > FAR * reached[run] > 0.0:
            return FAR * reached[run]
    return math.inf
