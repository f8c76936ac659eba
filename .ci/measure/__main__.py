"""``python .ci/measure NAME ...``: what developers of mklviz measure; what users run is ``mklviz bench``.

``fuzz`` tries random problems; ``which``, ``recent`` and ``once`` measure solvers. Tables come from `measure.report`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    names = sorted(path.stem for path in folder.glob("*.py") if "\ndef main(" in path.read_text(encoding="utf-8"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"python .ci/measure NAME ..., where NAME is one of {', '.join(names)}.")
    sys.path[0] = str(folder.parent)
    importlib.import_module(f"measure.{sys.argv[1]}").main(sys.argv[2:])
