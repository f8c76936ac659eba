"""What keeps a store small: runs are packed, deleted ones go after a day, and the oldest ones at the size limit."""

from __future__ import annotations

import logging
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mklviz.errors import MklvizError
from mklviz.record.store.folder import END, PACKED, bring_to_disk, is_gone
from mklviz.record.store.frames import frames_in, read_what_is_left
from mklviz.record.store.stored import StoredRun

_log = logging.getLogger(__name__)
KEPT_BYTES = 2 * 10**9  # size limit of a store
ASIDE = "damaged"  # folder beside the runs
UNDO_SECONDS = 86_400.0  # for which a deleted run can be restored
PACKED_AFTER_SECONDS = 300.0  # a run that has been cut off for so long does not go on after all, as on a laptop it may
LEFT_OVER_SECONDS = 3600.0  # after which a half written file is not being written any more


@dataclass(frozen=True)
class Cleaned:
    """How many runs were removed, and how many bytes they took."""

    runs: int = 0
    bytes: int = 0


def superfluous(runs: Iterable[StoredRun], limit: int, undo_seconds: float = UNDO_SECONDS) -> list[StoredRun]:
    """Return the runs to remove: those deleted long ago, and the oldest unpinned ones beyond the size limit."""
    now = time.time()
    every = list(runs)
    removed = [run for run in every if run.deleted is not None and now - run.deleted >= undo_seconds]
    gone = {run.id for run in removed}
    kept = [run for run in every if run.id not in gone]
    size = sum(run.bytes for run in kept)
    for run in sorted(kept, key=lambda run: (run.deleted is None, run.created)):
        if size <= limit:
            break
        if not run.pinned and run.status != "running":
            removed.append(run)
            size -= run.bytes
    return removed


def remove(folder: Path, runs: Iterable[StoredRun]) -> Cleaned:
    """Remove runs; each vanishes at once, so that no half of one is read."""
    count = size = 0
    for run in runs:
        gone = folder / f".{run.id}-{secrets.token_hex(2)}.gone"
        with suppress(FileNotFoundError):
            (folder / run.id).rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
            count, size = count + 1, size + run.bytes
    return Cleaned(count, size)


def set_aside(folder: Path, run_ids: Iterable[str]) -> None:
    """Move runs out of the way; raise `OSError` if the disk does not let one go."""
    aside = folder.parent / ASIDE
    aside.mkdir(exist_ok=True)
    for run_id in run_ids:
        again = (aside / run_id).exists()
        (folder / run_id).rename(aside / (f"{run_id}-{secrets.token_hex(2)}" if again else run_id))


def settled(runs: Iterable[StoredRun], at_once: bool) -> Iterator[StoredRun]:
    """Yield the runs that have been over for a while, or, `at_once`, those that are over."""
    now = time.time()
    for run in runs:
        if run.status != "running" and (at_once or now - run.seen > PACKED_AFTER_SECONDS):
            yield run


def pack(folder: Path) -> None:
    """Put the frames of a run that is over into one file, and remove them only then."""
    frames = frames_in(folder)
    if frames and not ((folder / END).exists() and (folder / PACKED).exists()):
        try:
            trace, lost = read_what_is_left(folder)
        except MklvizError as error:
            _log.warning("The run %s cannot be packed: %s", folder.name, error)
            return
        if lost:  # the damaged frames, too, stay for whoever can save more of them
            return
        trace.save(folder / PACKED)
        bring_to_disk(folder)  # before what it was packed from goes
    for path in [*(frame for _, frame in frames), *folder.glob(".*.part")]:
        path.unlink(missing_ok=True)


def clear_leftovers(folder: Path) -> None:
    """Remove what processes that were killed have left half written or half removed."""
    now = time.time()
    for path in folder.glob(".*"):
        with suppress(OSError):
            if now - path.stat().st_mtime > LEFT_OVER_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def clear_locks(folder: Path) -> None:
    """Remove the locks of processes that ended a day ago: sweeps that began before are solved."""
    for path in folder.glob("*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > UNDO_SECONDS and is_gone(path):
                path.unlink()
