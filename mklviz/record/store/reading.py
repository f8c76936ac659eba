"""A run read back from its folder: the packed file, the frames after it, or both."""

from __future__ import annotations

from pathlib import Path

from mklviz.errors import MklvizError
from mklviz.quoting import said_by
from mklviz.record.origin import Origin
from mklviz.record.store.folder import END, HEAD, PACKED, read_json
from mklviz.record.store.frames import kernel_names, read_frames
from mklviz.record.trace import FINAL, Trace
from mklviz.record.verdict import Verdict

__all__ = ["read_run"]

_CUT_OFF = "The recording ends here, while the run was still going."


def read_run(folder: Path) -> Trace:
    """Return the trace of a run, up to its last step on the disk.

    Raises `MklvizError` if there is no such run, or nothing of it can be read.
    """
    for _ in range(2):
        try:
            return _read(folder)
        except FileNotFoundError:  # it has been packed meanwhile
            continue
        except MklvizError:
            raise
        except Exception as error:
            raise MklvizError(f"The run {folder.name} is damaged ({said_by(error)}).") from error
    raise MklvizError(f"There is no run {folder.name} in the store any more.")


def _read(folder: Path) -> Trace:
    trace, lost = _begun(folder), 0
    for index, (iterate, seconds, split) in read_frames(folder, len(trace)):
        lost = index - len(trace)
        trace.append(iterate, seconds, split)
    end = read_json(folder / END)
    status, reason = str(end.get("status", "")), str(end.get("reason", ""))
    verdict = Verdict(status, reason) if status in FINAL else Verdict("stopped", reason or _CUT_OFF)
    if lost:
        verdict = Verdict(verdict.status, f"{verdict.reason} {lost:,} steps of it are damaged and were left out.")
    trace.finish(verdict)
    return trace


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
