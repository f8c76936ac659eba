"""Processes on this machine, each with one thread; a process that dies is replaced, and its member solved again."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mklviz.errors import MklvizError
from mklviz.limits import usable_cores
from mklviz.numbers import is_whole
from mklviz.record import Trace
from mklviz.sweeps.dask_cluster import ClusterTasks, import_distributed
from mklviz.sweeps.engine import CANCEL, GO_ON, Engine, Work, groups_of, paths_of
from mklviz.sweeps.member import Member
from mklviz.sweeps.solving import RecordedMember, solve_member

if TYPE_CHECKING:
    from mklviz.sweeps.local_cluster import LocalWorkers

LOOK_SECONDS = 0.1
_ALONE = (
    "mklviz: distributed is not installed, so that one process solves the whole sweep:"
    " run “pip install mklviz[dask]” for several."
)


class Processes(Engine):
    """Solve the members of a sweep in processes on this machine, which serve several sweeps inside a ``with``.

    They are the workers of a Dask cluster. Where distributed is not installed, the sweep is solved in this process.

    Parameters
    ----------
    workers : int, optional
        How many; by default one for each core.

    Raises
    ------
    MklvizError
        If that is no whole number of at least 1.

    Examples
    --------
    >>> table = mv.sweep("data=heart; solvers=level; C=1,10", engine=mv.Processes(1), store="none")
    >>> len(table.frame)
    2
    """

    def __init__(self, workers: int | None = None) -> None:
        if not (workers is None or (is_whole(workers) and workers > 0)):
            raise MklvizError(f"Workers are a whole number of at least 1, but {workers!r:.80} was given.")
        self._workers = usable_cores() if workers is None else int(workers)
        self._local: LocalWorkers | None = None
        self._kept = False

    def __enter__(self) -> Processes:
        self._kept = True
        return self

    def __exit__(self, *error: object) -> None:
        self._kept = False
        self._end()

    def __repr__(self) -> str:
        return f"Processes({self._workers})"

    @property
    def workers(self) -> int:
        """How many members are solved at once."""
        return self._workers

    @property
    def pids(self) -> list[int]:
        """The processes at work now, or kept for another sweep."""
        local = self._local
        return [] if local is None else local.pids

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""
        if not len(work.queue):
            return
        try:
            import_distributed()
        except ImportError:
            print(_ALONE, file=sys.stderr, flush=True)
            self._workers = 1
            _solve_here(work)
            return
        from mklviz.sweeps.local_cluster import LocalWorkers

        kept = False
        try:
            count = min(self._workers, work.queue.paths)
            local = self._local = self._local or LocalWorkers(count)
            tasks = ClusterTasks(local.client, work, count)
            for _ in tasks.run():
                local.keep(count, tasks.ended)
            kept = self._kept and work.command.word == GO_ON
        finally:
            if not kept:
                self._end()

    def _end(self) -> None:
        local, self._local = self._local, None
        if local is not None:
            local.end()


def _solve_here(work: Work) -> None:
    """Solve all in this thread."""
    while len(work.queue) and work.command.word != CANCEL:
        member = work.queue.take(0)
        if member is None:  # another process solves what is left
            time.sleep(LOOK_SECONDS)
            continue
        work.begun(member)
        kept: list[RecordedMember] = []

        def begun(trace: Trace, member: Member = member, kept: list[RecordedMember] = kept) -> None:
            kept.append(RecordedMember(member, "", trace, work))

        trace, results = solve_member(member, work.command, begun, lambda _: None)
        for earlier in kept[:-1]:  # of a run that was ended or broke down on its way
            earlier.leave()
        work.ended(member, kept[-1].finish(trace, results))


# One share of a sweep, for machines that know nothing of one another: what suits any batch system.


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

    Examples
    --------
    >>> sweep = mv.Sweep.from_words("data=heart; split=0...19")
    >>> len(mv.SweepRun(sweep, engine=mv.Shard("3/10")).members)
    6
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
