"""All steps of several runs as one table: a row per step, and in its first column the run."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING

from mklviz.errors import MissingPackage
from mklviz.quoting import cell
from mklviz.record.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["require_parquet", "write_csv", "write_parquet", "write_table"]


def write_table(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as CSV."""
    write_csv(_table(traces), file)


def write_csv(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table as CSV, the only way in which one is written for people: none of its cells is a formula."""
    texts = table.select_dtypes(exclude=["number", "bool", "datetime"]).map(cell)
    table.assign(**texts).rename(columns=cell).to_csv(file, index=False)


def write_parquet(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as Parquet, or raise `MissingPackage` where pyarrow is not installed."""
    require_parquet()
    file.write(_table(traces).to_parquet(None, engine="pyarrow", index=False))


def require_parquet() -> None:
    """Raise `MissingPackage` where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise MissingPackage(
            "Parquet files need pyarrow, which is not installed: run “pip install pyarrow”, or take the table as CSV."
        )


def _table(traces: Mapping[str, Trace]) -> pd.DataFrame:
    """Return all steps, the first column naming the run."""
    import pandas as pd

    frames = [trace.to_frame().assign(solver=key) for key, trace in traces.items()]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "solver", table.pop("solver"))
    return table
