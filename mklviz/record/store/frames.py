"""A frame: the steps of about a second of a run, as a file in a trace's format that is never changed.

Its name is the number of its first step. The archive's own checksums tell whether it is whole. Names of kernels stand
in the first frame only, and what else a trace says of itself in the run's head.
"""

from __future__ import annotations

import logging
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.context import PARTS
from mklviz.errors import MklvizError
from mklviz.quoting import said_by
from mklviz.record.archive import Arrays, archive_in_memory, read_header
from mklviz.record.saved import Step, columns_of, opened_run
from mklviz.record.store.folder import FRAME, write_durably
from mklviz.record.store.names import FewNames, heaviest_names, names_in_full
from mklviz.record.store.weights import FrameArrays, weights_as_columns
from mklviz.record.trace import Trace

__all__ = ["frame_name", "frames_in", "kernel_names", "newest_numbers", "numbers_at", "read_frames", "write_frame"]

_log = logging.getLogger(__name__)
MOST_BYTES = 64 * 10**6  # of a frame, which is made in memory
# in a frame's header, beside what a trace's has:
_NUMBERS, _HEAVIEST = "so_far", "heaviest"


def frame_name(first: int) -> str:
    """Return the name of the frame whose first step has that index in its trace."""
    return f"{first:08d}{FRAME}"


def frames_in(folder: Path) -> list[tuple[int, Path]]:
    """Return the frames in a run's folder by the index of their first step."""
    paths = (path for path in folder.glob(f"*{FRAME}") if path.stem.isdecimal())
    return sorted((int(path.stem), path) for path in paths)


def numbers_at(trace: Trace, length: int) -> dict[str, Any]:
    """Return what a table of runs says of the first `length` steps of a trace."""
    if not length:
        return {}
    at = length - 1
    best = trace[trace.best_index_at(at)]
    return {
        "steps": trace.first_step + at,
        "svm_solves": int(trace[at].svm_solves),
        "seconds": float(trace.seconds_at(at)),
        "objective": float(best.objective),
        "lower_bound": float(trace.best_bound.lower_bound),
        "gap": float(trace.gap_at(at)),
        "active": best.active,
        "kernels": len(best.weights),
    }


def write_frame(folder: Path, trace: Trace, first: int, last: int) -> tuple[int, int]:
    """Write steps from index `first` on, up to `last` if one frame can hold them, of a trace that may be appended to.

    Returns the index after the last step written, and the bytes that it took. Raises `OSError` if the disk does not
    take them.
    """
    step = trace[first]
    length = min(last, first + max(1, MOST_BYTES // (step.weights.nbytes + 2 * step.dual.nbytes + 1)))
    iterates = trace[first:length]
    seconds = np.array([trace.seconds_at(index) for index in range(first, length)])
    split = _split(trace, first, length)
    in_full = names_in_full(trace)
    header = {
        **dict.fromkeys(("solver", "label", "problem", "reason", "recipe"), ""),
        "status": "running",
        "options": {},
        "versions": {},
        "origin": None,
        "kernel_names": list(trace.kernel_names) if first == 0 and in_full else [],
        _NUMBERS: numbers_at(trace, length),
        _HEAVIEST: {} if in_full else heaviest_names(trace, length - 1),
    }
    head, columns = columns_of(header, iterates, seconds, split)
    weights = weights_as_columns([iterate.weights for iterate in iterates])
    return length, write_durably(folder / frame_name(first), archive_in_memory(head, {**columns, **weights}))


def _split(trace: Trace, first: int, length: int) -> dict[str, Any]:
    """Return the seconds by part of some steps; nothing where they were not measured."""
    spent = [trace.split_at(index) for index in range(first, length)]
    return {part: np.array([each[part] for each in spent]) for part in PARTS} if all(spent) else {}


def read_frames(folder: Path, begin: int) -> Iterator[tuple[int, Step]]:
    """Yield the steps from index `begin` on with their indices, without what is torn.

    Raises `FileNotFoundError` if a frame has gone meanwhile: the run has been packed.
    """
    frames = frames_in(folder)
    beginnings = [first for first, _ in frames]
    for first, path in frames[max(0, bisect_right(beginnings, begin) - 1) :]:
        try:
            with opened_run(path, FrameArrays) as (_, steps):
                yield from ((index, step) for index, step in enumerate(steps, first) if index >= begin)
        except MklvizError as error:
            if not path.exists():
                raise FileNotFoundError(path) from error
            _log.warning("The frame %s cannot be read: %s", path, said_by(error))


def kernel_names(folder: Path) -> Sequence[str]:
    """Return the names of the kernels of a run that has frames; none where the first of them is damaged."""
    first = _header(folder / frame_name(0))
    if first.get("kernel_names"):
        return list(first["kernel_names"])
    headers = [_header(path) for _, path in frames_in(folder)]
    named = [header for header in headers if isinstance(header.get(_HEAVIEST), dict)]
    known = {int(k): str(name) for header in named for k, name in header[_HEAVIEST].items()}
    return FewNames(int(named[-1][_NUMBERS]["kernels"]), known) if known else ()


def newest_numbers(folder: Path) -> Mapping[str, Any]:
    """Return what a table says of a run that has frames only, by the last of them that can be read."""
    headers = (_header(path) for _, path in reversed(frames_in(folder)))
    return next((numbers for header in headers if isinstance(numbers := header.get(_NUMBERS), dict)), {})


def _header(path: Path) -> Mapping[str, Any]:
    """Return the header of a frame; nothing where it is damaged."""
    try:
        with closing(Arrays(path)) as arrays:
            return read_header(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}
