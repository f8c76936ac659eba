"""The races of a session that have ended, and those opened from files: what can be shown again, and over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mklviz.context.memory import LEDGER
from mklviz.quoting import MOST_NAME, one_line
from mklviz.record import Trace

__all__ = ["MOST_PINNED", "KeptRace", "RaceHistory", "overlaid"]

MOST = 20  # races
MOST_PINNED = 3  # races in grey behind another; more would be a tangle
MOST_BYTES = 64 * 10**6  # of their steps, in all


@dataclass(eq=False)
class KeptRace:
    """A race that is kept.

    Attributes
    ----------
    name : str
        What its owner calls it.
    traces : mapping of str to Trace
    """

    name: str
    traces: Mapping[str, Trace]

    @property
    def size(self) -> int:
        """Bytes of its steps, about."""
        return sum(len(trace) * (trace.final.weights.nbytes + 2 * trace.final.dual.nbytes) for trace in self.begun)

    @property
    def begun(self) -> list[Trace]:
        """The runs that have steps."""
        return [trace for trace in self.traces.values() if len(trace)]

    @property
    def told(self) -> str:
        """Its solvers and its problem, in one line."""
        begun = self.begun
        return f"{', '.join(trace.label for trace in begun)} · {begun[0].problem}" if begun else "no steps"


class RaceHistory:
    """Races in the order in which they ended; the oldest give way where there are too many.

    Attributes
    ----------
    races : list of Kept
    revision : int
        Counts the changes.
    """

    def __init__(self) -> None:
        self.races: list[KeptRace] = []
        self.revision = self._added = 0

    def add(self, name: str, traces: Mapping[str, Trace]) -> KeptRace | None:
        """Keep a race that has ended; None where it has no steps, is kept already, or is too large."""
        made = KeptRace(name, dict(traces))
        begun = made.begun
        if not begun or made.size > MOST_BYTES:
            return None
        known = next((kept for kept in self.races if begun[0] in kept.begun), None)
        if known is not None:
            return self._extend(known, made)
        self._added += 1
        made.name = one_line(f"{self._added}. {name}", MOST_NAME)
        self.races.append(made)
        LEDGER.charge(made, made.size)
        while len(self.races) > MOST or sum(kept.size for kept in self.races) > MOST_BYTES:
            del self.races[0]
        self.revision += 1
        return made

    def _extend(self, known: KeptRace, made: KeptRace) -> KeptRace | None:
        """Keep what has been added to a race that is kept, such as a branch; None where nothing has."""
        if len(made.begun) <= len(known.begun):
            return None
        known.traces = made.traces
        self.revision += 1
        return known

    def forget(self, kept: KeptRace) -> None:
        """Keep a race no longer."""
        if kept in self.races:
            self.races.remove(kept)
            self.revision += 1


def overlaid(races: Sequence[KeptRace]) -> dict[str, Trace]:
    """Return the runs of several races as those of one, each named by its race as well."""
    if len(races) == 1:
        return dict(races[0].traces)
    return {f"{trace.label} ({kept.name})": trace for kept in races for trace in kept.begun}
