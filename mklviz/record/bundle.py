"""Several runs in one zip archive, each as the file that `Trace.save` writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import IO

from mklviz.errors import MklvizError
from mklviz.quoting import named
from mklviz.record.archive import Arrays
from mklviz.record.trace import Trace
from mklviz.unpacking import ArchiveMember

__all__ = ["SUFFIX", "bundle_bytes", "damaged_as_error", "packed_runs", "read_bundle", "run_bytes", "write_bundle"]

SUFFIX = ".mklrun.npz"
MOST_RUNS = 50
MOST_BYTES = 128 * 10**6  # of all runs of a file, unpacked
MOST_PACKED = 32 * 10**6  # of all runs of a file, as they are packed
_AS_OBJECTS = {"header": 3, "objective": 125}  # times as large: a word becomes an object, and so does every step


def write_bundle(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the runs; their keys are the names in the archive."""
    with zipfile.ZipFile(file, "w") as archive:
        for key, trace in traces.items():
            name = f"{key}{SUFFIX}".replace(" ", "-").replace("/", "-")
            with archive.open(name, "w", force_zip64=True) as member:
                trace.save(member)


def read_bundle(content: bytes, name: str, most_bytes: int = MOST_BYTES) -> dict[str, Trace]:
    """Return the runs of a file, which is such an archive or a single run.

    `name`: of the file, for people; `most_bytes`: memory that all its runs together may take; this is checked before
    they are unpacked. Raises `MklvizError` if the file is neither, or too large.
    """
    runs, size = _opened(content, name)
    if size > most_bytes:
        raise _too_large(name)
    traces = {key: Trace.load(io.BytesIO(run)) for key, run in runs.items()}
    return {key or trace.solver: trace for key, trace in traces.items()}


def bundle_bytes(content: bytes, name: str) -> int:
    """Return how much memory `read_bundle` takes for a file, or raise as it does."""
    runs, size = _opened(content, name)
    return size + sum(map(len, runs.values()))


def _opened(content: bytes, name: str) -> tuple[dict[str, bytes], int]:
    """Return the runs of a file, packed, and the bytes that they take unpacked."""
    with damaged_as_error(name):
        runs = dict(packed_runs(content, name, MOST_RUNS, MOST_PACKED))
        return runs, sum(map(run_bytes, runs.values()))


@contextmanager
def damaged_as_error(name: str) -> Iterator[None]:
    """Raise `MklvizError` for whatever reading a file of runs stumbles over."""
    try:
        yield
    except MklvizError:
        raise
    except Exception:  # unpackers have errors of their own: whichever it is, the file is damaged
        raise MklvizError(f"{named(name)} is no file of runs: choose one that mklviz has saved.") from None


def packed_runs(content: bytes, name: str, most_runs: int, most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the packed runs of a file with their names; a single run has no name.

    Raises `MklvizError` if the file has more runs than that, or they take more bytes as they are packed.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        inside = archive.infolist()
        members = [info for info in inside if info.filename.endswith(SUFFIX)]
        if not members and any(info.filename.endswith(".npy") for info in inside):
            yield "", content
            return
        if not members:
            raise MklvizError(f"{named(name)} holds no runs: choose a file that mklviz has saved.")
        if len(members) > most_runs or sum(info.file_size for info in members) > most_bytes:
            raise _too_large(name)
        for info in members:
            with ArchiveMember(archive, info) as member:
                yield info.filename.removesuffix(SUFFIX), member.read()


def run_bytes(run: bytes) -> int:
    """Return how many bytes a run will take, as its arrays declare."""
    with closing(Arrays(io.BytesIO(run))) as arrays:
        sizes = arrays.sizes()
    return sum(size * (1 + _AS_OBJECTS.get(name, 0)) for name, size in sizes.items())


def _too_large(name: str) -> MklvizError:
    return MklvizError(f"{named(name)} holds more than can be opened here: open it in Python, with mv.Trace.load.")
