"""Which kernels have a colour: the same in every tab of a page, and in its next race as far as they are there again."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from mklviz.record import Trace
from mklviz.views.chart.columns import KernelSlots

__all__ = ["KernelColours"]


class KernelColours:
    """The slots of the kernels of the race that is drawn.

    `slots`: the place of a kernel in it is that of its colour in `Theme.kernels`.
    """

    def __init__(self) -> None:
        self.slots = KernelSlots(0)
        self._names: Sequence[str] = ()
        self._first: Any = lambda: None  # returns the first run, by which a race is known, if it is still there

    def of(self, traces: Mapping[str, Trace], names: Sequence[str]) -> KernelSlots:
        """Return the slots of the kernels of some runs: those they have, else new ones, much as in the race before."""
        first = next(iter(traces.values()), None)
        if first is None:
            return KernelSlots(0)
        if self._first() is not first:
            same = [k < len(names) and names[k] == self._names[k] for k in self.slots.slots]
            before = [k if unchanged else None for k, unchanged in zip(self.slots.slots, same, strict=True)]
            self.slots, self._names, self._first = KernelSlots(len(names), before), names, weakref.ref(first)
        return self.slots
