"""The notebooks as pages: what their cells show is made by running them when the site is built."""

from __future__ import annotations

import json
from pathlib import Path

import outputs

__all__ = ["pages"]

FOLDER = Path(__file__).resolve().parents[2] / "apps" / "notebooks"


def pages() -> dict[str, str]:
    """Return the text of each page by its name, with its Python and the marks of outputs."""
    return {f"notebooks/{path.stem}": _page(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def _page(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(_cell(cell["cell_type"], "".join(cell["source"])) for cell in cells) + "\n"


def _cell(kind: str, source: str) -> str:
    return f"```python\n{source}\n```\n{outputs.MARK}" if kind == "code" else source
