"""Runs as one file, to be given to others, such files taken in, and stores merged.

The file is an archive of runs as `mklviz run --save` writes it, with what the store knows of each in `runs.json`. What
two folders know of the same run becomes one: frames are added, an end replaces none, the newest word wins. Doing it
again changes nothing, nor does the order of several.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.quoting import message_of, named
from mklviz.record.archive import replacing
from mklviz.record.bundle import KNOWN, SUFFIX, damaged_as_error, free_name, packed_runs, read_known, run_bytes
from mklviz.record.run_facts import number_in, text_in
from mklviz.record.store.folder import ABOUT, END, HEAD, PACKED, SEEN, bring_to_disk, read_json, read_seen, write_json
from mklviz.record.store.frames import frames_in, numbers_at, read_run
from mklviz.record.store.recorder import Recorder, head_of
from mklviz.record.store.stored import DAMAGED, Asker, RunHead, StoredRun, is_id, new_id, run_in
from mklviz.record.trace import Trace


def take_in(source: Path, target: Path) -> str:
    """Bring what a run's folder holds into another place; return "added", "renewed" or "" where all was known."""
    if not target.exists():
        beside = target.with_name(f".{target.name}.part")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        for path in sorted(source.iterdir()):
            if path.is_file() and not path.name.startswith("."):
                _copy(path, beside / path.name)
        beside.rename(target)
        return "added"
    parts = [_take_steps(source, target), _take_end(source, target), _take_words(source, target)]
    return "renewed" if any(parts) else ""


def _take_steps(source: Path, target: Path) -> bool:
    """Take over the packed run where it is the longer one, and frames where nothing is packed."""
    if (target / END).exists():
        return False
    packed, own = source / PACKED, target / PACKED
    if packed.exists() and (not own.exists() or own.stat().st_size < packed.stat().st_size):
        _copy(packed, own)
        return True
    if own.exists():
        return False
    missing = [path for _, path in frames_in(source) if not (target / path.name).exists()]
    for path in missing:
        _copy(path, target / path.name)
    newer = read_seen(source) > read_seen(target)
    if newer:
        _copy(source / SEEN, target / SEEN)
    return bool(missing) or newer


def _take_end(source: Path, target: Path) -> bool:
    """Take over how the run ended, and the results that were added later."""
    theirs, own = read_json(source / END), read_json(target / END)
    if not theirs or (own and (own.get("results") or not theirs.get("results"))):
        return False
    _copy(source / END, target / END)
    for _, frame in frames_in(target) if (target / PACKED).exists() else ():
        frame.unlink(missing_ok=True)
    return True


def _take_words(source: Path, target: Path) -> bool:
    """Take over what a person last wrote of the run, and its head where it is missing."""
    theirs, own = (number_in(read_json(folder / ABOUT), "changed") for folder in (source, target))
    if theirs > own:
        _copy(source / ABOUT, target / ABOUT)
    headless = not read_json(target / HEAD) and bool(read_json(source / HEAD))
    if headless:
        _copy(source / HEAD, target / HEAD)
    return bool(theirs > own or headless)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as original, replacing(target) as copy:
        shutil.copyfileobj(original, copy)
    bring_to_disk(target.parent)


# -- files

_FILES = {"head": HEAD, "end": END, "about": ABOUT}


@dataclass(frozen=True)
class Merged:
    """How many runs were added, how many learned something new, and how many could not be read."""

    added: int = 0
    renewed: int = 0
    unreadable: int = 0


def export_runs(runs: Sequence[StoredRun], folder: Path, file: IO[bytes], live: Mapping[str, Recorder]) -> None:
    """Write runs, under the names of their races if there are several; `live` ones from memory, which has all."""
    several = len({run.race for run in runs}) > 1
    known: dict[str, Any] = {}
    with zipfile.ZipFile(file, "w") as archive:
        for run in runs:
            name = free_name(f"{run.name or run.race}-{run.key}" if several else run.key, [*known])
            recorder = live.get(run.id)
            with archive.open(name, "w", force_zip64=True) as member:
                if recorder is None:
                    _write_packed(folder / run.id, member)
                else:
                    recorder.trace.snapshot().save(member)
            written = {what: read_json(folder / run.id / path) for what, path in _FILES.items()}
            about = written if recorder is None else recorder.stated
            about["head"] = {**about["head"], "owner": ""}  # who has a file need not know whose runs they were
            known[name] = {"id": run.id, **about}
        archive.writestr(KNOWN, json.dumps({"version": 1, "runs": known}))


def _write_packed(folder: Path, member: IO[bytes]) -> None:
    """Write a run as it is packed, or pack it."""
    packed = folder / PACKED
    if (folder / END).exists() and packed.exists():
        with packed.open("rb") as file:
            shutil.copyfileobj(file, member)
    else:
        read_run(folder).save(member)


def read_file(source: str | Path | bytes) -> tuple[bytes, datetime]:
    """Return the content of a file, and when it was written; raise `MklvizError` if it cannot be read."""
    if isinstance(source, bytes):
        return source, datetime.now(UTC)
    try:
        stated = Path(source).stat()
        if stated.st_size > LIMITS.memory_bytes:
            raise MklvizError(f"{named(str(source))} takes more memory than this machine has for it.")
        return Path(source).read_bytes(), datetime.fromtimestamp(min(max(stated.st_mtime, 0.0), time.time()), UTC)
    except OSError as error:
        raise MklvizError(f"{named(str(source))} could not be read: {error.strerror or message_of(error)}.") from error


def import_runs(content: bytes, created: datetime, name: str, folder: Path, owner: Asker) -> list[str]:
    """Take in a file of runs, as those of `owner`; return the keys of its races."""
    races: dict[str, None] = {}
    opened: list[tuple[Mapping[str, Any], bytes, int]] = []
    known = read_known(content, name)
    shared = RunHead(_digest(content), name=Path(name).stem.split(".")[0], made_by="file")
    for member, run in _runs(content, name):
        trace = Trace.load(io.BytesIO(run))
        about = known.get(member + SUFFIX, {})
        if not (is_id(about.get("id")) and isinstance(about.get("head"), dict)):
            about = _described_by(trace, member, run, shared, created)
        opened.append((about, run, len(trace)))
    for about, run, steps in opened:  # where one cannot be opened, none joins
        mine = _own_run(about, steps, folder, owner)
        races[mine.race if mine is not None else _taken_in(_renamed(about, owner), run, folder)] = None
    return list(races)


def _runs(content: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the packed runs of a file, none of which would take more memory than there is."""
    with damaged_as_error(name):
        for member, run in packed_runs(content, name, sys.maxsize, LIMITS.memory_bytes):
            if run_bytes(run) > LIMITS.memory_bytes:
                raise MklvizError(f"A run in {named(name)} takes more memory than this machine has for it.")
            yield member, run


def _described_by(trace: Trace, key: str, run: bytes, shared: RunHead, created: datetime) -> dict[str, Any]:
    """Return what is to be known of a run in a file that says nothing of it."""
    run_id = new_id(trace.solver, created, _digest(key.encode() + run)[:8])
    head = {**head_of(run_id, key or trace.solver, trace, shared), "created": created.timestamp()}
    end = {"status": trace.status, "reason": trace.reason, "ended": created.timestamp(), "results": {}}
    return {"id": run_id, "head": head, "end": {**end, "numbers": numbers_at(trace, len(trace))}}


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b" ".join(parts)).hexdigest()


def _own_run(about: Mapping[str, Any], steps: int, folder: Path, owner: Asker) -> StoredRun | None:
    """Return the run that a file was made of, where the importer has it still, with all these steps."""
    run = run_in(folder / str(about["id"])) if (folder / str(about["id"]) / HEAD).exists() else None
    same = run is not None and owner.owns(run.owner) and run.deleted is None and run.steps >= steps - 1
    return run if same and run is not None and run.status != DAMAGED else None


def _renamed(about: Mapping[str, Any], owner: Asker) -> dict[str, Any]:
    """Return what a file says of a run, under keys of the importer's: those in the file may be another's."""
    head = about["head"]
    moment, _, given = str(about["id"]).partition("-")  # the same file may have another time
    keys = given, text_in(head, "race") or given
    chance, race = (_digest(owner.name.encode(), key.encode(errors="replace")) for key in keys)
    run_id = f"{moment}-{chance[:8]}{given[8:]}"
    return {**about, "id": run_id, "head": {**head, "id": run_id, "race": f"file-{race[:16]}", "owner": owner.name}}


def _taken_in(stated: Mapping[str, Any], run: bytes, folder: Path) -> str:
    """Write a run's folder, or add to that of the same run taken in before; return the key of the race."""
    race = str(stated["head"]["race"])
    same = folder.glob(f"*-{stated['id'].partition('-')[2]}")
    heads = ((path.name, read_json(path / HEAD)) for path in same)
    mine = race, stated["head"]["owner"]
    there = next((name for name, head in heads if (head.get("race"), head.get("owner")) == mine), "")
    run_id = there or (new_id(stated["id"][25:]) if (folder / stated["id"]).exists() else stated["id"])
    with tempfile.TemporaryDirectory(prefix=".import-", dir=folder) as beside:
        whole = Path(beside)
        (whole / PACKED).write_bytes(run)
        for what, path in _FILES.items():
            if isinstance(stated.get(what), dict) and stated[what]:
                write_json(whole / path, stated[what])
        take_in(whole, folder / run_id)
    about = read_json(folder / run_id / ABOUT)
    if about.get("deleted") is not None:  # here, or where it comes from
        write_json(folder / run_id / ABOUT, {**about, "deleted": None, "changed": time.time()})
    return race


def merge_runs(source: Path, folder: Path) -> Merged:
    """Add the runs of another store to the folder of runs; what cannot be read is left out and counted."""
    done = {"added": 0, "renewed": 0, "": 0}
    unreadable = 0
    for path in sorted(source.iterdir()):
        if not (path.is_dir() and is_id(path.name)):
            continue
        if read_json(path / HEAD):
            done[take_in(path, folder / path.name)] += 1
        else:
            unreadable += 1
    return Merged(done["added"], done["renewed"], unreadable)
