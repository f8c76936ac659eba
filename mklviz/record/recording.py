"""Writing the recording of a lesson's race: what is drawn of it, and of a lesson what was computed for its picture.

Dual variables and certificates are left out, and weights and facts have few digits, so that a race of 442 kernels takes
some 80 kB. Version and recipe stand in the files, which `mklviz.record.bundle` reads.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array, Iterate
from mklviz.record.archive import SavedFacts
from mklviz.record.bundle import EVIDENCE, SUFFIX
from mklviz.record.run_facts import Verdict
from mklviz.record.trace import Trace

DIGITS = 5  # of facts, and of what was computed for a picture
LOST = 46  # of the 52 bits of a weight's digits: zeros pack well
NOTHING = np.empty(0)


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
        small.append(_thinned(iterate), trace.seconds_at(t), trace.split_at(t) or None)
    small.finish(Verdict(trace.status, trace.reason))
    return small


def _thinned(iterate: Iterate) -> Iterate:
    facts = SavedFacts.read(_short(iterate.facts.known()))
    return replace(iterate, weights=_rounded(iterate.weights), dual=NOTHING, certificate=None, facts=facts)


def _rounded(weights: Array) -> Array:
    half = np.int64(1) << (LOST - 1)
    rounded = ((weights.view(np.int64) + half) >> LOST) << LOST
    return np.where(weights <= ACTIVE_WEIGHT, 0.0, rounded.view(np.float64))
