"""What two folders know of the same run becomes one: frames are added, an end replaces none, the newest word wins.

Doing it again changes nothing, nor does the order of several.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from mklviz.record.files import replacing
from mklviz.record.store.folder import ABOUT, END, HEAD, PACKED, SEEN, bring_to_disk, read_json, read_seen
from mklviz.record.store.frames import frames_in
from mklviz.record.words import number_in

__all__ = ["take_in"]


def take_in(source: Path, target: Path) -> str:
    """Bring what a run's folder holds into another place; return "added", "renewed" or "" where all was known.

    Raises `OSError` if it cannot be read or written; what was there before stays.
    """
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
    """Take over what was last said of the run, and its head where it is missing."""
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
