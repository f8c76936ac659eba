"""The folder that holds a folder for each run, watched for what this and other processes change in it.

Whatever changes in a run's folder changes that folder's time. A change of a run touches the folder above as well,
so that as long as that one stays as it was, only runs that are going on elsewhere are looked at.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mklviz.record.store.head import is_id

__all__ = ["RUNS", "FolderChanges", "RunsFolder"]

RUNS = "runs"
SETTLED = 3 * 10**9  # nanoseconds after which a folder's time tells later changes apart, on every kind of disk
LOOK_AT_ALL_SECONDS = 20.0  # for what was copied in by others, and touched nothing above


@dataclass(frozen=True)
class FolderChanges:
    """What has changed since it was last looked at."""

    changed: Mapping[str, int]  # runs, and when their folders were changed, in nanoseconds; 0 where more may follow
    missing: Collection[str]


class RunsFolder:
    """The folders of all runs of a store."""

    def __init__(self, store: Path) -> None:
        self._store, self.path = store, store / RUNS
        self._at, self._looked = -1, -LOOK_AT_ALL_SECONDS
        self._device: int | None = None  # that the store was on

    def make(self) -> None:
        """Make the folder where it is missing; not where a disk has gone that it was on.

        Raises `OSError` if it cannot be written to.
        """
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

    def changes(self, known: Mapping[str, int], going_on: Collection[str]) -> FolderChanges:
        """Return what has changed; `known`: when each run's folder was changed, `going_on`: runs that others write.

        Raises `OSError` if the folder cannot be read.
        """
        now, begun = time.time_ns(), time.monotonic()
        at = self.path.stat().st_mtime_ns
        if at == self._at and begun - self._looked < LOOK_AT_ALL_SECONDS:
            there = self._times({*going_on, *(run_id for run_id, changed in known.items() if not changed)})
            missing: set[str] = set()
        else:
            there = self._all_times()
            missing = set(known) - set(there)
            self._at, self._looked = (at if now - at > SETTLED else -1), begun
        changed = {
            run_id: time_ns if now - time_ns > SETTLED else 0
            for run_id, time_ns in there.items()
            if known.get(run_id) != time_ns
        }
        return FolderChanges(changed, missing)

    def _all_times(self) -> dict[str, int]:
        times = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                if is_id(entry.name):
                    with suppress(OSError):  # it has just gone
                        times[entry.name] = entry.stat().st_mtime_ns
        return times

    def _times(self, run_ids: Collection[str]) -> dict[str, int]:
        times = {}
        for run_id in run_ids:
            with suppress(OSError):
                times[run_id] = (self.path / run_id).stat().st_mtime_ns
        return times
