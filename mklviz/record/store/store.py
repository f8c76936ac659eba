"""A folder of runs that cannot be lost: what a process records, and what it finds there."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from mklviz.errors import MklvizError
from mklviz.quoting import said_by
from mklviz.record.store.folder import ABOUT, read_json, write_json
from mklviz.record.store.head import RunHead, new_id
from mklviz.record.store.index import Index
from mklviz.record.store.machine import this_machine
from mklviz.record.store.reading import read_run
from mklviz.record.store.recorder import Recorder, head_of
from mklviz.record.store.recording import Recording
from mklviz.record.store.stored import StoredRun, run_in
from mklviz.record.store.writer import WRITER
from mklviz.record.trace import Trace

__all__ = ["Store"]

_log = logging.getLogger(__name__)
RUNS = "runs"
LOOK_SECONDS = 1.0  # between two looks for what others have changed
SETTLED = 3 * 10**9  # nanoseconds after which a folder's time of change tells later changes apart on every disk


class Store:
    """Runs in a folder, which any number of processes may write to at the same time.

    What a bad disk does not take stays in memory, is tried again, and `trouble` says so in a sentence.

    Attributes
    ----------
    folder : Path
        Where the runs are.
    trouble : str
        "" where all is well.
    enabled : bool
        Whether new races are recorded.
    """

    def __init__(self, folder: Path, enabled: bool = True) -> None:
        self.folder, self.enabled = folder, enabled
        self.trouble = "" if enabled else "The store is switched off: runs are not kept."
        self._runs = folder / RUNS
        self._index = Index()
        self._live: dict[str, Recorder] = {}
        self._lock = threading.RLock()
        self._revision = 0
        self._looked, self._runs_changed = -LOOK_SECONDS, -1
        if enabled:
            self._make()

    def _make(self) -> None:
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._said(error)

    @property
    def revision(self) -> int:
        """A number that grows whenever `runs` may answer something else; it may be asked for every second."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._look()
        return self._revision

    # -- recording

    def record(self, traces: Mapping[str, Trace], head: RunHead) -> Recording:
        """Record the runs of a race from now on, in a thread that never makes them wait.

        Parameters
        ----------
        traces : mapping
            The traces, which may grow, by their keys in the race.
        head : RunHead
            What they share.
        """
        shared = replace(head, race=head.race or new_id(), machine=this_machine() if self.enabled else head.machine)

        def begin(key: str, trace: Trace) -> Recorder | None:
            return self._follow(key, trace, shared) if self.enabled else None

        recording = Recording(shared.race, begin, self._flush)
        for key, trace in traces.items():
            recording.add(key, trace)
        return recording

    def _follow(self, key: str, trace: Trace, shared: RunHead) -> Recorder:
        run_id = new_id(trace.solver)
        recorder = Recorder(self._runs / run_id, head_of(run_id, key, trace, shared.to_dict()), trace)
        with self._lock:
            self._live[run_id] = recorder
            self._revision += 1
        WRITER.follow(recorder, self._said)
        return recorder

    def _flush(self, recorders: Sequence[Recorder]) -> None:
        for recorder in recorders:
            WRITER.follow(recorder, self._said)  # what has ended may have results to add
        WRITER.flush(recorders)
        self._look()

    def _said(self, error: OSError | None) -> None:
        """Hear of the disk whether it takes what is written."""
        trouble = "" if error is None else f"Runs are in memory only: {said_by(error)}."
        if trouble != self.trouble:
            self.trouble = trouble
            self._revision += 1

    # -- reading

    def runs(
        self,
        where: str = "",
        order: str = "-created",
        limit: int | None = None,
        deleted: bool = False,
        owner: str | None = None,
    ) -> list[StoredRun]:
        """Return the runs that are asked for.

        Parameters
        ----------
        where : str
            Words that must all occur in name, note, tags, recipe, solver, data, problem or lesson, and conditions:
            ``solver:level data:sonar status:converged tag:thesis lesson:... made:dashboard sweep:KEY member:KEY
            race:KEY run:KEY gap<1e-3 svm<100 seconds>1 since:2026-11-01 pinned:yes``; quotation marks for blanks.
        order : str
            A field of `StoredRun`, with a minus sign from the largest to the least.
        limit : int, optional
            How many at most.
        deleted : bool
            Whether those are asked for that have been deleted, instead of the others.
        owner : str, optional
            Whose runs; everybody's by default.

        Raises
        ------
        MklvizError
            If a condition cannot be understood; the sentence says which.
        """
        self._look()
        also = f"deleted IS {'NOT ' if deleted else ''}NULL" + (" AND owner = ?" if owner is not None else "")
        return self._index.runs(where, order, limit, also, () if owner is None else (owner,))

    def finished(self, members: Iterable[str]) -> dict[str, str]:
        """Return the runs of a sweep's members that need no repetition, by the members' keys."""
        wanted = set(members)
        ended = "member != '' AND deleted IS NULL AND status IN ('converged', 'precision', 'rule', 'limit')"
        self._look()
        found = self._index.runs("", "created", None, ended)
        return {run.member: run.id for run in found if run.member in wanted}

    def trace(self, run_id: str) -> Trace:
        """Return the trace of a run, which still grows where the run is going on in this process.

        Raises `MklvizError` if there is no such run, or nothing of it can be read.
        """
        recorder = self._live.get(run_id)
        return recorder.trace if recorder is not None else read_run(self._runs / run_id)

    def traces(self, race_id: str) -> dict[str, Trace]:
        """Return the traces of a race by their keys in it, or raise `MklvizError` where there is none."""
        return {run.key: self.trace(run.id) for run in self._race(race_id)}

    def _race(self, race_id: str) -> list[StoredRun]:
        self._look()
        found = self._index.runs("", "created", None, "race = ?", (race_id,))
        if not found:
            raise MklvizError(f"There is no race {race_id} in the store.")
        return found

    @property
    def size(self) -> int:
        """Bytes that all runs take."""
        self._look()
        return self._index.size()

    # -- what people say of runs

    def describe(
        self,
        race_id: str,
        *,
        name: str | None = None,
        note: str | None = None,
        tags: Iterable[str] | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Change what is said of a race; what is None stays."""
        given = {"name": name, "note": note, "tags": None if tags is None else list(tags), "pinned": pinned}
        self._say(race_id, {key: value for key, value in given.items() if value is not None})

    def delete(self, race_id: str) -> None:
        """Delete a race, which can be undone for a day."""
        self._say(race_id, {"deleted": time.time()})

    def restore(self, race_id: str) -> None:
        """Undo `delete`."""
        self._say(race_id, {"deleted": None})

    def _say(self, race_id: str, said: Mapping[str, Any]) -> None:
        for run in self._race(race_id):
            recorder = self._live.get(run.id)
            folder = self._runs / run.id
            about = {**(recorder.about if recorder else read_json(folder / ABOUT)), **said, "changed": time.time()}
            if recorder is not None:
                recorder.about = about
            try:
                write_json(folder / ABOUT, about)
            except OSError as error:
                self._said(error)
                if recorder is None:
                    raise MklvizError(f"The store cannot be written to: {said_by(error)}.") from error
        with suppress(OSError):
            os.utime(self._runs)
        self._look()

    # -- looking for changes

    def _look(self) -> None:
        """Bring the index to what the folders state, and the runs of this process."""
        with self._lock:
            self._looked = time.monotonic()
            live = {run_id: recorder for run_id, recorder in self._live.items() if not recorder.gone}
            rows = [(recorder.run, 0) for recorder in live.values()]
            self._live = {run_id: recorder for run_id, recorder in live.items() if not recorder.done}
            known = self._index.changes()
            there = self._folders()
            changed = [run_id for run_id, at in there.items() if known.get(run_id) != at and run_id not in live]
            rows += [
                (run, there[run_id] if time.time_ns() - there[run_id] > SETTLED else 0)
                for run_id in changed
                if (run := run_in(self._runs / run_id))
            ]
            missing = [] if self.trouble else [run_id for run_id in known if run_id not in there and run_id not in live]
            if rows or missing:
                self._index.put(rows)
                self._index.remove(missing)
                self._revision += 1

    def _folders(self) -> dict[str, int]:
        """Return when each run's folder was changed, in nanoseconds."""
        try:
            with os.scandir(self._runs) as entries:
                found = [entry for entry in entries if not entry.name.startswith(".")]
                return {entry.name: entry.stat().st_mtime_ns for entry in found}
        except OSError as error:
            if self.enabled:
                self._said(error)
            return {}
