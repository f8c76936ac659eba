"""A process that solves one member after the other.

It reads what to do from its input and writes the results to its output, as pickles from and to the process that has
started it alone. When that process is gone it ends at once, and its run is cut off.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from mklviz.record import Trace
from mklviz.record.store import Recording, RunHead, Store, open_store
from mklviz.record.store.catalogue import RUNS
from mklviz.record.store.folder import NOT_TAKEN
from mklviz.record.store.upkeep import pack
from mklviz.sweeps.command import SweepCommand
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome
from mklviz.sweeps.solving import solve_member

__all__ = ["Assignment", "main"]

MOST_WAITING = 20  # runs that the disk has not taken
_WAITING: list[Recording] = []


@dataclass(frozen=True)
class Assignment:
    """A member to be solved: what a store records about its run, and into which store it goes; None for none."""

    member: Member
    head: RunHead
    store: Path | None


def main() -> None:
    """Solve what is asked for until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it is asked, and asks it
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a plug-in prints
    command = SweepCommand()
    assignments: queue.SimpleQueue[Assignment] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, assignments, command), daemon=True).start()
    while True:
        pickle.dump(_solved(assignments.get(), command), answers)
        answers.flush()


def _listen(messages: IO[bytes], assignments: queue.SimpleQueue[Assignment], command: SweepCommand) -> None:
    try:
        while True:
            message = pickle.load(messages)
            if isinstance(message, Assignment):
                assignments.put(message)
            else:
                command.say(message)
    except (EOFError, pickle.UnpicklingError):
        os._exit(0)


def _solved(assignment: Assignment, command: SweepCommand) -> MemberOutcome:
    member = assignment.member
    store = None if assignment.store is None else open_store(assignment.store)
    recordings: list[Recording] = []

    def begun(trace: Trace) -> None:
        if store is not None:
            recordings.append(store.record({member.solver: trace}, assignment.head))

    trace, results = solve_member(member, command, begun, lambda trace: None)
    run = ""
    for recording in recordings:
        recording.finish({member.solver: results})
        run = recording.ids.get(member.solver, "")
    if store is not None and run:
        _pack(store.folder / RUNS / run)
    outcome = MemberOutcome.of(member.key, trace, results, run)
    if store is None or all(recording.kept for recording in recordings):
        return outcome
    return replace(outcome, unkept=_waiting(store, recordings))


def _waiting(store: Store, recordings: list[Recording]) -> str:
    """Return why runs are not kept, which are tried again while there is memory for them."""
    _WAITING.extend(recordings)
    while len(_WAITING) > MOST_WAITING:
        _WAITING.pop(0).give_up()
    return store.trouble or NOT_TAKEN


def _pack(folder: Path) -> None:
    """Make a run small at once: the owner of the store, which packs others, may be too slow for thousands."""
    with suppress(OSError):  # frames stay, and are packed another time
        pack(folder)
