"""Several runs in one zip archive, each as the file that `Trace.save` writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import IO

from mklviz._quoting import named
from mklviz.errors import MklvizError
from mklviz.record.trace import Trace

__all__ = ["SUFFIX", "read_bundle", "write_bundle"]

SUFFIX = ".mklrun.npz"
MOST_RUNS = 50
MOST_BYTES = 128 * 10**6  # of all runs as they are packed, and of each unpacked


def write_bundle(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the runs; their keys are the names in the archive."""
    with zipfile.ZipFile(file, "w") as archive:
        for key, trace in traces.items():
            name = f"{key}{SUFFIX}".replace(" ", "-").replace("/", "-")
            with archive.open(name, "w", force_zip64=True) as member:
                trace.save(member)


def read_bundle(content: bytes, name: str) -> dict[str, Trace]:
    """Return the runs of a file, which is such an archive or a single run.

    Raises
    ------
    MklvizError
        If the file is neither.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inside = archive.infolist()
            members = [info for info in inside if info.filename.endswith(SUFFIX)]
            if not members and any(info.filename.endswith(".npy") for info in inside):
                _check(inside, name)
                trace = Trace.load(io.BytesIO(content))
                return {trace.solver: trace}
            _check(members, name)
            runs = {info.filename.removesuffix(SUFFIX): archive.read(info) for info in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise MklvizError(f"{named(name)} is no file of runs: choose one that mklviz has saved.") from None
    for key, run in runs.items():
        with zipfile.ZipFile(io.BytesIO(run)) as archive:
            _check(archive.infolist(), f"{name}, {key}")
    return {key: Trace.load(io.BytesIO(run)) for key, run in runs.items()}


def _check(members: list[zipfile.ZipInfo], name: str) -> None:
    """Refuse an archive without runs, and one that would fill the memory."""
    if not members:
        raise MklvizError(f"{named(name)} holds no runs: choose a file that mklviz has saved.")
    if len(members) > MOST_RUNS or sum(info.file_size for info in members) > MOST_BYTES:
        raise MklvizError(f"{named(name)} holds more than can be opened here: open it in Python, with mv.Trace.load.")
