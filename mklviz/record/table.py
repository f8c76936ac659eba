"""All steps of several runs as one table: a row per step, and in its first column the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

from mklviz.record.trace import Trace

__all__ = ["write_table"]


def write_table(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as CSV."""
    import pandas as pd

    frames = [trace.to_frame().assign(solver=key) for key, trace in traces.items()]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "solver", table.pop("solver"))
    table.to_csv(file, index=False)
