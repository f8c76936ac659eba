"""The files of the race that is shown: a page, a picture, its runs and a table, each with its name and its bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import IO

from mklviz.record import Trace
from mklviz.record.bundle import write_bundle
from mklviz.record.summary import write_parquet, write_table
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.export.page import race_page
from mklviz.views.session.session import Session

__all__ = ["KINDS"]


def _page(session: Session) -> tuple[str, bytes]:
    return f"{_name(session)}.html", race_page(session.race).encode()


def _picture(session: Session) -> tuple[str, bytes]:
    return f"{_name(session)}.svg", race_still(session.race, session.tolerance).encode()


def _runs(session: Session) -> tuple[str, bytes]:
    return f"{_name(session)}.zip", _written(write_bundle, session.traces)


def _table(session: Session) -> tuple[str, bytes]:
    return f"{_name(session)}.csv", _written(write_table, session.traces)


def _parquet(session: Session) -> tuple[str, bytes]:
    return f"{_name(session)}.parquet", _written(write_parquet, session.traces)


def _written(write: Callable[[Mapping[str, Trace], IO[bytes]], None], traces: Mapping[str, Trace]) -> bytes:
    file = io.BytesIO()
    write({key: trace for key, trace in traces.items() if len(trace)}, file)
    return file.getvalue()


def _name(session: Session) -> str:
    """Return what the files are called, without an ending."""
    source = "own-data" if session.recipe is None or session.recipe.data.own else session.recipe.data.source
    return f"mklviz-{source}"


KINDS: tuple[tuple[str, str, Callable[[Session], tuple[str, bytes]]], ...] = (
    ("Page (HTML)", "All steps with a cursor, for any browser, without a server", _page),
    ("Picture (SVG)", "Objective, gap and weights as they stand", _picture),
    ("Runs (zip)", "Everything that was recorded, to be opened here, or in Python with mv.Trace.load", _runs),
    ("Steps (CSV)", "A table with a row for every step of every solver", _table),
    ("Steps (Parquet)", "The same table for pandas, Spark or DuckDB, with its numbers as they are", _parquet),
)
