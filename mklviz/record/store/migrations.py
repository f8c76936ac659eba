"""How the index's tables have changed, in order: an index of an earlier version is brought forward, never back."""

from __future__ import annotations

import sqlite3

__all__ = ["migrate", "newest_version", "version_of"]

_FIRST = """
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
"""
_READ_ANEW = "DELETE FROM runs;"  # rows of before may hold what no calendar or table can show
STEPS: tuple[str, ...] = (
    _FIRST,
    _READ_ANEW,
)  # the script at index v leads from version v to v + 1; those that were released stay as they are


def newest_version() -> int:
    """Return the version that this mklviz writes."""
    return len(STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of an index; 0 of an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring an index to this version, each step whole or not at all."""
    for version in range(version_of(connection), len(STEPS)):
        connection.executescript(f"BEGIN; {STEPS[version]} PRAGMA user_version = {version + 1}; COMMIT;")
