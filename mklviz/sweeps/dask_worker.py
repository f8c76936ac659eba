"""What a worker of a Dask cluster does: solve one member, say once a second what is new, and hear what is asked for."""

from __future__ import annotations

import pickle
import secrets
import threading
import time
from typing import Any

from mklviz.record import Trace
from mklviz.sweeps.command import SweepCommand
from mklviz.sweeps.member import Member
from mklviz.sweeps.solving import solve_member

__all__ = ["say", "solve_there"]

EVERY_SECONDS = 1.0  # between two messages of one run

_lock = threading.Lock()
_words: dict[str, str] = {}  # what was asked for last, by sweep
_commands: dict[str, list[SweepCommand]] = {}  # of the members being solved here, by sweep


def say(topic: str, word: str) -> None:
    """Ask something of all members of a sweep that are being solved here, or will be."""
    with _lock:
        _words[topic] = word
        commands = [*_commands.get(topic, [])]
    for command in commands:
        command.say(word)


def solve_there(member: Member, topic: str, word: str) -> tuple[str, Trace, dict[str, Any]]:
    """Return a key of this attempt, the trace and what else is known; steps are sent to the topic meanwhile."""
    command = SweepCommand()
    with _lock:
        _commands.setdefault(topic, []).append(command)
        command.say(_words.get(topic, word))
    messages = _Messages(member.key, topic)
    try:
        return messages.attempt, *solve_member(member, command, lambda trace: None, messages.stepped)
    finally:
        with _lock:
            _commands[topic].remove(command)


class _Messages:
    """The steps of one run, sent in parts: the first has the trace, later ones what has been added."""

    def __init__(self, key: str, topic: str) -> None:
        self._key, self._topic = key, topic
        self.attempt = secrets.token_hex(8)
        self._sent, self._due = 0, time.monotonic() + EVERY_SECONDS

    def stepped(self, trace: Trace) -> None:
        from distributed import get_worker  # here, as all other modules import without the extra

        if time.monotonic() < self._due or trace.status != "running":
            return
        self._due = time.monotonic() + EVERY_SECONDS
        end = len(trace)
        new = trace if not self._sent else [_step(trace, t) for t in range(self._sent, end)]
        message = {"member": self._key, "attempt": self.attempt, "from": self._sent, "steps": pickle.dumps(new)}
        self._sent = end
        get_worker().log_event(self._topic, message)


def _step(trace: Trace, t: int) -> tuple[Any, float, dict[str, float]]:
    return trace[t], trace.seconds_at(t), trace.split_at(t)
