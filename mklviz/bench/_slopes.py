"""Times against sizes on log scales, dashed the slope that is the goal; a panel per growing letter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from mklviz.bench._report import time_words
from mklviz.bench._suite import Slope

__all__ = ["curves"]

HEIGHT, PAD, AXIS = 300, 40, 64  # of a panel, between panels, room for its times
DASHES = ("", "7 3", "2 3")  # a second cue beside the colour
WORDS = {"m": "kernels m (log scale)", "n": "samples n (log scale)"}


def curves(slopes: Sequence[Slope], top: float, width: float) -> tuple[list[str], float]:
    """Draw the panels side by side below `top`; return them and where they end."""
    letters = list(dict.fromkeys(slope.letter for slope in slopes))
    panel = (width - PAD * (len(letters) - 1)) / len(letters)
    parts: list[str] = []
    lowest = top
    for index, letter in enumerate(letters):
        chosen = [slope for slope in slopes if slope.letter == letter and slope.sizes]
        if chosen:
            drawn = _Panel(chosen, index * (panel + PAD), top, panel)
            parts += drawn.parts()
            lowest = max(lowest, drawn.bottom)
    return parts, lowest


class _Panel:
    def __init__(self, slopes: Sequence[Slope], left: float, top: float, width: float) -> None:
        self.slopes, self.left, self.top, self.width = slopes, left, top, width
        sizes = [size for slope in slopes for size in slope.sizes]
        seconds = [value for slope in slopes for value in slope.seconds]
        self.goal = next((slope.goal for slope in slopes if slope.goal is not None), None)
        seconds.append(0.4 * min(seconds))  # room for the slope that is the goal
        self.sizes = math.log10(min(sizes)) - 0.05, math.log10(max(sizes)) + 0.05
        self.times = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
        self.floor = top + HEIGHT - 40
        self.bottom = top + HEIGHT + 20 * len(slopes) + 10

    def x(self, size: float) -> float:
        low, high = self.sizes
        room = self.width - AXIS
        return self.left + AXIS + room * (math.log10(size) - low) / max(high - low, 1e-9)

    def y(self, seconds: float) -> float:
        low, high = self.times
        return self.floor - (self.floor - self.top - 10) * (math.log10(seconds) - low) / max(high - low, 1)

    def parts(self) -> Iterator[str]:
        yield from self._axes()
        yield from self._guide()
        for k, slope in enumerate(self.slopes):
            yield from self._curve(slope, k % 6)
            yield from self._said(slope, k)

    def _axes(self) -> Iterator[str]:
        right = self.left + self.width
        for power in range(self.times[0], self.times[1] + 1):
            y = self.y(10.0**power)
            yield f'<line class="grid" x1="{self.left + AXIS:.0f}" y1="{y:.1f}" x2="{right:.0f}" y2="{y:.1f}"/>'
            said = time_words(1e3 * 10.0**power)
            at = f'x="{self.left + AXIS - 6:.0f}" y="{y + 4:.1f}"'
            yield f'<text class="tick" style="text-anchor:end" {at}>{said}</text>'
        for size in sorted({size for slope in self.slopes for size in slope.sizes}):
            yield f'<text class="tick" x="{self.x(size):.1f}" y="{self.floor + 16:.0f}">{size:,}</text>'
        middle = self.left + AXIS + (self.width - AXIS) / 2
        words = WORDS.get(self.slopes[0].letter, self.slopes[0].letter)
        yield f'<text class="tick" x="{middle:.0f}" y="{self.floor + 32:.0f}">{words}</text>'
        at = f'x="{self.left:.0f}" y="{self.top - 4:.0f}"'
        yield f'<text class="tick" style="text-anchor:start" {at}>CPU time (log scale)</text>'

    def _guide(self) -> Iterator[str]:
        """Draw the slope of the goal below the curves."""
        if self.goal is None:
            return
        small, large = (10.0**end for end in self.sizes)
        low = 0.5 * min(value for slope in self.slopes for value in slope.seconds)
        high = min(low * (large / small) ** self.goal, 10.0 ** self.times[1])
        end = small * (high / low) ** (1.0 / self.goal)
        yield f'<path class="guide" d="M{self.x(small):.1f} {self.y(low):.1f}L{self.x(end):.1f} {self.y(high):.1f}"/>'
        middle = (small * end) ** 0.5
        at = f'x="{self.x(middle) + 6:.1f}" y="{self.y((low * high) ** 0.5) + 16:.1f}"'
        yield f'<text class="tick" style="text-anchor:start" {at}>slope {self.goal:g}, the goal</text>'

    def _curve(self, slope: Slope, k: int) -> Iterator[str]:
        points = list(zip(slope.sizes, slope.seconds, strict=True))
        path = " ".join(f"{'L' if at else 'M'}{self.x(s):.1f} {self.y(t):.1f}" for at, (s, t) in enumerate(points))
        yield f'<path class="curve l{k}" stroke-dasharray="{DASHES[k // 2]}" d="{path}"/>'
        for size, seconds in points:
            said = f"{slope.name}, {slope.letter} = {size:,}: {time_words(1e3 * seconds)}"
            centre = f'cx="{self.x(size):.1f}" cy="{self.y(seconds):.1f}"'
            yield f'<circle class="c{k}" {centre} r="3.5"><title>{escape(said)}</title></circle>'

    def _said(self, slope: Slope, k: int) -> Iterator[str]:
        y = self.top + HEIGHT + 20 * k + 12
        said = "" if slope.paper is None else f", {slope.paper:g} in the paper"
        said += "" if slope.goal is None else f", goal at most {slope.goal:g}"
        grows = f'{slope.letter}<tspan dy="-4" style="font-size:10px">{slope.exponent:.2f}</tspan>'
        missed = " missed" if slope.met is False else ""
        ends = f'x1="{self.left:.0f}" x2="{self.left + 28:.0f}" y1="{y - 4:.0f}" y2="{y - 4:.0f}"'
        yield f'<line class="curve l{k % 6}" stroke-dasharray="{DASHES[k % 6 // 2]}" {ends}/>'
        text = f'{escape(slope.name)}: {grows}<tspan dy="4">{escape(said)}</tspan>'
        yield f'<text class="small{missed}" x="{self.left + 35:.0f}" y="{y:.0f}">{text}</text>'
