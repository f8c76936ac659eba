"""One share of a sweep, for machines that know nothing of one another: what suits any batch system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mklviz.errors import MklvizError
from mklviz.sweeps.engine import Engine, Work
from mklviz.sweeps.member import Member
from mklviz.sweeps.processes import Processes
from mklviz.sweeps.queue import groups_of, paths_of

__all__ = ["Shard"]


@dataclass(frozen=True)
class Shard:
    """Solve one share of a sweep on this machine: the K-th of N, the same one every time.

    Members on the same kernels stay together, where there are as many kernel banks as shares. Those of a path
    always do.

    Parameters
    ----------
    text : str
        "3/20" for the third of twenty shares.
    engine : Engine, optional
        What solves it; processes on this machine by default.

    Raises
    ------
    MklvizError
        If the text names no share.
    """

    text: str
    engine: Engine = field(default_factory=Processes)

    def __post_init__(self) -> None:
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", self.text.strip()) if isinstance(self.text, str) else None
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise MklvizError(f"A share is written K/N, such as 3/20 for the third of twenty, not {self.text!r:.80}.")

    @property
    def workers(self) -> int:
        """How many members are solved at once."""
        return self.engine.workers

    def share(self, members: Sequence[Member]) -> tuple[Member, ...]:
        """Return the members of this share."""
        which, count = map(int, self.text.split("/"))
        groups = groups_of(members)
        if len(groups) < count:
            groups = paths_of(members)
        return tuple(member for group in groups[which - 1 :: count] for member in group)

    def run(self, work: Work) -> None:
        """Solve all of the queue, which holds this share alone."""
        self.engine.run(work)
