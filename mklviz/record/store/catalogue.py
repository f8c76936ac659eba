"""All runs that a process knows of: those in the folders, by the index, and those it is recording itself.

Whatever changes in a run's folder changes that folder's time. A change of a run touches the folder above as well,
so that as long as that one stays as it was, only runs that are going on elsewhere are looked at.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mklviz.errors import MklvizError
from mklviz.quoting import message_of
from mklviz.record.store.folder import LOCKS, NEWER, FolderLock, of_disk, of_index
from mklviz.record.store.index import Index, NewerIndex, copied_index, opened_index, remove_index
from mklviz.record.store.recorder import Recorder
from mklviz.record.store.stored import DAMAGED, StoredRun, damaged, is_cut_off, is_id, run_in

RUNS = "runs"
SETTLED = 3 * 10**9  # nanoseconds after which a folder's time tells later changes apart, on every kind of disk
LOOK_AT_ALL_SECONDS = 20.0  # for what was copied in by others, and touched nothing above


class RunsFolder:
    """The folders of all runs of a store."""

    def __init__(self, store: Path) -> None:
        self._store, self.path = store, store / RUNS
        self._at, self._looked = -1, -LOOK_AT_ALL_SECONDS
        self._device: int | None = None  # that the store was on

    def make(self) -> None:
        """Make the folder where it is missing; not where a disk has gone that it was on."""
        if not self.path.is_dir():
            above = next(folder for folder in self._store.parents if folder.exists())
            if self._device not in (None, above.stat().st_dev):
                raise FileNotFoundError(str(self.path))
            self.path.mkdir(parents=True, exist_ok=True)
        if not os.access(self.path, os.W_OK):
            raise PermissionError(str(self.path))
        self._device = self.path.stat().st_dev

    def touch(self) -> None:
        """Let other processes know that a run has changed."""
        with suppress(OSError):
            os.utime(self.path)

    def forget(self) -> None:
        """Look at all runs the next time."""
        self._at = -1

    def changes(self, known: Mapping[str, int], going_on: Collection[str]) -> tuple[dict[str, int], set[str]]:
        """Return runs with when their folders were changed, in nanoseconds, 0 where more may follow, and missing runs.

        `known`: when each run's folder was changed; `going_on`: runs that others write.
        """
        now, begun = time.time_ns(), time.monotonic()
        at = self.path.stat().st_mtime_ns
        if at == self._at and begun - self._looked < LOOK_AT_ALL_SECONDS:
            there = self._times({*going_on, *(run_id for run_id, changed in known.items() if not changed)})
            missing: set[str] = set()
        else:
            there = self._times(filter(is_id, os.listdir(self.path)))
            missing = set(known) - set(there)
            self._at, self._looked = (at if now - at > SETTLED else -1), begun
        changed = {
            run_id: time_ns if now - time_ns > SETTLED else 0
            for run_id, time_ns in there.items()
            if known.get(run_id) != time_ns
        }
        return changed, missing

    def _times(self, run_ids: Iterable[str]) -> dict[str, int]:
        times = {}
        for run_id in run_ids:
            with suppress(OSError):  # it has just gone
                times[run_id] = (self.path / run_id).stat().st_mtime_ns
        return times


# -- the runs

_log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0  # between two looks for what others have changed
PATIENCE = 20  # times as long as a look takes, at least until the next one that is not asked for
INDEX, LOCK = "index.sqlite", "owner.lock"


class Catalogue:
    """The runs of one store; where no folder `exists`, runs are known while they are recorded."""

    def __init__(self, folder: Path, exists: bool) -> None:
        self.folder, self._exists = folder, exists
        self.runs_folder = RunsFolder(folder)
        self.live: dict[str, Recorder] = {}
        self.revision = 0
        self.troubles: dict[str, str] = {}
        self._unreadable: dict[str, str] = {}  # runs whose steps could not be read, and why
        self._lock = threading.RLock()
        self._owner = FolderLock(folder / LOCK)
        self._life: tuple[str, FolderLock] | None = None
        self._process = os.getpid()
        self._look_again, self._going_on = 0.0, frozenset[str]()
        self._index: Index | None = None
        self._parents: Index | None = None

    @property
    def owned(self) -> bool:
        """Whether this process owns the store."""
        return self._owner.held

    def say(self, what: str, trouble: str) -> None:
        """Say what is wrong, or "" that it no longer is."""
        if self.troubles.get(what, "") != trouble:
            self.troubles[what] = trouble
            self.revision += 1

    def add(self, recorder: Recorder) -> None:
        """Know of a run that this process records."""
        with self._lock:
            self.live[recorder.folder.name] = recorder
            self.revision += 1

    @property
    def writer(self) -> str:
        """The name of the lock by which others see that this process lives; "" where the disk knows no locks."""
        with self._lock, suppress(OSError):
            if self._life is None or not self._life[1].held:
                name = secrets.token_hex(8)
                self._life = name, FolderLock(self.folder / LOCKS / name)
                (self.folder / LOCKS).mkdir(exist_ok=True)
                self._life[1].take()
        return self._life[0] if self._life is not None and self._life[1].held else ""

    def runs(self, *asked: Any) -> list[StoredRun]:
        """Return runs as `Index.runs` does, as of now."""
        with self._lock:
            self.look()
            return self._indexed().runs(*asked)

    @property
    def size(self) -> int:
        """Bytes that all runs take."""
        with self._lock:
            self.look()
            return self._indexed().size()

    def look_now_and_then(self) -> None:
        """Look for what others have changed, unless that was a moment ago."""
        if time.monotonic() >= self._look_again:
            self.look()

    def look(self) -> None:
        """Bring the index to what the folders state, and to the runs that this process records."""
        with self._lock:
            begun = time.monotonic()
            try:
                self._renew()
            except sqlite3.Error as error:
                _log.warning("The index of %s is made anew: %s", self.folder, error)
                self._give_index_up(error)
                self._renew()
            now = time.monotonic()
            self._look_again = now + max(LOOK_SECONDS, PATIENCE * (now - begun))

    def _renew(self) -> None:
        index = self._indexed()
        live = {run_id: each for run_id, each in self.live.items() if not (each.gone or each.done)}
        rows = [(recorder.run, 0) for recorder in live.values()]
        known = {run_id: at for run_id, at in index.changes().items() if run_id not in live}
        others = [run_id for run_id in index.going_on() if run_id not in live]
        gone = {run_id: known.get(run_id, 0) for run_id in others if is_cut_off(self.runs_folder.path / run_id)}
        changed, missing = dict[str, int](), set[str]()
        try:
            if self._exists:
                changed, missing = self.runs_folder.changes(known, self._going_on)
            self.say("reading", "")
            changed = {**gone, **changed} if self._exists else {}
        except OSError as error:  # what the index knows may come back with its disk
            self.say("reading", of_disk(error, self.folder))
        read = ((self._read(run_id), at) for run_id, at in changed.items() if run_id not in live)
        rows += [(run, at) for run, at in read if run is not None]
        index.remove(missing)
        news = index.put(rows)
        self.live = live
        going_on = index.going_on()
        if news or missing or going_on != self._going_on:
            self.revision += 1
        self._going_on = going_on

    def _read(self, run_id: str) -> StoredRun | None:
        """Return what a run's folder states; whatever is in it, other runs are listed all the same."""
        why = self._unreadable.get(run_id, "")
        try:
            run = run_in(self.runs_folder.path / run_id)
            return damaged(run, why) if run is not None and why else run
        except OSError:  # the disk's fault, and not the run's: it is looked at again
            return None
        except Exception as error:
            _log.warning("The run %s cannot be listed: %s", run_id, message_of(error))
            return damaged(StoredRun(run_id, run_id), message_of(error))

    def mark_damaged(self, run_id: str, error: MklvizError) -> None:
        """Show a run as damaged whose steps could not be read, unless that was for lack of memory or the disk's."""
        if isinstance(error.__cause__, (OSError, MemoryError)):
            return
        self._mark(run_id, message_of(error).rstrip("."))

    def mark_whole(self, run_id: str) -> None:
        """Show a run whose steps could be read as it is, even if they once could not be."""
        with self._lock:
            shown = self._indexed().runs(also="id = ?", values=(run_id,))
            if any(run.status == DAMAGED for run in shown):
                self._mark(run_id, "")

    def _mark(self, run_id: str, why: str) -> None:
        with self._lock:
            self._unreadable[run_id] = why
            run, at = self._read(run_id), self._indexed().changes().get(run_id, 0)
            self._indexed().put([] if run is None else [(run, at)])
            self.revision += 1

    def _indexed(self) -> Index:
        """Return the index: the file's of the owner, and copies in memory for others, as for forks of the owner."""
        if self._process != os.getpid():
            # what the parent has open must not be closed here: SQLite would tidy up after it
            self._parents, self._index = self._index, None
            self._process, self.live = os.getpid(), {}
            self._owner.leave()
        if self._index is None or (not self._index.kept and self._may_own()):
            self._index = self._open()
            self.runs_folder.forget()
        return self._index

    def _may_own(self) -> bool:
        """Return whether a process that did not own the store now does: the owner has ended."""
        return self._exists and not self.troubles.get("index") and not self._owner.held and self._owner.take()

    def _open(self) -> Index:
        path = self.folder / INDEX
        if not self._exists:
            return Index()
        if not self._owner.take():
            return Index(copied_index(path) if path.exists() else None)
        try:
            index = Index(opened_index(path), kept=True)
            self.say("index", "")
            return index
        except NewerIndex:
            self.say("index", NEWER)
        except (sqlite3.Error, OSError) as error:
            self.say("index", of_index(error, path))
        self._owner.leave()
        return Index()

    def _give_index_up(self, error: sqlite3.Error) -> None:
        """Make a damaged index anew, and do without a file where the disk does not take it or others lock it."""
        kept = self._index is not None and self._index.kept
        if self._index is not None:
            self._index.close()
        if kept and isinstance(error, sqlite3.OperationalError):
            self.say("index", of_index(error, self.folder / INDEX))
            self._owner.leave()
            self._index = Index()
            self.runs_folder.forget()
            return
        if kept:
            remove_index(self.folder / INDEX)
        self._index = None

    def close(self) -> None:
        """Let go of the index and of the store."""
        with self._lock:
            if self._index is not None and self._process == os.getpid():
                self._index.close()
            self._index = None
            self._owner.leave()
            if self._life is not None:
                self._life[1].leave()
