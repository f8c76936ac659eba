"""Take the pictures of the page of mv.plot anew, by running its code: once for light pages, once for dark ones.

    python .ci/docs/plot_pictures.py [FOLDER]

They go to FOLDER, or to apps/docs/plots/.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import mklviz as mv

DOCS = Path(__file__).resolve().parents[2] / "apps" / "docs"
PART = re.compile(r"^```python\n(.*?)^```$|\(plots/(\w+)\.png\)", re.DOTALL | re.MULTILINE)


def main(folder: str = "") -> None:
    """Run every block of the page, and save what `picture` is where the page shows it."""
    target = Path(folder) if folder else DOCS / "plots"
    names: dict[str, Any] = {}
    last = ""
    for block, name in PART.findall((DOCS / "plot.md").read_text(encoding="utf-8")):
        if name:
            mv.plot.save(names["picture"], target / f"{name}.png")
            exec(_dark(last), names)
            mv.plot.save(names["picture"], target / f"{name}-dark.png")
            print(name)
        else:
            last = block
            exec(block, names)


def _dark(block: str) -> str:
    """Return the line that draws, for a dark page."""
    [line] = re.findall(r"^picture = .*$", block, re.MULTILINE)
    return f"{line[:-1]}, dark=True)"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        os.environ["MKLVIZ_STORE"] = store
        main(*sys.argv[1:])
