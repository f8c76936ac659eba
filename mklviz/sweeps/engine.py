"""What solves the members of a sweep: processes here, one share of several, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mklviz.record.store import RunHead, Store
from mklviz.sweeps.command import SweepCommand
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome
from mklviz.sweeps.queue import MemberQueue

__all__ = ["Engine", "Work"]


@dataclass(frozen=True)
class Work:
    """What an engine is given to do.

    `head`: what a store records of a run; `store`: where runs are kept; None keeps none; `queue`: the members
    that are left;
    `command`: what is asked for meanwhile; `begun`, `ended`: to be called, in any thread, as each member begins and
    ends.
    """

    head: Callable[[Member], RunHead]
    store: Store | None
    queue: MemberQueue
    command: SweepCommand
    begun: Callable[[Member], None]
    ended: Callable[[Member, MemberOutcome], None]


class Engine(Protocol):
    """Solves members."""

    @property
    def workers(self) -> int:
        """How many members it solves at once."""

    def share(self, members: Sequence[Member]) -> tuple[Member, ...]:
        """Return those of all members that this engine solves."""

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""
