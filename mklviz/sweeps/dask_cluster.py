"""A Dask cluster: each member is a task, its steps come back while it runs, and its trace when it has ended.

Workers need no disk in common with this machine, which writes what comes back. A task whose worker was lost is begun
anew on another one. Kernels are built on the workers: a worker gets the members on the same kernels one after another.
"""

from __future__ import annotations

import importlib
import logging
import pickle
import queue
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mklviz.errors import MissingPackage, MklvizError
from mklviz.quoting import said_by
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.record.store import Recording
from mklviz.record.store.folder import NOT_TAKEN
from mklviz.sweeps.command import CANCEL, GO_ON
from mklviz.sweeps.engine import Work
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome

__all__ = ["DaskCluster", "import_distributed"]

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 0.1
WORKERS_SECONDS = 1.0  # between two looks at which workers there are
PATIENCE_SECONDS = 3.0
RETRIES = 2


def import_distributed() -> Any:
    """Return the package; as it is imported it turns off loggers of Tornado and Bokeh, which stay as they were."""
    loggers = [logging.getLogger(name) for name in ("tornado", "tornado.application", "bokeh")]
    before = [(logger, logger.level, logger.propagate, logger.handlers[:]) for logger in loggers]
    distributed = importlib.import_module("distributed")
    for logger, level, propagate, handlers in before:
        logger.setLevel(level)
        logger.propagate, logger.handlers[:] = propagate, handlers
    return distributed


class DaskCluster:
    """Solve the members of a sweep on a Dask cluster, whose workers have mklviz installed.

    Parameters
    ----------
    cluster : str or distributed.Client
        Address of the scheduler, such as ``"tcp://head:8786"``, or a client that is connected to it.

    Raises
    ------
    MissingPackage
        If distributed is not installed.
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

    def share(self, members: Sequence[Member]) -> tuple[Member, ...]:
        """Return all of them."""
        return tuple(members)

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""
        with self._connected() as client:
            for threads in _ClusterTasks(client, work).run():
                self._threads = threads

    @contextmanager
    def _connected(self) -> Iterator[Any]:
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

        try:
            return Client(self.cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise MklvizError(
                f"There is no Dask scheduler at {self.cluster:.80}: {said_by(error) or 'there is no answer'}."
            ) from None


class _ClusterTasks:
    """The tasks of one sweep."""

    def __init__(self, client: Any, work: Work) -> None:
        self._client, self._work = client, work
        self._topic = f"mklviz-{secrets.token_hex(8)}"
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: dict[str, tuple[Any, Member, str]] = {}  # the future, its member and the worker it is meant for
        self._kept: dict[str, _ReturningRun] = {}  # by the member's key
        self._slots: dict[str, int] = {}  # threads by the worker's address
        self._word, self._due = GO_ON, 0.0

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
        self._due = time.monotonic() + WORKERS_SECONDS
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        slots = {address: int(worker["nthreads"]) for address, worker in known.items()}
        for address in set(self._slots) - set(slots):
            self._work.queue.leave(address)
        self._slots = slots

    def _pass_on(self) -> None:
        """Tell all workers what is asked for now."""
        from mklviz.sweeps.dask_worker import say

        word = self._work.command.word
        if word != self._word:
            self._word = word
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
        from mklviz.sweeps.dask_worker import solve_there

        self._work.begun(member)
        future = self._client.submit(
            solve_there,
            member,
            self._topic,
            self._word,
            key=f"{self._topic}-{member.key}-{secrets.token_hex(2)}",
            workers=[address],
            allow_other_workers=True,
            retries=RETRIES,
            pure=False,
        )
        self._tasks[future.key] = (future, member, address)
        future.add_done_callback(self._inbox.put)

    def _hear(self, seconds: float) -> None:
        """Wait for a message or the end of a task, so long at most."""
        try:
            heard = self._inbox.get(timeout=seconds)
        except queue.Empty:
            return
        if isinstance(heard, Mapping):
            self._add(heard)
        elif heard.key in self._tasks:
            self._take(heard)

    def _add(self, message: Mapping[str, Any]) -> None:
        """Add the steps that came back of a run; one that begins anew leaves the earlier attempt cut off."""
        member = next((member for _, member, _ in self._tasks.values() if member.key == message["member"]), None)
        if member is None:
            return
        new, kept = pickle.loads(message["steps"]), self._kept.get(member.key)
        if message["from"] == 0:
            if kept is not None:
                kept.leave()
            self._kept[member.key] = _ReturningRun(member, message["attempt"], new, self._work)
        elif kept is not None and kept.attempt == message["attempt"]:
            kept.extend(message["from"], new)

    def _take(self, future: Any) -> None:
        """Take the result of a task, and let the cluster forget it."""
        _, member, _ = self._tasks.pop(future.key)
        kept = self._kept.pop(member.key, None)
        status, error = future.status, None
        try:
            if status == "finished":
                attempt, trace, results = future.result()
                if kept is None or kept.attempt != attempt:
                    if kept is not None:
                        kept.leave()
                    kept = _ReturningRun(member, attempt, trace, self._work)
                self._work.ended(member, kept.finish(trace, results))
                return
            error = future.exception() if status == "error" else None
        except Exception as broken:  # its worker was lost with the result
            error = broken if status == "error" else None
        finally:
            future.release()
        if kept is not None:
            kept.leave()
        if error is not None or not self._work.queue.again(member):
            why = said_by(error) if error is not None else "its worker was lost"
            self._work.ended(member, MemberOutcome(member.key, "failed", f"The cluster gave up: {why}"))

    def _wind_up(self) -> None:
        """Wait a moment for runs that were asked to end."""
        self._pass_on()
        until = time.monotonic() + PATIENCE_SECONDS
        while self._tasks and time.monotonic() < until:
            self._hear(LOOK_SECONDS)


class _ReturningRun:
    """A run whose steps come back, as it is recorded here."""

    def __init__(self, member: Member, attempt: str, trace: Trace, work: Work) -> None:
        self.attempt = attempt
        self._member, self._trace = member, trace
        self._recording: Recording | None = None
        self._store = work.store
        if work.store is not None:
            self._recording = work.store.record({member.solver: trace}, work.head(member))

    def extend(self, start: int, steps: Sequence[tuple[Any, float, Mapping[str, float]]]) -> None:
        """Add steps, of which some may be there."""
        for iterate, seconds, split in steps[max(len(self._trace) - start, 0) :] if start <= len(self._trace) else ():
            self._trace.append(iterate, seconds, split or None)

    def finish(self, trace: Trace, results: Mapping[str, Any]) -> MemberOutcome:
        """Add what is missing, and say how the run ended."""
        if trace is not self._trace:
            self.extend(0, [(trace[t], trace.seconds_at(t), trace.split_at(t)) for t in range(len(trace))])
            self._trace.finish(Verdict(trace.status, trace.reason))
        outcome = MemberOutcome.of(self._member.key, trace, results)
        if self._recording is None or self._store is None:
            return outcome
        self._recording.finish({self._member.solver: results})
        unkept = "" if self._recording.kept else self._store.trouble or NOT_TAKEN
        return replace(outcome, run=self._recording.ids.get(self._member.solver, ""), unkept=unkept)

    def leave(self) -> None:
        """Leave the run cut off."""
        if self._recording is not None:
            self._recording.close()
