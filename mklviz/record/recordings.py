"""Recordings of scenarios' races that come with the package, shown until the solvers can begin.

They are thinned for drawing: no dual variables, and weights to four digits. `.ci/recordings.py` makes them.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mklviz.record.trace import Trace

__all__ = ["FOLDER", "recording"]

_log = logging.getLogger(__name__)
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
