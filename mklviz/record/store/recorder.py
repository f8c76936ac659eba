"""Runs are written into their folders while their traces grow: one by a recorder, those of a race as a recording.

One thread writes the runs of all races of this process, as long as any is going on. A run never waits for it. What the
disk does not take stays in memory and is tried again.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mklviz.record.run_facts import number_in
from mklviz.record.store.folder import ABOUT, END, HEAD, read_json, write_json, write_seen
from mklviz.record.store.frames import numbers_at, write_frame
from mklviz.record.store.stored import CUT_OFF, RunHead, StoredRun, run_of
from mklviz.record.trace import Trace

SEEN_SECONDS = 5.0  # between two signs of life


def head_of(run_id: str, key: str, trace: Trace, shared: RunHead) -> dict[str, Any]:
    """Return what stands in a run's head."""
    return {"version": 1, "id": run_id, "key": key, "created": time.time(), **asdict(shared), "trace": trace.header}


class Recorder:
    """Writes one run into `folder`, below one that `make` makes; it is called by one thread at a time."""

    def __init__(self, folder: Path, head: Mapping[str, Any], trace: Trace, make: Callable[[], None]) -> None:
        self.folder, self.trace, self.head, self._make = folder, trace, head, make
        self.results: Mapping[str, Any] = {}
        self.left = ""  # why a run that has not ended is not followed
        self.done = False  # all of it is on the disk
        self.about: dict[str, Any] = {}  # what a person wrote of it; while the disk is away, here alone
        self.gone = False  # deleted for good
        self._end: dict[str, Any] = {}
        self._begun = False
        self._written = self._bytes = 0  # steps on the disk, and what they take there
        self._last_seen = -math.inf
        self._seen = time.time()

    @property
    def run(self) -> StoredRun:
        """What a table says of the run, from memory."""
        length = len(self.trace)
        seen = self._seen if self.done else time.time() // SEEN_SECONDS * SEEN_SECONDS
        numbers = numbers_at(self.trace, length)
        return run_of(self.folder.name, self.head, self._end, numbers, self.newest_about, seen, self._bytes)

    @property
    def kept(self) -> bool:
        """Whether all of it stands on the disk, with its results."""
        return self.done and self._end["results"] == self.results

    @property
    def stated(self) -> dict[str, dict[str, Any]]:
        """What a store knows of the run beside its steps: its head, its end if there is one, and what people wrote."""
        return {"head": dict(self.head), "end": self._end, "about": self.newest_about}

    @property
    def newest_about(self) -> dict[str, Any]:
        """What people say of the run, here or in another process."""
        theirs = read_json(self.folder / ABOUT)
        return max(theirs, self.about, key=lambda about: number_in(about, "changed"))

    def write(self) -> None:
        """Write all there is: the steps that are new, and how the run ended."""
        if self.gone:
            return
        if self.done:
            self._tell_results()
            return
        ended = self.trace.status != "running"  # before the length, as every reader must
        length, now = len(self.trace), time.monotonic()
        if ended or self.left:
            self._end = self._ending(ended, length)  # known from now on, whether or not the disk takes it
        self._begin()
        while self._written < length:
            self._written, size = write_frame(self.folder, self.trace, self._written, length)
            self._bytes += size
        if self._end:
            self._bytes += write_json(self.folder / END, self._end)
            self._seen, self.done = time.time(), True
        elif now - self._last_seen >= SEEN_SECONDS:
            self._seen, self._last_seen = write_seen(self.folder), now

    def _tell_results(self) -> None:
        """Add results that became known when the run had ended."""
        if self.results != self._end["results"]:
            end = {**self._end, "results": self.results}
            write_json(self.folder / END, end)
            self._end = end  # only now, so that what a full disk does not take is tried again

    def _begin(self) -> None:
        """Make the folder and write the head; anew where the folder has gone: the trace is all in memory."""
        if self._begun and (self.folder / HEAD).exists():
            return
        self._begun, self._written, self._bytes = False, 0, 0
        self._make()
        self.folder.mkdir(exist_ok=True)
        self._bytes += write_json(self.folder / HEAD, self.head)
        if self.about:
            write_json(self.folder / ABOUT, self.about)
        self._begun = True

    def _ending(self, ended: bool, length: int) -> dict[str, Any]:
        """Return how the run ended, or that it was left."""
        return {
            "status": self.trace.status if ended else CUT_OFF,
            "reason": self.trace.reason if ended else self.left,
            "ended": self._end.get("ended", time.time()),
            "results": self.results,
            "numbers": numbers_at(self.trace, length),
        }


_LEFT = "The run was not followed to its end."


class Recording:
    """What `Store.record` has begun; `race` is the key of the race."""

    def __init__(
        self,
        race: str,
        begin: Callable[[str, Trace, Recorder | None], Recorder | None],
        flush: Callable[[Sequence[Recorder]], None],
    ) -> None:
        self.race = race
        self._begin, self._flush = begin, flush
        self._recorders: dict[str, Recorder] = {}

    @property
    def ids(self) -> dict[str, str]:
        """The keys of the runs in the store by those in the race; none where races are not kept."""
        return {key: recorder.folder.name for key, recorder in self._recorders.items()}

    def add(self, key: str, trace: Trace) -> None:
        """Record one more run of the race, such as a branch."""
        recorder = self._begin(key, trace, next(iter(self._recorders.values()), None))
        if recorder is not None:
            self._recorders[key] = recorder

    @property
    def kept(self) -> bool:
        """Whether all of it stands on the disk, with its results."""
        return all(recorder.kept for recorder in self._recorders.values())

    def finish(self, results: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Wait until all stands on the disk, with results by the runs' keys, ``{"level": {"score": 0.91}}``."""
        for key, known in (results or {}).items():
            if key in self._recorders:
                self._recorders[key].results = dict(known)
        self._flush([*self._recorders.values()])

    def close(self) -> None:
        """Follow the race no more: runs that have not ended are cut off, with what they have so far."""
        for recorder in self._recorders.values():
            recorder.left = _LEFT
        self._flush([*self._recorders.values()])

    def give_up(self) -> None:
        """Let go of what the disk has not taken."""
        for recorder in self._recorders.values():
            recorder.gone = True


# -- the thread

_log = logging.getLogger(__name__)
FRAME_SECONDS = 0.7  # between two frames of a run: with the time that writing takes, less than one second
SHARE = 0.04  # of a processor that writing may take, where so many runs go on that it would take more
AGAIN_SECONDS = 2.0  # between two attempts on a disk that has refused
_ENDED = "The program ended while the run was going on."

Report = Callable[[OSError | None], None]


class Writer:
    """Calls all recorders in turn, in one daemon thread."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of CPU that writing has taken
        self._start_anew()

    def _start_anew(self) -> None:
        """Have no runs and no thread: after a fork, those of the parent are the parent's."""
        self._lock = threading.RLock()  # held while recorders write
        self._guard = threading.Lock()
        self._followed: dict[Recorder, Report] = {}
        self._again: dict[Recorder, float] = {}
        self._thread: threading.Thread | None = None

    def follow(self, recorder: Recorder, report: Report) -> None:
        """Write a run until it has ended; `report` hears None when the disk took it, and the disk's error otherwise."""
        with self._guard:
            self._followed[recorder] = report
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="mklviz-store", daemon=True)
                self._thread.start()

    def flush(self, recorders: Iterable[Recorder], report: Report) -> None:
        """Write all there is of some runs now, in the calling thread; also results of those that are done."""
        for recorder in recorders:
            self._write(recorder, report)

    def _loop(self) -> None:
        wait = 0.0  # the heads at once
        while True:
            with self._guard:
                if not self._followed:
                    self._thread = None
                    return
            time.sleep(wait)
            with self._guard:
                begun = time.monotonic()
                due = [pair for pair in self._followed.items() if begun >= self._again.get(pair[0], 0.0)]
            spent = time.thread_time()
            for recorder, report in due:
                self._write(recorder, report)
            wait = max(FRAME_SECONDS - (time.monotonic() - begun), (time.thread_time() - spent) / SHARE, 0.05)

    def _write(self, recorder: Recorder, report: Report) -> None:
        with self._lock:
            begun = time.thread_time()
            try:
                recorder.write()
            except OSError as error:
                self._again[recorder] = time.monotonic() + AGAIN_SECONDS
                self.follow(recorder, report)
                report(error)
                return
            except Exception:  # such as options that no file can hold: the run itself is not to suffer from it
                _log.exception("The run %s cannot be recorded", recorder.folder.name)
                recorder.gone = True
            finally:
                self.seconds += time.thread_time() - begun
        report(None)
        if recorder.done or recorder.gone:
            with self._guard:
                self._followed.pop(recorder, None)
                self._again.pop(recorder, None)

    def leave_all(self) -> None:
        """Write what there is of all runs, as the process ends; those that go on are cut off."""
        with self._guard:
            followed = list(self._followed.items())
        for recorder, report in followed:
            recorder.left = recorder.left or _ENDED
            self._write(recorder, report)


WRITER = Writer()
atexit.register(WRITER.leave_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WRITER._start_anew)
