"""The index's file: opened by the store's owner to write, by others to copy. Runs' folders are the truth all the same.

The journal is one that rolls back, brought to the disk at each change: a write-ahead log was damaged by two connections
at once up to SQLite 3.51.2, and is on network disks.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

VERSION = 2  # of the tables: an index of an earlier version is made anew from the runs' folders
_TABLES = """
BEGIN;
DROP TABLE IF EXISTS runs;
CREATE TABLE runs (
    id TEXT PRIMARY KEY, race TEXT, key TEXT, solver TEXT, label TEXT, options TEXT, seed INTEGER, status TEXT,
    reason TEXT, words TEXT, recipe TEXT, data TEXT, problem TEXT, versions TEXT, machine_state TEXT, created REAL,
    seen REAL, steps INTEGER, svm_solves INTEGER, seconds REAL, objective REAL, lower_bound REAL, gap REAL,
    active INTEGER, kernels INTEGER, name TEXT, note TEXT, tags TEXT, pinned INTEGER, deleted REAL, changed REAL,
    lesson TEXT, made_by TEXT, owner TEXT, sweep TEXT, member TEXT, results TEXT, bytes INTEGER, machine TEXT,
    haystack TEXT, folder_changed INTEGER
) WITHOUT ROWID;
CREATE INDEX runs_created ON runs (created);
CREATE INDEX runs_race ON runs (race);
CREATE INDEX runs_member ON runs (member);
PRAGMA user_version = {};
COMMIT;
"""
_log = logging.getLogger(__name__)
_BACKUPS = 2


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of this version anew, whole or not at all, where others or none are there."""
    if _version_of(connection) != VERSION:
        connection.executescript(_TABLES.format(VERSION))


def _version_of(connection: sqlite3.Connection) -> int:
    """Return the version of an index; 0 of an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


class NewerIndex(Exception):
    """The index was written by a newer version."""


def opened_index(path: Path) -> sqlite3.Connection:
    """Open the index to write, made or made anew where it is damaged or of an earlier version."""
    try:
        return _opened(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and not _is_damage(error):
            raise
        _log.warning("The index %s is damaged, and made anew from the runs: %s", path, error)
        move_aside(path)
        return _opened(path)


def _is_damage(error: sqlite3.OperationalError) -> bool:
    """Return whether an error tells of content rather than of locks and disks."""
    return "no such" in str(error) or "has no column" in str(error) or "malformed" in str(error)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=2.0, check_same_thread=False)
    try:
        version = _version_of(connection)
        if version > VERSION:
            raise NewerIndex
        if not version:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # has to stand before the first table
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = FULL")
        make_tables(connection)
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("it fails SQLite's own check")
        connection.execute("SELECT id, folder_changed FROM runs LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def move_aside(path: Path) -> None:
    """Put a damaged index, with its journals, out of the way; of several the newest two are kept."""
    aside = path.with_name(f"{path.stem}.damaged-{time.time_ns()}{path.suffix}")
    with suppress(OSError):
        path.replace(aside)
    for journal in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + journal).unlink(missing_ok=True)
    for old in sorted(path.parent.glob(f"{path.stem}.damaged-*"))[:-_BACKUPS]:
        old.unlink(missing_ok=True)


def copied_index(path: Path) -> sqlite3.Connection:
    """Return a copy in memory of an index that another process owns; an empty one where it cannot be read."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as original:
            if _version_of(original) == VERSION:
                original.backup(connection)
    except (sqlite3.Error, ValueError):
        connection.close()
        connection = sqlite3.connect(":memory:", check_same_thread=False)
    make_tables(connection)
    return connection
