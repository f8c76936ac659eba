"""Several runs in one zip archive, each as the file that `Trace.save` writes."""

from __future__ import annotations

import io
import json
import logging
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.errors import MklvizError
from mklviz.quoting import MOST_NAME, named
from mklviz.record.archive import Arrays, SavedFacts
from mklviz.record.run_facts import Verdict
from mklviz.record.trace import Trace
from mklviz.unpacking import ArchiveMember

SUFFIX = ".mklrun.npz"
KNOWN = "runs.json"  # in a file that a store has written: what it knows of each run
MOST_KNOWN = 10**6  # bytes of that for each run
MOST_RUNS = 50
MOST_BYTES = 128 * 10**6  # of all runs of a file, unpacked
MOST_PACKED = 32 * 10**6  # of all runs of a file, as they are packed
_OBJECTS = 25  # times as large as JSON may be what it states: "{}," becomes an object and its place in a list
_AS_OBJECTS = {"header": 3, "objective": 125}  # times eight bytes for each of its letters or steps


def write_bundle(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the runs; their keys are the names in the archive."""
    with zipfile.ZipFile(file, "w") as archive:
        for key, trace in traces.items():
            with archive.open(free_name(key, archive.namelist()), "w", force_zip64=True) as member:
                trace.save(member)


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name for a run's file in an archive, of few letters, which every disk takes, and no other file has."""
    plain = re.sub(r"[^\w.+=,:-]+", "-", wanted)[:MOST_NAME] or "run"
    names = (f"{plain}{'' if count == 1 else f'-{count}'}{SUFFIX}" for count in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def read_bundle(content: bytes, name: str, most_bytes: int = MOST_BYTES) -> dict[str, Trace]:
    """Return the runs of a file, called `name`: such an archive or a single run, of at most so many bytes in memory."""
    runs, size = _opened(content, name)
    if size > most_bytes:
        raise _too_large(name)
    traces = {key: Trace.load(io.BytesIO(run)) for key, run in runs.items()}
    return {key or trace.solver: trace for key, trace in traces.items()}


def bundle_bytes(content: bytes, name: str) -> int:
    """Return how much memory `read_bundle` takes for a file, or raise as it does."""
    runs, size = _opened(content, name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        known = sum(info.file_size for info in archive.infolist() if info.filename == KNOWN)
    return size + sum(map(len, runs.values())) + _OBJECTS * known


def read_known(content: bytes, name: str) -> dict[str, Any]:
    """Return what a store has written of the runs in a file, by their names in it; nothing in files of others."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, ArchiveMember(archive, KNOWN) as member:
            if member.left > MOST_KNOWN * len(archive.namelist()):
                raise _too_large(name)
            stated = json.loads(member.read())["runs"]
            return {key: about for key, about in stated.items() if isinstance(about, dict)}
    except MklvizError:
        raise
    except Exception:  # unpackers have errors of their own
        return {}


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
        raise MklvizError(f"{named(name)} is not a file of runs: choose one that mklviz has saved.") from None


def packed_runs(content: bytes, name: str, most_runs: int, most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the packed runs of a file with their names; a single run has no name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        inside = archive.infolist()
        members = [info for info in inside if info.filename.endswith(SUFFIX)]
        if not members and any(info.filename == "header.npy" for info in inside):
            yield "", content
            return
        if not members:
            raise MklvizError(
                f"{named(name)} holds no runs: choose a file that mklviz has saved. Data are opened on Explore."
            )
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


# -- recordings of scenarios' races that come with the package, shown until the solvers can begin
#
# They are thinned for drawing: no dual variables and no certificates, and weights and facts with few digits, so that a
# race of 442 kernels takes some 80 kB. With a lesson's stands what was computed for the picture of its answer.
# `.ci/recordings.py` makes them.

_log = logging.getLogger(__name__)
EVIDENCE = "evidence.json"  # name in the file of a recording
FOLDER = Path(__file__).with_name("races")
DIGITS = 5  # of facts, and of what was computed for a picture
LOST = 46  # of the 52 bits of a weight's digits: zeros pack well
OWN: dict[str, Path] = {}  # where the recordings of lessons of one's own are, by the lessons' names


@cache
def recording(scenario: str) -> Mapping[str, Trace]:
    """Return the recorded runs of a scenario by their keys; none where the package has no such recording."""
    path = OWN.get(scenario, FOLDER / f"{scenario}.zip")
    try:
        return MappingProxyType(read_bundle(path.read_bytes(), path.name) if path.is_file() else {})
    except (MklvizError, OSError):
        _log.exception("The recording of %s cannot be read", scenario)
        return MappingProxyType({})


@cache
def recorded_evidence(scenario: str) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    """Return the tables that the answer of a recorded lesson is drawn from; none where the package has none."""
    path = OWN.get(scenario, FOLDER / f"{scenario}.zip")
    try:
        with zipfile.ZipFile(path) as archive:
            return MappingProxyType(json.loads(archive.read(EVIDENCE)) if EVIDENCE in archive.namelist() else {})
    except (OSError, ValueError, zipfile.BadZipFile):
        return MappingProxyType({})  # `recording` says so


def write_recording(
    path: Path, traces: Mapping[str, Trace], evidence: Mapping[str, Mapping[str, Sequence[Any]]]
) -> None:
    """Write the file of a recording, of traces that are thinned for it."""
    with zipfile.ZipFile(path, "w") as archive:
        for key, trace in traces.items():  # keys as they are, by which recordings are asked for
            with archive.open(f"{key}{SUFFIX}", "w") as member:
                thinned(trace).save(member)
        if evidence:
            archive.writestr(EVIDENCE, json.dumps(_short(evidence)), zipfile.ZIP_DEFLATED)


def _short(value: Any) -> Any:
    """Return tables whose numbers have few digits."""
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def thinned(trace: Trace) -> Trace:
    """Return a run with what is drawn of it alone."""
    small = trace.without_steps()
    for t, iterate in enumerate(trace):
        facts = SavedFacts.read(_short(iterate.facts.known()))
        shown = replace(iterate, weights=_rounded(iterate.weights), dual=np.empty(0), certificate=None, facts=facts)
        small.append(shown, trace.seconds_at(t), trace.split_at(t) or None)
    small.finish(Verdict(trace.status, trace.reason))
    return small


def _rounded(weights: Array) -> Array:
    half = np.int64(1) << (LOST - 1)
    rounded = ((weights.view(np.int64) + half) >> LOST) << LOST
    return np.where(weights <= ACTIVE_WEIGHT, 0.0, rounded.view(np.float64))
