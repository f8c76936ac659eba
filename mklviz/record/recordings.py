"""Recordings of scenarios' races that come with the package, shown until the solvers can begin.

They are thinned for drawing: no dual variables, and weights to two digits. With a lesson's stands what was
computed for the picture of its answer. `.ci/recordings.py` makes them.
"""

from __future__ import annotations

import json
import logging
import zipfile
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mklviz.record.trace import Trace

__all__ = ["EVIDENCE", "FOLDER", "recorded_evidence", "recording"]

_log = logging.getLogger(__name__)
EVIDENCE = "evidence.json"  # name in the file of a recording
FOLDER = Path(__file__).with_name("races")


@cache
def recording(scenario: str) -> Mapping[str, Trace]:
    """Return the recorded runs of a scenario by their keys; none where the package has no such recording."""
    path = FOLDER / f"{scenario}.zip"
    try:
        return MappingProxyType(read_bundle(path.read_bytes(), path.name) if path.is_file() else {})
    except (MklvizError, OSError):
        _log.exception("The recording of %s cannot be read", scenario)
        return MappingProxyType({})


@cache
def recorded_evidence(scenario: str) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    """Return the tables that the answer of a recorded lesson is drawn from; none where the package has none."""
    path = FOLDER / f"{scenario}.zip"
    try:
        with zipfile.ZipFile(path) as archive:
            return MappingProxyType(json.loads(archive.read(EVIDENCE)) if EVIDENCE in archive.namelist() else {})
    except (OSError, ValueError, zipfile.BadZipFile):
        return MappingProxyType({})  # `recording` says so
