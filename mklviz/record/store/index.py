"""The index of a store: a row for each run, in SQLite. It holds nothing that the runs' folders do not state."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

from mklviz.errors import MklvizError
from mklviz.numbers import is_whole
from mklviz.quoting import quote
from mklviz.record.store.folder import CUT_OFF_SECONDS
from mklviz.record.store.machine import Machine
from mklviz.record.store.migrations import migrate
from mklviz.record.store.query import condition
from mklviz.record.store.stored import StoredRun, status_now

__all__ = ["Index"]

_FIELDS = tuple(each.name for each in fields(StoredRun))
_AS_JSON = ("options", "versions", "tags", "results", "machine_state")
_FOUND = ("name", "note", "words", "solver", "label", "data", "problem", "lesson")  # besides the tags
_COLUMNS = tuple({"machine": "machine_state"}.get(name, name) for name in _FIELDS)
_ROW = (*_COLUMNS, "machine", "haystack", "folder_changed")
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
        """Add runs, or replace what was said of them, and return whether that has changed.

        With each goes when its folder was changed, in nanoseconds.
        """
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


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    migrate(connection)
    return connection


def _row(run: StoredRun, changed: int) -> tuple[Any, ...]:
    stated: dict[str, Any] = {name: getattr(run, name) for name in _FIELDS}
    stated["machine_state"] = asdict(run.machine)
    values = [stated[name] for name in _FOUND]
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
