"""The thread that writes the runs of all races of this process, as long as any is going on.

A run never waits for it. What the disk does not take stays in memory and is tried again.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable

from mklviz.record.store.recorder import Recorder

__all__ = ["WRITER", "Writer"]

_log = logging.getLogger(__name__)
FRAME_SECONDS = 0.7  # between two frames of a run: with the time that writing takes, less than one second
SHARE = 0.04  # of a processor that writing may take, where so many runs go on that it would take more
AGAIN_SECONDS = 2.0  # between two attempts on a disk that has refused
_ENDED = "The program ended while the run was going on."

Said = Callable[[OSError | None], None]


class Writer:
    """Calls all recorders in turn, in one daemon thread."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of CPU that writing has taken
        self._start_anew()

    def _start_anew(self) -> None:
        """Have no runs and no thread: after a fork, those of the parent are the parent's."""
        self._lock = threading.RLock()  # held while recorders write
        self._guard = threading.Lock()
        self._followed: dict[Recorder, Said] = {}
        self._again: dict[Recorder, float] = {}
        self._thread: threading.Thread | None = None

    def follow(self, recorder: Recorder, report: Said) -> None:
        """Write a run until it has ended; `said` hears None when the disk took it, and what the disk said otherwise."""
        with self._guard:
            self._followed[recorder] = report
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="mklviz-store", daemon=True)
                self._thread.start()

    def flush(self, recorders: Iterable[Recorder], report: Said) -> None:
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

    def _write(self, recorder: Recorder, report: Said) -> None:
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
