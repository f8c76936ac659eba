"""A recording that is shown: its traces grow again, some steps a second, like those of a race, or are whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mklviz.contract import Solver
from mklviz.engine.facts import ProblemFacts
from mklviz.engine.race import entered
from mklviz.problem import Regularizer
from mklviz.record import FINAL, Trace
from mklviz.views.race.drawn_runs import DrawnRuns

__all__ = ["Playback"]

_FASTEST = 50.0  # steps per second; faster is not seen


class Playback:
    """Runs of a recording, which begin again from their first steps, `pace` steps a second, or 50 at full speed.

    With `whole` they are at their end at once.
    """

    def __init__(
        self,
        recording: Mapping[str, Trace],
        solvers: Sequence[Solver],
        regularizer: Regularizer,
        pace: float,
        whole: bool = False,
    ) -> None:
        by_key = entered(solvers)
        self.pace = pace
        self._whole = {key: recording[key] for key in by_key}
        self._grown = {key: whole.without_steps() for key, whole in self._whole.items()}
        names = next(iter(self._whole.values())).kernel_names
        facts = ProblemFacts(names, signed=not regularizer.conjugated)
        self.drawn = DrawnRuns(self._grown, self._states, facts, by_key, recorded=True)
        self._played, self._at = float(max(map(len, self._whole.values()))) if whole else 0.0, math.nan

    def _states(self) -> list[str]:
        """The status of the runs; a run that is played to its end has its recorded status."""
        return [trace.status if trace.status in FINAL else "running" for trace in self._grown.values()]

    def advance(self, now: float) -> None:
        """Play on to the time `now`, in seconds."""
        if not math.isnan(self._at):
            self._played += (now - self._at) * (self.pace or _FASTEST)
        self._at = now
        for key, whole in self._whole.items():
            self._grow(self._grown[key], whole, int(self._played) + 1)

    def _grow(self, grown: Trace, whole: Trace, steps: int) -> None:
        for t in range(len(grown), min(steps, len(whole))):
            grown.append(whole[t], whole.seconds_at(t), whole.split_at(t) or None)
        if len(grown) == len(whole):
            grown.status, grown.reason = whole.status, whole.reason
