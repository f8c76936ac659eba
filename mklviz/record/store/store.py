"""A folder of runs that cannot be lost: what a process records, and what it finds there."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import platformdirs

from mklviz.errors import MklvizError
from mklviz.limits import NO_STORE, STORE
from mklviz.quoting import message_of, named, quote
from mklviz.record.archive import replacing
from mklviz.record.run_facts import MOST_VALUES, text_of
from mklviz.record.store.catalogue import RUNS, Catalogue
from mklviz.record.store.exchange import Merged, export_runs, import_runs, merge_runs, read_file
from mklviz.record.store.folder import ABOUT, LOCKS, SWITCHED_OFF, of_disk, read_json, write_json
from mklviz.record.store.frames import read_run, read_what_is_left
from mklviz.record.store.recorder import WRITER, Recorder, Recording, head_of
from mklviz.record.store.stored import DAMAGED, EVERYBODY, Asker, RunHead, StoredRun, new_id, run_in, this_machine
from mklviz.record.store.upkeep import (
    KEPT_BYTES,
    Cleaned,
    clear_leftovers,
    clear_locks,
    pack,
    remove,
    set_aside,
    settled,
    superfluous,
)
from mklviz.record.trace import Trace

_log = logging.getLogger(__name__)
MOST_NOTE = 10_000  # letters
UPKEEP_SECONDS = 60.0  # between two times that its owner packs and removes runs


class Store:
    """Runs in a folder, which any number of processes may write to at the same time.

    What a bad disk does not take stays in memory and is tried again; `trouble` says so meanwhile. A killed process
    loses what is younger than a second, and a power cut what the disk itself has not kept.

    `folder`: where the runs are; `enabled`: whether new races are recorded, which may be changed; `limit`: bytes that
    runs may take, the oldest unpinned ones going first; `owner`: whose runs are read, changed and recorded.
    """

    def __init__(self, folder: Path, exists: bool = True) -> None:
        self.folder, self.enabled, self.limit = folder, exists, KEPT_BYTES
        self.owner: Asker = EVERYBODY
        self._whole, self._exists = self, exists
        self._runs = folder / RUNS
        self._catalogue = Catalogue(folder, exists)
        self._upkept = -UPKEEP_SECONDS
        self._packed: set[str] = set()
        self._upkeep = threading.Lock()
        try:
            if exists:
                self._catalogue.runs_folder.make()
        except OSError as error:
            self._hear(error)

    def of(self, owner: Asker) -> Store:
        """Return this store as `owner` has it, with an `enabled` of its own: all that others have is not there."""
        seen = copy(self)
        seen.owner = owner
        return seen

    def _select(
        self,
        where: str = "",
        order: str = "created",
        limit: int | None = None,
        also: str = "1",
        values: tuple[Any, ...] = (),
    ) -> list[StoredRun]:
        """Ask the index, for whatever is read or done: of the owner's runs alone."""
        whose, name = self.owner.condition
        return self._catalogue.runs(where, order, limit, f"({also}) AND {whose}", (*values, *name))

    @property
    def trouble(self) -> str:
        """What is wrong with the store, in a sentence; "" where all is well."""
        if not self._exists:
            return SWITCHED_OFF
        troubles = self._catalogue.troubles
        return next(filter(None, map(troubles.get, ("writing", "reading", "index"))), "")  # runs at risk come first

    @property
    def not_kept(self) -> str:
        """Why runs that go on are in memory alone, in a sentence; "" where they are written."""
        return self._catalogue.troubles.get("writing", "") if self._exists else ""

    @property
    def revision(self) -> int:
        """A number that grows whenever `runs` may answer something else; it may be asked for every second."""
        self._catalogue.look_now_and_then()
        self._whole._keep_up()
        return self._catalogue.revision

    def record(self, traces: Mapping[str, Trace], head: RunHead) -> Recording:
        """Record the runs of a race from now on, in a thread that never makes them wait.

        `traces`: the traces, which may grow, by their keys in the race; `head`: what they share.
        """
        race = head.race if head.race and not self._is_anothers(head.race) else new_id()
        shared = replace(head, race=race, owner=self.owner.name or head.owner)
        recording = Recording(shared.race, partial(self._begin, shared), self._flush)
        for key, trace in traces.items():
            recording.add(key, trace)
        return recording

    def _begin(self, shared: RunHead, key: str, trace: Trace, other: Recorder | None) -> Recorder | None:
        """Begin to record a run beside another one of its race; None where races are not kept."""
        if not self.enabled:
            return None
        run_id = new_id(trace.solver)
        head = head_of(run_id, key, trace, replace(shared, machine=this_machine()))
        head["writer"] = self._catalogue.writer
        recorder = Recorder(self._runs / run_id, head, trace, self._catalogue.runs_folder.make)
        recorder.about = {} if other is None else other.newest_about  # a branch is called as its race is
        self._catalogue.add(recorder)
        WRITER.follow(recorder, self._hear)
        return recorder

    def _flush(self, recorders: Sequence[Recorder]) -> None:
        WRITER.flush(recorders, self._hear)
        self._catalogue.runs_folder.touch()
        self._whole._keep_up()

    def _hear(self, error: OSError | None) -> None:
        """Hear of the disk whether it takes what is written."""
        self._catalogue.say("writing", "" if error is None else of_disk(error, self.folder))
        if error is None:
            self._catalogue.say("reading", "")

    def runs(
        self, where: str = "", order: str = "-created", limit: int | None = None, deleted: bool = False
    ) -> list[StoredRun]:
        """Return the runs that are asked for, see `mklviz.record.history.runs`.

        Raises `MklvizError` if a condition cannot be understood; the sentence says which.
        """
        return self._select(where, order, limit, f"deleted IS {'NOT ' if deleted else ''}NULL")

    def trace(self, run_id: str) -> Trace:
        """Return the trace of a run, which still grows where the run is going on in this process.

        Raises `MklvizError` if there is no such run, or nothing of it can be read.
        """
        if self.owner != EVERYBODY and not self._select(also="id = ?", values=(run_id,)):
            raise MklvizError(f"There is no run {quote(run_id)} in the store.")
        recorder = self._catalogue.live.get(run_id)
        if recorder is not None:
            return recorder.trace
        try:
            trace = read_run(self._runs / run_id)
        except MklvizError as error:
            self._catalogue.mark_damaged(run_id, error)
            raise
        self._catalogue.mark_whole(run_id)
        return trace

    def traces(self, race_id: str) -> dict[str, Trace]:
        """Return the traces of a race by their keys in it, or raise `MklvizError` where none can be read."""
        traces: dict[str, Trace] = {}
        fault = MklvizError(f"There is no race {race_id} in the store.")
        for run in self._race(race_id):
            try:
                traces[run.key] = self.trace(run.id)
            except MklvizError as error:  # a damaged run hides no others
                fault = error
        if not traces:
            raise fault
        return traces

    def _race(self, race_id: str) -> list[StoredRun]:
        runs = self._race_of(race_id)
        if not runs:
            raise MklvizError(f"There is no race {quote(race_id)} in the store.")
        return runs

    def _is_anothers(self, race_id: str) -> bool:
        """Return whether others have runs in a race, and this owner none."""
        return self.owner != EVERYBODY and not self._race_of(race_id) and bool(self._whole._race_of(race_id))

    def _race_of(self, race_id: str) -> list[StoredRun]:
        return self._select(also="race = ?", values=(race_id,))

    @property
    def size(self) -> int:
        """Bytes that all runs take."""
        return self._catalogue.size if self.owner == EVERYBODY else sum(run.bytes for run in self._select())

    def describe(
        self,
        race_id: str,
        *,
        name: str | None = None,
        note: str | None = None,
        tags: Iterable[str] | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Change the words on a race; what is None stays, and what is longer than a page is cut."""
        texts = {"name": name, "note": note}
        given: dict[str, Any] = {key: text and text_of(text, MOST_NOTE) for key, text in texts.items()}
        given |= {"tags": None if tags is None else [*map(text_of, tags)][:MOST_VALUES], "pinned": pinned}
        self._note(race_id, {key: value for key, value in given.items() if value is not None})

    def delete(self, race_id: str) -> None:
        """Delete a race, which can be undone for a day."""
        self._note(race_id, {"deleted": time.time()})

    def restore(self, race_id: str) -> None:
        """Undo `delete`."""
        self._note(race_id, {"deleted": None})

    def _note(self, race_id: str, changes: Mapping[str, Any]) -> None:
        """Write down what a person says of a race; of runs that are going on in memory alone, there."""
        runs = self._race(race_id)
        with self._changing():
            for run in runs:
                recorder = self._catalogue.live.get(run.id)
                known = recorder.newest_about if recorder is not None else read_json(self._runs / run.id / ABOUT)
                about = {**known, **changes, "changed": time.time()}
                if recorder is not None:
                    recorder.about = about  # written with its head, where that is not yet on the disk
                with suppress(OSError) if recorder is not None else nullcontext():
                    write_json(self._runs / run.id / ABOUT, about)

    def clean(self, limit: int | None = None, at_once: bool = False) -> Cleaned:
        """Remove deleted runs for good, and the oldest unpinned ones beyond `limit` bytes; return what was freed.

        Runs that are over are packed before, see `pack`, and afterwards where the disk was too full. Raises
        `MklvizError` if the disk does not let them go.
        """
        return self._clean(self.limit if limit is None else limit, at_once, undo_seconds=0.0)

    def _clean(self, limit: int, at_once: bool = False, **undo: float) -> Cleaned:
        try:
            self.pack(at_once)
            packed = True
        except MklvizError:  # a full disk takes it when others have gone
            packed = False
        also = "1" if self._catalogue.size > limit else "deleted IS NOT NULL"
        runs = self._select(also=also)
        with self._changing():
            cleaned = remove(self._runs, superfluous(runs, limit, **undo))
        if not packed:
            with suppress(MklvizError) if cleaned.runs else nullcontext():  # what has gone is told in any case
                self.pack(at_once)
        return cleaned

    def _keep_up(self) -> None:
        """Let the owner of the store pack and remove runs now and then, in a thread of its own."""
        due = self._exists and self._catalogue.owned and time.monotonic() - self._upkept > UPKEEP_SECONDS
        if due and self._upkeep.acquire(blocking=False):
            self._upkept = time.monotonic()
            threading.Thread(target=self._kept_up, name="mklviz-store-upkeep", daemon=True).start()

    def _kept_up(self) -> None:
        try:
            clear_leftovers(self._runs)
            clear_locks(self.folder / LOCKS)
            self._clean(self.limit)
        except (MklvizError, OSError) as error:
            _log.warning("The store %s could not be tidied: %s", self.folder, message_of(error))
        finally:
            self._upkeep.release()

    def pack(self, at_once: bool = False) -> None:
        """Put the frames of runs that are over into one file each: some minutes after their end, or `at_once`.

        Raises `MklvizError` if the disk does not take it.
        """
        left = self._packed | {*self._catalogue.live}
        runs = [run for run in self._select() if run.id not in left]
        with self._changing():
            for run in settled(runs, at_once):
                pack(self._runs / run.id)
                self._packed.add(run.id)

    def repair(self) -> tuple[dict[str, str], dict[str, int]]:
        """Set runs aside that are over and cannot be read, in a folder beside the others.

        Returns why, by their keys, and how many steps of others are damaged, which stay where they are.
        Raises `MklvizError` if the disk does not let them go.
        """
        faults, incomplete = dict[str, str](), dict[str, int]()
        for run in [*self.runs(), *self.runs(deleted=True)]:
            if run.status == "running" or run.id in self._catalogue.live:
                continue
            try:
                _, lost = read_what_is_left(self._runs / run.id)
                stated = run_in(self._runs / run.id)
                if stated is not None and stated.status == DAMAGED:
                    raise MklvizError(stated.reason)
                if lost:
                    incomplete[run.id] = lost
            except MklvizError as error:
                faults[run.id] = message_of(error)
        with self._changing():
            set_aside(self._runs, faults)
        return faults, incomplete

    def export(self, race_ids: Iterable[str], path: str | Path | IO[bytes]) -> int:
        """Write races into a file that `import_file`, `read_bundle` and the dashboard open.

        Returns how many damaged runs are not in it. Raises `MklvizError` if there is no such race, nothing of it can be
        read, or the file cannot be written.
        """
        every = [run for race_id in race_ids for run in self._race(race_id)]
        runs = [run for run in every if run.status != DAMAGED]
        if every and not runs:
            raise MklvizError(every[0].reason)
        if not isinstance(path, (str, Path)):
            export_runs(runs, self._runs, path, self._catalogue.live)
            return len(every) - len(runs)
        try:
            with replacing(path) as file:
                export_runs(runs, self._runs, file, self._catalogue.live)
        except OSError as error:
            raise MklvizError(
                f"{named(str(path))} could not be written: {error.strerror or message_of(error)}."
            ) from error
        return len(every) - len(runs)

    def import_file(self, source: str | Path | bytes, name: str = "") -> list[str]:
        """Take in a file of runs, by its path or its content and its name for people; return the keys of its races.

        It is what `export`, `Trace.save` or ``--save`` wrote. Its runs get keys of their own and are the importer's,
        whatever the file says; twice the same changes nothing. Raises `MklvizError` if it is no such file, or cannot be
        read, or the store not written to.
        """
        content, created = read_file(source)
        called = name or ("the file" if isinstance(source, bytes) else Path(source).name)
        with self._changing():
            self._make()
            return import_runs(content, created, called, self._runs, self.owner)

    def merge(self, other_folder: str | Path) -> Merged:
        """Add the runs of another store, such as one copied from a cluster; twice the same changes nothing.

        Raises `MklvizError` if there is no store in that folder, or this one cannot be written to.
        """
        if self.owner != EVERYBODY:
            raise MklvizError("Stores are merged on the command line, which may see the runs of all.")
        source = Path(other_folder).expanduser() / RUNS
        if not source.is_dir():
            raise MklvizError(f"There is no store in {named(str(other_folder))}: a store has a folder {RUNS}.")
        with self._changing():
            self._make()
            return merge_runs(source, self._runs)

    def _make(self) -> None:
        """Make the folder of runs where it is missing; refuse what takes runs in where the store is switched off."""
        if not self._exists:
            raise MklvizError(SWITCHED_OFF)
        self._catalogue.runs_folder.make()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Raise `MklvizError` where the disk does not take a change, and let other processes know of it."""
        try:
            yield
        except OSError as error:
            raise MklvizError(of_disk(error, self.folder)) from error
        finally:
            self._catalogue.runs_folder.touch()

    def close(self) -> None:
        """Write what there is, and let others own the store; races that go on are recorded all the same."""
        with suppress(OSError):
            WRITER.flush([*self._catalogue.live.values()], self._hear)
        self._catalogue.close()


# -- one store for each folder in a process

_LOCK = threading.Lock()
_OPEN: dict[Path, Store] = {}


def open_store(path: str | Path | None = None) -> Store:
    """Return the store in a folder, one for each folder and process.

    It never fails: where the disk is bad, `Store.trouble` says so in a sentence, and runs stay in memory.

    `path`: the folder; by default what the environment variable MKLVIZ_STORE says, or else the user's data folder.
    With "none" races are not recorded.
    """
    given = str(path or os.environ.get(STORE) or platformdirs.user_data_dir("mklviz", appauthor=False))
    folder = Path(NO_STORE) if given == NO_STORE else Path(os.path.realpath(Path(given).expanduser()))
    with _LOCK:
        if folder not in _OPEN:
            _OPEN[folder] = Store(folder, exists=given != NO_STORE)
        return _OPEN[folder]


def reset() -> None:
    """Leave all stores, so that `open_store` opens them anew; what was recorded is written first."""
    with _LOCK:
        WRITER.leave_all()
        for store in _OPEN.values():
            store.close()
        _OPEN.clear()
