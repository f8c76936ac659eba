"""A Dask cluster: each member is a task, its steps come back while it runs, and its trace when it has ended.

Workers need no disk in common with this machine, which writes what comes back. Kernels are built on the workers: a
worker gets the members on the same kernels one after another. What a lost worker was solving is handed out anew here:
Dask would let it wait for ever where no worker was left for a moment.
"""

from __future__ import annotations

import importlib
import logging
import pickle
import queue
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from mklviz.errors import MissingPackage, MklvizError
from mklviz.quoting import message_of
from mklviz.record import Trace
from mklviz.sweeps.engine import CANCEL, GO_ON, Engine, SweepCommand, Work
from mklviz.sweeps.member import Member, MemberOutcome
from mklviz.sweeps.solving import RecordedMember, solve_member

CONNECT_SECONDS = 10.0
PORT = 8786  # where schedulers listen by default
LOOK_SECONDS, SOON_SECONDS = 0.1, 0.002
WORKERS_SECONDS = 1.0  # between two looks at which workers there are
PATIENCE_SECONDS = 3.0
RESULT_SECONDS = 30.0
RETRIES = 2
LOST = "The process that solved it ended before its time, three times: perhaps there is not enough memory."


def import_distributed() -> Any:
    """Return the package; as it is imported it turns off loggers of Tornado and Bokeh, which stay as they were."""
    loggers = [logging.getLogger(name) for name in ("tornado", "tornado.application", "bokeh")]
    before = [(logger, logger.level, logger.propagate, logger.handlers[:]) for logger in loggers]
    distributed = importlib.import_module("distributed")
    for logger, level, propagate, handlers in before:
        logger.setLevel(level)
        logger.propagate, logger.handlers[:] = propagate, handlers
    return distributed


def workers_of(client: Any) -> Mapping[str, Any]:
    """Return the workers by their addresses.

    The client's `scheduler_info` may have none of them: what it asks now and then for itself overwrites the answer.
    """
    workers: Mapping[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return workers


class DaskCluster(Engine):
    """Solve the members of a sweep on a Dask cluster, whose workers have mklviz installed.

    Parameters
    ----------
    cluster : str or distributed.Client
        Address of the scheduler, such as ``"tcp://head:8786"``, or a client that is connected to it.

    Raises
    ------
    MissingPackage
        If distributed is not installed.

    Examples
    --------
    >>> engine = mv.DaskCluster("tcp://head:8786")  # mv.sweep("data=heart; C=1,10", engine=engine)
    """

    def __init__(self, cluster: Any) -> None:
        try:
            distributed = import_distributed()
        except ImportError:
            raise MissingPackage(
                "A Dask cluster needs distributed, which is not installed: run “pip install mklviz[dask]”."
            ) from None
        if not isinstance(cluster, str | distributed.Client):
            raise MklvizError(f"A Dask cluster is given by its address or a client, but {cluster!r:.80} was given.")
        self.cluster = cluster
        self._threads = 1

    @property
    def workers(self) -> int:
        """How many members are solved at once, as far as it is known."""
        return max(self._threads, 1)

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""
        with self.connected() as client:
            for threads in ClusterTasks(client, work).run():
                self._threads = threads

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Yield a client, which is closed in the end if it was made here."""
        if not isinstance(self.cluster, str):
            yield self.cluster
            return
        client = self.client()
        try:
            yield client
        finally:
            client.close()

    def client(self) -> Any:
        """Return a new client that is connected to the address; raises `MklvizError` where there is no answer."""
        from distributed import Client

        self.reach()
        try:
            return Client(self.cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise self._nobody(message_of(error)) from None

    def reach(self) -> None:
        """Raise `MklvizError` where nothing listens at the address: a client in vain would hold up the end by 20 s."""
        if not isinstance(self.cluster, str):
            return
        kind, _, rest = self.cluster.rpartition("://")
        if kind not in ("", "tcp", "tls"):
            return
        host, _, port = rest.rpartition(":")
        if not (host and port.isdigit()):
            raise self._nobody(f"an address is tcp://HOST:{PORT}")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError, UnicodeError) as error:
            raise self._nobody(message_of(error)) from None

    def _nobody(self, why: str) -> MklvizError:
        return MklvizError(
            f"There is no Dask scheduler at {self.cluster:.80}: {why or 'there is no answer'}. To start one,"
            f" “dask scheduler --port {PORT}”, and on each machine that solves “dask worker tcp://HOST:{PORT}”."
        )


class ClusterTasks:
    """The tasks of one sweep; `expected`: how many workers there will be, where that is known."""

    def __init__(self, client: Any, work: Work, expected: int = 0) -> None:
        self._client, self._work, self._expected = client, work, expected
        self._topic = f"mklviz-{secrets.token_hex(8)}"
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: dict[str, tuple[Any, Member, str]] = {}  # the future, its member and the worker it is meant for
        self._kept: dict[str, RecordedMember] = {}  # by the member's key
        self._slots: dict[str, int] = {}  # threads by the worker's address
        self._word, self._due, self._soon = GO_ON, 0.0, 0.0
        self.ended = 0  # members that have a result

    def run(self) -> Iterator[int]:
        """Do it, and yield now and then how many threads there are."""
        self._client.subscribe_topic(self._topic, lambda event: self._inbox.put(event[1]))
        try:
            while (len(self._work.queue) or self._tasks) and self._work.command.word != CANCEL:
                self._look_for_workers()
                yield sum(self._slots.values())
                self._pass_on()
                self._hand_out()
                self._hear(LOOK_SECONDS)
            self._wind_up()
        finally:
            for kept in self._kept.values():
                kept.leave()
            self._client.cancel([future for future, _, _ in self._tasks.values()], force=True)
            self._client.unsubscribe_topic(self._topic)

    def _look_for_workers(self) -> None:
        if time.monotonic() < self._due:
            return
        slots = {address: int(worker["nthreads"]) for address, worker in workers_of(self._client).items()}
        for address in set(self._slots) - set(slots):
            self._work.queue.leave(address)
            for key, (_, _, worker) in [*self._tasks.items()]:
                if worker == address:
                    self._begin_anew(key)
        self._slots = slots
        self._due = time.monotonic() + (LOOK_SECONDS if len(slots) < self._expected else WORKERS_SECONDS)

    def _pass_on(self) -> None:
        """Tell all workers what is asked for now."""
        word = self._work.command.word
        if word != self._word:
            self._word = word
            telling = threading.Thread(target=self._tell, args=(word,), daemon=True)
            telling.start()
            telling.join(PATIENCE_SECONDS)  # a worker may be deep in one long step

    def _tell(self, word: str) -> None:
        with suppress(Exception):  # workers, or the cluster, that are gone
            self._client.run(say, self._topic, word, on_error="ignore")

    def _hand_out(self) -> None:
        if self._word != GO_ON:
            return
        for address, threads in self._slots.items():
            busy = sum(worker == address for _, _, worker in self._tasks.values())
            for _ in range(threads - busy):
                member = self._work.queue.take(address)
                if member is None:  # what is left are paths that are being solved
                    break
                self._submit(member, address)

    def _submit(self, member: Member, address: str) -> None:
        self._work.begun(member)
        future = self._client.submit(
            solve_there,
            member,
            self._topic,
            self._word,
            key=f"{self._topic}-{member.key}-{secrets.token_hex(2)}",
            workers=[address],
            retries=RETRIES,
            pure=False,
        )
        self._tasks[future.key] = (future, member, address)  # a callback would need a thread, which an exit refuses

    def _hear(self, seconds: float) -> None:
        """Take what has ended, and wait for a message, so long at most; the last one of a run comes before its end."""
        for future, _, _ in [*self._tasks.values()]:
            if future.done():
                self._take(future)
        with suppress(queue.Empty):
            message = self._inbox.get(timeout=SOON_SECONDS if time.monotonic() < self._soon else seconds)
            if "steps" in message:
                self._add(message)
            else:
                self._soon = time.monotonic() + LOOK_SECONDS

    def _add(self, message: Mapping[str, Any]) -> None:
        """Add the steps that came back of a run; one that begins anew leaves the earlier attempt cut off."""
        member = next((member for _, member, _ in self._tasks.values() if member.key == message["member"]), None)
        if member is None:
            return
        new, kept = pickle.loads(message["steps"]), self._kept.get(member.key)
        if message["from"] == 0:
            if kept is not None:
                kept.leave()
            self._kept[member.key] = RecordedMember(member, message["attempt"], new, self._work)
        elif kept is not None and kept.attempt == message["attempt"]:
            kept.extend(message["from"], new)

    def _take(self, future: Any) -> None:
        """Take the result of a task, and let the cluster forget it."""
        _, member, _ = self._tasks.pop(future.key)
        kept, result, error = self._kept.pop(member.key, None), None, None
        with suppress(Exception):  # the worker was lost with the result
            result = future.result(RESULT_SECONDS) if future.status == "finished" else None
            error = future.exception(RESULT_SECONDS) if future.status == "error" else None
        future.release()
        if kept is not None and (result is None or kept.attempt != result[0]):
            kept.leave()
            kept = None
        if result is not None:
            self.ended += 1
            self._hand_out()  # before the disk is waited for
            attempt, trace, results = result
            kept = kept or RecordedMember(member, attempt, trace, self._work)
            self._work.ended(member, kept.finish(trace, results))
        elif error is not None:
            self._work.ended(member, MemberOutcome(member.key, "failed", f"The cluster gave up: {message_of(error)}"))
        else:
            self._hand_out_again(member)

    def _begin_anew(self, key: str) -> None:
        """Hand out again what a lost worker was solving."""
        future, member, _ = self._tasks.pop(key)
        self._client.cancel([future], force=True)
        kept = self._kept.pop(member.key, None)
        if kept is not None:
            kept.leave()
        self._hand_out_again(member)

    def _hand_out_again(self, member: Member) -> None:
        if not self._work.queue.again(member):
            self._work.ended(member, MemberOutcome(member.key, "failed", LOST))

    def _wind_up(self) -> None:
        """Wait a moment for runs that were asked to end."""
        self._pass_on()
        until = time.monotonic() + PATIENCE_SECONDS
        while self._tasks and time.monotonic() < until:
            self._hear(LOOK_SECONDS)


# What a worker of a Dask cluster does: solve one member, say once a second what is new, and hear what is asked for.

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
        messages.say({})
        with _lock:
            _commands[topic].remove(command)


class _Messages:
    """The steps of one run, sent in parts: the first has the trace, later ones what has been added."""

    def __init__(self, key: str, topic: str) -> None:
        self._key, self._topic = key, topic
        self.attempt = secrets.token_hex(8)
        self._sent, self._due = 0, time.monotonic() + EVERY_SECONDS

    def stepped(self, trace: Trace) -> None:
        if time.monotonic() < self._due or trace.status != "running":
            return
        self._due = time.monotonic() + EVERY_SECONDS
        start, self._sent = self._sent, len(trace)
        new = [(trace[t], trace.seconds_at(t), trace.split_at(t)) for t in range(start, self._sent)] if start else trace
        self.say({"member": self._key, "attempt": self.attempt, "from": start, "steps": pickle.dumps(new)})

    def say(self, message: Mapping[str, Any]) -> None:
        from distributed import get_worker  # here, as all other modules import without the extra

        get_worker().log_event(self._topic, message)
