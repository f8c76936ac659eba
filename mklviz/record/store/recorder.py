"""Writes one run into its folder while its trace grows in another thread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mklviz.record.store.folder import ABOUT, END, HEAD, read_json, write_json, write_seen
from mklviz.record.store.frames import numbers_at, write_frame
from mklviz.record.store.head import RunHead
from mklviz.record.store.stored import CUT_OFF, StoredRun, run_of
from mklviz.record.trace import Trace
from mklviz.record.words import number_in

__all__ = ["Recorder", "head_of"]

SEEN_SECONDS = 5.0  # between two signs of life


def head_of(run_id: str, key: str, trace: Trace, shared: RunHead) -> dict[str, Any]:
    """Return what stands in a run's head."""
    words = ("solver", "label", "options", "problem", "recipe", "versions", "descends")
    stated = {name: getattr(trace, name) for name in words}
    stated["origin"] = None if trace.origin is None else trace.origin.to_dict()
    return {"version": 1, "id": run_id, "key": key, "created": time.time(), **asdict(shared), "trace": stated}


class Recorder:
    """Writes one run. It is called by one thread at a time, and what it is told meanwhile it looks at when called.

    `folder`: of the run; `head`: what stands in its head; `make`: makes the folder above, or raises `OSError`.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any], trace: Trace, make: Callable[[], None]) -> None:
        self.folder, self.trace, self.head, self._make = folder, trace, head, make
        self.results: Mapping[str, Any] = {}
        self.left = ""  # why a run that has not ended is not followed
        self.done = False  # all of it is on the disk
        self.about: dict[str, Any] = {}  # what a person has said of it; while the disk is away, here alone
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
        return run_of(self.folder.name, self.head, self._end, numbers, self.said, seen, self._bytes)

    @property
    def kept(self) -> bool:
        """Whether all of it stands on the disk, with its results."""
        return self.done and self._end["results"] == self.results

    @property
    def told(self) -> dict[str, dict[str, Any]]:
        """What a store knows of the run beside its steps: its head, its end if it has come to one, and what is said."""
        return {"head": dict(self.head), "end": self._end, "about": self.said}

    @property
    def said(self) -> dict[str, Any]:
        """What people say of the run, here or in another process."""
        theirs = read_json(self.folder / ABOUT)
        return max(theirs, self.about, key=lambda about: number_in(about, "changed"))

    def write(self) -> None:
        """Write all there is: the steps that are new, and how the run ended.

        Raises `OSError` if the disk does not take it; nothing is lost then, and it can be called again.
        """
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
