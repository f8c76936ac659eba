"""``python .ci/measure NAME ...``: what developers of mklviz measure; what users run is ``mklviz bench``.

``fuzz`` tries random problems; ``which``, ``recent`` and ``once`` measure solvers. Tables come from `measure.report`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    measures = {"fuzz": "fuzz", "which": "which", "recent": "solvers", "once": "solvers"}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in measures:
        sys.exit(f"python .ci/measure NAME ..., where NAME is one of {', '.join(measures)}.")
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    module = importlib.import_module(f"measure.{measures[name]}")
    getattr(module, "main" if measures[name] == name else name)(sys.argv[2:])
