"""The index of a store: a row for each run, in SQLite. It holds nothing that the runs' folders do not state.

A search asks for words that all occur, and conditions such as ``solver:level`` and ``gap<1e-3``.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from mklviz.errors import MklvizError
from mklviz.numbers import is_whole
from mklviz.quoting import quote
from mklviz.record.run_facts import text_of
from mklviz.record.store.folder import CUT_OFF_SECONDS
from mklviz.record.store.stored import CUT_OFF, Machine, StoredRun, status_now

# The index's file: opened by the store's owner to write, by others to copy. Runs' folders are the truth all the same.
#
# The journal is one that rolls back, brought to the disk at each change: a write-ahead log was damaged by two
# connections at once up to SQLite 3.51.2, and is on network disks.


VERSION = 2  # of the tables: an index of an earlier version is made anew from the runs' folders
_log = logging.getLogger(__name__)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of this version anew, whole or not at all, where others or none are there."""
    if _version_of(connection) != VERSION:
        connection.executescript(_TABLES)


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
        of_content = any(words in str(error) for words in ("no such", "has no column", "malformed"))
        if isinstance(error, sqlite3.OperationalError) and not of_content:  # but of locks or disks
            raise
        _log.warning("The index %s is damaged, and made anew from the runs: %s", path, error)
        remove_index(path)
        return _opened(path)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=2.0, check_same_thread=False)
    try:
        if _version_of(connection) > VERSION:
            raise NewerIndex
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


def remove_index(path: Path) -> None:
    """Remove a damaged index with its journals; it holds nothing that the folders of runs do not state."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):  # where another process reads it, as on Windows
            path.with_name(path.name + ending).unlink(missing_ok=True)


def copied_index(path: Path) -> sqlite3.Connection:
    """Return a copy in memory of an index that another process owns; an empty one where it cannot be read."""
    connection = _in_memory()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as original:
            if _version_of(original) == VERSION:
                original.backup(connection)
    except (sqlite3.Error, ValueError):
        connection.close()
        return _in_memory()
    return connection


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    make_tables(connection)
    return connection


Condition = tuple[str, tuple[Any, ...]]  # an expression of SQL, and what stands in the places of its question marks

NUMBERS = ("gap", "objective", "lower_bound", "svm_solves", "seconds", "steps", "kernels", "active", "bytes", "seed")
_SHORT = {"svm": "svm_solves", "made": "made_by"}
_SAME = ("race", "sweep", "member", "owner", "machine", "made_by")
_STATUS = f"CASE WHEN status = 'running' AND seen < ? THEN '{CUT_OFF}' ELSE status END = ?"
_WITHIN = ("data", "lesson", "name", "note", "problem", "words")
_TOKEN = re.compile(r'(?:[^\s"]|"[^"]*")+')
_ASKED = re.compile(r"([A-Za-z_]+)(:|<=|>=|<|>)(.*)", re.DOTALL)


def condition(where: str) -> Condition:
    """Return what a search asks for as an expression of SQL, with its values."""
    where = text_of(where, len(where))
    if where.count('"') % 2:
        raise MklvizError(f"A quotation mark is open in {quote(where)}: close it, or leave it out.")
    parts = [_part(token) for token in _TOKEN.findall(where)]
    return " AND ".join(part for part, _ in parts) or "1", tuple(value for _, values in parts for value in values)


def _part(token: str) -> Condition:
    """Return what one word or condition asks for; what begins with a quotation mark is words."""
    asked = _ASKED.fullmatch(token)
    if asked is None:
        return _contains("haystack", token.replace('"', ""))
    name, sign, value = asked[1].lower(), asked[2], asked[3].replace('"', "")
    name = _SHORT.get(name, name)
    if not value:
        raise MklvizError(f"Nothing stands behind {token!r}: write a value, such as solver:level or gap<1e-3.")
    if sign != ":":
        return _compared(name, sign, value, token)
    if name in _WORDS:
        return _WORDS[name](value)
    if name in NUMBERS:
        return _compared(name, "=", value, token)
    if name in _SAME:
        return f"lower({name}) = ?", (value.lower().replace("-", " ") if name == "made_by" else value.lower(),)
    if name in _WITHIN:
        return _contains(f"lower({name})", value)
    known = ", ".join(sorted({*_WORDS, *_SAME, *_WITHIN, *NUMBERS} - {*_SHORT.values()} | {*_SHORT}))
    raise MklvizError(f"No run has {quote(name)}: ask for {known}, or put {quote(token)} into quotation marks.")


def _compared(name: str, sign: str, value: str, token: str) -> Condition:
    if name not in NUMBERS:
        numbers = ", ".join(NUMBERS)
        raise MklvizError(f"{quote(name)} cannot be compared with a number; what can is {numbers}.")
    try:
        return f"{name} {sign} ?", (float(value),)
    except ValueError:
        raise MklvizError(f"{quote(value)} in {quote(token)} is no number: write it like 0.001 or 1e-3.") from None


def _contains(column: str, text: str) -> Condition:
    return f"instr({column}, ?) > 0", (text.casefold(),)


def _since(value: str) -> Condition:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise MklvizError(f"{quote(value)} is no date: write it like since:2026-11-01.") from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return "created >= ?", (zoned.timestamp(),)


def _pinned(value: str) -> Condition:
    if value not in ("yes", "no"):
        raise MklvizError(f"A run is pinned or not: write pinned:yes or pinned:no, not pinned:{value[:40]}.")
    return "pinned = ?", (value == "yes",)


_WORDS: Mapping[str, Callable[[str], Condition]] = {
    "run": lambda value: ("id = ?", (value,)),
    "solver": lambda value: ("(lower(solver) = ? OR lower(label) = ?)", (value.lower(),) * 2),
    "tag": lambda value: ("EXISTS (SELECT 1 FROM json_each(tags) WHERE lower(value) = ?)", (value.lower(),)),
    "status": lambda value: (_STATUS, (time.time() - CUT_OFF_SECONDS, value.lower().replace("-", " "))),
    "since": _since,
    "pinned": _pinned,
}


# -- the rows

_FIELDS = tuple(each.name for each in fields(StoredRun))
_AS_JSON = ("options", "versions", "tags", "results", "machine_state")
_SEARCHED = ("name", "note", "words", "solver", "label", "data", "problem", "lesson")  # besides the tags
_COLUMNS = tuple({"machine": "machine_state"}.get(name, name) for name in _FIELDS)
_ROW = (*_COLUMNS, "machine", "haystack", "folder_changed")
_TABLES = f"""
BEGIN;
DROP TABLE IF EXISTS runs;
CREATE TABLE runs ({", ".join(_ROW)}, PRIMARY KEY (id)) WITHOUT ROWID;
CREATE INDEX runs_created ON runs (created);
CREATE INDEX runs_race ON runs (race);
CREATE INDEX runs_member ON runs (member);
PRAGMA user_version = {VERSION};
COMMIT;
"""
_STATED = [name for name in _ROW if name not in ("id", "folder_changed")]
_INSERT = (
    f"INSERT INTO runs ({', '.join(_ROW)}) VALUES ({', '.join('?' * len(_ROW))})"
    f" ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _STATED)}"
    f" WHERE {' OR '.join(f'runs.{name} IS NOT excluded.{name}' for name in _STATED)}"
)
_LOOKED_AT = "UPDATE runs SET folder_changed = ? WHERE id = ? AND folder_changed != ?"
_SELECT = ", ".join(_COLUMNS)


class Index:
    """The rows of all runs, by the connection that they are kept in; `kept`: whether that is the store's file."""

    def __init__(self, connection: sqlite3.Connection | None = None, kept: bool = False) -> None:
        self._lock = threading.RLock()
        self.kept = kept
        self._connection = connection or _in_memory()

    def put(self, runs: Sequence[tuple[StoredRun, int]]) -> bool:
        """Add or replace runs, each with when its folder was changed in nanoseconds; return whether they are news."""
        with self._lock, self._connection as connection:
            before = connection.total_changes
            connection.executemany(_INSERT, (_row(run, changed) for run, changed in runs))
            news = connection.total_changes > before
            connection.executemany(_LOOKED_AT, ((changed, run.id, changed) for run, changed in runs))
        return news

    def remove(self, run_ids: Iterable[str]) -> None:
        """Forget runs."""
        with self._lock, self._connection:
            self._connection.executemany("DELETE FROM runs WHERE id = ?", [(run_id,) for run_id in run_ids])

    def changes(self) -> dict[str, int]:
        """Return when the folder of each run was changed, as far as the index knows."""
        with self._lock:
            return dict(self._connection.execute("SELECT id, folder_changed FROM runs"))

    def runs(
        self,
        where: str = "",
        order: str = "-created",
        limit: int | None = None,
        also: str = "1",
        values: tuple[Any, ...] = (),
    ) -> list[StoredRun]:
        """Return the runs that `where` asks for, and the expression of SQL `also`; see `Store.runs`."""
        asked, given = condition(where)
        if limit is not None and not (is_whole(limit) and 0 <= limit < 2**63):
            raise MklvizError(
                f"A limit is a whole number of runs, at least 0, or None for all, but {limit!r:.80} was given."
            )
        direction, column = ("DESC" if order.startswith("-") else "ASC"), order.removeprefix("-")
        if column not in _FIELDS:
            raise MklvizError(f"Runs have no {quote(column)} to be ordered by: choose one of {', '.join(_FIELDS)}.")
        sql = (
            f"SELECT {_SELECT} FROM runs WHERE ({asked}) AND ({also})"
            f" ORDER BY {column} {direction}, created DESC, id LIMIT ?"
        )
        with self._lock:
            rows = self._connection.execute(sql, (*given, *values, -1 if limit is None else limit)).fetchall()
        return [_run(row) for row in rows]

    def going_on(self) -> frozenset[str]:
        """Return the runs that are going on and have been heard of lately."""
        lately = time.time() - CUT_OFF_SECONDS
        with self._lock:
            rows = self._connection.execute("SELECT id FROM runs WHERE status = 'running' AND seen >= ?", (lately,))
            return frozenset(run_id for (run_id,) in rows)

    def size(self) -> int:
        """Return the bytes that all runs take."""
        with self._lock:
            return int(self._connection.execute("SELECT COALESCE(SUM(bytes), 0) FROM runs").fetchone()[0])

    def close(self) -> None:
        """Use it no more."""
        with self._lock:
            self._connection.close()


def _row(run: StoredRun, changed: int) -> tuple[Any, ...]:
    stated: dict[str, Any] = {name: getattr(run, name) for name in _FIELDS}
    stated["machine_state"] = asdict(run.machine)
    values = [stated[name] for name in _SEARCHED]
    texts = {name: json.dumps(stated[name]) for name in _AS_JSON}
    haystack = "\n".join((*values, *run.tags)).casefold()
    row = {**stated, **texts, "machine": run.machine.id, "haystack": haystack, "folder_changed": changed}
    return tuple(row[name] for name in _ROW)


def _run(row: tuple[Any, ...]) -> StoredRun:
    stated: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    for name in ("options", "versions", "results"):
        stated[name] = _read(stated[name])
    for name in ("objective", "lower_bound", "gap"):  # SQLite has no nan
        stated[name] = math.nan if stated[name] is None else stated[name]
    stated |= {"tags": tuple(_read(stated["tags"])), "pinned": bool(stated["pinned"])}
    stated |= {"machine": _machine(stated["machine"]), "status": status_now(stated["status"], stated["seen"])}
    return StoredRun(**stated)


@lru_cache(maxsize=10_000)
def _read(text: str) -> Any:
    """Return what JSON states; runs share much of it, and do not change it."""
    return json.loads(text)


@lru_cache(maxsize=1000)
def _machine(text: str) -> Machine:
    return Machine.read(json.loads(text))
