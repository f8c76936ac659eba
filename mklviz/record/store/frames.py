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
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mklviz.context import PARTS
from mklviz.contract import Array
from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.quoting import message_of
from mklviz.record.archive import Arrays, Step, as_text, columns_of, opened_run, read_header, replacing
from mklviz.record.run_facts import FINAL, MOST_COUNT, Origin, Verdict, number_in
from mklviz.record.store.folder import END, FRAME, HEAD, PACKED, bring_to_disk, read_json
from mklviz.record.summary import result_at
from mklviz.record.trace import CUT_OFF, Trace
from mklviz.record.weights import FEW, SPARSE

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
    numbers = vars(result_at(trace, length - 1))
    whole = ("svm_solves", "iterations", "active", "kernels")
    plain = {name: int(value) if name in whole else float(value) for name, value in numbers.items()}
    return {"steps": plain.pop("iterations"), **plain, "lower_bound": float(trace.best_bound.lower_bound)}


def write_frame(folder: Path, trace: Trace, first: int, last: int) -> tuple[int, int]:
    """Write steps `first` to `last`, or as many as a frame holds; return the index after them, and the bytes."""
    step = trace[first]
    length = min(last, first + max(1, MOST_BYTES // (step.weights.nbytes + 2 * step.dual.nbytes + 1)))
    iterates = trace[first:length]
    seconds = np.array([trace.seconds_at(index) for index in range(first, length)])
    spent = [trace.split_at(index) for index in range(first, length)]
    split = {part: np.array([each[part] for each in spent]) for part in PARTS} if all(spent) else {}
    in_full = len(trace.kernel_names) <= FEW
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
    with replacing(folder / frame_name(first)) as file:
        np.savez(file, header=as_text(head), **columns, **weights)  # type: ignore[arg-type]  # none is called allow_pickle
        size = file.tell()
    bring_to_disk(folder)
    return length, size


def read_frames(folder: Path, begin: int) -> Iterator[tuple[int, Step]]:
    """Yield the steps from index `begin` on with their indices, without what is torn."""
    frames = frames_in(folder)
    beginnings = [first for first, _ in frames]
    for first, path in frames[max(0, bisect_right(beginnings, begin) - 1) :]:
        try:
            with opened_run(path, FrameArrays) as (_, steps):
                yield from ((index, step) for index, step in enumerate(steps, first) if index >= begin)
        except MklvizError as error:
            if not path.exists():
                raise FileNotFoundError(path) from error  # the run has been packed
            _log.warning("The frame %s cannot be read: %s", path, message_of(error))


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


# -- names: those of a million kernels take longer to write than many a step, so only the heaviest keep theirs

KEPT = 200  # names of a frame, where not all are kept


class FewNames(Sequence[str]):
    """Names of `count` kernels of which only some are known; the others go by their numbers, from 1."""

    def __init__(self, count: int, known: Mapping[int, str]) -> None:
        self._count, self._known = count, known

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(self._count)[index]]
        k = range(self._count)[index]
        return self._known.get(k) or f"kernel {k + 1:,}"


def heaviest_names(trace: Trace, at: int) -> dict[str, str]:
    """Return the names of the heaviest kernels at one step by their indices, as JSON has them."""
    weights = trace[at].weights
    count = min(KEPT, len(weights), len(trace.kernel_names))
    heaviest: Any = np.argpartition(-weights, count - 1)[:count] if count else ()
    return {str(k): trace.kernel_names[int(k)] for k in heaviest}


# -- weights: where most are zero, only the others are written, and where they are

_VALUES, _PLACES, _ENDS, _COUNT = (f"weights_{what}" for what in ("values", "places", "ends", "count"))


def weights_as_columns(weights: Sequence[Array]) -> dict[str, NDArray[Any]]:
    """Return the weights of some steps as columns: those that are not zero, or all where that takes less room."""
    places = [np.flatnonzero(row.view(np.int64)) for row in weights]  # -0.0 is a number of its own
    if SPARSE * sum(map(len, places)) > sum(map(len, weights)):
        return {"weights": np.array(weights)}
    return {
        _VALUES: np.concatenate([row[at] for row, at in zip(weights, places, strict=True)]),
        _PLACES: np.concatenate(places).astype(np.int32),
        _ENDS: np.cumsum([len(at) for at in places]),
        _COUNT: np.array([len(weights[0])]),
    }


class FrameArrays(Arrays):
    """The arrays of a frame."""

    def rows(self, name: str) -> Iterator[Array]:
        """Yield the rows of one array, also where only what is not zero was written."""
        if name in self:
            yield from super().rows(name)
            return
        values, places, ends = self[_VALUES].astype(np.float64), self[_PLACES], self[_ENDS]
        count, begin = int(self[_COUNT][0]), 0
        for end in ends:
            row = np.zeros(count)
            row[places[begin:end]] = values[begin:end]
            begin = end
            yield row


# -- a run read back from its folder: the packed file, the frames after it, or both


def read_run(folder: Path) -> Trace:
    """Return the trace of a run, up to its last step on the disk; its reason says how many steps are damaged."""
    return read_what_is_left(folder)[0]


def read_what_is_left(folder: Path) -> tuple[Trace, int]:
    """Return the trace of a run, and how many of its steps are damaged; raise `MklvizError` where all of them are."""
    for _ in range(2):
        try:
            return _read_run(folder)
        except FileNotFoundError:  # it has been packed meanwhile
            continue
        except MklvizError:
            raise
        except Exception as error:
            raise MklvizError(f"The run {folder.name} is damaged ({message_of(error)}).") from error
    raise MklvizError(f"There is no run {folder.name} in the store any more.")


def _read_run(folder: Path) -> tuple[Trace, int]:
    packed = (folder / PACKED).exists()
    trace, end = _begun(folder), read_json(folder / END)
    numbers = end.get("numbers")
    stated = number_in(numbers, "steps", -1.0, MOST_COUNT) if isinstance(numbers, dict) else -1.0
    there = max([int(stated) + 1 - trace.first_step, *(first + 1 for first, _ in frames_in(folder))])
    for index, (iterate, seconds, split) in read_frames(folder, len(trace)):
        there = max(there, index + 1)
        trace.append(iterate, seconds, split)
    lost = max(there - len(trace), 0)
    if lost and not packed and (folder / PACKED).exists():
        raise FileNotFoundError(folder / PACKED)  # frames went while they were read
    if lost and not len(trace):
        raise MklvizError(f"The run {folder.name} is damaged: none of its steps can be read.")
    status, reason = str(end.get("status", "")), str(end.get("reason", ""))
    verdict = Verdict(status, reason) if status in FINAL else Verdict("stopped", reason or CUT_OFF)
    if lost:
        verdict = Verdict(verdict.status, f"{verdict.reason} Left out: {counted(lost, 'damaged step')}.")
    trace.finish(verdict)
    return trace, lost


def _begun(folder: Path) -> Trace:
    """Return what is packed of a run, or its trace without any steps."""
    packed = folder / PACKED
    if packed.exists():
        return Trace.load(packed)
    head = read_json(folder / HEAD)
    if not head:
        raise MklvizError(f"There is no run {folder.name} in the store, or what it began with is damaged.")
    about = head.get("trace") or {}
    words = {name: str(about.get(name, "")) for name in ("solver", "label", "problem", "recipe")}
    return Trace(
        **words,
        options=dict(about.get("options", {})),
        versions=dict(about.get("versions", {})),
        kernel_names=kernel_names(folder),
        origin=Origin.read(about.get("origin")),
        descends=about["descends"] if isinstance(about.get("descends"), bool) else None,
    )
