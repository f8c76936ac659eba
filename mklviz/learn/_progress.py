"""How far a fit is, on one line: redrawn in place in a terminal and in a notebook, once at the end elsewhere."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from mklviz.numbers import share_text
from mklviz.record import Trace
from mklviz.streams import ProgressLine


class Report:
    """The lines of one fit. `who`: what is fitted, the beginning of each line; `verbose`: nothing is written for 0."""

    def __init__(self, who: str, verbose: int) -> None:
        self._who, self._silent = who, not verbose
        self._line = ProgressLine(stream=sys.stdout)

    def building(self, fraction: float) -> None:
        """Say which share of the kernels is built."""
        self.at(f"{100 * fraction:.0f} % of the kernels are built")

    def solving(self, trace: Trace) -> None:
        """Say where a solver stands."""
        step = len(trace) - 1
        gap = trace.gap_at(step)
        known = f", gap {share_text(gap)}" if gap == gap else ""
        self.at(f"{trace.label}, step {step:,}{known}, {trace.best.active:,} kernels in use")

    def at(self, words: str) -> None:
        """Say where a fit stands."""
        if self._line.in_place and not self._silent:
            self._line.update(lambda: f"{self._who}: {words}")

    def ended(self, words: str) -> None:
        """Say how it ended, for good."""
        if not self._silent:
            self._line.leave(f"{self._who}: {words}")


_BETWEEN = {"mklviz", "sklearn", "joblib"}


def warn(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller outside these packages."""
    frame: FrameType | None = sys._getframe()
    level = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level + 1)
