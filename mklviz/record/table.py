"""All steps of several runs as one table: a row per step, and in its first column the run."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING

from mklviz.errors import MklvizError
from mklviz.record.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["require_parquet", "write_parquet", "write_table"]

_ENGINES = ("pyarrow", "fastparquet")  # either of them writes Parquet for pandas


def write_table(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as CSV."""
    _table(traces).to_csv(file, index=False)


def write_parquet(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as Parquet, or raise `MklvizError` where nothing installed can."""
    require_parquet()
    file.write(_table(traces).to_parquet(None, index=False))


def require_parquet() -> None:
    """Raise `MklvizError` where nothing that is installed writes Parquet."""
    if not any(map(find_spec, _ENGINES)):
        raise MklvizError(
            "Parquet files need fastparquet or pyarrow, and neither is installed: run “pip install fastparquet”, or"
            " take the table as CSV."
        )


def _table(traces: Mapping[str, Trace]) -> pd.DataFrame:
    """Return all steps, the first column naming the run."""
    import pandas as pd

    frames = [trace.to_frame().assign(solver=key) for key, trace in traces.items()]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "solver", table.pop("solver"))
    return table
